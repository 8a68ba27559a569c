"""Telephone numbers: international, North American, with a trunk zero, or after a label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgekit.cassette.detectors.span import PrivateSpan

_GAP = "[ \u00a0\u2009\u202f().\\-/]"
_FORMS = (
    # +49 (0)151 123-4567, 0049 151 1234567: 8 to 15 digits (ITU-T E.164)
    rf"(?<![\w+.])(?:\+ ?|(?<!\d )00(?=[1-9]))[1-9](?:{_GAP}{{0,3}}\d){{7,14}}(?!\d|[.,]\d)",
    # (212) 555-0143, 212-555-0143, 212.555.0143, 1-212-555-0143
    r"(?<![\w.+\-])(?:1[ .\-])?(?:\(\d{3}\) ?|\d{3}[.\-])\d{3}[ .\-]\d{4}(?![\w\-]|[.,]\d)",
    # 212 555 0143, where neither area nor exchange begins with 0 or 1
    r"(?<![\w.+\-])(?<!\d )(?:1 )?[2-9]\d{2} [2-9]\d{2} \d{4}(?![\w\-]|[.,]\d| \d)",
    # 01 23 45 67 89, the pairs of France
    r"(?<![\w.+\-/:,])(?<!\d )0[1-9](?:[ .]\d{2}){4}(?![\w\-]|[.,]\d| \d)",
    # 0151 23456789, 030/123456, 020 7946 0958, (089) 1234-56
    r"(?<![\w.+\-/:,])(?<!\d )\(?0[1-9]\d{1,4}\)?(?: ?[/\-] ?| )\d{3,8}(?:[ \-]\d{2,8}){0,2}"
    r"(?![\w\-/:]|[.,]\d)",
    # "phone: 5550143", "call 123 4567": any number after a label
    r"(?:(?<=[^\w])|(?<=^))(?:tele)?(?:phone|mobile|cell|fax|whatsapp|tel|fon|telefon|handy|call)"
    r"(?: (?:no|number|nummer|us|me|at|is|on)\.?){0,2}[.:#]{0,2} ?\(?"
    rf"(?P<labelled>\d(?:{_GAP}{{0,2}}\d){{6,14}})(?!\w|[.,]\d)",
)
_PHONE = re.compile("|".join(_FORMS), re.IGNORECASE | re.ASCII)
_DIGIT = re.compile(r"\d", re.ASCII)
_DATE = re.compile(
    r"(?:19|20)\d{2}[./\- ]\d{1,2}[./\- ]\d{1,2}|\d{1,2}[./\- ]\d{1,2}[./\- ](?:19|20)\d{2}"
)
_LEAST = {"+": 8, "0": 9}
"""First character of a number -> the fewest digits."""


def find(text: str) -> Iterator[PrivateSpan]:
    """Yield the telephone numbers of a text.

    >>> [span.value for span in find("Ring +49 (0)151 1234567 or 212-555-0143 on 2024-05-01.")]
    ['+4901511234567', '2125550143']
    """
    if not _DIGIT.search(text):
        return  # most texts that a scan reads
    for match in _PHONE.finditer(text):
        group = "labelled" if match["labelled"] else 0
        written = match[group]
        digits = re.sub(r"\D", "", written)
        if len(digits) < _LEAST.get(written.lstrip("(")[0], 7) or _DATE.match(written):
            continue
        if digits.startswith("00"):
            digits = digits[2:]
            written = "+"
        number = f"+{digits}" if written.startswith("+") else digits
        yield PrivateSpan(*match.span(group), number)
