"""Rules about judges that are decision endpoints; they apply with `--api`."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.authoring.lint.rule import Problem, check
from judgekit.authoring.lint.subject import LintSubject
from judgekit.core.decisions import left_out_of, refusal_of


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
