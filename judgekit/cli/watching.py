"""Watching a suite in a terminal: what each run found, what moved, errors as lines."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from judgekit.cli.running import print_notes, run_with_progress
from judgekit.cli.screen import colourful, columns
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError
from judgekit.core.synchronous import Flag
from judgekit.report.cells import wrap
from judgekit.report.report import Report
from judgekit.report.text import Paint, summary_text
from judgekit.runner.evaluation import Reuse
from judgekit.suite.file import Overrides
from judgekit.suite.source import read_suite
from judgekit.suite.suite import Suite
from judgekit.suite.watch.command import recording_command
from judgekit.suite.watch.files import shown
from judgekit.suite.watch.text import moves_text, state_text
from judgekit.suite.watch.watch import Round, Watch

NAMED = 3
"""Saved files that are named."""


def watch_and_print(path: Path, overrides: Overrides, *, quiet: bool, verbose: bool) -> int:
    """Watch a suite until Ctrl-C; return the exit code."""
    if quiet and verbose:
        raise ConfigError("give --quiet or --verbose, not both")
    _check(path, overrides)
    stop = Flag()

    def run(suite: Suite, reuse: Reuse | None) -> Report:
        return run_with_progress(suite, reuse=reuse, quiet=quiet, verbose=verbose, stop=stop)

    try:
        for found in Watch(path, overrides, run=run).rounds():
            _print(found, path, overrides, quiet=quiet)
            if stop.is_set():
                return 0
    except KeyboardInterrupt:
        if sys.stderr.isatty():  # ^C stands on the line that follows
            print(file=sys.stderr)
    return 0


def _check(path: Path, overrides: Overrides) -> None:
    """Refuse what will never be: a suite that is not there, cases that can be read once."""
    if overrides.cases == "-":
        raise ConfigError("--cases -: standard input can be read once; name a file to watch")
    if not path.is_file():
        read_suite(path)


def _print(found: Round, path: Path, overrides: Overrides, *, quiet: bool) -> None:
    if found.error is not None:
        # Its place in the file leads the line, where editors look for it.
        head = f"{_clock()} " if found.saved else ""
        print(f"{head}judgekit: {printable(found.error)}", file=sys.stderr, flush=True)
        if not found.saved:
            _print_watching(path, found)
        return
    report, suite = found.report, found.suite
    if report is None or suite is None:
        return
    if found.moves is None:
        if found.saved:
            print(_head(found, report))
        print(summary_text(report, width=columns(), colour=colourful(), worst=0), end="")
        if not quiet:
            print_notes(suite)
        _print_watching(path, found)
        return
    missed = list(found.moves.missed)
    text = moves_text(
        found.moves,
        report,
        command=recording_command(path, overrides, missed),
        width=columns(),
        colour=colourful(),
    )
    print(_head(found, report))
    print(text, end="", flush=True)


def _print_watching(path: Path, found: Round) -> None:
    others = found.files - 1
    files = f" and {others} file{'s' if others != 1 else ''} of it" if others > 0 else ""
    line = f"watching {printable(shown(path))}{files}; Ctrl-C ends it"
    print(Paint(colour=colourful())(line, "dim"), flush=True)


def _head(found: Round, report: Report) -> str:
    names = ", ".join(printable(shown(path)) for path in found.saved[:NAMED])
    more = f" and {len(found.saved) - NAMED} more" if len(found.saved) > NAMED else ""
    if not found.fresh:
        did = "no row to score anew"
    else:
        took = f" in {found.seconds:.1f} s" if found.seconds >= 1 else ""
        did = f"{found.fresh:,} of {found.rows:,} rows scored anew{took}"
    line = f"{_clock()} {names}{more}: {did}; {state_text(report)}"
    paint = Paint(colour=colourful())
    return "\n".join(paint(part, "bold") for part in wrap(line, columns(), then=" " * 9))


def _clock() -> str:
    return datetime.now(UTC).astimezone().strftime("%H:%M:%S")
