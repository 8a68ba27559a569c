"""The shape of a suite file, as people write it, and of the flags that override it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from judgekit.filemodel import FileModel


def _path(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


def _model(value: Any) -> Any:
    return {"model": value} if isinstance(value, str) else value


def _use(value: Any) -> Any:
    return {"use": value} if isinstance(value, str) else value


def _rule(value: Any) -> Any:
    return {"pattern": value} if isinstance(value, str) else value


class CasesFile(FileModel):
    """Where the cases are."""

    path: str
    format: Literal["auto", "rows", "chat", "mastra"] | None = None
    container: Literal["auto", "jsonl", "json", "csv", "parquet"] | None = None
    fields: dict[str, str] | None = None
    limit: int | None = Field(default=None, ge=1)


class PriceFile(FileModel):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class JudgeFile(FileModel):
    """Who judges."""

    model: str = Field(min_length=1)
    api_base: str | None = None
    api_key_env: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    identity: str | None = None
    mode: Literal["json_schema", "tools", "json_object", "text"] | None = None
    timeout: float = Field(default=60.0, gt=0)
    retries: int = Field(default=3, ge=0)
    max_wait: float = Field(default=60.0, ge=0)
    reasks: int = Field(default=1, ge=0, le=3)
    price: PriceFile | None = None
    answers: str | None = None


class FallbackFile(FileModel):
    """What stands in when the judge cannot be reached."""

    model_config = ConfigDict(extra="allow")

    use: str
    on_budget: bool = False


class MetricFile(FileModel):
    """One metric; keys not named here are options of its own."""

    model_config = ConfigDict(extra="allow")

    metric: str | None = None
    rubric: str | None = None
    combine: Literal["mean", "min", "max", "weighted_mean"] | None = None
    of: list[str] | None = None
    threshold: float | None = None
    gate: dict[str, float] = Field(default_factory=dict)
    fallback: Annotated[FallbackFile | None, BeforeValidator(_use)] = None


class LimitsFile(FileModel):
    """Bounds on the run."""

    concurrency: int = Field(default=8, ge=1, le=4096)
    max_failures: int = Field(default=0, ge=0)
    max_fallback: int = Field(default=0, ge=0)
    max_outages: int = Field(default=5, ge=0)
    max_cost: float | None = Field(default=None, gt=0)


class RuleFile(FileModel):
    """What to redact."""

    pattern: str = Field(min_length=1)
    replace: str = "[REDACTED]"


def _no_metric(value: Any) -> Any:
    return {} if value is None else value


class SuiteFile(FileModel):
    """A suite."""

    name: str | None = None
    description: str | None = None
    notice: str | None = None
    cases: Annotated[CasesFile | None, BeforeValidator(_path)] = None
    judge: Annotated[JudgeFile | None, BeforeValidator(_model)] = None
    cassette: str | None = None
    record: str | None = None
    metrics: dict[str, Annotated[MetricFile, BeforeValidator(_no_metric)]] = Field(min_length=1)
    limits: LimitsFile = LimitsFile()
    redact: list[Annotated[RuleFile, BeforeValidator(_rule)]] = Field(default_factory=list)


class Overrides(FileModel):
    """What flags say; it goes before what the file says."""

    judge: str | None = None
    api_base: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    record: str | None = None
    no_judge: bool = False
    only: list[str] = Field(default_factory=list)
    limit: int | None = None
    cases: str | None = None
    format: str | None = None
    again: frozenset[str] = frozenset()
