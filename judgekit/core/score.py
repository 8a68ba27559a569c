"""The result of a metric on a case: a score with its origin, or a failure."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from judgekit.core.canonical import canonical_json
from judgekit.core.case import for_metric
from judgekit.core.distribution import Distribution, Label
from judgekit.core.errors import JudgekitError
from judgekit.core.judgment import Judgment, Quote
from judgekit.core.left_out import NOTES, SHOWN
from judgekit.core.value import Displayed, Json, Value, check_json, is_json, to_json_bytes

if TYPE_CHECKING:
    from judgekit.core.case import Case
    from judgekit.core.display.parts import DisplayPart as Shown
    from judgekit.core.protocols import Metric

Status = Literal["scored", "abstained", "not_applicable"]

FailureKind = Literal[
    "refused",
    "truncated",
    "empty",
    "only_thought",
    "invalid_reply",
    "unavailable",
    "cassette_miss",
    "invalid_case",
    "not_run",
    "pending",
    "metric_error",
]
"""The reasons why a row can have no score."""
_NOUNS = {"invalid_case": "case", "invalid_reply": "reply", "cassette_miss": "miss",
          "metric_error": "error"}  # fmt: skip
"""Kinds of failures that are named by a noun; the others are adjectives."""
_PLURALS = {"reply": "replies", "miss": "misses"}


def failure_count(kind: str, count: int) -> str:
    """Return a number of failures with their kind.

    >>> failure_count("invalid_case", 11), failure_count("refused", 2), failure_count("empty", 1)
    ('11 invalid cases', '2 refused', '1 empty')
    """
    words = kind.replace("_", " ")
    if count != 1 and (noun := _NOUNS.get(kind)):
        words = words.removesuffix(noun) + _PLURALS.get(noun, f"{noun}s")
    return f"{count:,} {words}"


class Part(Value):
    """The result of one criterion in a score."""

    id: str
    status: Status = "scored"
    value: float | None = None
    """Value on 0..1, after levels, reversal and counting; `None` unless scored."""
    weight: float = 0.0
    """Weight in the final value after renormalisation; negative for a penalty."""
    answer: Json = None
    """The judge's answer: a number, a boolean or a word."""
    reason: str = ""
    quotes: tuple[Quote, ...] = ()
    items: tuple[Json, ...] = ()
    details: dict[str, Json] = Field(default_factory=dict)
    distribution: Distribution | None = None
    """Distribution of the answers of several samples or judges, or of one with probabilities."""

    @property
    def cost(self) -> float:
        """The amount by which the part lowers the final value; 0 without a value."""
        value, weight = self.value, self.weight
        if value is None:
            return 0.0
        return weight * (1.0 - value) if weight > 0 else -weight * value

    def verdict_on(self, item: dict[str, Json]) -> str:
        """Return whether an item is met, in words.

        Where the answer of the part is `met` itself, the item says whether that was wanted: a
        property that costs points should not be met.
        """
        wanted = self.answer in ("met", "not met")
        yes, no = ("as wanted", "not as wanted") if wanted else ("met", "not met")
        return yes if item.get("met") else no


class Fallback(Value):
    """The metric that replaced the judged one, and the reason."""

    substitute: str
    cause: str


class Opinion(Value):
    """One of several answers to the same question: by one judge, in one order."""

    of: str = ""
    """The judged text, in a metric that judges several; empty for the case itself."""
    member: str = ""
    """The role or model of the judge; empty if there is only one."""
    sample: int = 0
    order: str = "written"
    """The order of options, criteria or answers: `written`, `reversed`, `shuffled 1`, ..."""
    value: float | None = None
    """The score of this opinion alone, on 0..1; `None` without a score."""
    answers: dict[str, Label] = Field(default_factory=dict)
    """Criterion -> answer."""
    values: dict[str, float | None] = Field(default_factory=dict)
    """Criterion -> value on 0..1; `None` unless scored."""
    judgments: tuple[int, ...] = ()
    """Indices of its judgments in those of the score, which have the reasons."""
    failure: FailureKind | None = None
    """The reason why there is no answer."""
    message: str = ""


class Score(Displayed, Value):
    """The result of one metric on one case."""

    type: Literal["score"] = "score"
    status: Status = "scored"
    value: float | None = None
    """The raw value, finite and within the metric's range; `None` unless scored."""
    scale: float = 1.0
    """Factor for display only; means do not use it."""
    parts: tuple[Part, ...] = ()
    reason: str = ""
    source: Literal["judge", "computed"] = "computed"
    method: str = ""
    """The method that produced the value, in a few words."""
    confidence: float | None = None
    """A number on 0..1; the documentation of the metric defines it."""
    ground_truth: Json = None
    judgments: tuple[Judgment, ...] = ()
    details: dict[str, Json] = Field(default_factory=dict)
    meta: dict[str, Json] = Field(default_factory=dict)
    fallback: Fallback | None = None
    opinions: tuple[Opinion, ...] = ()
    """All answers, if there were several; the parts have the combined result."""

    @model_validator(mode="after")
    def _value_follows_status(self) -> "Score":
        if (self.value is None) == (self.status == "scored"):
            raise ValueError("a scored result has a value, any other has none")
        return self

    @property
    def shown(self) -> float | None:
        """The value for display: scaled, then rounded half up to two decimals."""
        return None if self.value is None else round_half_up(self.value * self.scale)

    def explain(self, metric: "Metric | None" = None) -> str:
        """Return the score in a few plain sentences.

        Args:
            metric: the metric that made it, for its range, its direction and the meaning of its
                confidence.
        """
        from judgekit.core.explanation import explain_score

        return explain_score(self, metric)

    def _parts_shown(self) -> "Iterable[Shown]":
        from judgekit.core.display.result import result_parts

        return result_parts(self)


