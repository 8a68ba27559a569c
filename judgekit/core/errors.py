"""The errors of judgekit, and the effect of each on a run.

JudgekitError
├── ConfigError            a suite, flag or option is wrong: the run stops, exit 2
│   ├── UnknownOption      a metric does not take an option
│   ├── WrongArgument      an argument in Python is of a wrong type; also a TypeError
│   ├── WrongName          a result has no such attribute or entry; also an AttributeError
│   └── RubricError        a rubric file is wrong
│       └── AbstractRubric     a rubric that is only there to be extended
├── DatasetError           a case cannot be read: the run stops, exit 2
├── InvalidValue           a field of a value, such as a Case, is wrong: in a metric, a Failure row
├── CaseError              a case lacks what a metric needs: a Failure row
├── JudgeError
│   ├── JudgeUnavailable   an outage, after retries: a Failure row; the only one that may fall back
│   │   ├── CircuitOpen    not asked, after too many outages in a row: a `not_run` row
│   │   ├── JudgeDown      it answers no request and no probe: the rows left are `not_run`
│   │   └── RequestRejected    the judge rejects this request and takes others: a Failure row
│   ├── JudgeAway          a person skipped it: a `not_run` row, never a fallback
│   ├── JudgePending       a batch job will answer: a `pending` row, never a fallback, exit 4
│   ├── JudgeRefused       the judge declined: a Failure row
│   ├── InvalidReply       truncated, empty, or not of the schema: a Failure row
│   └── JudgeRejected      credentials, unknown model, bad request: the run stops, exit 2
├── CassetteError
│   ├── CassetteMiss       nothing recorded for a request: a Failure row, never a fallback
│   └── CassetteCorrupt    a tape or store was damaged: the run stops, exit 2
└── BudgetExceeded         the cost limit is reached: the rows left are `not_run`, exit 3
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class JudgekitError(Exception):
    """Base class of the errors that judgekit raises; the message is one readable line."""

    key: str | None = None
    """The key of the request that failed, if there is one."""
    kind: str | None = None
    """Why the row has no score (a `FailureKind`); `None` when the run stops."""
    cost: float | None = 0.0
    """US dollars of the responses that came before the failure; `None` if they are unknown."""


def set_cost(error: BaseException, dollars: float | None) -> None:
    """Note what was paid before an error, which may be a cancellation; see `cost_before`."""
    error.__dict__["cost"] = dollars


def cost_before(error: BaseException) -> float | None:
    """Return the US dollars that were paid before an error; `None` if they are unknown."""
    cost: float | None = getattr(error, "cost", 0.0)
    return cost


class ConfigError(JudgekitError):
    """A setting is wrong; no judge was called. `where` is `file:line` if known."""

    def __init__(self, message: str, *, where: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Add a place, such as `file:line` or a flag, to configuration errors without one.

    `UnknownOption` is re-raised unchanged: it gets the place of the option.
    """
    try:
        yield
    except ConfigError as exc:
        if exc.where or isinstance(exc, UnknownOption):
            raise
        raise ConfigError(str(exc), where=where) from exc


class UnknownOption(ConfigError):
    """A metric does not have this option; the error lists the valid ones."""

    def __init__(self, metric: str, option: str, known: list[str], *, hint: str) -> None:
        super().__init__(f"metric {metric!r} takes no option {option!r}{hint}")
        self.metric, self.option, self.known = metric, option, known


class WrongArgument(ConfigError, TypeError):
    """An argument of a public function is unknown, missing, or of a wrong type.

    `problem` is the message without the name of the function.
    """

    def __init__(self, message: str, *, problem: str = "") -> None:
        super().__init__(message)
        self.problem = problem or message


class WrongName(ConfigError, AttributeError, KeyError):
    """A value has no such attribute or entry; it suggests names."""


class RubricError(ConfigError):
    """A rubric file is wrong: its front matter, its template, or a file that it extends.

    `rule` is the name under which `judgekit rubric lint` explains it.
    """

    kind = "metric_error"  # the file was valid when loaded; its template fails on one case

    def __init__(self, message: str, *, where: str | None = None, rule: str = "bad-rubric") -> None:
        super().__init__(message, where=where)
        self.rule = rule


class AbstractRubric(RubricError):
    """An abstract rubric is used to judge; it exists only to be extended."""


class DatasetError(JudgekitError):
    """A case cannot be read. `where` is `file:line`, `field` the field at fault."""

    def __init__(self, message: str, *, where: str | None = None, field: str | None = None) -> None:
        place = ": ".join(part for part in (where, f"field {field!r}" if field else None) if part)
        super().__init__(f"{place}: {message}" if place else message)
        self.where = where
        self.field = field


class InvalidValue(JudgekitError, ValueError):
    """A value cannot be made of these fields; the message names the first wrong one."""

    kind = "metric_error"


class CaseError(JudgekitError):
    """A case lacks a field that a metric needs; only this row fails."""

    kind = "invalid_case"


class JudgeError(JudgekitError):
    """A judge did not give a usable verdict."""


class JudgeUnavailable(JudgeError):
    """The judge could not be reached after all retries."""

    kind = "unavailable"


class CircuitOpen(JudgeUnavailable):
    """The judge failed too often in a row and is no longer called."""

    kind = "not_run"


class JudgeDown(JudgeUnavailable):
    """The judge answers neither requests nor a probe, so it is no longer called."""


class RequestRejected(JudgeUnavailable):
    """The judge rejected this request and takes others; nothing proves that its case is wrong.

    It is not recorded, so the next run asks again.
    """


class JudgeAway(JudgeError):
    """A human judge skipped this case; the next run asks it again."""

    kind = "not_run"


class JudgePending(JudgeError):
    """A batch job will answer; a later run has the reply."""

    kind = "pending"


class JudgeRefused(JudgeError):
    """The judge declined to answer; the message quotes it."""

    kind = "refused"


class InvalidReply(JudgeError):
    """The judge's reply is not a valid answer to the questions.

    `kind` is `truncated`, `empty`, `only_thought` (reasoning and no answer) or `invalid_reply`.
    """

    kind: str

    def __init__(self, message: str, *, kind: str = "invalid_reply") -> None:
        super().__init__(message)
        self.kind = kind


class JudgeRejected(JudgeError):
    """The judge rejects all requests of this kind, so the run stops."""


class CassetteError(JudgekitError):
    """Base class of errors about recorded replies."""


class CassetteMiss(CassetteError):
    """No reply is recorded for this request, and the record mode does not allow calls."""

    kind = "cassette_miss"

    def __init__(self, message: str, *, key: str) -> None:
        super().__init__(message)
        self.key = key


class CassetteCorrupt(CassetteError):
    """A tape or store is damaged: it contains data that judgekit did not write."""


class BudgetExceeded(JudgekitError):
    """The cost limit of the run is reached."""

    kind = "not_run"


class MissingExtra(ConfigError):
    """An optional dependency is not installed; the message names the extra."""

    def __init__(self, *, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an extra: pip install 'judgekit-rubrics[{extra}]'")


@contextmanager
def needs_extra(feature: str, extra: str) -> Iterator[None]:
    """Report a failed import inside this block as a missing extra.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        yield
    except ImportError as exc:
        raise MissingExtra(feature=feature, extra=extra) from exc


def place(path: str | Path, line: int | None) -> str:
    """Return `file:line`, the form of a location in messages."""
    return f"{path}:{line}" if line else str(path)
