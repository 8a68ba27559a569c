"""Rules about weights, modes and how criteria become one number."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.authoring.lint.finding import Said
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.subject import Subject
from judgekit.authoring.lint.words import FAULTS

DOMINANT = 0.6
"""Share of the value above which one of three or more criteria decides alone."""
NEGLIGIBLE = 0.02
"""Share of the value below which an answer cannot be seen in two decimals' worth of change."""
MANY = 20
"""Criteria asked at once above which judges lose count."""


def _dominant(subject: Subject) -> Iterator[Said]:
    if subject.inherited("combine") not in (None, "weighted_mean"):
        return
    own = {spoken.id for spoken in subject.own}
    said: set[str] = set()
    for mode, all_shares in subject.shares().items():
        shares = {id: share for id, share in all_shares.items() if share > 0}
        for id, share in shares.items():
            if len(shares) >= 3 and share > DOMINANT and id in own and id not in said:
                said.add(id)
                where = subject.at("criteria", id, "weight")
                of = f" of mode {mode!r}" if len(subject.shares()) > 1 else ""
                yield Said(
                    where,
                    f"{id!r} is {share:.0%} of the value{of}; the other {len(shares) - 1} "
                    "criteria hardly count",
                    id,
                )


def _negligible(subject: Subject) -> Iterator[Said]:
    if subject.inherited("combine") not in (None, "weighted_mean"):
        return
    shares = subject.shares()
    for spoken in subject.own:
        most = max((abs(s[spoken.id]) for s in shares.values() if spoken.id in s), default=None)
        if most is not None and most < NEGLIGIBLE:
            where = subject.at("criteria", spoken.id, "weight")
            yield Said(where, f"{spoken.id!r} is {most:.1%} of the value at most", spoken.id)


def _ignored(subject: Subject) -> Iterator[Said]:
    combine = subject.inherited("combine")
    if combine in (None, "weighted_mean"):
        return
    for spoken in subject.own:
        if spoken.file.weight is not None:
            yield Said(
                subject.at("criteria", spoken.id, "weight"),
                f"{spoken.id!r} has a weight, which combine {combine} does not look at",
                spoken.id,
            )


def _idle_group(subject: Subject) -> Iterator[Said]:
    for mode, weights in subject.file.modes.items():
        for group, weight in weights.items():
            if weight == 0:
                where = subject.at("modes", mode, group)
                yield Said(where, f"mode {mode!r} gives group {group!r} the weight 0")


def _same_modes(subject: Subject) -> Iterator[Said]:
    seen: dict[tuple[tuple[str, float], ...], str] = {}
    for mode, weights in subject.file.modes.items():
        key = tuple(sorted((g, w) for g, w in weights.items() if w))
        if key in seen:
            yield Said(subject.at("modes", mode), f"mode {mode!r} weighs as {seen[key]!r} does")
        seen.setdefault(key, mode)


def _unsaid_penalty(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        text = f"{spoken.id.replace('_', ' ').replace('-', ' ')} {spoken.file.text}"
        if spoken.criterion.weight < 0 and subject.english(text) and not FAULTS.search(text):
            yield Said(
                subject.at("criteria", spoken.id, "weight"),
                f"{spoken.id!r} has a negative weight, but its text names no fault: "
                "the more of it, the lower the value",
                spoken.id,
            )


def _twice_turned(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        if spoken.criterion.weight < 0 and spoken.file.reverse:
            yield Said(
                subject.at("criteria", spoken.id, "reverse"),
                f"{spoken.id!r} is turned round twice: by a negative weight and by reverse",
                spoken.id,
            )


def _reversed_levels(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        if spoken.file.reverse and (spoken.file.levels or spoken.file.options):
            yield Said(
                subject.at("criteria", spoken.id, "reverse"),
                f"{spoken.id!r} gives its words values and then turns them round",
                spoken.id,
            )


def _exact(subject: Subject) -> Iterator[Said]:
    if subject.inherited("combine") != "all":
        return
    for spoken in subject.own:
        if spoken.file.chosen_kind == "score" and not spoken.file.levels:
            yield Said(
                subject.at("criteria", spoken.id),
                f"{spoken.id!r} is a free number, and combine all wants it to be exactly "
                f"{spoken.criterion.question.maximum:g}",
                spoken.id,
            )


def _many(subject: Subject) -> Iterator[Said]:
    for mode, shares in subject.shares().items():
        if len(shares) > MANY and subject.own:
            of = f"mode {mode!r} asks" if len(subject.shares()) > 1 else "asks"
            where = subject.at("criteria")
            yield Said(where, f"{of} for {len(shares)} criteria at once, of {MANY} at most")
            return


RULES: tuple[Rule, ...] = (
    Rule(
        "dominant-criterion",
        "warning",
        f"A criterion with more than {DOMINANT:.0%} of the value decides alone; the others are "
        "asked, paid for and not heard.",
        "Spread the weights, or make a rubric of the one that matters.",
        _dominant,
        needs="rubric",
    ),
    Rule(
        "negligible-weight",
        "warning",
        f"A criterion with less than {NEGLIGIBLE:.0%} of the value cannot change a decision.",
        "Give it a weight that shows, or remove it.",
        _negligible,
        needs="rubric",
    ),
    Rule(
        "weight-ignored",
        "warning",
        "min, max and all look at values alone; a weight beside them says what is not done.",
        "Remove the weights, or use `combine: weighted_mean`.",
        _ignored,
        needs="rubric",
    ),
    Rule(
        "mode-idle-group",
        "warning",
        "A group with weight 0 is not asked in that mode; the line reads as if it were.",
        "Leave the group out of the mode.",
        _idle_group,
        needs="rubric",
    ),
    Rule(
        "mode-duplicate",
        "warning",
        "Two modes with the same weights give the same numbers under two names.",
        "Remove one, or weigh it as it was meant.",
        _same_modes,
        needs="rubric",
    ),
    Rule(
        "penalty-unsaid",
        "warning",
        "A negative weight takes away when the answer is high. Put to a criterion that asks for "
        "something good, it punishes what it should reward.",
        "Ask for the fault (`invents a source`), or make the weight positive.",
        _unsaid_penalty,
        "English",
        needs="rubric",
    ),
    Rule(
        "penalty-reversed",
        "warning",
        "A penalty that is reversed as well takes away when the fault is absent.",
        "Keep the negative weight, or `reverse: true`, not both.",
        _twice_turned,
        needs="rubric",
    ),
    Rule(
        "reversed-levels",
        "warning",
        "Words whose values are given and then turned round are read wrongly by the next author.",
        "Write the values the way they count, and remove `reverse`.",
        _reversed_levels,
        needs="rubric",
    ),
    Rule(
        "all-wants-exact",
        "warning",
        "`combine: all` is 1 only when every value is exactly 1; a judge's free number seldom is.",
        "Make it a boolean or give it levels.",
        _exact,
        needs="rubric",
    ),
    Rule(
        "many-criteria",
        "warning",
        f"Asked for more than {MANY} things at once, judges mix them up.",
        "Split the rubric, or put the groups into modes of their own.",
        _many,
        needs="rubric",
    ),
)
