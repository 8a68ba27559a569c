"""The models of a suite file and its metrics."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from judgekit.core.duration import DURATION, checked_duration, seconds_in
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
from judgekit.core.judge_settings import LEAST_REASON, MOST_REASON
from judgekit.core.limits import MOST_CALLS, MOST_CASES, MOST_CONCURRENT
from judgekit.datasets.case_builder import Shape
from judgekit.datasets.load import Container, Thoughts
from judgekit.privacy.rules import Rule
from judgekit.rubric.file import ONE_OF_THE_FIELDS, InlineCriteria
from judgekit.rubric.fold import Combine
from judgekit.suite.judge_file import ROLE, NamedJudge, OneJudge


def _parts(value: Any) -> Any:
    """Reject a text under `of`: other tools use it for a field."""
    if isinstance(value, str):
        advice = f"to name the text that perplexity measures, write `field: {value}`"
        raise ValueError(f"lists the metrics to combine, such as [{value}]; {advice}")
    return value


class FallbackFile(FileModel):
    """The metric that replaces a judge that does not answer."""

    model_config = ConfigDict(extra="allow")

    use: str
    """A computed metric; its options are the other keys of this entry."""
    on_budget: bool = False
    """Whether it is also used after `limits.max_cost` is spent."""


class GateLabelsFile(FileModel):
    """Which labels count for the corrected mean of a gate."""

    any: bool = False
    """Whether the gate may pass although the judge's values show that the labelled cases are no
    random sample of the run."""


class GateFile(FileModel):
    """The bounds that a metric must meet; other keys are figures of the metric itself."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Number] = Field(init=False)

    where: dict[str, str | int | float | bool | list[str | int | float | bool]] = Field(
        default_factory=dict
    )
    """Use only cases whose metadata has these values: `{topic: refunds}`."""
    cluster: Annotated[str, Field(min_length=1)] | None = None
    """Metadata field that groups related cases, such as a user; by default, the suite's field."""
    undecided: Literal["pass", "fail"] | None = None
    """Whether an undecided gate passes; by default, the suite's setting."""
    corrected: bool | None = None
    """Whether the bound applies to the mean corrected with `labels`."""
    labels: GateLabelsFile | None = None
    """Which labels count for a corrected mean."""
    constant: Literal["pass", "fail"] | None = None
    """Whether the run fails if the judge gives nearly every case the same answer to a criterion, or
    probabilities near chance; by default, a sentence says so and nothing fails."""
    mean: Number | None = None
    """The lowest allowed mean; the highest if lower is better."""
    pass_rate: Fraction | None = None
    """The lowest allowed share of scores that pass the threshold."""
    min: Number | None = None
    """The lower bound of the lowest score."""
    max: Number | None = None
    """The upper bound of the highest score."""
    coverage: Fraction | None = None
    """The lowest allowed share of applicable rows with a score of the metric itself."""
    abstained: Rows = None
    """The maximum of rows in which the judge abstains: a number, or a share such as "5%"."""
    failed: Rows = None
    """The maximum of failed rows."""
    fallback: Rows = None
    """The maximum of rows with a score of the fallback."""
    left_out: Rows = None
    """The maximum of rows whose judge was not shown the whole case."""
    empty_answers: Rows = None
    """The maximum of rows with an answer without a word."""
    not_worse: Positive | None = None
    """The margin by which the mean may be worse than in the baseline, including its interval."""


# Messages leave out the tags in brackets (see core.file_model).
_Gates = Annotated[
    Annotated[GateFile, Tag("[one]")] | Annotated[list[GateFile], Tag("[several]")],
    Discriminator(one_or_several),
]


_Jury = Annotated[
    Annotated[Annotated[list[str], Field(min_length=2)] | None, Tag("[roles]")]
    | Annotated[Annotated[dict[str, Positive], Field(min_length=2)], Tag("[weights]")],
    Discriminator(lambda value: "[weights]" if isinstance(value, dict) else "[roles]"),
]


def _fallback(value: Any) -> Any:
    if isinstance(value, str) and value.casefold() in ("none", "off", "no"):
        raise ValueError(f"{value} is no metric; leave fallback out for none")
    return short_for("use")(value)


