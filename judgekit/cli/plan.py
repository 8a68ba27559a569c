"""The output of `judgekit run --plan`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.core.canonical import printable
from judgekit.core.display.parts import counted

if TYPE_CHECKING:
    from judgekit.batch.choice import BatchChoice
    from judgekit.suite.estimate import BudgetPlan, PlannedCalls, RunPlan
    from judgekit.suite.overrides import Overrides

_HEAD = ("model", "recorded", "to ask", "tokens in", "tokens out", "dollars", "minutes")


def print_plan(
    path: Path, overrides: Overrides, *, as_json: bool, batches: BatchChoice | None = None
) -> None:
    """Print the requests of a run; no judge is called and nothing is written."""
    from judgekit.cli.output import print_json
    from judgekit.suite.estimate import plan_run
    from judgekit.suite.resolved import resolve
    from judgekit.suite.retirement import retirements

    suite = resolve(path, overrides)
    plan = plan_run(suite, batches)
    retiring = [one.sentence for one in retirements(suite.roles)]
    if as_json:
        print_json("plan", {**plan.model_dump(mode="json"), "retiring": retiring})
    else:
        print(plan_text(plan), end="")
        for sentence in retiring:
            print(printable(sentence))


def plan_text(plan: RunPlan) -> str:
    """Return a plan as a table and a sentence with its assumptions."""
    lines = []
    if plan.models:
        rows = [_HEAD, *(_row(calls) for calls in plan.models)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        for name, *cells in rows:
            right = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            lines.append("  ".join([name.ljust(widths[0]), *right]))
    lines += [line for calls in plan.models for line in _jobs(calls)]
    if plan.rounds[1]:
        rounds = _range(plan.rounds, "{:,}".format)
        lines.append(f"new batch jobs in {rounds} round{'s' * (plan.rounds != (1, 1))}")
    lines += [line for calls in plan.models for line in _tiers(calls)]
    lines += [line for calls in plan.models for line in _cache(calls)]
    if plan.budget is not None:
        lines += _budget(plan.budget)
    called = "a run would call no judge."
    if plan.assumptions:
        called = f"no judge was called. Assumed: {'; '.join(plan.assumptions)}."
    lines.append(f"{counted(plan.cases, 'case')}; {called}")
    return "".join(f"{printable(line)}\n" for line in lines)


def _jobs(calls: PlannedCalls) -> Iterator[str]:
    """Yield what batch jobs have to do with the requests to a model."""
    if calls.in_ended_jobs:
        replies = f"{calls.in_ended_jobs:,} repl{'y' if calls.in_ended_jobs == 1 else 'ies'}"
        yield f"{calls.model}: {replies} of ended batch jobs to take"
    if calls.in_open_jobs:
        requests = counted(calls.in_open_jobs, "request")
        yield f"{calls.model}: open batch jobs have {requests}, which no run asks again"
    if calls.batch or calls.unsent:
        live = calls.requests[0] - calls.batch - calls.unsent
        line = f"{counted(calls.batch, 'request')} in {counted(calls.jobs, 'new batch job')}"
        line += f", {live:,} asked live" if live else ""
        line += f", {calls.unsent:,} not sent (max_cost)" if calls.unsent else ""
        yield f"{calls.model}: {line}"


def _tiers(calls: PlannedCalls) -> Iterator[str]:
    """Yield the prices of the requests to a model at service tiers."""
    if calls.tiers and calls.requests[1]:
        prices = (f"{tier} {_range(price, _money)}" for tier, price in calls.tiers.items())
        yield f"{calls.model}: dollars by tier: {', '.join(prices)}"


def _cache(calls: PlannedCalls) -> Iterator[str]:
    """Yield what the prompt cache of the provider does for the requests to a model."""
    if calls.cache_tokens is None or not calls.requests[0]:
        return
    read, written = calls.cache_tokens
    if not read:
        yield f"{calls.model}: prompt cache: no two requests begin alike for long enough"
        return
    line = f"{calls.model}: prompt cache: about {read:,} tokens read, {written:,} written"
    if calls.cache_saves is not None:
        saves = _money(abs(calls.cache_saves))
        line += f", {'saves' if calls.cache_saves >= 0 else 'costs'} {saves} dollars"
    yield line


def _budget(budget: BudgetPlan) -> Iterator[str]:
    line = f"max_cost {budget.max_cost:g}"
    if budget.held:
        line += f", of which {_money(budget.held)} is reserved for batch jobs"
    if budget.share is None:
        line += "; a price is unknown, and a run needs it"
    elif budget.share[0] < 1:
        low, high = (f"{share:.0%}" for share in budget.share)
        line += f"; it pays for {low if low == high else f'{low} to {high}'} of the live requests"
    yield line


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
