"""`judgekit watch`: run a suite whenever one of its files is saved."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judgekit.cli.options import overrides, settings
from judgekit.cli.output import print_notes, print_verdict, run_with_progress
from judgekit.cli.screen import colourful, columns
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError
from judgekit.core.synchronous import Flag

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.runner.evaluation import Reuse
    from judgekit.suite.overrides import Overrides
    from judgekit.suite.suite import Suite
    from judgekit.suite.watch.watch import Round

NAMED = 3
"""Maximum number of saved files in a line."""


def watch(
    command: typer.Context,
    suite: Path | None = None,
    judge: list[str] | None = None,
    api_base: str | None = None,
    cache: str | None = None,
    tier: str | None = None,
    record: str | None = None,
    param: list[str] | None = None,
    set: list[str] | None = None,
    only: list[str] | None = None,
    limit: int | None = None,
    cases: str | None = None,
    format: str | None = None,
    no_judge: bool = False,
    baseline: Path | None = None,
    max_failures: int | None = None,
    quiet: bool = False,
    verbose: bool = False,
) -> None:
    """Run a suite whenever one of its files is saved.

    Score only the rows that the saved file affects, and print what changed. Watch the suite, its
    cases, rubrics and their parents, personas and cassette. Call a judge only with --record or
    --judge. Press Ctrl-C to end.

    Exit codes: 0 ended by Ctrl-C, 2 no such suite.
    """
    from judgekit.cli.run import check_volume
    from judgekit.suite.source import find_suite, read_suite
    from judgekit.suite.watch.watch import Watch

    if suite is None or suite.is_dir():
        suite = find_suite(suite or Path(), verb="watch")
    check_volume(quiet=quiet, verbose=verbose)
    if cases == "-":
        raise ConfigError("--cases -: standard input can be read once; name a file to watch")
    chosen = overrides(command.params, suite=True, settings=settings(set))
    if not suite.is_file():
        read_suite(suite)  # raises the specific error
    stop = Flag()

    def run(built: Suite, reuse: Reuse | None) -> Report:
        return run_with_progress(built, reuse=reuse, quiet=quiet, verbose=verbose, stop=stop)

    try:
        for one in Watch(suite, chosen, run=run).rounds():
            _print_round(one, suite, chosen, quiet=quiet)
            if stop.is_set():
                return
    except KeyboardInterrupt:
        if sys.stderr.isatty():  # the terminal has printed ^C
            print(file=sys.stderr)


def _print_round(one: Round, path: Path, overrides: Overrides, *, quiet: bool) -> None:
    from judgekit.report.display import summary_text
    from judgekit.suite.watch.text import changes_text
    from judgekit.suite.watch.watch import recording_command

    if one.error is not None:
        # If no file was saved, the message begins with file and line, where editors look for them.
        head = f"{_clock()} " if one.saved else ""
        print(f"{head}judgekit: {printable(one.error)}", file=sys.stderr, flush=True)
        if not one.saved:
            _print_watching(path, one)
        return
    report, suite = one.report, one.suite
    if report is None or suite is None:
        return
    if one.saved and not quiet:
        print(_head(one))
    if one.changes is None:
        if not quiet:
            print(summary_text(report, width=columns(), colour=colourful(), worst=0), end="")
            sys.stdout.flush()
            print_notes(suite)
        print_verdict(report)
        _print_watching(path, one)
        return
    command = recording_command(path, overrides, list(one.changes.missed))
    text = changes_text(one.changes, report, command=command, width=columns(), colour=colourful())
    if not quiet:
        print(text, end="")
    print_verdict(report)


def _print_watching(path: Path, one: Round) -> None:
    from judgekit.core.display.text import Paint
    from judgekit.suite.watch.files import shown

    others = one.files - 1
    files = f" and {others} file{'s' if others != 1 else ''} it uses" if others > 0 else ""
    line = f"watching {printable(shown(path))}{files}; Ctrl-C ends"
    print(Paint(colour=colourful())(line, "note"), flush=True)


def _head(one: Round) -> str:
    from judgekit.core.display.text import Paint, wrap
    from judgekit.suite.watch.files import shown

    names = ", ".join(printable(shown(path)) for path in one.saved[:NAMED])
    more = f" and {len(one.saved) - NAMED} more" if len(one.saved) > NAMED else ""
    if not one.fresh:
        scored = "no row to score again"
    else:
        duration = f" in {one.seconds:.1f} s" if one.seconds >= 1 else ""
        scored = f"{one.fresh:,} of {one.rows:,} rows scored again{duration}"
    line = f"{_clock()} {names}{more}: {scored}"
    paint = Paint(colour=colourful())
    return "\n".join(paint(part, "title") for part in wrap(line, columns(), then=" " * 9))


def _clock() -> str:
    return datetime.now(UTC).astimezone().strftime("%H:%M:%S")
