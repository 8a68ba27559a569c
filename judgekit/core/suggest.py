"""Suggest valid names for an unknown word."""

from collections.abc import Iterable

MANY = 30
"""Maximum number of valid names in a message if none is similar."""
_LONGEST = 100
"""Maximum number of characters to compare; the comparison takes quadratic time."""
_SHARED = 3
"""Minimum length of a word to search for at the start of the words of a name."""
_LOOSE, _STRICT = 0.6, 0.8
"""Minimum similarity of two spellings; the strict one if several names contain the word."""
_FEW = 3
"""Maximum number of suggested names."""


def suggest(word: object, known: Iterable[str], *, otherwise: str | None = None) -> str:
    """Return the end of a message about an unknown word: the closest valid name.

    Args:
        word: the unknown word.
        known: the names that are valid in its place.
        otherwise: the text if no name is similar; by default, a list of the valid names.

    Example:
        >>> suggest("inptu", ["input", "output"])
        "; did you mean 'input'?"
        >>> suggest("x", ["input", "output"])
        '; known: input, output'
    """
    names = sorted({name for name in known if name})
    if close := closest(str(word), names):
        return f"; did you mean {' or '.join(map(repr, close))}?"
    if otherwise is not None:
        return otherwise
    if len(names) > MANY:
        return f"; known: {', '.join(names[:MANY])} and {len(names) - MANY} more"
    return f"; known: {', '.join(names)}" if names else ""


def closest(word: str, known: Iterable[str], *, alike: float = 0.0) -> list[str]:
    """Return the closest names: one with a similar spelling, or a few that contain the word.

    Case is ignored, and `_`, `-` and spaces are equivalent.

    Args:
        word: the unknown word.
        known: the names that are valid in its place.
        alike: minimum similarity of the spellings, 0..1; above 0, only the spelling counts.

    Example:
        >>> closest("Exact-Match", ["exact_match", "contains"])
        ['exact_match']
        >>> closest("bas", ["base", "bias"])
        ['base']
        >>> closest("robustness", ["adversarial_robustness", "robustness_continuous"])
        ['adversarial_robustness', 'robustness_continuous']
    """
    from difflib import SequenceMatcher, get_close_matches

    plain = _plain(word[:_LONGEST])
    by_form: dict[str, str] = {}
    for name in known:
        by_form.setdefault(_plain(name), name)
    if plain in by_form:
        return [by_form[plain]]
    # Letters in another order count as two errors by their similarity: model for modle, not mode.
    if swapped := [form for form in by_form if sorted(form) == sorted(plain)]:
        return [by_form[swapped[0]]]
    holding = [name for form, name in by_form.items() if f"_{plain}" in f"_{form}"]
    few = holding if not alike and len(plain) >= _SHARED and len(holding) <= _FEW else []
    cutoff = alike or (_LOOSE if len(few) < 2 else _STRICT)
    spelled = get_close_matches(plain, by_form, n=_FEW, cutoff=cutoff)
    if not spelled:
        return few
    # Of names that are spelled equally alike, one that begins with the word is meant: base for bas.
    best = SequenceMatcher(None, spelled[0], plain).ratio()
    equal = [form for form in spelled if SequenceMatcher(None, form, plain).ratio() == best]
    return [by_form[next((form for form in equal if form.startswith(plain)), spelled[0])]]


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")
