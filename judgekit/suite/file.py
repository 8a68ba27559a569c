"""The shape of a suite file, as people write it, and of the flags that override it."""

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from judgekit.core.file_model import FileModel, Fraction, Number, Positive, Rows, none_yet
from judgekit.core.limits import MOST_CASES
from judgekit.core.suggest import suggest
from judgekit.core.value import check_json
from judgekit.datasets.case_builder import Shape
from judgekit.datasets.load import Container
from judgekit.rubric.file import CriterionFile


def _path(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


def _model(value: Any) -> Any:
    return {"model": value} if isinstance(value, str) else value


def _use(value: Any) -> Any:
    return {"use": value} if isinstance(value, str) else value


def _parts(value: Any) -> Any:
    """Refuse a text under `of`, which is the option of a metric in other tools."""
    if isinstance(value, str):
        raise ValueError(
            f"lists the metrics that `combine` takes together, such as [{value}];"
            f" the text that perplexity measures is named by `field: {value}`"
        )
    return value


def _rule(value: Any) -> Any:
    """Take the name of something built in, or a regular expression that could be no name."""
    if not isinstance(value, str):
        return value
    if not re.fullmatch(r"[A-Za-z][\w -]*", value):
        return {"pattern": value}
    known = list(get_args(Builtin))
    if value not in known:
        # A misspelt name must not pass for a pattern that happens to match nothing.
        raise ValueError(
            f"nothing is built in under the name {value!r}"
            + suggest(value, known, otherwise=f"; a pattern is written {{pattern: {value}}}")
        )
    return {"find": value}


class CasesFile(FileModel):
    """Where the cases are."""

    path: str
    """A file, relative to the suite; `-` is standard input."""
    format: Shape | None = None
    """What one row looks like; left out, each row tells."""
    container: Container | None = None
    """How the rows are kept; left out, the file ending tells."""
    fields: dict[str, str] | None = None
    """Where a row keeps the fields of a case: `{input: prompt, output: response}`."""
    limit: int | None = Field(default=None, ge=1, le=MOST_CASES)
    """Stop after so many cases."""


MOST_INLINE = 1_000
"""Cases that may be written in a suite; more belong in a file."""


def _file_or_rows(value: Any) -> str:
    return "[rows]" if isinstance(value, list) else "[file]"


class PriceFile(FileModel):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    """For what is asked."""
    output: float = Field(ge=0)
    """For what is answered."""


class JudgeFile(FileModel):
    """Who judges."""

    model: str = Field(min_length=1)
    """The name that litellm uses, such as openai/NAME; `manual/NAME` is a person."""
    api_base: str | None = None
    """Address of a server of your own; an OpenAI-compatible one ends in /v1."""
    api_key_env: str | None = None
    """Environment variable that holds the key. A key itself never belongs in a file."""
    params: dict[str, Any] = Field(default_factory=dict)
    """What shapes an answer: temperature, max_tokens, seed, ...; part of every key."""
    identity: str | None = None
    """What really answers under that name; part of every key."""
    mode: Literal["json_schema", "json_object_schema", "tools", "json_object", "text"] | None = None
    """How the judge is made to answer in JSON; found out by probing where it is left out."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds one call may take."""
    retries: int = Field(default=3, ge=0)
    """Further attempts after an outage."""
    max_wait: float = Field(default=60.0, ge=0)
    """Seconds to wait between attempts, at most."""
    reasks: int = Field(default=1, ge=0, le=3)
    """How often to ask again after an answer of the wrong form."""
    price: PriceFile | None = None
    """What it takes, where litellm's own list is not to count."""
    answers: str | None = None
    """File of a person's answers, for `manual/NAME`."""

    @field_validator("params")
    @classmethod
    def _json(cls, params: dict[str, Any]) -> dict[str, Any]:
        check_json(params, where="params")
        return params


class FallbackFile(FileModel):
    """What stands in when the judge cannot be reached."""

    model_config = ConfigDict(extra="allow")

    use: str
    """The computed metric that stands in; its options stand beside."""
    on_budget: bool = False
    """Whether it also stands in when `limits.max_cost` is used up."""


def _one_or_several(value: Any) -> str:
    return "[several]" if isinstance(value, list) else "[one]"


class GateFile(FileModel):
    """What a run must show of a metric; other keys are figures of the metric's own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Number] = Field(init=False)

    where: dict[str, str | int | float | bool | list[str | int | float | bool]] = Field(
        default_factory=dict
    )
    """Only cases whose metadata has these values: `{topic: refunds}`."""
    cluster: Annotated[str, Field(min_length=1)] | None = None
    """Field of the metadata whose cases are alike, such as a user, where it is not the suite's."""
    undecided: Literal["pass", "fail"] | None = None
    """Whether "cannot tell yet" passes, where it is not as the suite says."""
    mean: Number | None = None
    """At least, or at most where lower is better."""
    pass_rate: Fraction | None = None
    """Least share of scores that reach the threshold."""
    min: Number | None = None
    """The lowest score."""
    max: Number | None = None
    """The highest score."""
    coverage: Fraction | None = None
    """Least share of rows with a score of the metric's own; not applicable ones left out."""
    abstained: Rows = None
    """Most rows the judge may leave open: a number, or a share such as "5%"."""
    failed: Rows = None
    """Most rows without a score, because something went wrong."""
    fallback: Rows = None
    """Most rows that a stand-in scored."""
    not_worse: Positive | None = None
    """The mean may be worse than the baseline's by so much, and that must be shown."""


# The marks in brackets are left out of messages (see filemodel.steps_to).
_Gates = Annotated[
    Annotated[GateFile, Tag("[one]")] | Annotated[list[GateFile], Tag("[several]")],
    Discriminator(_one_or_several),
]


class RunGateFile(FileModel):
    """What holds for all gates, and gates on the run as a whole."""

    undecided: Literal["pass", "fail"] | None = None
    """Whether a gate on a mean or pass rate passes while its interval leaves both possible;
    left out, the figure alone decides."""
    baseline: str | None = None
    """Run folder that `not_worse` holds this run against, relative to the suite."""
    cost: Positive | None = None
    """US dollars that all replies together may cost, or have cost when they were recorded."""


class CalibrationFile(FileModel):
    """How far a judge must agree with people to be called calibrated (see `judgekit agree`)."""

    kappa: float | None = Field(default=None, gt=0, le=1)
    """Least lower end of the 95 % interval of kappa, for every criterion people labelled."""
    spearman: float | None = Field(default=None, gt=0, le=1)
    """Least lower end of the 95 % interval of Spearman's rho."""


def _question(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


_Criterion = Annotated[
    CriterionFile, BeforeValidator(_question, json_schema_input_type=str | CriterionFile)
]


class MetricFile(FileModel):
    """One metric; keys not named here are options of its own."""

    model_config = ConfigDict(extra="allow")

    metric: str | None = None
    """The kind of metric, where its name here is one of your own."""
    rubric: str | None = None
    """A rubric: a name or a file, relative to the suite."""
    criteria: Annotated[dict[str, _Criterion], Field(min_length=1)] | None = None
    """Questions for the judge, by name: a rubric without a file of its own."""
    description: str | None = None
    """What `criteria` judge, in a sentence; the judge reads it as the task."""
    requires: list[str] | None = None
    """Fields every case must have for `criteria`; `output` by default."""
    combine: Literal["mean", "min", "max", "weighted_mean"] | None = None
    """How metrics named under `of` are taken together."""
    of: Annotated[
        list[str] | None, BeforeValidator(_parts, json_schema_input_type=list[str] | None)
    ] = None
    """Metrics of this suite that `combine` takes together."""
    threshold: float | None = None
    """Value a case must reach to pass, on the metric's own range."""
    gate: _Gates = Field(default_factory=none_yet)
    """What the run must show, else its exit code is 1: mean, pass_rate, min, max, coverage, ...,
    or a figure of the metric's own, such as unverified_quotes of a rubric that asks for quotes;
    a list of several for slices of the cases."""
    fallback: Annotated[
        FallbackFile | None, BeforeValidator(_use, json_schema_input_type=str | FallbackFile | None)
    ] = None
    """What stands in for a judge that cannot be reached."""
    judge: str | None = None
    """The role of the judge it asks, where that is not `judge`."""
    likelihood: str | None = None
    """The role of the model whose log-probabilities it takes, where that is not `judge`."""
    parameters: dict[str, Any] | None = None
    """What the parameters of its rubric are set to; the others keep their defaults."""

    @property
    def role(self) -> str | None:
        """The role it names, if it names one: of its judge, or of the model it measures by."""
        return self.judge or self.likelihood


class LimitsFile(FileModel):
    """Bounds on the run."""

    concurrency: int = Field(default=8, ge=1, le=4096)
    """Calls in flight."""
    max_failures: int = Field(default=0, ge=0)
    """Rows that may fail before a run counts as incomplete."""
    max_fallback: int = Field(default=0, ge=0)
    """Rows that may be fallbacks before a run counts as incomplete."""
    max_outages: int = Field(default=5, ge=0)
    """Outages in a row after which the judge is not asked any more."""
    max_cost: float | None = Field(default=None, gt=0)
    """US dollars a run may spend."""


Builtin = Literal["key", "email", "card", "ip", "phone"]


class RuleFile(FileModel):
    """What to redact: something built in, or a pattern of one's own."""

    find: Builtin | None = None
    """Something built in; it becomes a pseudonym such as [EMAIL-1f4a09c2]."""
    pattern: str | None = Field(default=None, min_length=1)
    """A regular expression."""
    replace: str = "[REDACTED]"
    """What stands in place of what the pattern matches."""
    name: str | None = None
    """Gives what the pattern matches a pseudonym instead: ORDER makes [ORDER-1f4a09c2]."""

    @model_validator(mode="after")
    def _one_thing(self) -> "RuleFile":
        if (self.find is None) == (self.pattern is None):
            raise ValueError("give either find or pattern")
        if self.find is not None and len(self.model_fields_set) > 1:
            raise ValueError(f"{self.find!r} is built in and takes nothing else")
        if self.name is not None and "replace" in self.model_fields_set:
            raise ValueError("give replace or name, not both")
        return self


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _no_metric(value: Any) -> Any:
    return {} if value is None else value


# What stands for a whole entry where people write less: the schema of the file says so too.
_Rows = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_INLINE)]
_Cases = Annotated[
    Annotated[CasesFile | None, Tag("[file]")] | Annotated[_Rows, Tag("[rows]")],
    Discriminator(_file_or_rows),
    BeforeValidator(_path, json_schema_input_type=str | CasesFile | _Rows | None),
]
_Judge = Annotated[
    JudgeFile | None, BeforeValidator(_model, json_schema_input_type=str | JudgeFile | None)
]
_Metric = Annotated[
    MetricFile, BeforeValidator(_no_metric, json_schema_input_type=MetricFile | None)
]
_Rule = Annotated[RuleFile, BeforeValidator(_rule, json_schema_input_type=str | RuleFile)]


