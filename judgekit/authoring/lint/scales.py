"""Rules about number scales: whether a text explains its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from judgekit.authoring.lint.rule import Problem, check, check_each
from judgekit.authoring.lint.subject import LintSubject, OwnCriterion
from judgekit.authoring.lint.words import pattern

WIDE = 10
"""Steps of a number scale above which judges do not tell neighbours apart."""

_NUMBER_WORDS = {"zero": 0.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0,
                 "ten": 10.0, "hundred": 100.0}  # fmt: skip


class NumberRange(NamedTuple):
    """Two numbers of a text that have an explanation."""

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


def anchored_in(subject: LintSubject, own: OwnCriterion) -> bool:
    """Return whether the text or an own template explains both ends of a number."""
    if not own.free_number or own.file.options:
        return False
    ends, named = set(_ends(own)), _all_numbers(own.file.text)
    if ends <= named:
        return True
    for template in subject.bodies:
        text = template.words.text
        if own.id in text or "criteria" in text.lower():
            anchors = {*_anchors(text), *(_all_numbers(text) if own.id in text else ())}
            if ends <= anchors | named:
                return True
    return False


@check("unanchored-scale")
def _unanchored(subject: LintSubject) -> Iterator[Problem]:
    for own in subject.own:
        if not own.free_number or anchored_in(subject, own):
            continue
        low, high = _ends(own)
        named = _all_numbers(own.file.text)
        missing = " or ".join(f"{end:g}" for end in (low, high) if end not in named)
        message = f" takes a number from {low:g} to {high:g}, but does not explain {missing}"
        yield own.problem(message, "text")


@check_each("scale-mismatch")
def _other_scale(own: OwnCriterion) -> Iterator[Problem]:
    scale = _scale_in(own.file.text)
    low, high = _ends(own)
    beyond = [n for n in _anchors(own.file.text) if not low <= n <= high]
    if scale is not None and not own.free_number:
        kind = "words" if own.criterion.levels else own.file.chosen_kind
        message = f" is answered with {kind}, but names a scale: {scale.shown!r}"
        yield own.problem(message, "text")
    elif scale is not None and (scale.low, scale.high) != (low, high):
        message = f" names the scale {scale.shown!r}, but takes {low:g} to {high:g}"
        yield own.problem(message, "text")
    elif own.free_number and beyond:
        message = f" explains {beyond[0]:g}, but takes {low:g} to {high:g}"
        yield own.problem(message, "text")


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
    ranges = map(_range_of, pattern("range").finditer(text))
    return sorted(r for r in ranges if r.low <= r.high)


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
