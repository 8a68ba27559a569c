"""Rules about words to answer with: whether they can be told apart, and what they are worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from judgekit.authoring.lint.finding import Said
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.subject import Spoken, Subject

MANY_LEVELS = 9
GAP = 0.6
"""Distance between neighbouring levels, of four or more, in which values have no word. Three are
often two that are near and one that is not: none, within, above."""

_GENERIC = re.compile(
    r"(?i:excellent|outstanding|very[\s_-]good|good|fair|average|ok|okay|acceptable|poor|bad|"
    r"very[\s_-](?:poor|bad|high|low)|terrible|weak|strong|high|medium|moderate|low|level[\s_-]?\d|"
    r"\d+|[a-f][+-]?|great|mediocre|satisfactory|unsatisfactory|best|worst|"
    r"sehr[\s_-]gut|gut|mittel|schlecht|hoch|niedrig|bon|moyen|mauvais|bueno|regular|malo)"
)
_LADDERS: tuple[tuple[bool, tuple[str, ...]], ...] = (
    (True, ("excellent|outstanding|perfect", "very good|great", "good|strong", "fair|okay|ok|"
            "average|acceptable|satisfactory", "poor|weak|bad", "terrible|very bad|very poor|"
            "awful")),
    (False, ("always", "often|usually|mostly", "sometimes", "rarely|seldom", "never")),
    (False, ("very high", "high", "medium|moderate", "low", "very low")),
    (False, ("fully|full|complete|completely|entirely|all", "mostly|largely|most", "partly|partial|"
             "partially|some|somewhat", "barely|hardly|few", "none|not at all|nothing")),
    (False, ("critical|severe", "serious|major", "moderate|medium", "minor|slight", "none")),
    (False, ("strongly agree", "agree", "neutral|undecided", "disagree", "strongly disagree")),
)  # fmt: skip
"""Words in their order, and whether the first is the better end whatever is asked."""


def _unanchored_levels(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        levels = spoken.file.levels or {}
        bare = [word for word, level in levels.items() if not level.text]
        generic = [word for word in bare if _GENERIC.fullmatch(word.strip())]
        described = any(re.search(rf"\b{re.escape(w)}\b", spoken.file.text, re.I) for w in bare)
        if len(generic) >= 2 and not described:
            yield Said(
                subject.at("criteria", spoken.id, "levels"),
                f"{spoken.id!r} does not say how {generic[0]!r} differs from {generic[1]!r}",
                spoken.id,
            )


def _same_value(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        words = spoken.file.levels or spoken.file.options or {}
        values = [level.value for level in words.values()]
        if len({v for v in values if v is not None}) == 1 and len(values) - values.count(None) > 1:
            where = subject.at("criteria", spoken.id, "levels" if spoken.file.levels else "options")
            message = (
                f"{spoken.id!r}: every answer is worth {next(v for v in values if v is not None):g}"
            )
            yield Said(where, message, spoken.id)
            continue
        seen: dict[float, str] = {}
        for word, level in (spoken.file.levels or {}).items():
            if level.value is None:
                continue
            first = seen.setdefault(level.value, word)
            if first != word:
                where = subject.at("criteria", spoken.id, "levels", word)
                message = f"{spoken.id!r}: {word!r} is worth what {first!r} is, {level.value:g}"
                yield Said(where, message, spoken.id)


def _order(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        values = [v.value for v in (spoken.file.levels or {}).values() if v.value is not None]
        steps = [b - a for a, b in pairwise(values)]
        if any(s > 0 for s in steps) and any(s < 0 for s in steps):
            shown = ", ".join(f"{value:g}" for value in values)
            where = subject.at("criteria", spoken.id, "levels")
            yield Said(where, f"{spoken.id!r}: the values go up and down: {shown}", spoken.id)


def _ladder(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        fault = _against(spoken)
        if fault is not None:
            where = subject.at("criteria", spoken.id, "levels")
            message = f"{spoken.id!r}: {fault[0]!r} is worth less than {fault[1]!r}"
            yield Said(where, message, spoken.id)


def _against(spoken: Spoken) -> tuple[str, str] | None:
    """Return two levels whose values contradict their words."""
    levels = {
        re.sub(r"[\s_-]+", " ", word.strip().lower()): (word, level.value)
        for word, level in (spoken.file.levels or {}).items()
        if level.value is not None
    }
    good = spoken.criterion.weight > 0 and not spoken.file.reverse
    for valued, rungs in _LADDERS:
        known = [levels[w] for rung in rungs for w in rung.split("|") if w in levels]
        if len(known) != len(levels) or len(known) < 2:
            continue
        steps = [(a, b) for a, b in pairwise(known)]
        rising = [(a[0], b[0]) for a, b in steps if (b[1] or 0) > (a[1] or 0)]
        falling = [(a[0], b[0]) for a, b in steps if (b[1] or 0) < (a[1] or 0)]
        if rising and (falling or (valued and good)):
            if len(falling) < len(rising) and falling:
                return falling[0][1], falling[0][0]
            return rising[0]
    return None


def _level_gap(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        values = sorted(v.value for v in (spoken.file.levels or {}).values() if v.value is not None)
        for low, high in pairwise(values):
            if len(values) >= 4 and high - low > GAP + 1e-9:
                where = subject.at("criteria", spoken.id, "levels")
                message = f"{spoken.id!r} has no level between {low:g} and {high:g}"
                yield Said(where, message, spoken.id)


def _reach(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        words = spoken.file.levels or spoken.file.options or {}
        values = [level.value for level in words.values() if level.value is not None]
        if not values or len(set(values)) == 1:
            continue
        top, bottom = max(values), min(values)
        where = subject.at("criteria", spoken.id, "levels" if spoken.file.levels else "options")
        if top < 1:
            message = f"{spoken.id!r}: the most that can be had is {top:g}, so no case reaches 1"
            yield Said(where, message, spoken.id)
        if bottom > 0.5:
            message = f"{spoken.id!r}: the least that can be had is {bottom:g}"
            yield Said(where, message, spoken.id)


def _alike(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        key = "levels" if spoken.file.levels else "options"
        seen: dict[str, str] = {}
        said: dict[str, str] = {}
        for word, level in (getattr(spoken.file, key) or {}).items():
            where = subject.at("criteria", spoken.id, key, word)
            first = seen.setdefault(re.sub(r"[\W_]+", "", word).casefold() or word, word)
            if first != word:
                message = f"{spoken.id!r}: {word!r} and {first!r} differ in spelling only"
                yield Said(where, message, spoken.id)
            text = " ".join(level.text.casefold().split())
            if text and said.setdefault(text, word) != word:
                message = f"{spoken.id!r}: {word!r} is described as {said[text]!r} is"
                yield Said(where, message, spoken.id)


def _many(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        count = len(spoken.file.levels or {})
        if count > MANY_LEVELS:
            where = subject.at("criteria", spoken.id, "levels")
            message = f"{spoken.id!r} has {count} levels, of {MANY_LEVELS} at most"
            yield Said(where, message, spoken.id)


def _lonely(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        if spoken.file.items and len(spoken.file.items) == 1:
            where = subject.at("criteria", spoken.id, "items")
            yield Said(where, f"{spoken.id!r} is a checklist of one item", spoken.id)


RULES: tuple[Rule, ...] = (
    Rule(
        "unanchored-levels",
        "warning",
        "Words such as good and fair are told apart by their texts, or not at all.",
        "Give each level a text: `good: {value: 0.75, text: ...}`.",
        _unanchored_levels,
        "words of several languages",
    ),
    Rule(
        "same-value",
        "warning",
        "Levels worth the same cannot be told apart in the number; where all are, nothing is "
        "measured.",
        "Give them different values, or make one of them.",
        _same_value,
    ),
    Rule(
        "level-order",
        "warning",
        "Levels are read as a ladder; values that go up and down are a slip, or read as one.",
        "List the levels from one end to the other.",
        _order,
    ),
    Rule(
        "level-words",
        "warning",
        "A better word that is worth less turns the measure round.",
        "Mend the values, or the words.",
        _ladder,
        "English",
    ),
    Rule(
        "level-gap",
        "warning",
        f"Where two of four or more levels are over {GAP:g} apart, cases are left without a word.",
        "Add a level in between, or move the values.",
        _level_gap,
    ),
    Rule(
        "level-reach",
        "warning",
        "When no level is worth 1, a perfect answer cannot have a perfect score; when none is near "
        "0, nothing can fail.",
        "Let the levels reach from 0 to 1.",
        _reach,
    ),
    Rule(
        "similar-levels",
        "warning",
        "Two words that differ in spelling, or have the same text, are one level.",
        "Remove one, or say how they differ.",
        _alike,
    ),
    Rule(
        "many-levels",
        "note",
        f"Judges tell five levels apart, hardly more than {MANY_LEVELS}.",
        "Merge neighbours.",
        _many,
    ),
    Rule(
        "checklist-of-one",
        "note",
        "A list of one item is a yes or no in a longer form.",
        "Use `kind: boolean`.",
        _lonely,
    ),
)
