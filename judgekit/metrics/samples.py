"""Several judgments of one case: whether they are enough, and what they come to together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple

from judgekit.core.errors import InvalidReply, JudgekitError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.score import Part, Status
from judgekit.core.value import Json
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Outcome
from judgekit.rubric.rubric import Variant


class CombinedSamples(NamedTuple):
    """What the judgments of a case come to: the fields of a score that depend on them."""

    status: Status
    value: float | None
    judgments: tuple[Judgment, ...]
    parts: tuple[Part, ...] = ()
    reason: str = ""
    confidence: float | None = None
    details: dict[str, Json] = {}  # noqa: RUF012 - never changed


async def valid(requests: Sequence[Coroutine[Any, Any, Judgment]]) -> list[Judgment]:
    """Return the valid judgments of samples asked at a time, if they are a majority.

    Raises:
        JudgekitError: why there are not enough; a reason of the judge before an invalid reply.
    """
    import asyncio  # a replay of one sample does without

    outcomes = await asyncio.gather(*requests, return_exceptions=True)
    good = [outcome for outcome in outcomes if isinstance(outcome, Judgment)]
    bad = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    fatal = next((e for e in bad if not isinstance(e, JudgekitError)), None)
    if fatal is not None:
        raise fatal
    if 2 * len(good) <= len(requests):
        raise next((e for e in bad if not isinstance(e, InvalidReply)), bad[0])
    return good


def agreed(
    variant: Variant, judgments: Sequence[Judgment]
) -> tuple[list[Outcome], dict[str, Answer], dict[str, Json]]:
    """Return the combined verdict on each criterion over several judgments.

    Returns:
        What each criterion is worth; criterion -> the answer that gives that worth, with the
        reason of a sample that supports it; criterion -> what each sample was worth.
    """
    outcomes = []
    combined: dict[str, Answer] = {}
    spread: dict[str, Json] = {}
    for criterion in variant.criteria:
        answers = [judgment.answers[criterion.id] for judgment in judgments]
        outcome, combined[criterion.id] = _together(criterion, answers)
        outcomes.append(outcome)
        spread[criterion.id] = [criterion.value_of(answer)[1] for answer in answers]
    return outcomes, combined, spread


def combined_value(values: Sequence[float | bool | str | None]) -> float | bool | str | None:
    """Return the verdict of several samples: the majority of words or yes/no, the mean of numbers.

    `None` where the samples are tied, or most of them abstained.

    >>> combined_value(["good", "bad", "good"]), combined_value([True, False])
    ('good', None)
    >>> combined_value([0.5, 1.0, None])
    0.75
    """
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if not numbers:
        (first, count), *rest = Counter(values).most_common(2)
        return None if rest and rest[0][1] == count else first
    return sum(numbers) / len(numbers) if 2 * len(numbers) > len(values) else None


def _together(criterion: Criterion, answers: Sequence[Answer]) -> tuple[Outcome, Answer]:
    question = criterion.question
    worth = [criterion.value_of(answer) for answer in answers]
    if question.labels or question.kind == "boolean":
        values = [answer.value for answer in answers]
        counts = Counter(values).most_common()
        if len(counts) > 1 and counts[0][1] == counts[1][1]:
            tied = ", ".join(f"{_word(value)} {count}" for value, count in counts)
            return ("abstained", None), Answer(reason=f"the samples are tied: {tied}")
        place = values.index(combined_value(values))
        return worth[place], answers[place]
    known = [value for _, value in worth if value is not None]
    if 2 * len(known) <= len(worth):
        place = next(n for n, (_, value) in enumerate(worth) if value is None)
        return (worth[place][0], None), answers[place]
    mean = sum(known) / len(known)
    away = [abs(value - mean) if value is not None else float("inf") for _, value in worth]
    nearest = answers[away.index(min(away))]
    if nearest.value is None:  # a checklist: its items have the value
        return ("scored", mean), nearest
    value = combined_value([answer.value for answer in answers])
    return ("scored", mean), nearest.model_copy(update={"value": value})


def _word(value: float | bool | str | None) -> str:
    return {True: "yes", False: "no", None: "no answer"}.get(value, str(value))  # type: ignore[arg-type]
