"""The models of the metrics in a suite file, with their gates."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag

from judgekit.core.file_model import (
    FileModel,
    Fraction,
    Number,
    Positive,
    Rows,
    none_yet,
    one_or_several,
    short_for,
)
from judgekit.rubric.file import CriterionFile


def _parts(value: Any) -> Any:
    """Refuse a text under `of`: other tools use it for a field."""
    if isinstance(value, str):
        raise ValueError(
            f"lists the metrics to combine, such as [{value}];"
            f" to name the text that perplexity measures, write `field: {value}`"
        )
    return value


class FallbackFile(FileModel):
    """The metric that replaces a judge that does not answer."""

    model_config = ConfigDict(extra="allow")

    use: str
    """A computed metric; its options are further keys of this entry."""
    on_budget: bool = False
    """Whether it also replaces the judge after `limits.max_cost` is spent."""


class GateFile(FileModel):
    """The bounds that a metric must meet; further keys are figures of the metric itself."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Number] = Field(init=False)

    where: dict[str, str | int | float | bool | list[str | int | float | bool]] = Field(
        default_factory=dict
    )
    """Only cases whose metadata has these values: `{topic: refunds}`."""
    cluster: Annotated[str, Field(min_length=1)] | None = None
    """Metadata field that groups related cases, such as a user; by default, that of the suite."""
    undecided: Literal["pass", "fail"] | None = None
    """Whether an undecided gate passes; by default, as the suite sets."""
    corrected: bool | None = None
    """Whether the bound is about the mean that `labels` correct."""
    mean: Number | None = None
    """The lowest mean; the highest where lower is better."""
    pass_rate: Fraction | None = None
    """The lowest share of scores that pass the threshold."""
    min: Number | None = None
    """The lowest score."""
    max: Number | None = None
    """The highest score."""
    coverage: Fraction | None = None
    """The lowest share of rows that the metric itself scores; not applicable rows do not count."""
    abstained: Rows = None
    """The most rows from which the judge abstains: a number, or a share such as "5%"."""
    failed: Rows = None
    """The most rows that fail."""
    fallback: Rows = None
    """The most rows that a fallback scores."""
    not_worse: Positive | None = None
    """The margin by which the mean may be worse than in the baseline, interval included."""


# Messages leave out the tags in brackets (see core.file_model).
_Gates = Annotated[
    Annotated[GateFile, Tag("[one]")] | Annotated[list[GateFile], Tag("[several]")],
    Discriminator(one_or_several),
]

_Criterion = Annotated[
    CriterionFile, BeforeValidator(short_for("text"), json_schema_input_type=str | CriterionFile)
]

_Jury = Annotated[
    Annotated[Annotated[list[str], Field(min_length=2)] | None, Tag("[roles]")]
    | Annotated[Annotated[dict[str, Positive], Field(min_length=2)], Tag("[weights]")],
    Discriminator(lambda value: "[weights]" if isinstance(value, dict) else "[roles]"),
]


class MetricFile(FileModel):
    """One metric; further keys are its options."""

    model_config = ConfigDict(extra="allow")

    metric: str | None = None
    """The registered metric, where the entry has another name."""
    rubric: str | None = None
    """A rubric: a name, or a file relative to the suite."""
    criteria: Annotated[dict[str, _Criterion], Field(min_length=1)] | None = None
    """Questions for the judge by name: a rubric without its own file."""
    description: str | None = None
    """What `criteria` judge, in one sentence; the judge reads it as the task."""
    requires: list[str] | None = None
    """Fields that a case needs for `criteria`; by default `output`."""
    combine: Literal["mean", "min", "max", "weighted_mean"] | None = None
    """How to combine the metrics under `of`."""
    of: Annotated[
        list[str] | None, BeforeValidator(_parts, json_schema_input_type=list[str] | None)
    ] = None
    """Metrics of this suite that `combine` combines."""
    threshold: float | None = None
    """The score that a case needs to pass, on the range of the metric."""
    gate: _Gates = Field(default_factory=none_yet)
    """The bounds that the run must meet; otherwise its exit code is 1: mean, pass_rate, min, max,
    coverage, ..., or a figure of the metric, such as unverified_quotes of a rubric with quotes.
    A list sets several gates, for slices of the cases."""
    fallback: Annotated[
        FallbackFile | None,
        BeforeValidator(short_for("use"), json_schema_input_type=str | FallbackFile | None),
    ] = None
    """The metric that replaces a judge that does not answer."""
    judge: str | None = None
    """The role of its judge; by default `judge`."""
    likelihood: str | None = None
    """The role of the model that gives log-probabilities; by default `judge`."""
    parameters: dict[str, Any] | None = None
    """Parameters of its rubric; the others keep their defaults."""
    jury: _Jury = None
    """Roles of several judges that vote; with `vote: weighted`, the weight of each role."""
    vote: Literal["majority", "mean", "weighted"] | None = None
    """How the jury votes; by default the majority of words and the mean of numbers."""
    quorum: int | None = Field(default=None, ge=1)
    """How many judges of the jury must answer; by default more than half."""
    order: Literal["written", "balanced"] | None = None
    """`balanced` shows criteria and options in another order to each of the samples."""
    calls: Literal["all", "each"] | Annotated[int, Field(ge=1)] | None = None
    """`all` criteria in one call, `each` in its own, or so many per call; by default `all`."""
    readout: Literal["expected", "mode", "yes"] | None = None
    """What is read from the distribution of the answers; by default numbers are averaged, and
    words decided by majority."""
    pairwise: str | None = None
    """A rubric that compares two answers, such as `preference`; it is asked in both orders."""
    with_: Literal["baseline", "reference"] | None = Field(default=None, alias="with")
    """The answer to compare the output with: `baseline` (the default), or the first `reference`."""

    @property
    def role(self) -> str | None:
        """The role under `judge` or `likelihood`, if any."""
        return self.judge or self.likelihood
