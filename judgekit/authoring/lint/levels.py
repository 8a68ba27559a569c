"""Rules about words to answer with: whether they differ, and the values they have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from judgekit.authoring.lint.rule import Problem, check_each, repeated
from judgekit.authoring.lint.subject import OwnCriterion
from judgekit.authoring.lint.words import pattern, word_data

MANY_LEVELS = 9
GAP = 0.6
"""Distance between neighbours of four or more levels. Three levels often have two close values
and a distant one: none, within, above."""


@check_each("unanchored-levels")
def _unanchored_levels(own: OwnCriterion) -> Iterator[Problem]:
    bare = [word for word, level in (own.file.levels or {}).items() if not level.text]
    generic = [word for word in bare if pattern("generic_level").fullmatch(word.strip())]
    described = any(re.search(rf"\b{re.escape(w)}\b", own.file.text, re.I) for w in bare)
    if len(generic) >= 2 and not described:
        message = f" does not explain how {generic[0]!r} differs from {generic[1]!r}"
        yield own.problem(message, "levels")


def _values(own: OwnCriterion) -> list[float]:
    """Return the values of the words to answer with, in the order of the file."""
    return [level.value for level in own.words[1].values() if level.value is not None]


@check_each("same-value")
def _same_value(own: OwnCriterion) -> Iterator[Problem]:
    values = _values(own)
    if len(set(values)) == 1 and len(values) > 1:
        yield own.problem(f": every answer has the value {values[0]:g}", own.words[0])
        return
    levels = own.file.levels or {}
    valued = ((level.value, word) for word, level in levels.items() if level.value is not None)
    for word, first in repeated(valued):
        message = f": {word!r} and {first!r} have the same value, {levels[word].value:g}"
        yield own.problem(message, "levels", word)


@check_each("level-order")
def _order(own: OwnCriterion) -> Iterator[Problem]:
    values = _values(own) if own.file.levels else []
    steps = [b - a for a, b in pairwise(values)]
    if any(s > 0 for s in steps) and any(s < 0 for s in steps):
        shown = ", ".join(f"{value:g}" for value in values)
        yield own.problem(f": the values go up and down: {shown}", "levels")


@check_each("level-words")
def _words_against_values(own: OwnCriterion) -> Iterator[Problem]:
    if (words := _reversed(own)) is not None:
        yield own.problem(f": {words[0]!r} has a lower value than {words[1]!r}", "levels")


def _reversed(own: OwnCriterion) -> tuple[str, str] | None:
    """Return two levels with values that contradict their words."""
    levels = {
        re.sub(r"[\s_-]+", " ", word.strip().lower()): (word, level.value)
        for word, level in (own.file.levels or {}).items()
        if level.value is not None
    }
    good = own.criterion.weight > 0 and not own.file.reverse
    ranked, ordered = word_data()["ranked"], word_data()["ordered"]
    for series in (*ranked, *ordered):
        known = [levels[w] for words in series for w in words.split("|") if w in levels]
        if len(known) != len(levels) or len(known) < 2:
            continue
        rising = [(a[0], b[0]) for a, b in pairwise(known) if b[1] > a[1]]
        falling = [(a[0], b[0]) for a, b in pairwise(known) if b[1] < a[1]]
        if rising and (falling or (series in ranked and good)):
            if len(falling) < len(rising) and falling:
                return falling[0][1], falling[0][0]
            return rising[0]
    return None


@check_each("level-gap")
def _level_gap(own: OwnCriterion) -> Iterator[Problem]:
    values = sorted(_values(own)) if own.file.levels else []
    for low, high in pairwise(values):
        if len(values) >= 4 and high - low > GAP + 1e-9:
            yield own.problem(f" has no level between {low:g} and {high:g}", "levels")


@check_each("level-reach")
def _reach(own: OwnCriterion) -> Iterator[Problem]:
    values = set(_values(own))
    if len(values) > 1 and max(values) < 1:
        message = f": the highest value is {max(values):g}, so no case reaches 1"
        yield own.problem(message, own.words[0])
    if len(values) > 1 and min(values) > 0.5:
        yield own.problem(f": the lowest value is {min(values):g}", own.words[0])


@check_each("similar-levels")
def _alike(own: OwnCriterion) -> Iterator[Problem]:
    key, words = own.words
    spelled = ((re.sub(r"[\W_]+", "", word).casefold() or word, word) for word in words)
    for word, first in repeated(spelled):
        yield own.problem(f": {word!r} and {first!r} differ in spelling only", key, word)
    texts = ((level.text.casefold().split(), word) for word, level in words.items())
    for word, first in repeated((tuple(text), word) for text, word in texts if text):
        yield own.problem(f": {word!r} and {first!r} have the same text", key, word)


@check_each("many-levels")
def _many(own: OwnCriterion) -> Iterator[Problem]:
    if (count := len(own.file.levels or {})) > MANY_LEVELS:
        yield own.problem(f" has {count} levels; the limit is {MANY_LEVELS}", "levels")


@check_each("checklist-of-one")
def _single_item(own: OwnCriterion) -> Iterator[Problem]:
    if own.file.items and len(own.file.items) == 1:
        yield own.problem(" is a checklist of one item", "items")
