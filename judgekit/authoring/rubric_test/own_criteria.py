"""Tests whose case has criteria itself: `points` asks about them, with the rubric as its frame."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError, RubricError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Part, Result, Score
from judgekit.core.suggest import suggest
from judgekit.metrics.criteria.item import CriterionItem, leaves_of, read_items
from judgekit.metrics.safety_and_quality.points import Points
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.testfile import WHOLE, RubricTest


def metric_of(rubric: Rubric, tests: Sequence[RubricTest], *, judge: JudgeLike) -> Points:
    """Return the metric that asks about all criteria of a case in one request.

    Args:
        rubric: the frame.
        tests: tests with the same mode and parameters.
        judge: the judge.

    Raises:
        RubricError: the rubric is no frame, the criteria of a case are wrong, or a test expects
            something of a criterion that its case does not have.
    """
    first = tests[0]
    if first.mode not in (None, rubric.default_mode):
        raise _invalid("a case with criteria itself is judged in the default mode", first)
    for test in tests:
        try:
            names = [WHOLE, *(_name(leaf) for leaf in leaves_of(read_items(test.case)))]
        except CaseError as exc:
            raise _invalid(str(exc), test) from exc
        if other := next((name for name in test.expect if name not in names), None):
            hint = suggest(other, names)
            raise _invalid(f"the case has no criterion {other!r}{hint}", test)
    try:
        frame = rubric.with_parameters(first.parameters)
        return Points(judge=judge, rubric=frame, calls="all")
    except ConfigError as exc:
        raise _invalid(str(exc), first) from exc


def as_asked(case: Case, result: Result) -> Result:
    """Return a result whose parts have the names and answers that tests expect."""
    if not isinstance(result, Score):
        return result
    pairs = zip(leaves_of(read_items(case)), result.parts, strict=True)
    return result.model_copy(update={"parts": tuple(_as_asked(*pair) for pair in pairs)})


def _as_asked(leaf: CriterionItem, part: Part) -> Part:
    (item,) = (item for item in part.items if isinstance(item, dict))
    answer = part.answer
    if leaf.kind == "boolean" and answer is not None:
        answer = answer == "met"
    update = {"id": _name(leaf), "answer": answer, "reason": str(item["reason"]), "items": ()}
    return part.model_copy(update=update)


def _name(leaf: CriterionItem) -> str:
    return leaf.id or leaf.part


def _invalid(message: str, test: RubricTest) -> RubricError:
    return RubricError(f"test {test.name!r}: {message}", where=test.where, rule="test-invalid")
