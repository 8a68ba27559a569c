"""What an error costs: the row it happened on, or the run."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.core import errors
from judgekit.core.case import Case
from judgekit.core.protocols import Metric
from judgekit.core.score import Failure, FailureKind, Result, checked_score


async def guarded(case: Case, metric: Metric) -> Result:
    """Score one row; whatever goes wrong with it alone becomes its Failure.

    Raises:
        JudgekitError: one that stops the run.
    """
    try:
        return await checked_score(metric, case)
    except errors.JudgekitError as exc:
        failure = failure_of(exc)
        if failure is None:
            raise
        return failure
    except Exception as exc:  # noqa: BLE001 - the single per-case guard: a metric's mistake costs one row
        _log(case, metric)
        return Failure(kind="metric_error", message=f"{type(exc).__name__}: {_line(exc)}")


def _log(case: Case, metric: Metric) -> None:
    """Log the exception that is being handled, for the author of the metric."""
    import logging

    message = "%s: %s raised an exception"
    logging.getLogger("judgekit").debug(message, case.id, metric.name, exc_info=True)


def failure_of(error: errors.JudgekitError) -> Failure | None:
    """Return the row that an error costs, or `None` when it stops the run."""
    kinds: Sequence[tuple[type[errors.JudgekitError], FailureKind]] = (
        (errors.CircuitOpen, "not_run"),
        (errors.JudgeAway, "not_run"),
        (errors.BudgetExceeded, "not_run"),
        (errors.JudgeUnavailable, "unavailable"),
        (errors.JudgeRefused, "refused"),
        (errors.CassetteMiss, "cassette_miss"),
        (errors.CaseError, "invalid_case"),
        # A template that fails on one case: the file itself was checked when it was loaded.
        (errors.RubricError, "metric_error"),
    )
    kind = next((kind for kind_of, kind in kinds if isinstance(error, kind_of)), None)
    if isinstance(error, errors.InvalidReply):
        kind = error.kind  # type: ignore[assignment]
    return None if kind is None else Failure(kind=kind, message=_line(error), key=error.key)


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 1000 else text[:997] + "..."
