"""Detect private data in a text by its form: addresses, numbers and keys.

Every detector takes linear time on any text. Detection by form is not exact: a number can look like
a card number without being one, and names have no form.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from judgekit.privacy.detectors.form import PrivateSpan, find_emails, find_forms, find_keys

PSEUDONYM = re.compile(r"(\[[A-Z][A-Z0-9_]{0,39}-[0-9a-f]{8}\])")
"""The form of a pseudonym; detectors skip pseudonyms."""


def pseudonym(name: str, value: str, key: bytes = b"") -> str:
    """Return the pseudonym of a value, with 8 hexadecimal digits of a keyed SHA-256."""
    text = f"{name.upper()}\0{value}".encode("utf-8", "surrogatepass")
    return f"[{name.upper()}-{hmac.new(key, text, hashlib.sha256).hexdigest()[:8]}]"


Detector = Callable[[str], Iterator[PrivateSpan]]

_BY_CODE: Mapping[str, Detector] = {"key": find_keys, "email": find_emails}
_ORDER = (
    "key", "email", "iban", "crypto", "device", "card", "ip", "ssn", "passport", "driver_license",
    "health_id", "tax_id", "national_id", "bank_account", "vehicle", "birth_date", "coordinates",
    "phone", "address", "name",
)  # fmt: skip
# A password in a URL also looks like an e-mail address, so keys come first; labels and check digits
# come before looser forms. A new kind can have any position: only enabled kinds compete.
DETECTORS = {kind: _BY_CODE.get(kind, partial(find_forms, kind)) for kind in _ORDER}
"""Kind -> its detector, in order of precedence."""
_WITHOUT_DIGITS = {"key", "email", "ip", "device", "bank_account", "name"}
"""The kinds that can match without a digit; the others are skipped in a text without digits."""
_DIGIT = re.compile(r"\d")
SCANNED = ("key", "email", "card", "ip", "phone")
"""The kinds that a scan reports by default; the others must be requested by name."""


class Detection(NamedTuple):
    """A span and its kind of private data."""

    kind: str
    span: PrivateSpan


def find_all(text: str, kinds: Iterable[str]) -> list[Detection]:
    """Return the detections in a text, in order, without overlaps.

    If two overlap, the kind that comes first in `DETECTORS` wins.

    >>> [f.kind for f in find_all("ann@example.com, 10.0.0.1", DETECTORS)]
    ['email', 'ip']
    """
    enabled = set(kinds)
    if not _DIGIT.search(text):
        enabled &= _WITHOUT_DIGITS
    taken = bytearray(len(text))  # 1 for each character of a detection
    detections: list[Detection] = []
    for kind, find in DETECTORS.items():
        for span in find(text) if kind in enabled else ():
            if taken.find(1, span.start, span.end) < 0:
                taken[span.start : span.end] = b"\1" * (span.end - span.start)
                detections.append(Detection(kind, span))
    return sorted(detections, key=lambda detection: detection.span.start)
