"""International bank account numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgekit.cassette.detectors.checksum import mod97
from judgekit.cassette.detectors.form import plain
from judgekit.cassette.detectors.span import PrivateSpan

# Length by country, from the SWIFT IBAN registry.
_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 "
    "DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 "
    "IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 "
    "MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 "
    "SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
)
_BEGIN = re.compile(r"(?<![^\W_])[A-Za-z]{2}\d{2}(?=[ \-\u00a0]?[A-Za-z0-9])", re.ASCII)
_REST = re.compile(r"(?:[ \-\u00a0]?[A-Za-z0-9]){0,34}", re.ASCII)


def find(text: str) -> Iterator[PrivateSpan]:
    """Yield account numbers of the length of their country with a correct checksum.

    >>> [span.value for span in find("to DE89 3704 0044 0532 0130 00 today")]
    ['DE89370400440532013000']
    """
    for match in _BEGIN.finditer(text):
        _, _, length = _LENGTHS.partition(match[0][:2].upper())
        rest = _REST.match(text, match.end())
        if not length or rest is None:
            continue
        end, left = match.end(), int(length[:2]) - 4
        while left and end < rest.end():
            left -= text[end].isalnum()
            end += 1
        value = plain(text[match.start() : end])
        separate = end == len(text) or not text[end].isalnum()
        if not left and separate and mod97(value[4:] + value[:4]) == 1:
            yield PrivateSpan(match.start(), end, value)
