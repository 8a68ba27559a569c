"""The models of a suite file, and of the flags that override it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

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
from judgekit.core.limits import MOST_CALLS, MOST_CASES
from judgekit.core.suggest import suggest
from judgekit.core.value import check_json
from judgekit.datasets.case_builder import Shape
from judgekit.datasets.load import Container
from judgekit.rubric.file import CriterionFile


def _short_for(key: str) -> Callable[[Any], Any]:
    """Return a validator that reads a text as an entry with one key."""
    return lambda value: {key: value} if isinstance(value, str) else value


def _judge(value: Any) -> Any:
    """Read a text as a judge's model, and name the judge of a file of verdicts."""
    value = {"model": value} if isinstance(value, str) else value
    if not isinstance(value, dict) or not isinstance(value.get("recorded"), str):
        return value
    if others := [name for name in value if name != "recorded" and value[name]]:
        raise ValueError(f"recorded goes without {others[0]}: its verdicts are there already")
    return {**value, "model": f"recorded/{Path(value['recorded']).stem}"}


def _one_or_several(value: Any) -> str:
    return "[several]" if isinstance(value, list) else "[one]"


def _parts(value: Any) -> Any:
    """Refuse a text under `of`: other tools use it for a field."""
    if isinstance(value, str):
        raise ValueError(
            f"lists the metrics to combine, such as [{value}];"
            f" to name the text that perplexity measures, write `field: {value}`"
        )
    return value


def _rule(value: Any) -> Any:
    """Read a text as the name of a built-in rule, or else as a regular expression."""
    if not isinstance(value, str):
        return value
    if not re.fullmatch(r"[A-Za-z][\w -]*", value):
        return {"pattern": value}
    known = list(get_args(Builtin))
    if value not in known:
        # A misspelled name must not become a pattern that matches nothing.
        raise ValueError(
            f"unknown built-in rule {value!r}"
            + suggest(value, known, otherwise=f"; write a pattern as {{pattern: {value}}}")
        )
    return {"find": value}


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
    limit: int | None = Field(default=None, ge=1, le=MOST_CASES)
    """The largest number of cases to read."""


MOST_INLINE = 1_000
"""Cases in a suite file; larger sets belong in their own file."""


class PriceFile(FileModel):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    """Price of the prompt."""
    output: float = Field(ge=0)
    """Price of the reply."""


def _either(schema: dict[str, Any]) -> None:
    """Let the schema require a model or a file of verdicts."""
    del schema["required"]
    schema["anyOf"] = [{"required": ["model"]}, {"required": ["recorded"]}]


class JudgeFile(FileModel):
    """A judge."""

    model_config = ConfigDict(json_schema_extra=_either)

    model: str = Field(min_length=1)
    """The model name of litellm, such as openai/NAME; `manual/NAME` is a person."""
    api_base: str | None = None
    """Address of your own server; of an OpenAI-compatible server, it ends in /v1."""
    api_key_env: str | None = None
    """Environment variable with the key. Never write the key into a file."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Sampling parameters: temperature, max_tokens, seed, ...; part of every request key."""
    identity: str | None = None
    """The version of the model behind this name, such as a revision; part of every request key."""
    mode: Literal["json_schema", "json_object_schema", "tools", "json_object", "text"] | None = None
    """How the judge is asked for JSON; by default, judgekit probes the server."""
    api: Literal["decisions", "systemone"] | None = None
    """The API, if it is no chat: a decision endpoint of OpenAI or of System One."""
    via: Literal["direct", "litellm"] | None = None
    """The way to the model: HTTP of judgekit, or litellm; chosen by default."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds that one call may take."""
    retries: int = Field(default=3, ge=0)
    """Further attempts after an outage."""
    max_wait: float = Field(default=60.0, ge=0)
    """The longest wait between attempts, in seconds."""
    reasks: int = Field(default=1, ge=0, le=3)
    """Further requests after a reply that does not match the schema."""
    price: PriceFile | None = None
    """The price of the model, instead of litellm's list price."""
    answers: str | None = None
    """File with a person's answers, for `manual/NAME`."""
    recorded: str | None = None
    """File with verdicts of another system, instead of `model`."""

    @field_validator("params")
    @classmethod
    def _json(cls, params: dict[str, Any]) -> dict[str, Any]:
        check_json(params, where="params")
        return params

    @model_validator(mode="after")
    def _of_one_api(self) -> Self:
        if self.model.startswith("recorded/") and self.recorded is None:
            raise ValueError(f"{self.model} is a file of verdicts; write judge: {{recorded: FILE}}")
        if self.api is None:
            return self
        if self.model.startswith(("fake/", "manual/", "python/", "transformers/")):
            raise ValueError(f"{self.model} is behind no server, so it has no api; remove api")
        for name in ("mode", "reasks", "via"):
            if name in self.model_fields_set and getattr(self, name) is not None:
                raise ValueError(f"{name} is for chats, and api: {self.api} is none; remove {name}")
        return self


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
    Discriminator(_one_or_several),
]


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
    """The agreement with people at which reports call a judge calibrated (see `judgekit agree`)."""

    kappa: float | None = Field(default=None, gt=0, le=1)
    """The lowest lower end of the 95 % interval of kappa, for each labelled criterion."""
    spearman: float | None = Field(default=None, gt=0, le=1)
    """The lowest lower end of the 95 % interval of Spearman's rho."""


