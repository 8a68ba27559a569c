"""Several judgments of one case: whether they are enough, and what they come to together."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any

from judgekit.errors import InvalidReply, JudgekitError
from judgekit.judgment import Answer, Judgment
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Outcome
from judgekit.rubric.rubric import Variant
from judgekit.value import Json


async def valid(asked: Sequence[Coroutine[Any, Any, Judgment]]) -> list[Judgment]:
    """Return the valid judgments of samples asked at a time, if they are a majority.

    Raises:
        JudgekitError: why there are not enough; a reason of the judge before an invalid reply.
    """
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    good = [outcome for outcome in outcomes if isinstance(outcome, Judgment)]
    bad = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    fatal = next((e for e in bad if not isinstance(e, JudgekitError)), None)
    if fatal is not None:
        raise fatal
    if 2 * len(good) <= len(asked):
        raise next((e for e in bad if not isinstance(e, InvalidReply)), bad[0])
    return good


def agreed(
    variant: Variant, judgments: Sequence[Judgment]
) -> tuple[list[Outcome], dict[str, Json]]:
    """Return what came of each criterion over several judgments, and how far they were apart."""
    outcomes = []
    spread: dict[str, Json] = {}
    for criterion in variant.criteria:
        answers = [judgment.answers[criterion.id] for judgment in judgments]
        outcomes.append(_together(criterion, answers))
        spread[criterion.id] = [criterion.value_of(answer)[1] for answer in answers]
    return outcomes, spread


def _together(criterion: Criterion, answers: Sequence[Answer]) -> Outcome:
    question = criterion.question
    if question.labels or question.kind == "boolean":
        (first, count), *rest = Counter(answer.value for answer in answers).most_common(2)
        if rest and rest[0][1] == count:
            return "abstained", None
        return criterion.value_of(next(a for a in answers if a.value == first))
    outcomes = [criterion.value_of(answer) for answer in answers]
    values = [value for _, value in outcomes if value is not None]
    if 2 * len(values) <= len(outcomes):
        return next(status for status, value in outcomes if value is None), None
    return "scored", sum(values) / len(values)
