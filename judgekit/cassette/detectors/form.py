"""Detect private data by regular expressions and labels, most of them from `forms.yaml`."""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.cassette.detectors.checksum import CHECKS
from judgekit.core.yaml_file import package_data


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


_FILE = Path(__file__).with_name("forms.yaml")
_PART = re.compile("@(\\w+)@")
_SEPARATORS = re.compile(r"[\s.\-/·:]+")
_BEFORE = 24
"""Number of characters before a match that `unless` can match."""


class PrivateForm(NamedTuple):
    """One form of a kind."""

    pattern: re.Pattern[str]
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
            if (check and not check(value)) or self._excluded(text, start):
                continue
            yield PrivateSpan(start, end, _READ[self.read](value))

    def _excluded(self, text: str, start: int) -> bool:
        before = text[max(0, start - _BEFORE) : start + self.ahead]
        return self.unless is not None and self.unless.search(before) is not None


@cache
def forms(kind: str) -> tuple[PrivateForm, ...]:
    """Return the forms of a kind."""
    data = form_data()
    parts = {name: "".join(part) for name, part in data["parts"].items()}
    return tuple(_form(entry, parts) for entry in data["kinds"][kind])


def form_data() -> dict[str, Any]:
    """Return the content of `forms.yaml`: `parts`, `tokens`, `reserved` and `kinds`."""
    return package_data(_FILE)


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
    unless = re.compile(_resolved(parts[entry["unless"]], parts)) if "unless" in entry else None
    settings = {name: entry[name] for name in ("words", "check", "ahead", "read") if name in entry}
    return PrivateForm(re.compile(_resolved(source, parts)), unless, **settings)


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
