"""Run a suite in a terminal: progress, Ctrl-C, and where the run stands at the end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cli.interrupt import on_interrupt
from judgekit.core.synchronous import Flag
from judgekit.suite.judges import asks_in_terminal
from judgekit.suite.run import replay_suite, run_suite

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.runner.evaluation import Reuse
    from judgekit.suite.overrides import Overrides
    from judgekit.suite.suite import Suite

KEPT = "what is done is kept"


def run_with_progress(
    suite: Suite,
    *,
    out: Path | None = None,
    retry_failed: Path | None = None,
    reuse: Reuse | None = None,
    quiet: bool = False,
    verbose: bool = False,
    stop: Flag | None = None,
) -> Report:
    """Run a suite; the first Ctrl-C ends it with the finished cases, the second at once.

    Args:
        suite: the suite.
        out: run folder to write, with its page.
        retry_failed: run folder that provides the results that did not fail.
        reuse: returns the result of an earlier run to reuse, row by row.
        quiet: whether to print no progress.
        verbose: whether to print a line for every file, case and retry instead of progress.
        stop: set by Ctrl-C.
    """
    options = {"out": out, "retry_failed": retry_failed, "reuse": reuse, "page": True}
    run = _replay if suite.at_once else _run
    stop = stop or Flag()
    if verbose:
        from judgekit.cli.verbose import CaseLines, logged, print_files

        print_files(suite)
        with logged():
            return run(suite, stop, {**options, "progress": CaseLines(suite)})
    # A person who types an answer and a line that is overwritten cannot share a terminal.
    asking = suite.record.value != "none"
    person = any(asks_in_terminal(suite.roles[role], asking=asking) for role in suite.judges)
    if quiet or person or not sys.stderr.isatty():
        return run(suite, stop, {**options, "progress": None})
    from judgekit.cli.meter import Meter

    with Meter(suite) as meter:
        return run(suite, stop, {**options, "progress": meter})


def run_distributed(suite: Path, overrides: Overrides, *, quiet: bool, **options: Any) -> Report:
    """Run a suite on a Ray cluster; the first Ctrl-C ends it, and the command continues it.

    Takes the options of `run_on_ray`.
    """
    import typer

    from judgekit.cli.screen import StatusLine
    from judgekit.ray.run import StoppedRun, run_on_ray

    stop = Flag()
    line = StatusLine(shown=not quiet)

    def show(cases: int, failed: int) -> None:
        if line.due():
            line.show(f"{cases:,} cases" + f", {failed:,} failed" * bool(failed))

    try:
        with on_interrupt(stop.set, kept=KEPT):
            return run_on_ray(suite, overrides, page=True, stop=stop, progress=show, **options)
    except StoppedRun as exc:
        print(f"judgekit: {exc}", file=sys.stderr)
        raise typer.Exit(3) from None
    finally:
        line.clear()


def _replay(suite: Suite, stop: Flag, options: dict[str, Any]) -> Report:
    with on_interrupt(stop.set, kept=KEPT):
        return replay_suite(suite, stop=stop, **options)


def _run(suite: Suite, stop: Flag, options: dict[str, Any]) -> Report:
    import asyncio

    async def work() -> Report:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            stop.set()
            loop.call_soon_threadsafe(ended.set)

        with on_interrupt(end, kept=KEPT):
            return await run_suite(suite, stop=ended, **options)

    return asyncio.run(work())
