"""Several judgments of one case, by a rubric or by a Pydantic class, as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from judgekit.core.errors import ConfigError, InvalidReply, JudgekitError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.request import Form
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


class ResponseModel:
    """What is asked for, and what an instance of it is worth on 0..1.

    Args:
        made_of: the class; its JSON schema goes to the judge.
        worth: what an instance is worth; its field `value` or `score` by default.
    """

    def __init__(
        self, model_class: type[BaseModel], *, worth: Callable[[Any], float] | None = None
    ) -> None:
        self.made_of = model_class
        self.form = Form(json_schema=_schema(model_class))
        self._worth = worth or _value_field

    def combined(self, judgments: Sequence[Judgment], *, metric: str) -> CombinedSamples:
        """Return the mean of what the judgments are worth, with the reason of the first.

        Raises:
            ValueError: one is worth something outside of 0..1.
            ConfigError: nothing says what an instance is worth.
        """
        values = []
        for judgment in judgments:
            value = float(self._worth(self.made_of.model_validate(judgment.data)))
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{metric}: the response is worth {value}, not within 0..1")
            values.append(value)
        data = judgments[0].data
        details = data if isinstance(data, dict) else {}
        return CombinedSamples(
            status="scored",
            value=sum(values) / len(values),
            reason=str(details.get("reason", "")),
            judgments=tuple(judgments),
            details=details,
        )


def _schema(response_model: type[BaseModel]) -> dict[str, Json]:
    """Return a model's JSON schema without the names of Python classes: they are not asked for."""
    schema: dict[str, Json] = _untitled(response_model.model_json_schema())
    return schema


def _untitled(value: Any, *, named: bool = False) -> Any:
    """Return a schema without titles; under `properties` a title is a field, not a title."""
    if isinstance(value, dict):
        return {
            key: _untitled(item, named=key in ("properties", "$defs"))
            for key, item in value.items()
            if named or key != "title"
        }
    return [_untitled(item) for item in value] if isinstance(value, list) else value


def _value_field(response: Any) -> float:
    for name in ("value", "score"):
        if hasattr(response, name):
            return float(getattr(response, name))
    raise ConfigError("the response model has no field 'value'; say what it is worth with value=")