_Folders = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])]
_NamedJudge = Annotated[JudgeFile, BeforeValidator(_model, json_schema_input_type=str | JudgeFile)]
JUDGE = "judge"
"""The role of the judge that metrics ask when they name none."""
ROLE = r"^[A-Za-z][A-Za-z0-9_-]{0,39}$"


class RedactFile(FileModel):
    """What must not be asked or recorded, where there is no suite to say it."""

    redact: list[_Rule] = Field(default_factory=none_yet)
    redact_salt_env: str | None = None


class SuiteFile(FileModel):
    """A suite."""

    schema_: str | None = Field(default=None, alias="$schema")
    """Where editors find the schema of this file; it means nothing to a run."""
    name: str | None = None
    """What reports call the suite."""
    description: str | None = None
    """What it is about, for its readers."""
    notice: str | None = None
    """What every report of this suite must say."""
    cases: _Cases = None
    """What to score: a file, relative to this one, or a list of cases."""
    judge: _Judge = None
    """Who judges: a model, or more about it; `none` for nobody."""
    judges: dict[Annotated[str, Field(pattern=ROLE)], _NamedJudge] = Field(default_factory=dict)
    """Several judges by role, such as `judge`, `second`, `cheap`; `judge: X` alone is short for
    the role `judge`."""
    cassette: str | None = None
    """Where replies are recorded and replayed from."""
    record: str | None = None
    """What may be asked: none (replay only), new_episodes, all."""
    embedder: str | dict[str, Any] | None = None
    """How texts become vectors, in every metric that says nothing else: `lexical`, or a model:
    `onnx:FOLDER`, or a mapping such as `{onnx: FOLDER, threads: 2}`; hosted, and recorded like
    verdicts, `{model: openai/text-embedding-3-small, api_base: ...}` or `{role: ROLE}`."""
    rubrics: _Folders = Field(default_factory=none_yet)
    """Folders to look rubrics up in first, relative to the suite."""
    metrics: dict[str, _Metric] = Field(min_length=1)
    """What to score by: a metric, a rubric, or a name of your own for one."""
    cluster: Annotated[str, Field(min_length=1)] | None = None
    """Field of the metadata whose cases are alike, such as a user or a document: intervals and
    tests go by clusters of cases."""
    limits: LimitsFile = LimitsFile.model_construct()
    """How much at once, how much money, how much may go wrong."""
    gate: RunGateFile = RunGateFile.model_construct()
    """What holds for the gates of all metrics."""
    calibration: CalibrationFile = CalibrationFile.model_construct()
    """When reports call a judge calibrated, once people labelled its cases."""
    redact: list[_Rule] = Field(default_factory=none_yet)
    """What must not be asked or recorded: key, email, card, ip, phone, or patterns."""
    redact_salt_env: str | None = None
    """The environment variable whose value keys the digests of pseudonyms."""

    @property
    def cases_file(self) -> CasesFile | None:
        """Where the cases are, unless they are written here."""
        return self.cases if isinstance(self.cases, CasesFile) else None

    @property
    def rows(self) -> list[dict[str, Any]] | None:
        """The cases that are written here."""
        return self.cases if isinstance(self.cases, list) else None


