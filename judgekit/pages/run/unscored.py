"""Why rows have no score: reasons in a few words, counted over the cases of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from judgekit.core.case import Case
from judgekit.core.score import Failure
from judgekit.report.folder import Scored

MOST = 8
"""Maximum number of reasons to tell apart; later ones are counted together."""
_LONGEST = 48
"""Maximum length of a reason, in characters."""
_OTHER = "another reason"
_NO_ROW = "the run ended before"
_KINDS = {
    "refused": "refused",
    "truncated": "reply cut off",
    "empty": "empty reply",
    "only_thought": "reply without an answer",
    "invalid_reply": "invalid reply",
    "unavailable": "judge unavailable",
    "cassette_miss": "not recorded",
    "invalid_case": "invalid case",
    "not_run": "not run",
    "pending": "waits for a batch job",
    "metric_error": "error of the metric",
}
_NEEDS = "needs "
"""How metrics begin the message about a field that a case lacks."""
_ENDS = (" (", ": ", ", ", "; ", "\n")


class Reason(NamedTuple):
    """A reason for rows without a score, with what it concerns."""

    text: str
    lacks: bool
    """Whether the cases lack a field: the metric does not apply to them, and nothing failed."""
    cases: int
    metrics: tuple[str, ...]


def lacked(result: object) -> str | None:
    """Return what a case lacks that a metric needs; `None` for every other result.

    >>> lacked(Failure(kind="invalid_case", message="needs a reference (field 'reference')"))
    'reference'
    """
    if not isinstance(result, Failure) or result.kind != "invalid_case":
        return None
    if not result.message.startswith(_NEEDS):
        return None
    name = result.message.removeprefix(_NEEDS)
    for end in _ENDS:
        name = name[: 2 * _LONGEST].partition(end)[0]
    article, _, rest = name.partition(" ")
    name = rest if article in ("a", "an") and rest else name
    return name[:_LONGEST].strip() or None


def reason_of(failure: Failure, case: Case) -> str:
    """Return why a row has no score, in a few words.

    An empty answer is named, because it is a fault of the case and not of the judge.
    """
    if (name := lacked(failure)) is not None:
        return f"no {name}"
    empty = case.output is not None and not case.output.strip()
    return _KINDS[failure.kind] + (", empty answer" if empty else "")


@dataclass
class _Counted:
    lacks: bool
    cases: int = 0
    metrics: dict[str, None] = field(default_factory=dict)


class Reasons:
    """Counts the cases by the reasons for which they have no score, case by case.

    Args:
        metrics: the metrics that should have a row for every case.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self._metrics = tuple(metrics)
        self._counted: dict[str, _Counted] = {}
        self._lacking: dict[str, int] = {}

    def add(self, scored: Scored) -> None:
        """Count one case."""
        seen = set()
        for metric, text, lacks in self._of(scored):
            counted = self._counted.setdefault(text, _Counted(lacks))
            counted.metrics[metric] = None
            counted.cases += text not in seen
            seen.add(text)
            self._lacking[metric] = self._lacking.get(metric, 0) + lacks

    def numbers(self, scored: Scored) -> Mapping[str, int]:
        """Return the number of the reason of each metric without a score, of a counted case."""
        order = list(self._counted)
        return {metric: order.index(text) for metric, text, _ in self._of(scored)}

    def _of(self, scored: Scored) -> Iterator[tuple[str, str, bool]]:
        """Yield each metric without a score, the reason, and whether the case lacks a field."""
        rows = {row.metric: row.result for row in scored.rows}
        for metric in self._metrics:
            result = rows.get(metric)
            if isinstance(result, Failure):
                text, lacks = reason_of(result, scored.case), lacked(result) is not None
            elif result is None:
                text, lacks = _NO_ROW, False
            else:
                continue
            if text not in self._counted and len(self._counted) >= MOST:
                text, lacks = _OTHER, False
            yield metric, text, lacks

    def lacking(self, metric: str) -> int:
        """Return the number of cases that lack a field which the metric needs."""
        return self._lacking.get(metric, 0)

    def finish(self) -> tuple[Reason, ...]:
        """Return the reasons, in the order of their numbers."""
        return tuple(
            Reason(text, one.lacks, one.cases, tuple(one.metrics))
            for text, one in self._counted.items()
        )