class Failure(Displayed, Value):
    """The reason why there is no score; it never counts as zero."""

    type: Literal["failure"] = "failure"
    kind: FailureKind
    message: str
    key: str | None = None
    """The key of the request that failed, if there was one."""
    judgments: tuple[Judgment, ...] = ()
    """Judgments that were obtained before the failure."""

    def explain(self, metric: "Metric | None" = None) -> str:
        """Return one sentence that says why there is no score."""
        from judgekit.core.explanation import explain_failure

        return explain_failure(self, metric)

    def _parts_shown(self) -> "Iterable[Shown]":
        from judgekit.core.display.result import result_parts

        return result_parts(self)


Result = Annotated[Score | Failure, Field(discriminator="type")]


def own_value(result: Result) -> float | None:
    """Return the value of a score; `None` for a fallback or a failure."""
    return result.value if isinstance(result, Score) and result.fallback is None else None


def own_parts(result: Result) -> tuple[Part, ...]:
    """Return the parts of a score; empty for a fallback or a failure."""
    return result.parts if isinstance(result, Score) and result.fallback is None else ()


class Row(Displayed, Value):
    """One line of the results: a case, a metric and its result."""

    case: str
    metric: str
    result: Result

    def to_json(self) -> str:
        """Return the JSON line of this row, without fields at their defaults except the type."""
        return self.to_bytes().decode()

    def to_bytes(self) -> bytes:
        """Return the JSON line of this row in UTF-8."""
        return row_bytes(self.case, self.metric, self.result)

    def _parts_shown(self) -> "Iterable[Shown]":
        from judgekit.core.display.result import result_parts

        return result_parts(self.result, name=f"{self.metric} of {self.case}")


def row_bytes(case: str, metric: str, result: Result) -> bytes:
    """Return the JSON line of a row in UTF-8 without building the `Row`."""
    begin = (
        f'{{"case":{canonical_json(case)},"metric":{canonical_json(metric)}'
        f',"result":{{"type":"{result.type}",'
    )
    return b"%b%b}" % (begin.encode(), to_json_bytes(result)[1:])


async def checked_score(metric: "Metric", case: "Case") -> Score:
    """Score a case with a metric and check that the score can be reported.

    All code that scores with another metric calls this function, so an invalid value fails in the
    same way at every depth.

    Raises:
        JudgekitError: the metric raised it.
        ValueError: the value is outside the metric's range, or is not JSON.
    """
    notes: dict[str, Json] = {}
    token = NOTES.set(notes)
    try:
        score = await metric.score(for_metric(case))
    finally:
        NOTES.reset(token)
    if notes and isinstance(score, Score) and isinstance(score.details, dict):
        outer = NOTES.get()
        if outer is not None:
            outer.update(notes)
        score = score.model_copy(update={"details": {**score.details, SHOWN: notes}})
    try:
        check_score(score, within=metric.range, validated=metric.validated)
    except ValueError as exc:
        raise ValueError(f"{metric.name}: {exc}") from exc
    return score


def check_score(score: Score, *, within: tuple[float, float], validated: bool = False) -> None:
    """Check that a score can be reported.

    Args:
        score: the score.
        within: the range of the metric.
        validated: whether its data is known to be JSON.

    Raises:
        ValueError: it is not a `Score`, its value is outside the metric's range, or it contains
            data that is not JSON.
    """
    if not isinstance(score, Score):
        raise ValueError(f"it returned a {type(score).__name__}, not a Score")
    if score.value is not None and not within[0] <= score.value <= within[1]:
        raise ValueError(f"the value {score.value} is outside the range {within[0]} to {within[1]}")
    if not isinstance(score.reason, str) or not isinstance(score.details, dict):
        raise ValueError("its reason is not a string, or its details are not a dict")
    if validated:
        return
    free = [score.ground_truth, score.details, score.meta]
    for part in score.parts:
        free += (part.answer, part.items, part.details)
    if not is_json(*free):
        for name in ("ground_truth", "details", "meta"):
            check_json(score.__dict__[name], where=name)
        for part in score.parts:
            for name in ("answer", "items", "details"):
                check_json(part.__dict__[name], where=f"{part.id}.{name}")


def round_half_up(value: float) -> float:
    """Round to two decimals, halves up, for display.

    Computes floor((value + 2**-52) * 100 + .5) / 100. The results agree with those of the
    TypeScript scorers (.025 -> .03, -.015 -> -.01); Python's `round` gives other results.
    """
    return math.floor((value + 2.0**-52) * 100 + 0.5) / 100


async def guarded(case: "Case", metric: "Metric") -> Result:
    """Score one row; an error that concerns only this row becomes its `Failure`.

    Raises:
        JudgekitError: one that stops the run.
    """
    try:
        return await checked_score(metric, case)
    except JudgekitError as exc:
        failure = failure_of(exc)
        if failure is None:
            raise
        return failure
    except (Exception, SystemExit) as exc:  # noqa: BLE001 - the single per-case guard: a metric's mistake costs one row
        _log(case, metric)
        return Failure(kind="metric_error", message=f"{type(exc).__name__}: {_line(exc)}")


def _log(case: "Case", metric: "Metric") -> None:
    """Log the exception that is being handled, for the author of the metric."""
    import logging

    message = "%s: %s raised an exception"
    logging.getLogger("judgekit").debug(message, case.id, metric.name, exc_info=True)


def failure_of(error: JudgekitError) -> Failure | None:
    """Return the failure that an error becomes, or `None` if the error stops the run."""
    if error.kind is None:
        return None
    return Failure.model_validate({"kind": error.kind, "message": _line(error), "key": error.key})


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 1000 else text[:997] + "..."
