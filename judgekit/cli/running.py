"""Running a suite in a terminal: progress, Ctrl-C, the summary, the exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cli.exporting import Outputs
from judgekit.cli.interrupt import on_interrupt
from judgekit.cli.screen import colourful, columns
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError
from judgekit.core.synchronous import Flag
from judgekit.datasets.ids import ID_LENGTH
from judgekit.report.folder import PAGE
from judgekit.report.report import Report
from judgekit.runner.evaluation import Reuse
from judgekit.suite.file import Overrides
from judgekit.suite.judges import asks_in_terminal
from judgekit.suite.run import replay_suite, run_suite
from judgekit.suite.suite import Suite, load_suite

if TYPE_CHECKING:
    from judgekit.report.summary import MetricSummary
    from judgekit.suite.estimate import Missing

KEPT = "what is done is kept"


def run_and_print(
    path: Path,
    overrides: Overrides,
    *,
    out: Path | None,
    retry_failed: Path | None,
    as_json: bool,
    quiet: bool,
    outputs: Outputs = Outputs(),  # noqa: B008 - an immutable value
    verbose: bool = False,
) -> int:
    """Run a suite, print what came of it, return the exit code."""
    if quiet and verbose:
        raise ConfigError("give --quiet or --verbose, not both")
    suite = load_suite(path, overrides)
    report = run_with_progress(
        suite, out=out, retry_failed=retry_failed, quiet=quiet or as_json, verbose=verbose
    )
    with outputs.plain(as_json=as_json):
        also = "\n".join(filter(None, [_rows_without_id(suite, report), _added(suite)]))
        print_report(report, out=out, as_json=as_json, also=also or None)
        if not quiet:
            _print_beside(suite, report, out=out, verbose=verbose)
    outputs.write(report, find=suite.data.places, as_json=as_json)
    return report.exit_code


def _print_beside(suite: Suite, report: Report, *, out: Path | None, verbose: bool) -> None:
    if report.run.get("went_on"):
        told = "a run was stopped here; this one went on with the replies it had kept"
        print(f"judgekit: {printable(str(out))}: {told}", file=sys.stderr)
    print_notes(suite)
    if not verbose and any("metric_error" in one.failures for one in report.figures.metrics):
        print("judgekit: rows failed by metric_error; --verbose prints why", file=sys.stderr)


def print_report(
    report: Report, *, out: Path | None, as_json: bool, also: str | None = None
) -> None:
    """Print the figures, and where the rest is."""
    if as_json:
        data = {**report.figures.model_dump(mode="json"), "run": report.run}
        print(json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True))
        return
    print_summary(report)
    if also is not None:
        print(also)
    page = report.folder / PAGE if report.folder is not None else None
    if page is not None and page.exists():
        print(f"page: {page}")
    if out is not None:
        print(f"run folder: {out}")


def _rows_without_id(suite: Suite, report: Report) -> str | None:
    """Say on which lines the cases of the summary stand that have no id of their own."""
    shown = [case for m in report.figures.metrics for case in _cases_shown(m)]
    derived = {case for case in shown if len(case) == ID_LENGTH and case.isalnum()}
    if not derived:
        return None
    places = suite.data.places(derived)
    lines = [
        f"{case} is line {line} of {file}"
        for case in dict.fromkeys(shown)
        if case in places and (line := places[case][1]) is not None and (file := places[case][0])
    ]
    return printable("; ".join(["Rows without an id: " + lines[0], *lines[1:]])) if lines else None


def _cases_shown(summary: MetricSummary) -> list[str]:
    failed = (summary.first_failure or "").partition(": ")[0]
    return [*(worst.case for worst in summary.flawed), failed]


def _added(suite: Suite) -> str | None:
    """Say what was recorded, and where."""
    if suite.cassette is None or not suite.cassette.added:
        return None
    added, tape = suite.cassette.added, suite.cassette.path
    kept = "kept in the private store" if tape is None else f"written to {tape}"
    return printable(f"{added} new repl{'ies' if added != 1 else 'y'} {kept}")


def print_notes(suite: Suite) -> None:
    """Say on standard error what a person should know beside the results."""
    cassette = suite.cassette
    for note in cassette.notes if cassette is not None else ():
        print(f"judgekit: {printable(note)}", file=sys.stderr)
    advice = allow_asking(suite)
    if advice:
        print(advice, file=sys.stderr)


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
    """Run a suite; the first Ctrl-C ends it with what there is, the second at once.

    Args:
        suite: the suite.
        out: run folder to write, with its page.
        retry_failed: run folder whose good results are taken over.
        reuse: returns the result of an earlier run to take over, row by row.
        quiet: whether there is no line that says how far it is.
        verbose: whether every case, retry and file found is a line instead.
        stop: is set by Ctrl-C.
    """
    # A line that moves and a person who types do not share a terminal.
    asking = suite.record.value != "none"
    asked_here = any(asks_in_terminal(suite.roles[role], asking=asking) for role in suite.judges)
    meter = None
    if not (quiet or verbose or asked_here) and sys.stderr.isatty():
        from judgekit.cli.meter import Meter

        meter = Meter(suite)
    options = {"out": out, "retry_failed": retry_failed, "reuse": reuse, "page": True}
    run = _replay if suite.at_once else _run
    stop = stop or Flag()
    if not verbose:
        try:
            return run(suite, stop, {**options, "progress": meter})
        finally:
            if meter is not None:
                meter.close()
    from judgekit.cli.verbose import Teller, tell_files, telling

    tell_files(suite)
    with telling():
        return run(suite, stop, {**options, "progress": Teller(suite)})


def _replay(suite: Suite, stop: Flag, options: dict[str, Any]) -> Report:
    with on_interrupt(stop.set, said=KEPT):
        return replay_suite(suite, stop=stop, **options)


def _run(suite: Suite, stop: Flag, options: dict[str, Any]) -> Report:
    import asyncio

    async def work() -> Report:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            stop.set()
            loop.call_soon_threadsafe(ended.set)

        with on_interrupt(end, said=KEPT):
            return await run_suite(suite, stop=ended, **options)

    return asyncio.run(work())


def print_summary(report: Report) -> None:
    """Print the summary, as wide and as colourful as the terminal takes."""
    from judgekit.report.text import summary_text

    print(summary_text(report, width=columns(), colour=colourful()), end="")


def allow_asking(suite: Suite) -> str | None:
    """Return what it would take to ask for what is not recorded, if anything is missing."""
    if suite.cassette is None or not suite.cassette.ledger.missed:
        return None
    from judgekit.suite.estimate import missing_calls, more_to_come

    missing = missing_calls(suite)
    calls = [f"{_calls(call.calls)} to {call.model}, {call.text}" for call in missing]
    further = more_to_come(suite)
    more = f" More follow, by what is answered, for {', '.join(further)}." if further else ""
    least = "at least " if further else ""
    found = f"Not recorded yet{_on_tape(suite)}: {least}{'; '.join(calls)}.{more}"
    return f"{found}\n{_how_to_ask(missing)}"


def _how_to_ask(missing: Sequence[Missing]) -> str:
    from judgekit.core.example_model import EXAMPLE_MODEL

    people = sorted({call.model for call in missing if call.model.startswith("manual/")})
    if not people:
        return "To ask, add: --record new_episodes"
    return (
        f"{' and '.join(people)} {'is a person' if len(people) == 1 else 'are people'}. "
        "To answer in this terminal, add: --record new_episodes\n"
        f"To ask a model instead, add: --judge {EXAMPLE_MODEL}"
    )


def _calls(count: int) -> str:
    return f"{count} call{'s' if count != 1 else ''}"


def _on_tape(suite: Suite) -> str:
    path = suite.cassette.path if suite.cassette is not None else None
    if path is None:
        return ""
    return f" on {path}" if path.exists() else f" ({path} does not exist)"
