"""Run a suite in a terminal: progress, Ctrl-C, output, and exports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from judgekit.cli.screen import (
    Meter,
    StatusLine,
    colourful,
    columns,
    on_interrupt,
    run_interruptible,
)
from judgekit.cli.workflow_output import print_command
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError
from judgekit.core.example_model import EXAMPLE_MODEL
from judgekit.core.json_document import json_document
from judgekit.core.synchronous import Flag

if TYPE_CHECKING:
    from judgekit.core.document import Document
    from judgekit.report.export.export import Export
    from judgekit.report.export.github import Places
    from judgekit.report.report import Report
    from judgekit.runner.evaluation import Reuse
    from judgekit.runner.progress import Progress
    from judgekit.suite.estimate import MissingCalls
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
    """Run a suite; the first Ctrl-C ends it with the finished cases, the second immediately.

    Args:
        suite: the suite.
        out: run folder to write, with its page.
        retry_failed: run folder that provides the results that did not fail.
        reuse: returns the result of an earlier run to reuse, row by row.
        quiet: whether to print no progress.
        verbose: whether to print a line for every file, case and retry instead of progress.
        stop: set by Ctrl-C.
    """
    from judgekit.suite.judges import asks_in_terminal
    from judgekit.suite.run import MAX_PLACES, places_of, replay_suite, run_suite

    stop = stop or Flag()
    # A progress line would overwrite the answers that a person types in the same terminal.
    asking = suite.record.value != "none"
    person = any(asks_in_terminal(suite.roles[role], asking=asking) for role in suite.judges)
    progress: Callable[[Progress], None] | None = None
    with ExitStack() as printing:
        if verbose:
            from judgekit.cli.verbose import logged, print_case, print_files

            print_files(suite)
            printing.enter_context(logged())
            names = [metric.name for metric in suite.metrics]
            places = places_of(suite, islice(suite.data.before(), MAX_PLACES))
            progress = partial(print_case, names, places)
        elif not quiet and not person and sys.stderr.isatty():
            progress = printing.enter_context(Meter(suite))
        options: dict[str, Any] = {"out": out, "retry_failed": retry_failed, "reuse": reuse}
        options |= {"progress": progress, "page": True}
        if suite.at_once:
            with on_interrupt(stop.set, kept=KEPT):
                return replay_suite(suite, stop=stop, **options)
        work = partial(run_suite, suite, **options)
        return run_interruptible(lambda end: work(stop=end), kept=KEPT, stop=stop)


def run_distributed(suite: Path, overrides: Overrides, *, quiet: bool, **options: Any) -> Report:
    """Run a suite on a Ray cluster; the first Ctrl-C ends it, and the command continues it.

    Takes the options of `run_on_ray`.
    """
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


# -- output ------------------------------------------------------------------------


class Outputs(NamedTuple):
    """Where a run is written besides its folder."""

    exports: tuple[Export, ...] = ()
    github: bool = False

    @contextmanager
    def plain(self, *, as_json: bool) -> Iterator[None]:
        """Keep GitHub from reading commands in what the body prints; JSON is left as it is."""
        if not self.github or as_json:
            yield
            return
        from judgekit.report.export.github import quiet

        sys.stderr.flush()
        with quiet(print_command):
            yield

    def write(
        self,
        report: Report,
        *,
        find: Callable[[set[str]], Places],
        as_json: bool = False,
        quiet: bool = False,
    ) -> None:
        """Write all outputs; one that fails does not stop the others.

        Args:
            report: the run.
            find: returns the file and line of cases by their ids.
            as_json: whether standard output is JSON.
            quiet: whether to print no line about a file.

        Raises:
            ConfigError: an output cannot be written.
        """
        try:
            if self.github:
                from judgekit.report.export.github import write_github

                sys.stderr.flush()
                write_github(report, find=find, say=partial(print_command, error=as_json))
        finally:
            if self.exports:
                from judgekit.report.export.export import export_all

                for one in export_all(report, self.exports):
                    if not (as_json or quiet):
                        print(f"{one.format}: {printable(str(one.path))}")


def print_error(line: str) -> None:
    """Print a line to standard error and flush it."""
    print(line, file=sys.stderr, flush=True)


def outputs_of(exports: list[str] | None, *, github: bool) -> Outputs:
    """Return the outputs in flags, checked before the run.

    Raises:
        ConfigError: the format is unknown, the file is missing, or `--github` is used outside
            GitHub Actions.
        MissingExtra: the package for a format is not installed.
    """
    if github:
        from judgekit.report.export.github import summary_path

        summary_path()
    if not exports:
        return Outputs(github=github)
    from judgekit.report.export.export import parse_exports

    return Outputs(exports=tuple(parse_exports(exports)), github=github)


def print_json(kind: str, data: Mapping[str, Any]) -> None:
    """Print a JSON object of a kind, see `json_document`."""
    print(json_document(kind, data))


def print_document(
    document: Document,
    kind: str,
    data: Callable[[], Mapping[str, Any]],
    *,
    as_json: bool,
    markdown: bool = False,
) -> None:
    """Print a value as JSON of its data, as Markdown, or as text.

    Args:
        document: the value.
        kind: its kind in JSON.
        data: returns its data.
        as_json: whether to print JSON.
        markdown: whether to print Markdown.

    Raises:
        ConfigError: both are asked for.
    """
    if as_json and markdown:
        raise ConfigError("give --json or --markdown, not both")
    if as_json:
        print_json(kind, data())
    else:
        print(document.markdown() if markdown else document.text(width=columns()), end="")


def print_run(
    report: Report,
    *,
    outputs: Outputs = Outputs(),  # noqa: B008 - an immutable value
    find: Callable[[set[str]], Places] = lambda _: {},
    as_json: bool = False,
    quiet: bool = False,
    also: Sequence[str] = (),
    notes: Sequence[str] = (),
    page: Path | None = None,
) -> None:
    """Print a run and write its outputs; the last line is the verdict.

    Args:
        report: the run.
        outputs: where to write it besides its folder.
        find: returns the file and line of cases by their ids.
        as_json: print the report as JSON, and nothing else on standard output.
        quiet: print only the verdict.
        also: lines after the summary.
        notes: lines for standard error.
        page: its page, if that is not in the run folder.
    """
    from judgekit.report.text import report_json

    try:
        with outputs.plain(as_json=as_json):
            if as_json:
                print(report_json(report))
            elif not quiet:
                print_summary(report)
                for line in also:
                    print(line)
        if not quiet:
            sys.stdout.flush()
            for line in notes:
                print_error(line)
        outputs.write(report, find=find, as_json=as_json, quiet=quiet)
    finally:
        if not as_json:
            with outputs.plain(as_json=False):
                print_verdict(report, page=page)


def print_verdict(report: Report, *, page: Path | None = None) -> None:
    """Print the last line of a run: its verdict and where its page is."""
    from judgekit.core.display.text import Paint
    from judgekit.report.verdict import location, run_verdict, verdict_line

    verdict = run_verdict(report)
    line = verdict_line(report, location(report) if page is None else str(page))
    word = Paint(colour=colourful())(verdict.word, verdict.style)
    print(word + line.removeprefix(verdict.word), flush=True)


def print_summary(report: Report) -> None:
    """Print the summary of a run at the width and with the colours of the terminal."""
    from judgekit.report.display import summary_text

    print(summary_text(report, width=columns(), colour=colourful()), end="")


def print_notes(suite: Suite) -> None:
    """Print the notes of `notes_of` to standard error."""
    for note in notes_of(suite):
        print_error(note)


def notes_of(suite: Suite) -> list[str]:
    """Return the notes of the cassette, and how to record what is missing."""
    cassette = suite.cassette
    notes = [f"judgekit: {printable(note)}" for note in cassette.notes] if cassette else []
    advice = recording_advice(suite)
    return [*notes, advice] if advice else notes


def recording_advice(suite: Suite) -> str | None:
    """Return a note on replies that are not recorded and how to record them, if any."""
    if suite.cassette is None or not suite.cassette.ledger.missed:
        return None
    from judgekit.suite.estimate import missing_calls, more_to_come

    missing = missing_calls(suite)
    calls = "; ".join(
        f"{call.calls} call{'s' * (call.calls != 1)} to {call.model}, {call.text}"
        for call in missing
    )
    further = more_to_come(suite)
    more = f" Later calls of {', '.join(further)} depend on these replies." if further else ""
    path = suite.cassette.path
    where = "" if path is None else f" on {path}" if path.exists() else f" ({path} does not exist)"
    least = "at least " if further else ""
    return f"Not recorded yet{where}: {least}{calls}.{more}\n{_how_to_record(missing)}"


def _how_to_record(missing: Sequence[MissingCalls]) -> str:
    from judgekit.judges.kinds import kind_of

    people = sorted({call.model for call in missing if kind_of(call.model).person})
    if not people:
        return "To record them, add: --record new_episodes"
    return (
        f"{' and '.join(people)} {'is a person' if len(people) == 1 else 'are people'}. "
        "To answer in this terminal, add: --record new_episodes\n"
        f"To call a model instead, add: --judge {EXAMPLE_MODEL}"
    )
