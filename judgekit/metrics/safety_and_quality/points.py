"""Points: criteria written for one case, each worth points, as in HealthBench."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError, RubricError
from judgekit.core.protocols import Aggregate, JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import needed_text
from judgekit.metrics.aggregate import Figures, ValueAggregate, mean_of
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.rubric import DEFAULT_HISTORY
from judgekit.metrics.shares import points_ratio
from judgekit.metrics.step import JudgedText, Stepped, named, text_parts
from judgekit.rubric.case_text import case_text, uses_case

MAX_CRITERIA = 200
"""Maximum number of criteria of a case."""
_FORM = "{criterion: text, points: number}"


class PointCriterion(NamedTuple):
    """A property that an answer should have, or, with negative points, should not have."""

    text: str
    points: float


class Overall(ValueAggregate):
    """The mean of the scores of a run, clipped to 0..1."""

    def finish(self) -> Figures:
        """Return the clipped mean."""
        mean = mean_of(self._values)
        return {"overall": None if mean is None else min(1.0, max(0.0, mean))}


class Points(Stepped):
    """Points of the criteria that an answer meets / all positive points. At most 1.

    `expected.criteria` lists the criteria of a case as `{criterion: text, points: number}`.
    Undesirable properties have negative points. A text may use fields of the case, as in `Names
    {{ case.metadata.product }}`; their values are printed as JSON. A judge decides for each
    criterion separately whether the answer meets it (rubric `criterion_met`). The value of a case
    is not clipped and may be below 0. The figure `overall` of a run is the mean, clipped to 0..1; a
    gate may use it.

    Args:
        judge: the judge, called once for each criterion.
        name: the name in results.
        history: maximum number of earlier messages that the judge sees.
        rubric: rubric for judging a criterion.
    """

    judge: JudgeLike
    name: str = "points"
    history: int = DEFAULT_HISTORY
    rubric: RubricLike = "criterion_met"

    range = (-math.inf, 1.0)
    needs = ("output", "expected.criteria")

    @property
    def figures(self) -> Mapping[str, bool]:
        """The figures of a run, and whether higher is better."""
        return {**super().figures, "overall": True}

    def aggregates(self) -> Sequence[Aggregate]:
        """Return new aggregates for a run."""
        return (*super().aggregates(), Overall())

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        output = needed_text(case, "output")
        criteria = [_about(criterion, case, n) for n, criterion in enumerate(criteria_of(case), 1)]
        fields = {
            "history": case.history,
            "input": case.input,
            "steps": case.steps,
            "output": output,
        }
        scores = await self.judge_each(case, [fields | {"reference": (c.text,)} for c in criteria])
        met = [score.value == 1.0 for score in scores]
        pairs = list(zip(criteria, met, strict=True))
        value = points_ratio([(c.points, m) for c, m in pairs])
        possible = math.fsum(c.points for c in criteria if c.points > 0)
        earned = math.fsum(c.points for c, m in pairs if m)
        wrong = [c.text for c, m in pairs if c.points and m != (c.points > 0)]
        judged = [
            JudgedText(
                f"{criterion.text} ({criterion.points:+g} points)",
                score,
                value=float(hit),
                met=hit == (criterion.points > 0),
                answer="met" if hit else "not met",
                source=case,
            )
            for criterion, score, hit in zip(criteria, scores, met, strict=True)
        ]
        if value is None:
            reason = "No criterion of this case is worth positive points."
        else:
            reason = f"{earned:g} of {possible:g} points"
            reason += f"; not as wanted: {named(wrong)}." if wrong else "."
        return self._score(
            value,
            reason=reason,
            scores=scores,
            parts=[
                part.model_copy(update={"weight": c.points / possible if possible else 0.0})
                for part, c in zip(text_parts("criterion", judged), criteria, strict=True)
            ],
            details={"earned": earned, "possible": possible},
            ground_truth=[criterion.text for criterion in criteria],
        )


def criteria_of(case: Case) -> list[PointCriterion]:
    """Return the criteria of a case; keys other than text and points are ignored.

    Raises:
        CaseError: there are no criteria, or one of them is not a text with points.
    """
    listed = case.expected.get("criteria")
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_CRITERIA:
        raise CaseError(f"needs expected.criteria: a list of {_FORM}, at most {MAX_CRITERIA}")
    return [_criterion(entry, number) for number, entry in enumerate(listed, start=1)]


def _about(criterion: PointCriterion, case: Case, number: int) -> PointCriterion:
    """Return a criterion with the fields of the case that its text uses."""
    if not uses_case(criterion.text):
        return criterion
    try:
        return criterion._replace(text=case_text(criterion.text).render(case))
    except (CaseError, RubricError) as exc:
        raise CaseError(f"expected.criteria: number {number}: {exc}") from exc


def _criterion(entry: Json, number: int) -> PointCriterion:
    if isinstance(entry, Mapping):
        text, points = entry.get("criterion"), entry.get("points")
        fine = isinstance(points, (int, float)) and not isinstance(points, bool)
        if isinstance(text, str) and has_text(text) and fine and math.isfinite(points):  # type: ignore[arg-type]
            return PointCriterion(" ".join(text.split()), float(points))  # type: ignore[arg-type]
    raise CaseError(f"expected.criteria: number {number} must be {_FORM}")
