"""Run a suite in a terminal: progress, Ctrl-C, and where the run stands at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cli.screen import Meter, StatusLine, on_interrupt, run_interruptible
from judgekit.core.synchronous import Flag
from judgekit.suite.judges import asks_in_terminal
from judgekit.suite.run import replay_suite, run_suite

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.runner.evaluation import Reuse
    from judgekit.runner.progress import Progress
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
    stop = stop or Flag()
    # A person who types an answer and a line that is overwritten cannot share a terminal.
    asking = suite.record.value != "none"
    person = any(asks_in_terminal(suite.roles[role], asking=asking) for role in suite.judges)
    progress: Callable[[Progress], None] | None = None
    with ExitStack() as printing:
        if verbose:
            from judgekit.cli.verbose import CaseLines, logged, print_files

            print_files(suite)
            printing.enter_context(logged())
            progress = CaseLines(suite)
        elif not quiet and not person and sys.stderr.isatty():
            progress = printing.enter_context(Meter(suite))
        options: dict[str, Any] = {"out": out, "retry_failed": retry_failed, "reuse": reuse}
        if suite.at_once:
            with on_interrupt(stop.set, kept=KEPT):
                return replay_suite(suite, stop=stop, progress=progress, page=True, **options)
        return run_interruptible(
            lambda end: run_suite(suite, stop=end, progress=progress, page=True, **options),
            kept=KEPT,
            stop=stop,
        )


def run_distributed(suite: Path, overrides: Overrides, *, quiet: bool, **options: Any) -> Report:
    """Run a suite on a Ray cluster; the first Ctrl-C ends it, and the command continues it.

    Takes the options of `run_on_ray`.
    """
    import typer

    from judgekit.ray.run import StoppedRun, run_on_ray

    stop, line = Flag(), StatusLine(shown=not quiet)

    def show(cases: int, failed: int) -> None:
        if line.due():
            line.show(f"{cases:,} cases" + f", {failed:,} failed" * bool(failed))

    try:
        with line, on_interrupt(stop.set, kept=KEPT):
            return run_on_ray(suite, overrides, page=True, stop=stop, progress=show, **options)
    except StoppedRun as exc:
        print(f"judgekit: {exc}", file=sys.stderr)
        raise typer.Exit(3) from None
