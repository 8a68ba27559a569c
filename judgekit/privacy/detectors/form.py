"""Detect private data and secrets by regular expressions and labels, most from `forms.yaml`."""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from heapq import merge
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.sourced import checked_tables
from judgekit.core.yaml_file import package_data
from judgekit.privacy.detectors.checksum import CHECKS


class PrivateSpan(NamedTuple):
    """The position of private data in a text, and its value."""

    start: int
    end: int
    value: str
    """The normalised value: a card number without spaces, an address in lower case."""


def without_overlap(spans: Iterable[PrivateSpan]) -> Iterator[PrivateSpan]:
    """Yield the spans that do not overlap an earlier one; the input is sorted by position."""
    end = 0
    for span in spans:
        if span.start >= end:
            end = span.end
            yield span


_PART = re.compile("@(\\w+)@")
_SEPARATORS = re.compile(r"[\s.\-/·:]+")
_BEFORE = 24
"""Number of characters before a match that `unless` can match."""


class PrivateForm(NamedTuple):
    """One form of a kind."""

    pattern: re.Pattern[str]
    like: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    words: Sequence[str] = ()
    check: str = ""
    ahead: int = 0
    read: str = "plain"

    def find(self, text: str, lower: str) -> Iterator[PrivateSpan]:
        """Yield the matches that pass the checks; `lower` is the text in lower case."""
        for word in self.words:  # a loop is faster than any()
            if word in lower:
                break
        else:
            if self.words:
                return
        for match in self.pattern.finditer(text):
            group = match.lastgroup if match.lastgroup not in CHECKS else None
            check = CHECKS.get(self.check or match.lastgroup or "")
            start, end = match.span(group or 0)
            value = _plain(text[start:end]) if self.read == "plain" else text[start:end]
            if (check and not check(value)) or (self.like and not self.like.search(value)):
                continue
            before = text[max(0, start - _BEFORE) : start + self.ahead]
            if self.unless is None or not self.unless.search(before):
                yield PrivateSpan(start, end, _READ[self.read](value))


@cache
def forms(kind: str) -> tuple[PrivateForm, ...]:
    """Return the forms of a kind."""
    data = form_data()
    parts = {name: "".join(part) for name, part in data["parts"].items()}
    return tuple(_form(entry, parts) for entry in data["kinds"][kind])


form_data = partial(package_data, Path(__file__).with_name("forms.yaml"))
"""Returns the content of `forms.yaml`: `parts`, `tokens`, `reserved` and `kinds`."""


def find_forms(kind: str, text: str) -> Iterator[PrivateSpan]:
    """Return the matches of a kind, sorted by position; of overlapping ones, the first and longest.

    >>> [span.value for span in find_forms("tax_id", "EIN 12-3456789, order 912-78-1234")]
    ['123456789']
    """
    lower = text.lower()
    spans = [span for form in forms(kind) for span in form.find(text, lower)]
    return without_overlap(sorted(spans, key=lambda span: (span.start, -span.end)))


def _plain(written: str) -> str:
    """Return a number in capitals and without its separators."""
    return _SEPARATORS.sub("", written).upper()


def _phone(written: str) -> str:
    digits = re.sub(r"\D", "", written)
    international = written.startswith("+") or digits.startswith("00")
    return f"+{digits.removeprefix('00')}" if international else digits


def _host(written: str) -> str:
    address = ipaddress.ip_address(written)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        # The text of Python 3.12 and earlier, so that pseudonyms and keys do not change.
        high, low = divmod(int(address.ipv4_mapped), 2**16)
        return f"::ffff:{high:x}:{low:x}"
    return str(address)


_READ: Mapping[str, Callable[[str], str]] = {
    "host": _host,
    "lower": str.lower,
    "phone": _phone,
    "plain": _plain,
    "written": str,
}
"""Name in `forms.yaml` -> how a value is normalised."""


def _form(entry: dict[str, Any], parts: dict[str, str]) -> PrivateForm:
    # A text or a list of pieces; join handles both.
    source = "".join(entry.get("find", ""))
    if "after" in entry:
        labels, value = "".join(entry["after"]), "".join(entry["value"])
        source = rf"(?<![^\W_])(?i:(?:{labels})@after@)(?P<value>{value})(?![^\W_])"
    sources = {"pattern": source, "like": "".join(entry.get("like", ""))}
    sources["unless"] = parts[entry["unless"]] if "unless" in entry else ""
    patterns = {n: re.compile(_resolved(text, parts)) for n, text in sources.items() if text}
    settings = {name: entry[name] for name in PrivateForm._fields if name in entry}
    return PrivateForm(**{**settings, **patterns})


def _resolved(source: str, parts: dict[str, str]) -> str:
    while _PART.search(source):
        source = _PART.sub(lambda match: parts[match[1]], source)
    return source