class MetricFile(FileModel):
    """One metric; other keys are its options."""

    model_config = ConfigDict(extra="allow")

    metric: str | None = None
    """The registered metric, if the entry has another name."""
    rubric: str | None = None
    """A rubric: a name such as `quality` or `quality@1`, or a file relative to the suite."""
    criteria: InlineCriteria | None = None
    """Questions for the judge, by name: a rubric without its own file."""
    description: str | None = None
    """The task of `criteria`, in one sentence for the judge."""
    requires: list[str] | None = Field(default=None, json_schema_extra=ONE_OF_THE_FIELDS)
    """Required fields of a case for `criteria`; by default `output`."""
    combine: Combine | None = None
    """How to combine the metrics under `of`."""
    of: Annotated[
        list[str] | None, BeforeValidator(_parts, json_schema_input_type=list[str] | None)
    ] = None
    """Metrics of this suite that `combine` combines."""
    threshold: float | None = None
    """The score that a case must reach to pass, on the range of the metric."""
    gate: _Gates = Field(default_factory=none_yet)
    """The bounds that the run must meet; otherwise its exit code is 1: mean, pass_rate, min, max,
    coverage, ..., or a figure of the metric, such as unverified_quotes of a rubric with quotes.
    A list sets several gates, for slices of the cases."""
    fallback: Annotated[
        FallbackFile | None,
        BeforeValidator(_fallback, json_schema_input_type=str | FallbackFile | None),
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
    """The number of judges of the jury that must answer; by default more than half."""
    order: Literal["written", "balanced"] | None = None
    """`balanced` shows criteria and options in a different order in each sample."""
    calls: Literal["all", "each"] | Annotated[int, Field(ge=1)] | None = None
    """`all` criteria in one call, `each` in its own, or the number per call; by default `all`."""
    readout: Literal["expected", "mode", "yes"] | None = None
    """What is read from the distribution of the answers; by default numbers are averaged, and
    words decided by majority."""
    max_reason: int | None = Field(default=None, ge=LEAST_REASON, le=MOST_REASON)
    """Maximum length of a reason, a quote or another text of a reply, in characters; by default
    that of the judge."""
    pairwise: str | None = None
    """A rubric that compares two answers, such as `preference`; it is used in both orders."""
    with_: Literal["baseline", "reference"] | None = Field(default=None, alias="with")
    """The answer to compare the output with: `baseline` (the default), or the first `reference`."""

    @property
    def role(self) -> str | None:
        """The role under `judge` or `likelihood`, if any."""
        return self.judge or self.likelihood

    @property
    def named_roles(self) -> list[tuple[str, str]]:
        """The key and the role of every judge that the entry names."""
        one = [("judge", self.judge), ("likelihood", self.likelihood)]
        return [*(("jury", role) for role in self.jury or ()), *((k, r) for k, r in one if r)]


class CasesFile(FileModel):
    """The file of the cases."""

    path: str
    """A file, relative to the suite; `-` is standard input."""
    format: Shape | None = None
    """The format of a row; by default, judgekit detects it for each row."""
    container: Container | None = None
    """The format of the file; by default, the file ending decides."""
    fields: dict[str, str] | None = None
    """Field of a case -> key of a row: `{input: prompt, output: response}`."""
    thoughts: Thoughts | None = None
    """Whether the thoughts of a model stay in its texts (`keep`); by default, they go to the
    metadata (`drop`)."""
    sheet: str | None = None
    """The sheet of an Excel workbook; by default, the only one with cells."""
    delimiter: str | None = None
    """The character between columns of a CSV file; by default, the header shows it."""
    encoding: str | None = None
    """The encoding of a text file, such as `cp1252`; by default UTF-8, or UTF-16 with its mark."""
    limit: int | None = Field(default=None, ge=1, le=MOST_CASES)
    """The largest number of cases to read."""


MOST_INLINE = 1_000
"""Cases in a suite file; larger sets belong in their own file."""


class RunGateFile(FileModel):
    """Settings of all gates, and gates on the whole run."""

    undecided: Literal["pass", "fail"] | None = None
    """Whether a gate on a mean or pass rate passes while its interval contains the bound;
    by default, the figure alone decides."""
    baseline: str | None = None
    """Run folder that `not_worse` compares with, relative to the suite."""
    cost: Positive | None = None
    """The highest cost of all replies in US dollars, including recorded ones."""


class CalibrationFile(FileModel):
    """The agreement with people above which reports call a judge calibrated (`judgekit agree`)."""

    kappa: float | None = Field(default=None, gt=0, le=1)
    """The minimum of the lower end of kappa's 95 % interval, for each labelled criterion."""
    spearman: float | None = Field(default=None, gt=0, le=1)
    """The minimum of the lower end of the 95 % interval of Spearman's rho."""


def _auto_or(most: int, *, optional: bool = True) -> Any:
    """Return the type of a limit: a whole number from 1 to `most`, `auto`, or perhaps `None`."""

    def check(value: Any) -> Any:
        whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
        if value is None or value == "auto" or whole:
            return value
        shown = repr(value)[:60]
        raise ValueError(f"must be a whole number from 1 to {most:,}, or auto (it is {shown})")

    number = Annotated[int, Field(ge=1, le=most)]
    known: Any = number | Literal["auto"]
    return BeforeValidator(check, json_schema_input_type=known | None if optional else known)


class LimitsFile(FileModel):
    """Limits of the run."""

    concurrency: Annotated[int | Literal["auto"], _auto_or(MOST_CONCURRENT, optional=False)] = 8
    """Concurrent calls of each judge; `auto` follows the server."""
    rpm: Annotated[int | Literal["auto"] | None, _auto_or(10**9)] = None
    """Requests per minute to one server; `auto` learns the limit from the server."""
    tpm: Annotated[int | Literal["auto"] | None, _auto_or(10**12)] = None
    """Tokens per minute to one server; `auto` learns the limit from the server."""
    max_failures: int = Field(default=0, ge=0)
    """The maximum of failed rows in a complete run."""
    max_fallback: int = Field(default=0, ge=0)
    """The maximum of fallback rows in a complete run."""
    max_outages: int = Field(default=5, ge=0)
    """Consecutive outages after which judgekit stops calling the judge."""
    max_cost: float | None = Field(default=None, gt=0)
    """US dollars that a run may spend; calls in flight when they are spent are completed."""
    batch_wait: Annotated[
        str | None, Field(json_schema_extra={"pattern": DURATION}), AfterValidator(checked_duration)
    ] = None
    """How long `run --batch` waits for its jobs and goes on, such as 90s, 30m, 6h or 1d; by default
    it does not wait."""

    @property
    def waits(self) -> float | None:
        """Seconds of `batch_wait`."""
        return None if self.batch_wait is None else seconds_in(self.batch_wait)

    @property
    def most_calls(self) -> int:
        """The maximum number of concurrent calls of one judge."""
        return MOST_CALLS if self.concurrency == "auto" else self.concurrency

    def calls_of(self, workers: int) -> int | None:
        """Return the number of concurrent calls for one worker; `None` if a pace decides."""
        return None if self.concurrency == "auto" else max(1, self.concurrency // workers)

    @property
    def paced(self) -> bool:
        """Whether calls wait for a pace."""
        return self.concurrency == "auto" or self.rpm is not None or self.tpm is not None


# Short forms of an entry; the schema of the file has both forms.
_Rows = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_INLINE)]

