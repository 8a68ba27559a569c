"""Trajectory match: did an agent call its tools the way it should, one after the other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from judgekit.core.case import Case, ToolCall
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.metrics._options import check_choice, check_name
from judgekit.metrics.agents.tool_calls import (
    Arguments,
    ExpectedCall,
    calls_expected,
    calls_made,
    fits,
    pair_up,
    shown,
)

Order = Literal["strict", "unordered", "subset", "superset"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrajectoryMatch(Metric):
    """1 if the tool calls of a conversation match the expected ones, else 0; higher is better.

    `strict`: the same calls in the same order. `unordered`: the same calls in any order.
    `subset`: no call that is not expected. `superset`: every expected call, and perhaps others.
    Each call made counts for one expected call. An empty list of expected calls is a trajectory
    without tools.
    """

    name: str = "trajectory_match"
    match: Order = "strict"
    """What makes two trajectories match."""
    arguments: Arguments = "exact"
    """How arguments are compared: exact, subset, schema or ignore."""

    needs = (
        "history with tool calls, or metadata.tool_calls",
        "expected.tool_calls",
    )

    def __post_init__(self) -> None:
        check_name("trajectory_match", self.name)
        check_choice(self.name, "match", self.match, Order)
        check_choice(self.name, "arguments", self.arguments, Arguments)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the expected calls are missing or wrong.
        """
        wanted, made = calls_expected(case), calls_made(case)
        fault = self._fault(wanted, made)
        return Score(
            value=1.0 if fault is None else 0.0,
            method=f"{self.match} trajectory match, arguments {self.arguments}",
            reason=f"The {len(made)} calls match the trajectory." if fault is None else fault,
            ground_truth=[shown(call) for call in wanted],
            details={"made": [shown(call) for call in made]},
        )

    def _fault(self, wanted: Sequence[ExpectedCall], made: Sequence[ToolCall]) -> str | None:
        """Return what first breaks the match."""
        if self.match == "strict":
            for number, (want, call) in enumerate(zip(wanted, made, strict=False), start=1):
                if not fits(want, call, arguments=self.arguments):
                    return f"Call {number} is {shown(call)} where {shown(want)} is expected."
            if len(made) > len(wanted):
                return f"Call {len(wanted) + 1}, {shown(made[len(wanted)])}, is not expected."
            if len(made) < len(wanted):
                return f"It ends before {shown(wanted[len(made)])}."
            return None
        pairs = pair_up(wanted, made, lambda w, m: fits(w, m, arguments=self.arguments))
        missing = [want for n, want in enumerate(wanted) if n not in pairs]
        extra = [call for n, call in enumerate(made) if n not in pairs.values()]
        if missing and self.match != "subset":
            return f"{shown(missing[0])} is expected and not called."
        if extra and self.match != "superset":
            return f"{shown(extra[0])} is called and not expected."
        return None
