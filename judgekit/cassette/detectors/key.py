"""Secrets: tokens of known providers, private keys, passwords in URLs and settings."""

import re
from collections.abc import Iterator
from functools import cache
from heapq import merge
from itertools import pairwise

from judgekit.cassette.detectors.form import PrivateSpan, form_data, without_overlap

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
    return re.compile(rf"(?a)(?<![A-Za-z0-9_])(?:{'|'.join(form_data()['tokens'])})")


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