_Cases = Annotated[
    Annotated[CasesFile | None, Tag("[one]")] | Annotated[_Rows, Tag("[several]")],
    Discriminator(one_or_several),
    BeforeValidator(short_for("path"), json_schema_input_type=str | CasesFile | _Rows | None),
]


def _filled(value: Any) -> Any:
    return {} if value is None else value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Metric = Annotated[MetricFile, BeforeValidator(_filled, json_schema_input_type=MetricFile | None)]
_Folders = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])]


class SuiteFile(FileModel):
    """A suite."""

    schema_: str | None = Field(default=None, alias="$schema")
    """The schema of this file, for editors; a run ignores it."""
    name: str | None = None
    """The name of the suite in reports."""
    description: str | None = None
    """A description for readers."""
    notice: str | None = None
    """A notice that every report of this suite prints."""
    cases: _Cases = None
    """The cases: a file, relative to this one, or a list."""
    judge: OneJudge = None
    """The judge: a model, or its settings; `none` for no judge."""
    judges: dict[Annotated[str, Field(pattern=ROLE)], NamedJudge] = Field(default_factory=dict)
    """Several judges by role, such as `judge`, `second`, `cheap`; `judge: X` is short for the role
    `judge`."""
    cassette: str | None = None
    """The file that records and replays the replies."""
    record: str | None = None
    """The requests that may be sent: none (replay only), new_episodes, all."""
    embedder: str | dict[str, Any] | None = None
    """The default embedder of the metrics: `lexical`, or a local model, `onnx:FOLDER` or a mapping
    such as `{onnx: FOLDER, threads: 2}`; or a hosted one with recorded vectors,
    `{model: openai/text-embedding-3-small, api_base: ...}` or `{role: ROLE}`."""
    rubrics: _Folders = Field(default_factory=none_yet)
    """Folders to search first for rubrics, relative to the suite."""
    metrics: dict[str, _Metric] = Field(min_length=1)
    """The metrics. A key is the name of a metric or rubric, or a name that you choose; then
    `metric` or `rubric` names it."""
    cluster: Annotated[str, Field(min_length=1)] | None = None
    """Metadata field that groups related cases, such as a user or a document; intervals and tests
    treat each group as a cluster."""
    limits: LimitsFile = LimitsFile.model_construct()
    """Limits on concurrency, cost and failures."""
    gate: RunGateFile = RunGateFile.model_construct()
    """Settings of all gates, and gates on the whole run."""
    labels: Annotated[str, Field(min_length=1)] | None = None
    """File with human labels, relative to this one: reports then have the corrected mean of
    each labelled metric."""
    calibration: CalibrationFile = CalibrationFile.model_construct()
    """The agreement with people above which reports call a judge calibrated."""
    redact: list[Rule] = Field(default_factory=none_yet)
    """Texts to remove from requests and recordings: kinds such as email and iban, or patterns."""
    redact_salt_env: str | None = None
    """Environment variable with the secret key of the pseudonyms."""

    @property
    def cases_file(self) -> CasesFile | None:
        """The file of the cases, if the suite names one."""
        return self.cases if isinstance(self.cases, CasesFile) else None

    @property
    def rows(self) -> list[dict[str, Any]] | None:
        """The cases in the suite file, if it has them."""
        return self.cases if isinstance(self.cases, list) else None
