"""Rules about scales: answer words with their values, and numbers with their explanations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from judgekit.authoring.lint.rule import Problem, check, check_each, repeated
from judgekit.authoring.lint.subject import LintSubject, OwnCriterion
from judgekit.authoring.lint.words import pattern, word_data
from judgekit.authoring.rubric_diff.carry import carried

WIDE = 10
"""Maximum number of steps of a scale on which judges distinguish neighbours."""

_NUMBER_WORDS = {"zero": 0.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0,
                 "ten": 10.0, "hundred": 100.0}  # fmt: skip


class NumberRange(NamedTuple):
    """Two numbers in a text that have an explanation."""

    low: float
    high: float
    shown: str


def _ends(own: OwnCriterion) -> tuple[float, float]:
    return own.criterion.question.minimum, own.criterion.question.maximum


def _all_numbers(text: str) -> set[float]:
    # "0-3" names 0 and 3, "1–5" names 1 and 5.
    plain = re.sub(r"(?<=\d)\s*[-–—]\s*(?=\d)", " ", text)
    words = (v for w, v in _NUMBER_WORDS.items() if re.search(rf"\b{w}\b", text.lower()))
    return {*map(float, pattern("any_number").findall(plain)), *words}


def is_anchored(own: OwnCriterion) -> bool:
    """Return whether the text or an own template explains both ends of a number."""
    if not own.free_number or own.file.options:
        return False
    ends, named = set(_ends(own)), _all_numbers(own.file.text)
    if ends <= named:
        return True
    for template in own.subject.bodies:
        text = template.words.text
        if own.id in text or "criteria" in text.lower():
            anchors = {*_anchors(text), *(_all_numbers(text) if own.id in text else ())}
            if ends <= anchors | named:
                return True
    return False


@check_each("unanchored-scale")
def _unanchored(own: OwnCriterion) -> Iterator[Problem]:
    if own.free_number and not is_anchored(own):
        (low, high), named = _ends(own), _all_numbers(own.file.text)
        missing = " or ".join(f"{end:g}" for end in (low, high) if end not in named)
        message = f" takes a number from {low:g} to {high:g}, but does not explain {missing}"
        yield own.problem(message, "text")


@check_each("scale-mismatch")
def _other_scale(own: OwnCriterion) -> Iterator[Problem]:
    scale = _scale_in(own.file.text)
    low, high = _ends(own)
    outside = [n for n in _anchors(own.file.text) if not low <= n <= high]
    if scale is not None and not own.free_number:
        kind = "words" if own.criterion.levels else own.file.chosen_kind
        message = f" is answered with {kind}, but names a scale: {scale.shown!r}"
        yield own.problem(message, "text")
    elif scale is not None and (scale.low, scale.high) != (low, high):
        message = f" names the scale {scale.shown!r}, but takes {low:g} to {high:g}"
        yield own.problem(message, "text")
    elif own.free_number and outside:
        yield own.problem(f" explains {outside[0]:g}, but takes {low:g} to {high:g}", "text")


def _scale_in(text: str) -> NumberRange | None:
    match = pattern("scale").search(text) or pattern("dashed_scale").search(text)
    if match is not None:
        scale = _range_of(match)
        return scale if scale.low < scale.high else None
    match = pattern("out_of").search(text)
    return NumberRange(0.0, float(match[1]), match[0]) if match is not None else None


def _anchors(text: str) -> list[float]:
    return [float(number) for number in pattern("anchor").findall(text)]


def _ranges(text: str) -> list[NumberRange]:
    return sorted(r for r in map(_range_of, pattern("range").finditer(text)) if r.low <= r.high)


def _range_of(match: re.Match[str]) -> NumberRange:
    return NumberRange(float(match[1]), float(match[2]), " ".join(match[0].split()))


def _level_ranges(own: OwnCriterion) -> list[NumberRange]:
    """Return the ranges in the texts of levels, one for each text."""
    levels = (own.file.levels or {}).values()
    matches = (pattern("level_range").search(level.text) for level in levels)
    return sorted(r for match in matches if match and (r := _range_of(match)).low <= r.high)


@check_each("overlapping-ranges")
def _overlapping(own: OwnCriterion) -> Iterator[Problem]:
    ranges, key = _ranges(own.file.text), "text"
    in_levels = _level_ranges(own)
    if not ranges and len(in_levels) == len(own.file.levels or {}):
        ranges, key = in_levels, "levels"
    for first, second in pairwise(ranges):
        shared = first.high == second.low and _whole([first, second]) and second.high > 1
        if second.low < first.high or shared:
            yield own.problem(f": {first.shown!r} and {second.shown!r} overlap", key)
            break


def _whole(ranges: list[NumberRange]) -> bool:
    return all(n == int(n) for r in ranges for n in (r.low, r.high))


@check_each("range-gap")
def _range_gap(own: OwnCriterion) -> Iterator[Problem]:
    if own.free_number and (gap := _gap(own)) is not None:
        yield own.problem(f" does not explain {gap}", "text")


def _gap(own: OwnCriterion) -> str | None:
    """Return the numbers between the ranges, or the single numbers, that a text explains."""
    low, high = _ends(own)
    ranges = _ranges(own.file.text)
    singles = [NumberRange(n, n, f"{n:g}") for n in _anchors(own.file.text)]
    inside = [r for r in sorted({*ranges, *singles}) if low <= r.low and r.high <= high]
    if ranges and len(inside) >= 2:
        step = 1.0 if _whole(inside) and high > 1 else 0.1
        reach = inside[0].high
        for item in inside[1:]:
            if item.low > reach + step + 1e-9:
                return f"the numbers between {reach:g} and {item.low:g}"
            reach = max(reach, item.high)
        return None
    numbers = sorted({r.low for r in inside})
    if len(numbers) >= 3 and all(n == int(n) for n in numbers):
        steps = [b - a for a, b in pairwise(numbers)]
        if 1.0 in steps and max(steps) == 2.0:
            return f"{next(a + 1 for a, b in pairwise(numbers) if b - a == 2.0):g}"
    return None


@check_each("wide-scale")
def _wide(own: OwnCriterion) -> Iterator[Problem]:
    low, high = _ends(own)
    if own.free_number and high - low > WIDE and not _ranges(own.file.text):
        key = "maximum" if own.file.maximum is not None else "minimum"
        yield own.problem(f" takes {low:g} to {high:g}, without ranges", key)


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
    """Return the values of the answer words, in the order of the file."""
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
    """Find two levels with values that contradict their words."""
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
            low, high = rising[0]
            if falling and len(falling) < len(rising):
                high, low = falling[0]
            yield own.problem(f": {low!r} has a lower value than {high!r}", "levels")
            return


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


@check("changed-scale")
def _changed(subject: LintSubject) -> Iterator[Problem]:
    before, now = subject.previous, subject.rubric
    if before is None or now is None:
        return
    for id, scales in carried(before, now).rescaled.items():
        own = id in subject.file.criteria
        where = subject.at("criteria", id) if own else subject.at("version")
        than = f"another scale than in {before.name}@{before.version}"
        yield Problem(where, f"{id!r} has {than}: {scales}", id)
