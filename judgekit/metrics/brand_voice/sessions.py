"""Sessions: the replies of an assistant, turn by turn, and figures over several sessions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError
from judgekit.core.score import Score
from judgekit.metrics.aggregate import Figures, ScoreAggregate, ValueAggregate
from judgekit.stats.bootstrap import bootstrap_interval, too_few

FIGURES: Mapping[str, bool] = {
    "bootstrap_low": True,
    "bootstrap_high": True,
    "bootstrap_margin": False,
    "lowest": True,
    "highest": True,
    "sd_ddof_1": False,
    "variance_ddof_1": False,
}
"""The figures of `Sessions`, and whether higher is better."""


class Sessions(ValueAggregate):
    """The spread of one metric over sessions: one value on 0..1 for each session.

    `sd_ddof_1` and `variance_ddof_1` divide by n - 1. There is no bootstrap interval for fewer than
    30 sessions, or if nearly all values are at a bound (see `too_few`).
    """

    def finish(self) -> Figures:
        """Return the figures; `None` for each one that needs more sessions."""
        values = self._values
        few = too_few(values, bounds=(0.0, 1.0))
        interval = bootstrap_interval(values) if few is None else None
        variance = _variance(values)
        return {
            "bootstrap_low": interval.low if interval else None,
            "bootstrap_high": interval.high if interval else None,
            "bootstrap_margin": interval.margin if interval else None,
            "lowest": min(values, default=None),
            "highest": max(values, default=None),
            "sd_ddof_1": None if variance is None else math.sqrt(variance),
            "variance_ddof_1": variance,
        }


def _variance(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


Scope = Literal["session", "last"]


def replies(case: Case, scope: Scope = "session") -> list[str]:
    """Return the replies of the history and the output, or only the output.

    Turns without text before the output, such as tool calls alone, are ignored.

    Raises:
        CaseError: the assistant has no turn with text.
    """
    turns = (*case.history, *case.steps) if scope == "session" else ()
    texts = [m.content for m in turns if m.role == "assistant" and has_text(m.content)]
    if case.output is not None:
        texts.append(case.output)
    if not texts:
        needed = "an output" if scope == "last" else "an output, or assistant turns in its history"
        raise CaseError(f"needs {needed} (field 'output')")
    return texts


POOLED: Mapping[str, bool] = {"mean_by_turn": True}
"""The figure of `Pooled`; higher is better."""


class Pooled(ScoreAggregate):
    """The mean over the turns of all sessions, with the same weight for every turn.

    (The mean of a run gives every session the same weight.) `details.turns` of a score is a list of
    turns, or their number. If scores have a `rule_score`, all turns count as one session in the
    formula of Alignmenter's code: max(0, 1 - hits of categories / turns), or the mean of the
    classifier if it is lower.
    """

    def __init__(self) -> None:
        self._sums: list[float] = []
        self._turns = self._rule_turns = self._hits = 0
        self._classifier: list[float] = []

    def add_score(self, score: Score, value: float) -> None:
        """Add one session."""
        turns = score.details.get("turns", 0)
        turns = turns if isinstance(turns, int) else len(turns)
        self._sums.append(value * turns)
        self._turns += turns
        if "rule_score" in score.details:
            self._rule_turns += turns
            self._hits += score.details["violation_count"]
            mean = score.details["classifier_mean"]
            if mean is not None:
                self._classifier.append(mean * turns)

    def finish(self) -> Figures:
        """Return the mean; `None` without turns."""
        if not self._turns:
            return {"mean_by_turn": None}
        if not self._rule_turns:
            return {"mean_by_turn": math.fsum(self._sums) / self._turns}
        rules = max(0.0, 1.0 - self._hits / self._rule_turns)
        classified = [math.fsum(self._classifier) / self._rule_turns] if self._classifier else []
        return {"mean_by_turn": min([rules, *classified])}
