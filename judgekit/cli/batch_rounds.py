"""The rounds of `run --batch`: wait for the jobs of a round, then run again for the next one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from judgekit.core.display.parts import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.batch.polling import PollClock
    from judgekit.report.report import Report
    from judgekit.suite.suite import Suite


def in_rounds(
    suite: Suite,
    *,
    again: Callable[[], Suite],
    run: Callable[..., Report],
    seconds: float | None,
    quiet: bool,
) -> tuple[Suite, Report]:
    """Run a suite until nothing is pending or the time is over; return it as it ran last.

    Ctrl-C ends a wait. The jobs stay as they are, and any later run takes their replies.

    Args:
        suite: the suite.
        again: opens it for another round.
        run: runs it.
        seconds: how long to wait for jobs, all rounds together; `None` means not at all.
        quiet: whether to print nothing about the waits.
    """
    report = run(suite)
    if seconds is None:
        return suite, report
    from judgekit.batch.polling import PollClock

    clock = PollClock(seconds)
    while _went_on(suite, clock, quiet=quiet):
        suite = again()
        report = run(suite)
        # Requests that get no reply in any job would be sent again until the time is over.
        if suite.batch_facts is None or not suite.batch_facts.collected:
            break
    return suite, report


def _went_on(suite: Suite, clock: PollClock, *, quiet: bool) -> bool:
    """Wait for the jobs of a run that has ended; return whether to run the suite again."""
    facts = suite.batch_facts
    if facts is None or not (facts.jobs or facts.new) or clock.over:
        return False
    if suite.data.source()[0] == "-":  # standard input is read once
        return False
    if not facts.jobs:
        return True
    from judgekit.batch.jobs import Jobs
    from judgekit.cassette.store import store_folder
    from judgekit.cli.batch import wait_for
    from judgekit.core.duration import clock_text

    if not quiet:
        limit, jobs = clock_text(clock.seconds or 0.0), counted(len(facts.jobs), "batch job")
        print(f"judgekit: waiting up to {limit} for {jobs}", file=sys.stderr, flush=True)
    only = {job.intent for job in facts.jobs}
    waiting = Jobs(store_folder(suite.base), only=only)
    clock.again()
    try:
        wait_for(waiting, clock, quiet=quiet)
    except KeyboardInterrupt:
        print("\nstopped waiting; the jobs go on at the provider", file=sys.stderr)
        return False
    return len(waiting.open) < len(only)