_Criterion = Annotated[
    CriterionFile, BeforeValidator(_short_for("text"), json_schema_input_type=str | CriterionFile)
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
        BeforeValidator(_short_for("use"), json_schema_input_type=str | FallbackFile | None),
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


def _auto_or(most: int) -> Any:
    """Return the type of a limit: a whole number from 1 to `most`, or `auto`."""

    def check(value: Any) -> Any:
        whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
        if value is None or value == "auto" or whole:
            return value
        shown = repr(value)[:60]
        raise ValueError(f"must be a whole number from 1 to {most:,}, or auto (it is {shown})")

    number = Annotated[int, Field(ge=1, le=most)]
    return BeforeValidator(check, json_schema_input_type=number | Literal["auto"])


class LimitsFile(FileModel):
    """Bounds on the run."""

    concurrency: Annotated[int | Literal["auto"], _auto_or(4096)] = 8
    """Concurrent calls of each judge; `auto` follows the server."""
    rpm: Annotated[int | Literal["auto"] | None, _auto_or(10**9)] = None
    """Requests a minute to one server; `auto` learns the limit from the server."""
    tpm: Annotated[int | Literal["auto"] | None, _auto_or(10**12)] = None
    """Tokens a minute to one server; `auto` learns the limit from the server."""
    max_failures: int = Field(default=0, ge=0)
    """The most failed rows of a complete run."""
    max_fallback: int = Field(default=0, ge=0)
    """The most fallback rows of a complete run."""
    max_outages: int = Field(default=5, ge=0)
    """Consecutive outages after which judgekit stops calling the judge."""
    max_cost: float | None = Field(default=None, gt=0)
    """US dollars that a run may spend."""

    @property
    def most_calls(self) -> int:
        """The most concurrent calls of one judge."""
        return MOST_CALLS if self.concurrency == "auto" else self.concurrency

    def calls_of(self, workers: int) -> int | None:
        """Return the concurrent calls of one of several workers; `None` if a pace decides."""
        return None if self.concurrency == "auto" else max(1, self.concurrency // workers)

    @property
    def paced(self) -> bool:
        """Whether calls wait for a pace."""
        return self.concurrency == "auto" or self.rpm is not None or self.tpm is not None


Builtin = Literal["key", "email", "card", "ip", "phone"]


class RuleFile(FileModel):
    """One redaction rule: a built-in one, or a pattern."""

    find: Builtin | None = None
    """A built-in rule; each match becomes a pseudonym such as [EMAIL-1f4a09c2]."""
    pattern: str | None = Field(default=None, min_length=1)
    """A regular expression."""
    replace: str = "[REDACTED]"
    """The text that replaces a match."""
    name: str | None = None
    """Replaces a match by a pseudonym instead: ORDER gives [ORDER-1f4a09c2]."""

    @model_validator(mode="after")
    def _one_thing(self) -> "RuleFile":
        if (self.find is None) == (self.pattern is None):
            raise ValueError("give either find or pattern")
        if self.find is not None and len(self.model_fields_set) > 1:
            raise ValueError(f"{self.find!r} is built in and takes no other key")
        if self.name is not None and "replace" in self.model_fields_set:
            raise ValueError("give replace or name, not both")
        return self


# Short forms of an entry; the schema of the file lists both.
_Rows = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_INLINE)]
_Cases = Annotated[
    Annotated[CasesFile | None, Tag("[one]")] | Annotated[_Rows, Tag("[several]")],
    Discriminator(_one_or_several),
    BeforeValidator(_short_for("path"), json_schema_input_type=str | CasesFile | _Rows | None),
]
_Judge = Annotated[
    JudgeFile | None,
    BeforeValidator(_judge, json_schema_input_type=str | JudgeFile | None),
]
_Metric = Annotated[
    MetricFile,
    BeforeValidator(
        lambda value: {} if value is None else value, json_schema_input_type=MetricFile | None
    ),
]
_Rule = Annotated[RuleFile, BeforeValidator(_rule, json_schema_input_type=str | RuleFile)]

