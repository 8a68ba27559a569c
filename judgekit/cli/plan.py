"""The output of `judgekit run --plan`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.core.canonical import printable
from judgekit.core.display.parts import counted

if TYPE_CHECKING:
    from judgekit.suite.estimate import PlannedCalls, RunPlan
    from judgekit.suite.overrides import Overrides

_HEAD = ("model", "recorded", "to ask", "tokens in", "tokens out", "dollars", "minutes")


def print_plan(path: Path, overrides: Overrides, *, as_json: bool) -> None:
    """Print the requests of a run; no judge is called and nothing is written."""
    from judgekit.cli.output import print_json
    from judgekit.suite.estimate import plan_run
    from judgekit.suite.resolved import resolve
    from judgekit.suite.retirement import retirements

    suite = resolve(path, overrides)
    plan = plan_run(suite)
    if as_json:
        print_json(plan.model_dump(mode="json"))
    else:
        print(plan_text(plan), end="")
        for one in retirements(suite.roles):
            print(printable(one.sentence))


def plan_text(plan: RunPlan) -> str:
    """Return a plan as a table and a sentence with its assumptions."""
    lines = []
    if plan.models:
        rows = [_HEAD, *(_row(calls) for calls in plan.models)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        for name, *cells in rows:
            right = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            lines.append("  ".join([name.ljust(widths[0]), *right]))
    called = "a run would call no judge."
    if plan.assumptions:
        called = f"no judge was called. Assumed: {'; '.join(plan.assumptions)}."
    lines.append(f"{counted(plan.cases, 'case')}; {called}")
    return "".join(f"{printable(line)}\n" for line in lines)


def _row(calls: PlannedCalls) -> tuple[str, ...]:
    from judgekit.judges.kinds import kind_of

    if kind_of(calls.model).person:
        money, minutes = "a person", "-"
    else:
        money = "unknown" if calls.dollars is None else _range(calls.dollars, _money)
        minutes = _range(calls.minutes, "{:,.1f}".format)
    return (
        calls.model,
        f"{calls.recorded:,}",
        _range(calls.requests, "{:,}".format),
        _range(calls.tokens_in, "{:,}".format),
        _range(calls.tokens_out, "{:,}".format),
        money,
        minutes,
    )


def _money(dollars: float) -> str:
    return "<0.01" if 0 < dollars < 0.01 else f"{dollars:,.2f}"


def _range(values: tuple[float, float], text: Callable[[float], str]) -> str:
    low, high = map(text, values)
    return low if low == high else f"{low} to {high}"
