"""Finding what is private in a text: addresses, numbers and keys, by their form.

Every detector takes time proportional to the text, whatever the text is. A form is not a proof:
a number may look like a card and be none, and a name looks like nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from judgekit.cassette.detectors import card, email, ip, key, phone
from judgekit.cassette.detectors.span import PrivateSpan

Detector = Callable[[str], Iterator[PrivateSpan]]

DETECTORS: Mapping[str, Detector] = {
    # In order of precedence: a password in an address of the web is more than an e-mail.
    "key": key.find,
    "email": email.find,
    "card": card.find,
    "ip": ip.find,
    "phone": phone.find,
}


class Detection(NamedTuple):
    """A span and the kind of thing it holds."""

    kind: str
    span: PrivateSpan


def find_all(text: str, kinds: Iterable[str]) -> list[Detection]:
    """Return what detectors find in a text, in order, no two overlapping.

    Where two overlap, the kind named first in `DETECTORS` wins.

    >>> [f.kind for f in find_all("ann@example.com, 10.0.0.1", DETECTORS)]
    ['email', 'ip']
    """
    wanted = set(kinds)
    taken: list[Detection] = []
    for kind, find in DETECTORS.items():
        if kind in wanted:
            taken = _merged(taken, [Detection(kind, span) for span in find(text)])
    return taken


def _merged(first: list[Detection], second: list[Detection]) -> list[Detection]:
    """Return both lists as one, in order; what overlaps one of the first is left out."""
    if not first or not second:
        return first or second
    merged: list[Detection] = []
    place = 0
    for found in second:
        while place < len(first) and first[place].span.end <= found.span.start:
            merged.append(first[place])
            place += 1
        if place == len(first) or first[place].span.start >= found.span.end:
            merged.append(found)
    merged += first[place:]
    return merged


__all__ = ["DETECTORS", "Detector", "Found", "Span", "find_all"]