_LONGEST_LOCAL = 64
"""The most characters before the @ (RFC 5321, 4.5.3.1.1)."""
_AT = re.compile(r"(?<=[\w.+%-])@(?=[^\W_])")
# Searched in a slice of that length before the @.
_LOCAL_PART = re.compile(r"[\w](?:[\w.+%-]*+)\Z")
# A label has at most 63 characters (RFC 1035, 2.3.4), which bounds backtracking.
_DOMAIN = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,10}[^\W\d_]{2,24}")


def find_emails(text: str) -> Iterator[PrivateSpan]:
    """Yield the e-mail addresses of a text.

    >>> [span.value for span in find_emails("Write to Ann.Lee+x@Example.com.")]
    ['ann.lee+x@example.com']
    """
    end = 0
    for match in _AT.finditer(text):
        at = match.start()
        after = _DOMAIN.match(text, at + 1)
        before = _LOCAL_PART.search(text[max(end, at - _LONGEST_LOCAL) : at]) if after else None
        if before and after:
            start = at - len(before[0])
            end = after.end()
            yield PrivateSpan(start, end, text[start:end].lower())


_BEARER = re.compile(r"\b(?:bearer|basic) +([\w.~+/-]{20,}+=*)", re.IGNORECASE | re.ASCII)
_IN_ADDRESS = re.compile(r"://[^\s:/@\[\]]{1,100}+:([^\s/@\[\]]{3,200}+)@")
_SETTING = re.compile(
    r"(?:api|secret|access|private|auth|client|account|encryption|signing|shared)?[_ -]?"
    r"(?:key|token|secret|password|passwd|passphrase|pwd)(?:[_ -](?:id|key))?"
    r"""\\?["']?\s{0,3}(?:=>?|:=?)\s{0,3}\\?["']?([^\s"'\\,;<>(){}\[\]]{8,200}+)""",
    re.IGNORECASE,
)
# Request keys are digests that occur in many files of judgekit.
_DIGEST = re.compile(r"""(?<![\w-])(?:request_)?key["']?[\s:=]+["']?[0-9a-f]{64}\Z""")
_NAMED = re.compile("key|token|secret|pass|pwd", re.IGNORECASE)
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"[A-Za-z0-9+/=\s\\:,-]*+")


def find_keys(text: str) -> Iterator[PrivateSpan]:
    """Return the secrets in a text, sorted by position.

    >>> [span.value for span in find_keys("token ghp_0123456789abcdefghijABCDEFGHIJ012345 leaked")]
    ['ghp_0123456789abcdefghijABCDEFGHIJ012345']
    """
    return without_overlap(merge(_blocks(text), _tokens(text), _settings(text)))


def _blocks(text: str) -> Iterator[PrivateSpan]:
    """Yield private keys. Without an end marker, a key ends after its last base64 character."""
    end = 0
    ends = _END.search(text)
    for begin in _BEGIN.finditer(text):
        if begin.start() < end:
            continue
        while ends is not None and ends.start() < begin.end():
            ends = _END.search(text, ends.end())
        last = ends or _BODY.match(text, begin.end()) or begin
        end = last.end()
        yield PrivateSpan(begin.start(), end, text[begin.start() : end])


@cache
def _token() -> re.Pattern[str]:
    tables = checked_tables({"tokens": form_data()["tokens"]}, file="forms.yaml")
    forms = "|".join(row["find"] for row in tables["tokens"])
    return re.compile(rf"(?a)(?<![A-Za-z0-9_])(?:{forms})")


def _tokens(text: str) -> Iterator[PrivateSpan]:
    for match in _token().finditer(text):
        # The pattern also consumes incomplete JSON web tokens.
        if match[0].startswith("eyJ") and "." not in match[0]:
            continue
        if any(character.isdigit() for character in match[0][3:]):
            yield PrivateSpan(match.start(), match.end(), match[0])


def _settings(text: str) -> list[PrivateSpan]:
    patterns = (_IN_ADDRESS, _BEARER, _SETTING) if _NAMED.search(text) else (_IN_ADDRESS, _BEARER)
    return sorted(
        PrivateSpan(*match.span(1), match[1])
        for pattern in patterns
        for match in pattern.finditer(text)
        if (pattern is _IN_ADDRESS or _random(match[1]))
        and not _DIGEST.search(text[max(0, match.start() - 8) : match.end()])
    )


def _random(value: str) -> bool:
    """Return whether a value looks random: letters and digits alternate."""
    letters = sum(character.isalpha() for character in value)
    digits = sum(character.isdigit() for character in value)
    if letters < 3 or digits < 2 or "://" in value:
        return False
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(value))
    return turns >= 2 and len(set(value)) >= 6


def reserved(kind: str, value: str) -> bool:
    """Return whether a value is reserved for examples.

    >>> reserved("email", "ann@example.com"), reserved("ip", "198.51.100.7")
    (True, True)
    """
    if kind == "ip":
        # Documentation (RFC 5737, RFC 3849), and addresses of local networks.
        return not ipaddress.ip_address(value).is_global
    source = form_data()["reserved"].get(kind)
    return source is not None and re.search("".join(source), value) is not None