DECIDING = ("judge", "judges", "params", "settings", "no_judge", "only", "baseline")
"""What flags say of the numbers, not of the cases or the occasion."""


class Overrides(FileModel):
    """What flags say; it goes before what the file says."""

    judge: str | None = None
    judges: dict[str, str] = Field(default_factory=dict)
    """Role -> model."""
    api_base: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Metric -> parameter of its rubric -> setting, as text."""
    record: str | None = None
    no_judge: bool = False
    only: list[str] = Field(default_factory=none_yet)
    limit: int | None = None
    where: list[str] = Field(default_factory=none_yet)
    """Conditions on the metadata of cases: `topic=refunds`."""
    ids: frozenset[str] | None = None
    """Only these cases."""
    shard: str | None = None
    """Only this part of the cases: `2/5`."""
    cases: str | None = None
    format: str | None = None
    baseline: str | None = None
    """Run folder for `not_worse`."""
    again: frozenset[str] = frozenset()

    @property
    def narrow(self) -> bool:
        """Whether cases are looked for, which are some of all."""
        return bool(self.where) or self.ids is not None

    @property
    def partial(self) -> bool:
        """Whether a run is about less than the suite: then not all recordings are used."""
        some = self.limit is not None or self.shard is not None or bool(self.only)
        return some or self.narrow
