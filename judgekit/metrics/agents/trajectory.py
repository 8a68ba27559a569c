"""Trajectory match: did an agent call the expected tools, in the expected order?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from judgekit.core.case import Case, ToolCall
from judgekit.core.score import Score
from judgekit.metrics.agents import tool_calls
from judgekit.metrics.computed import ComputedMetric

Order = Literal["strict", "unordered", "subset", "superset"]


class TrajectoryMatch(ComputedMetric):
    """1 if the tool calls of a conversation match the expected ones, else 0; higher is better.

    `strict`: the same calls in the same order. `unordered`: the same calls in any order. `subset`:
    only expected calls. `superset`: every expected call, and possibly others. A call counts for one
    expected call. An empty list is a trajectory without tools.
    """

    name: str = "trajectory_match"
    match: Order = "strict"
    """What makes two trajectories match."""
    arguments: tool_calls.Arguments = "exact"
    """How arguments are compared: exact, subset, schema or ignore."""

    needs = (
        "history with tool calls, or metadata.tool_calls",
        "expected.tool_calls",
    )

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the expected calls are missing or wrong.
        """
        expected, calls = tool_calls.expected_calls(case), tool_calls.actual_calls(case)
        problem = self._problem(expected, calls)
        return Score(
            value=1.0 if problem is None else 0.0,
            method=f"{self.match} trajectory match, arguments {self.arguments}",
            reason=problem or f"The {len(calls)} calls match the trajectory.",
            ground_truth=[tool_calls.call_text(call) for call in expected],
            details={"made": [tool_calls.call_text(call) for call in calls]},
        )

    def _problem(
        self, expected: Sequence[tool_calls.ExpectedCall], calls: Sequence[ToolCall]
    ) -> str | None:
        """Return the first difference from the expected calls, or `None`."""
        if self.match == "strict":
            for number, (want, call) in enumerate(zip(expected, calls, strict=False), start=1):
                if not tool_calls.is_match(want, call, arguments=self.arguments):
                    made, wanted = tool_calls.call_text(call), tool_calls.call_text(want)
                    return f"Call {number} is {made} where {wanted} is expected."
            count = len(expected)
            if len(calls) > count:
                return f"Call {count + 1}, {tool_calls.call_text(calls[count])}, is not expected."
            if len(calls) < count:
                return f"It ends before {tool_calls.call_text(expected[len(calls)])}."
            return None
        _, missing, unexpected = tool_calls.compare_calls(expected, calls, arguments=self.arguments)
        if missing and self.match != "subset":
            return f"{missing[0]} is expected and not called."
        if unexpected and self.match != "superset":
            return f"{unexpected[0]} is called and not expected."
        return None
