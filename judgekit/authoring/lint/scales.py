"""Rules about number scales: whether a text explains the numbers it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from judgekit.authoring.lint.finding import Said
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.subject import Spoken, Subject

WIDE = 10
"""Steps of a number scale above which a judge cannot tell neighbours apart."""

_NUMBER = r"(?<![\w.,-])(\d{1,6}(?:\.\d{1,6})?)"
_END = r"(\d{1,6}(?:\.\d{1,6})?)(?![\w]|[.,]\d)"
_TO = r"\s*(?:-|–|—|\.\.\.?|to|and|bis|und|à|et|a|y|e|до)\s*"
_UNIT = (
    r"(?!\s*(?:%|per|of|or|and|words?|sentences?|bullets?|items?|points?\s+(?:of|in)|paragraphs?|"
    r"steps?|characters?|lines?|minutes?|seconds?|hours?|days?|weeks?|months?|years?|people|pages?|"
    r"examples?|times?|wörter|sätze|mots|phrases|palabras|frases)\b)"
)
_SCALE = re.compile(
    r"\b(?:scale|rate|rated|rating|score|scored|grade|graded|mark|stars?|skala|note|notiere|"
    r"bewerte|échelle|note[rz]?|escala|puntúa|califica|оцен\w+|шкал\w+)\b[^.?!:;\d]{0,30}?"
    + _NUMBER
    + _TO
    + _END
    + _UNIT,
    re.IGNORECASE,
)
_DASHED = re.compile(
    _NUMBER + r"\s*[-–—]\s*" + _END + r"[\s-]+(?:point\s+)?(?:scale|rating)\b", re.IGNORECASE
)
_OUT_OF = re.compile(
    r"\b(?:out\s+of|von|sur|de|su)\s+(5|10|20|100)\b"
    r"(?=\s*+(?:(?:points?|stars?|punkten|points|puntos)\s*+)?+(?:[.,;:!?)]|$))",
    re.IGNORECASE,
)
_RANGE = re.compile(
    _NUMBER
    + r"\s*(?:-|–|—|\.\.\.?|to|bis|à|до)\s*"
    + _END
    + r"(?=\s*+(?:\)\s*+)?+(?:[:=]|means?\b|is\b|if\b|when\b|stands?\b|bedeutet\b|heißt\b|"
    r"signifie\b|"
    r"significa\b|означает\b|для\b|pour\b|für\b))",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    _NUMBER + r"(?=\s*(?:[:=]|means?\b|stands?\s+for\b|bedeutet\b|heißt\b|signifie\b|significa\b|"
    r"означает\b))",
    re.IGNORECASE,
)
_ANY_NUMBER = re.compile(r"(?<![\w.,])-?\d{1,6}(?:\.\d{1,6})?(?![\w]|[.,]\d)")
_NUMBER_WORDS = {"zero": 0.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0,
                 "ten": 10.0, "hundred": 100.0}  # fmt: skip


class Range(NamedTuple):
    """Two numbers of a text with a meaning of their own."""

    low: float
    high: float
    shown: str


def _numbers(subject: Subject) -> Iterator[Spoken]:
    """Yield the criteria that are answered with a free number."""
    for spoken in subject.own:
        if spoken.file.chosen_kind == "score" and not spoken.file.levels:
            yield spoken


def _ends(spoken: Spoken) -> tuple[float, float]:
    return spoken.criterion.question.minimum, spoken.criterion.question.maximum


def _said_numbers(text: str) -> set[float]:
    # "0-3" names 0 and 3, "1–5" names 1 and 5.
    plain = re.sub(r"(?<=\d)\s*[-–—]\s*(?=\d)", " ", text)
    found = {float(number) for number in _ANY_NUMBER.findall(plain)}
    lowered = text.lower()
    found |= {v for w, v in _NUMBER_WORDS.items() if re.search(rf"\b{w}\b", lowered)}
    return found


def anchored_in(subject: Subject, spoken: Spoken) -> bool:
    """Return whether both ends of a number are explained, in its text or in the own template."""
    if spoken.file.levels or spoken.file.options or spoken.file.chosen_kind != "score":
        return False
    low, high = _ends(spoken)
    said = _said_numbers(spoken.file.text)
    if {low, high} <= said:
        return True
    for body in subject.bodies:
        words = body.words.text
        if spoken.id in words or "criteria" in words.lower():
            anchors = {float(number) for number in _ANCHOR.findall(words)}
            anchors |= _said_numbers(words) if spoken.id in words else set()
            if {low, high} <= anchors | said:
                return True
    return False


def _unanchored(subject: Subject) -> Iterator[Said]:
    for spoken in _numbers(subject):
        if anchored_in(subject, spoken):
            continue
        low, high = _ends(spoken)
        said = _said_numbers(spoken.file.text)
        missing = [f"{end:g}" for end in (low, high) if end not in said]
        yield Said(
            subject.at("criteria", spoken.id, "text"),
            f"{spoken.id!r} is answered with a number from {low:g} to {high:g}, but does not say "
            f"what {' or '.join(missing)} means",
            spoken.id,
        )


def _other_scale(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        text = spoken.file.text
        said = _scale_in(text)
        number = spoken.file.chosen_kind == "score" and not spoken.file.levels
        low, high = _ends(spoken)
        where = subject.at("criteria", spoken.id, "text")
        if said is not None and not number:
            kind = "words" if spoken.criterion.levels else spoken.file.chosen_kind
            message = f"{spoken.id!r} is answered by {kind}, but speaks of a scale: {said.shown!r}"
            yield Said(where, message, spoken.id)
        elif said is not None and ((said.low, said.high) != (low, high)):
            message = (
                f"{spoken.id!r} speaks of {said.shown!r}, but is answered from {low:g} to {high:g}"
            )
            yield Said(where, message, spoken.id)
        elif number:
            beyond = [n for n in _anchors(text) if not low <= n <= high]
            if beyond:
                message = (
                    f"{spoken.id!r} explains {beyond[0]:g}, but is answered from {low:g} to "
                    f"{high:g}"
                )
                yield Said(where, message, spoken.id)


def _scale_in(text: str) -> Range | None:
    found = _SCALE.search(text) or _DASHED.search(text)
    if found is not None:
        low, high = float(found[1]), float(found[2])
        return Range(low, high, " ".join(found[0].split())) if low < high else None
    found = _OUT_OF.search(text)
    return Range(0.0, float(found[1]), found[0]) if found is not None else None


def _anchors(text: str) -> list[float]:
    return [float(number) for number in _ANCHOR.findall(text)]


def _ranges(text: str) -> list[Range]:
    found = [Range(float(m[1]), float(m[2]), " ".join(m[0].split())) for m in _RANGE.finditer(text)]
    return sorted(r for r in found if r.low <= r.high)


def _level_ranges(spoken: Spoken) -> list[Range]:
    """Return the ranges that the texts of levels name, one each."""
    found = []
    for level in (spoken.file.levels or {}).values():
        match = re.search(_NUMBER + r"\s*(?:-|–|—|to|bis|à)\s*" + _END + _UNIT, level.text, re.I)
        if match is not None and float(match[1]) <= float(match[2]):
            found.append(Range(float(match[1]), float(match[2]), match[0]))
    return sorted(found)


def _overlapping(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        where = subject.at("criteria", spoken.id, "text")
        ranges = _ranges(spoken.file.text)
        if not ranges and len(found := _level_ranges(spoken)) == len(spoken.file.levels or {}):
            ranges, where = found, subject.at("criteria", spoken.id, "levels")
        for first, second in pairwise(ranges):
            shared = first.high == second.low and _whole([first, second])
            if second.low < first.high or shared:
                message = f"{spoken.id!r}: {first.shown!r} and {second.shown!r} overlap"
                yield Said(where, message, spoken.id)
                break


def _whole(ranges: list[Range]) -> bool:
    return all(n == int(n) for r in ranges for n in (r.low, r.high)) and ranges[-1].high > 1


def _range_gap(subject: Subject) -> Iterator[Said]:
    for spoken in _numbers(subject):
        where = subject.at("criteria", spoken.id, "text")
        gap = _gap(spoken)
        if gap is not None:
            yield Said(where, f"{spoken.id!r} says nothing of {gap}", spoken.id)


def _gap(spoken: Spoken) -> str | None:
    """Return what lies between the ranges, or the single numbers, that a text explains."""
    low, high = _ends(spoken)
    ranges = _ranges(spoken.file.text)
    singles = [Range(n, n, f"{n:g}") for n in _anchors(spoken.file.text)]
    inside = [r for r in sorted({*ranges, *singles}) if low <= r.low and r.high <= high]
    if ranges and len(inside) >= 2:
        whole = all(n == int(n) for r in inside for n in (r.low, r.high))
        step = 1.0 if whole and high > 1 else 0.1
        reach = inside[0].high
        for item in inside[1:]:
            if item.low > reach + step + 1e-9:
                return f"what lies between {reach:g} and {item.low:g}"
            reach = max(reach, item.high)
        return None
    numbers = sorted({r.low for r in inside})
    if len(numbers) >= 3 and all(n == int(n) for n in numbers):
        steps = [b - a for a, b in pairwise(numbers)]
        if 1.0 in steps and max(steps) == 2.0:
            return f"{next(a + 1 for a, b in pairwise(numbers) if b - a == 2.0):g}"
    return None


def _wide(subject: Subject) -> Iterator[Said]:
    for spoken in _numbers(subject):
        low, high = _ends(spoken)
        if high - low > WIDE and not _ranges(spoken.file.text):
            key = "maximum" if spoken.file.maximum is not None else "minimum"
            where = subject.at("criteria", spoken.id, key)
            message = f"{spoken.id!r} is answered from {low:g} to {high:g}, without ranges"
            yield Said(where, message, spoken.id)


RULES: tuple[Rule, ...] = (
    Rule(
        "unanchored-scale",
        "warning",
        "Every judge has its own idea of 0.7. Only ends that are explained are the same for all.",
        "Say in the text what the lowest and the highest number mean, or use levels.",
        _unanchored,
    ),
    Rule(
        "scale-mismatch",
        "warning",
        "A text that names another scale than the one to answer on gets answers refused, or wrong "
        "by a factor.",
        "Make the text and `minimum`/`maximum` (0 and 1 unless given) say the same.",
        _other_scale,
    ),
    Rule(
        "overlapping-ranges",
        "warning",
        "A number in two ranges means two things.",
        "Let each range begin where the one before ends.",
        _overlapping,
    ),
    Rule(
        "range-gap",
        "warning",
        "A number that no range explains is used all the same, and means nothing.",
        "Explain the numbers in between, or use levels.",
        _range_gap,
    ),
    Rule(
        "wide-scale",
        "note",
        f"On more than {WIDE} steps, judges use a few round numbers.",
        "Use levels, a narrower scale, or explain ranges of it.",
        _wide,
    ),
)