_Folders = Annotated[
    list[str],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value,
        json_schema_input_type=str | list[str],
    ),
]
_NamedJudge = Annotated[JudgeFile, BeforeValidator(_judge, json_schema_input_type=str | JudgeFile)]
JUDGE = "judge"
"""The default role."""
ROLE = r"^[A-Za-z][A-Za-z0-9_-]{0,39}$"


class RedactFile(FileModel):
    """Redaction rules without a suite."""

    redact: list[_Rule] = Field(default_factory=none_yet)
    redact_salt_env: str | None = None


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
    judge: _Judge = None
    """The judge: a model, or its settings; `none` for no judge."""
    judges: dict[Annotated[str, Field(pattern=ROLE)], _NamedJudge] = Field(default_factory=dict)
    """Several judges by role, such as `judge`, `second`, `cheap`; `judge: X` is short for the role
    `judge`."""
    cassette: str | None = None
    """The file that records and replays the replies."""
    record: str | None = None
    """Which requests may be sent: none (replay only), new_episodes, all."""
    embedder: str | dict[str, Any] | None = None
    """The default embedder of the metrics: `lexical`, or a local model, `onnx:FOLDER` or a mapping
    such as `{onnx: FOLDER, threads: 2}`; or a hosted one with recorded vectors,
    `{model: openai/text-embedding-3-small, api_base: ...}` or `{role: ROLE}`."""
    rubrics: _Folders = Field(default_factory=none_yet)
    """Folders that are searched for rubrics first, relative to the suite."""
    metrics: dict[str, _Metric] = Field(min_length=1)
    """The metrics: the name of a metric or rubric, or your own name for one."""
    cluster: Annotated[str, Field(min_length=1)] | None = None
    """Metadata field that groups related cases, such as a user or a document; intervals and tests
    treat each group as a cluster."""
    limits: LimitsFile = LimitsFile.model_construct()
    """Limits on concurrency, cost and failures."""
    gate: RunGateFile = RunGateFile.model_construct()
    """Settings of all gates, and gates on the whole run."""
    calibration: CalibrationFile = CalibrationFile.model_construct()
    """The agreement with people at which reports call a judge calibrated."""
    redact: list[_Rule] = Field(default_factory=none_yet)
    """Texts to remove from requests and recordings: kinds such as email and iban, or patterns."""
    redact_salt_env: str | None = None
    """Environment variable with the secret that keys the pseudonyms."""

    @property
    def cases_file(self) -> CasesFile | None:
        """The file of the cases, if the suite names one."""
        return self.cases if isinstance(self.cases, CasesFile) else None

    @property
    def rows(self) -> list[dict[str, Any]] | None:
        """The cases in the suite file, if it has them."""
        return self.cases if isinstance(self.cases, list) else None


DECIDING = ("judge", "judges", "params", "settings", "no_judge", "only", "baseline", "against")
"""Flags that change the numbers, so that all shards must share them."""


class Overrides(FileModel):
    """Settings of flags; they override the file."""

    judge: str | None = None
    judges: dict[str, str] = Field(default_factory=dict)
    """Role -> model."""
    api_base: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Metric -> parameter of its rubric -> value as text."""
    record: str | None = None
    no_judge: bool = False
    only: list[str] = Field(default_factory=none_yet)
    limit: int | None = None
    where: list[str] = Field(default_factory=none_yet)
    """Conditions on the metadata of cases: `topic=refunds`."""
    ids: frozenset[str] | None = None
    """Ids of the only cases to run."""
    shard: str | None = None
    """The part of the cases to run, such as `2/5`."""
    cases: str | None = None
    format: str | None = None
    baseline: str | None = None
    """Run folder for `not_worse`."""
    against: str | None = None
    """Run folder whose outputs become the baselines of the cases."""
    again: frozenset[str] = frozenset()

    @property
    def narrow(self) -> bool:
        """Whether flags select cases by metadata or id."""
        return bool(self.where) or self.ids is not None

    @property
    def partial(self) -> bool:
        """Whether a run covers only a part of the suite, and so of its recordings."""
        some = self.limit is not None or self.shard is not None or bool(self.only)
        return some or self.narrow
