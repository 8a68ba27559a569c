"""Payment card numbers: in the range and length of an issuer, with a correct check digit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgekit.cassette.detectors.checksum import luhn
from judgekit.cassette.detectors.span import PrivateSpan

_GAP = "[ \\-\u00a0\u2009\u202f]"
_FORMS = (
    r"\d{13,19}(?!\d)",
    rf"\d{{4}}(?:{_GAP}\d{{4}}){{2,3}}(?:{_GAP}\d{{1,4}})?(?!\d)",
    rf"\d{{4}}{_GAP}\d{{6}}{_GAP}\d{{4,5}}(?!\d)",
)
# Overlapping matches, because a number may precede: "12 4111 1111 1111 1111".
_NUMBER = re.compile(rf"(?<!\d)(?=({'|'.join(_FORMS)}))", re.ASCII)
# 4111111111111111.25 is an amount; "4111111111111111." ends a sentence.
_WORD_BEFORE = re.compile(r"[\w.]")
_WORD_AFTER = re.compile(r"\w|[.,]\d")
_LAST_GROUP = re.compile(rf"{_GAP}\d+\Z", re.ASCII)


def find(text: str) -> Iterator[PrivateSpan]:
    """Yield the card numbers of a text, in one piece or in groups.

    >>> [span.value for span in find("4111 1111 1111 1111")]
    ['4111111111111111']
    """
    end = 0
    for match in _NUMBER.finditer(text):
        start = match.start()
        if start < end or not _lengths(text[start : start + 4]):
            continue
        for written in _shorter(match[1]):
            digits = re.sub(r"\D", "", written)
            if _is_card(digits) and _is_separate(text, start, start + len(written)):
                end = start + len(written)
                yield PrivateSpan(start, end, digits)
                break


def _shorter(written: str) -> Iterator[str]:
    """Yield a number, then the number without its last group."""
    yield written
    shorter = _LAST_GROUP.sub("", written)
    if shorter != written:
        yield shorter


def _is_separate(text: str, start: int, end: int) -> bool:
    return not (_WORD_BEFORE.match(text, start - 1) if start else False) and not (
        _WORD_AFTER.match(text, end)
    )


def _is_card(digits: str) -> bool:
    return len(digits) in _lengths(digits) and len(set(digits)) > 1 and luhn(digits)


def _lengths(digits: str) -> range | tuple[int, ...]:
    """Return the lengths of numbers of the issuer of these digits (ISO/IEC 7812 ranges)."""
    two, three, four = int(digits[:2]), int(digits[:3]), int(digits[:4])
    if digits[0] == "4":
        return (13, 16, 19)
    if 51 <= two <= 55 or 2221 <= four <= 2720:
        return (16,)
    if two in (34, 37):
        return (15,)
    if 300 <= three <= 305 or two in (36, 38, 39):
        return (14, 16)
    if 3528 <= four <= 3589 or four == 6011 or two == 65 or 644 <= three <= 649 or two == 62:
        return range(16, 20)
    if four in (5018, 5020, 5038) or two in (56, 57, 58, 63, 67):
        return range(13, 20)
    return ()
