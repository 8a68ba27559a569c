"""Rules about a rubric as a whole: its file, its weights and modes, and who can answer it."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.authoring.lint.rule import Problem, check, check_each, repeated
from judgekit.authoring.lint.subject import LintSubject, OwnCriterion
from judgekit.authoring.lint.words import pattern
from judgekit.core.decisions import left_out_of, refusal_of
from judgekit.rubric.library import SUFFIX


@check("missing-description")
def _undescribed(subject: LintSubject) -> Iterator[Problem]:
    inherited = (layer.file for layer in subject.parents if not layer.file.abstract)
    if not any((file.description or "").strip() for file in (subject.file, *inherited)):
        yield Problem(subject.at("name"), "has no description")


@check("name-mismatch")
def _misnamed(subject: LintSubject) -> Iterator[Problem]:
    stem = subject.path.name.removesuffix(SUFFIX)
    if subject.file.name != stem:
        message = f"is named {subject.file.name!r}, but its file is named {stem!r}"
        yield Problem(subject.at("name"), message)


@check("missing-tests")
def _untested(subject: LintSubject) -> Iterator[Problem]:
    if not subject.file.tests and not subject.file.abstract:
        yield Problem(subject.at("name"), "has no tests")


DOMINANT = 0.6
"""Share of the value above which one of three or more criteria decides alone."""
NEGLIGIBLE = 0.02
"""Share of the value below which an answer hardly changes two decimals."""
MANY = 20
"""Criteria in one request above which judges mix them up."""


def _weighted(subject: LintSubject) -> bool:
    return subject.inherited("combine") in (None, "weighted_mean")


@check("dominant-criterion")
def _dominant(subject: LintSubject) -> Iterator[Problem]:
    own = {one.id: one for one in subject.own} if _weighted(subject) else {}
    modes = subject.shares()
    for mode, all_shares in modes.items():
        shares = {id: share for id, share in all_shares.items() if share > 0}
        for id, share in shares.items():
            if len(shares) >= 3 and share > DOMINANT and id in own:
                of = f" of mode {mode!r}" if len(modes) > 1 else ""
                others = f"the other {len(shares) - 1} criteria hardly count"
                yield own.pop(id).problem(f" is {share:.0%} of the value{of}; {others}", "weight")


@check("negligible-weight")
def _negligible(subject: LintSubject) -> Iterator[Problem]:
    shares = subject.shares() if _weighted(subject) else {}
    for own in subject.own:
        most = max((abs(s[own.id]) for s in shares.values() if own.id in s), default=1.0)
        if most < NEGLIGIBLE:
            yield own.problem(f" is at most {most:.1%} of the value", "weight")


@check_each("weight-ignored")
def _ignored(own: OwnCriterion) -> Iterator[Problem]:
    if own.file.weight is not None and not _weighted(own.subject):
        combine = own.subject.inherited("combine")
        yield own.problem(f" has a weight, which combine {combine} ignores", "weight")


@check("mode-idle-group")
def _idle_group(subject: LintSubject) -> Iterator[Problem]:
    for mode, weights in subject.file.modes.items():
        for group, weight in weights.items():
            if weight == 0:
                where = subject.at("modes", mode, group)
                yield Problem(where, f"mode {mode!r} gives group {group!r} the weight 0")


@check("mode-duplicate")
def _same_modes(subject: LintSubject) -> Iterator[Problem]:
    modes = subject.file.modes
    weighted = ((frozenset((g, w) for g, w in modes[mode].items() if w), mode) for mode in modes)
    for mode, first in repeated(weighted):
        message = f"mode {mode!r} has the same weights as {first!r}"
        yield Problem(subject.at("modes", mode), message)


@check_each("penalty-unsaid")
def _penalty_without_fault(own: OwnCriterion) -> Iterator[Problem]:
    text = f"{own.id.replace('_', ' ').replace('-', ' ')} {own.file.text}"
    names_fault = not own.subject.english(text) or pattern("faults").search(text)
    if own.criterion.weight < 0 and not names_fault:
        yield own.problem(" has a negative weight, but its text names no fault", "weight")


@check_each("penalty-reversed")
def _reversed_penalty(own: OwnCriterion) -> Iterator[Problem]:
    if own.criterion.weight < 0 and own.file.reverse:
        yield own.problem(" is reversed twice: by a negative weight and by reverse", "reverse")


@check_each("reversed-levels")
def _reversed_levels(own: OwnCriterion) -> Iterator[Problem]:
    if own.file.reverse and own.words[1]:
        yield own.problem(" gives its words values and then reverses them", "reverse")


@check_each("all-wants-exact")
def _exact(own: OwnCriterion) -> Iterator[Problem]:
    if own.free_number and own.subject.inherited("combine") == "all":
        most = own.criterion.question.maximum
        yield own.problem(f" is a free number, but combine all needs exactly {most:g}")


@check("many-criteria")
def _many(subject: LintSubject) -> Iterator[Problem]:
    modes = subject.shares() if subject.own else {}
    if many := next((mode for mode, shares in modes.items() if len(shares) > MANY), None):
        asks = f"mode {many!r} asks" if len(modes) > 1 else "asks"
        message = f"{asks} for {len(modes[many])} criteria at once; the limit is {MANY}"
        yield Problem(subject.at("criteria"), message)


@check("not-askable")
def _not_askable(subject: LintSubject) -> Iterator[Problem]:
    for criterion in subject.loaded.criteria:
        if (why := refusal_of(criterion.question)) is not None:
            message = f"{criterion.id!r} cannot be asked at a decision endpoint: {why}"
            yield Problem(subject.at("criteria", criterion.id), message, criterion.id)


@check("not-answered")
def _not_answered(subject: LintSubject) -> Iterator[Problem]:
    for criterion in subject.loaded.criteria:
        if left_out := left_out_of(criterion.question):
            message = f"{criterion.id!r}: a decision endpoint gives no {', '.join(left_out)}"
            yield Problem(subject.at("criteria", criterion.id), message, criterion.id)
    for detail in subject.loaded.details:
        message = f"a decision endpoint gives no detail {detail.name}"
        yield Problem(subject.at("details", detail.name), message)
