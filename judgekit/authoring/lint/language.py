"""Language detection: rules about English words skip texts in other languages."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ENGLISH = (
    "an and answer are as at be been but by can could do does each every for from has have how "
    "if in is it its more must not of on one only or out should such than that the their them "
    "there they this to was what when where whether which who with would you your"
)
_OTHERS = (
    # Frequent words of German, French, Spanish, Italian, Portuguese, Dutch, Polish and Swedish
    # that English does not have.
    "der die das und ist nicht ein eine einer den dem des mit auf für im zu von wird werden sind "
    "le la les un une des du et est que qui dans pour pas sur au aux ne se ce cette sont elle "
    "el los las una y es en con por para su al lo como más del o sin "
    "il lo gli di e che non per con del della è sono una nel "
    "os uma do da em é não com se dos das no na ao "
    "de het een en van is niet dat op te zijn met voor "
    "i w z na się jest nie do czy oraz to "
    "och att det som en på är av för inte med till"
)
_FOREIGN = frozenset(_OTHERS.split()) - {"is", "do", "to", "no", "on", "in", "a", "i", "en"}
_WORD = re.compile(r"[^\W\d_]+")
_KNOWN = frozenset(_ENGLISH.split())


def english(text: str, *, around: str = "") -> bool:
    """Return whether a text is English, judged by its small words.

    Args:
        text: the text.
        around: other texts of the same file; they decide for a text without small words.
    """
    words = [word.lower() for word in _WORD.findall(text)]
    if not words or 2 * sum(word.isascii() for word in words) <= len(words):
        return False
    known, foreign = _count(words, _KNOWN), _count(words, _FOREIGN)
    if known == foreign == 0 and around:
        return english(around)
    return known > foreign


def _count(words: Iterable[str], known: frozenset[str]) -> int:
    return sum(word in known for word in words)
