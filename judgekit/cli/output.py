"""What a run prints, and the files it is exported to."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from judgekit.cli.screen import colourful, columns
from judgekit.core.canonical import printable
from judgekit.core.example_model import EXAMPLE_MODEL

if TYPE_CHECKING:
    from judgekit.core.value import Document
    from judgekit.report.export.export import Export
    from judgekit.report.report import Report
    from judgekit.suite.estimate import MissingCalls
    from judgekit.suite.suite import Suite


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

        with quiet(_print_out):
            yield

    def write(
        self,
        report: Report,
        *,
        find: Callable[[set[str]], Mapping[str, tuple[str, int | None]]],
        as_json: bool = False,
    ) -> None:
        """Write all outputs; one that fails does not stop the others.

        Args:
            report: the run.
            find: returns the file and line of cases by their ids.
            as_json: whether standard output is JSON.

        Raises:
            ConfigError: an output cannot be written.
        """
        try:
            if self.github:
                from judgekit.report.export.github import write_github

                write_github(report, find=find, say=print_error if as_json else _print_out)
        finally:
            if self.exports:
                from judgekit.report.export.export import export_all

                for one in export_all(report, self.exports):
                    if not as_json:
                        print(f"{one.format}: {printable(str(one.path))}")


def _print_out(line: str) -> None:
    sys.stderr.flush()
    print(line, flush=True)


def print_error(line: str) -> None:
    """Print a line to standard error at once."""
    print(line, file=sys.stderr, flush=True)


def outputs_of(exports: list[str] | None, *, github: bool) -> Outputs:
    """Return the outputs that flags name, checked before anything runs.

    Raises:
        ConfigError: an unknown format, no file, or `--github` outside GitHub Actions.
        MissingExtra: the package for a format is not installed.
    """
    if github:
        from judgekit.report.export.github import summary_path

        summary_path()
    if not exports:
        return Outputs(github=github)
    from judgekit.report.export.export import parse_exports

    return Outputs(exports=tuple(parse_exports(exports)), github=github)


def print_json(data: object) -> None:
    """Print a value as JSON, with sorted keys."""
    print(json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True))


def print_document(
    document: Document, data: Callable[[], object], *, as_json: bool, markdown: bool
) -> None:
    """Print a value as JSON of its data, as Markdown, or as text."""
    if as_json:
        print_json(data())
    else:
        print(document.markdown() if markdown else document.text(width=columns()), end="")


def print_report(
    report: Report, *, out: Path | None, as_json: bool, also: Sequence[str] = ()
) -> None:
    """Print the figures of a run, some further lines, and where its files are."""
    from judgekit.report.folder import PAGE
    from judgekit.report.report import report_json

    if as_json:
        print(report_json(report))
        return
    print_summary(report)
    for line in also:
        print(line)
    page = report.folder / PAGE if report.folder is not None else None
    if page is not None and page.exists():
        print(f"page: {page}")
    if out is not None:
        print(f"run folder: {out}")


def print_summary(report: Report) -> None:
    """Print the summary of a run at the width and with the colours of the terminal."""
    from judgekit.report.display import summary_text

    print(summary_text(report, width=columns(), colour=colourful()), end="")


def print_notes(suite: Suite) -> None:
    """Print the notes of the cassette, and how to record what is missing, to standard error."""
    cassette = suite.cassette
    for note in cassette.notes if cassette is not None else ():
        print_error(f"judgekit: {printable(note)}")
    advice = recording_advice(suite)
    if advice:
        print_error(advice)


def recording_advice(suite: Suite) -> str | None:
    """Return which replies are not recorded and how to record them, if any."""
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
    people = sorted({call.model for call in missing if call.model.startswith("manual/")})
    if not people:
        return "To record them, add: --record new_episodes"
    return (
        f"{' and '.join(people)} {'is a person' if len(people) == 1 else 'are people'}. "
        "To answer in this terminal, add: --record new_episodes\n"
        f"To call a model instead, add: --judge {EXAMPLE_MODEL}"
    )
