"""A run in GitHub Actions: the summary of the job, and annotations.

A runner reads commands from the output of a job: lines that begin with `::` or contain `##[`. Texts
of cases and judges cannot inject a command: properties and messages are escaped, and other output
is enclosed in `stop-commands` with a random token.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.core.errors import ConfigError
from judgekit.report.export.findings import Findings, findings_of
from judgekit.report.export.markdown import markdown_lines
from judgekit.report.export.target import one_line, translated

if TYPE_CHECKING:
    from judgekit.report.report import Report

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The environment variable that names the file of a step's summary."""
MOST_BYTES = 1024 * 1024
"""GitHub's maximum size of the summary of a step."""
MOST_ANNOTATIONS = 10
"""GitHub's maximum number of annotations of one kind per step."""
_CUT = (
    "\nThe rest does not fit into a job summary; the Markdown, the page and the results have it.\n"
)

Places = Mapping[str, tuple[str, int | None]]
"""Case -> its file and line."""
_Annotation = tuple[str | None, str, str]
"""A case, a title and a message."""


def summary_path() -> Path:
    """Return the file of the step's summary.

    Raises:
        ConfigError: the process is not a step of a GitHub workflow.
    """
    named = os.environ.get(SUMMARY)
    if not named:
        raise ConfigError(
            f"--github: {SUMMARY} is not set; it is for a step of a GitHub workflow "
            "(elsewhere: --export markdown=FILE)"
        )
    return Path(named)


def write_github(
    report: Report, *, find: Callable[[set[str]], Places], say: Callable[[str], None]
) -> None:
    """Add a run to the summary of the job and print its annotations.

    Args:
        report: the run.
        find: returns the locations of cases, if known.
        say: prints a line.

    Raises:
        ConfigError: the process is not a step of a workflow, or the summary cannot be written.
    """
    path = summary_path()
    findings = findings_of(report)
    try:
        add_summary(report, findings, path)
    finally:
        for line in annotation_lines(report, findings, find):
            say(line)


def add_summary(report: Report, findings: list[Findings], path: Path) -> None:
    """Append a run to a summary file, up to the size limit.

    Raises:
        ConfigError: the file cannot be written.
    """
    with translated(path), path.open("ab") as file:
        room = MOST_BYTES - file.tell() - len(_CUT.encode())
        for line in markdown_lines(report, findings):
            data = f"{line}\n".encode("utf-8", "replace")
            room -= len(data)
            if room < 0:
                file.write(_CUT.encode())
                return
            file.write(data)


def annotation_lines(
    report: Report, findings: list[Findings], find: Callable[[set[str]], Places]
) -> Iterator[str]:
    """Yield workflow commands: errors for gates and rows without a score, warnings for the rest."""
    errors: list[_Annotation] = [
        (None, "judgekit: incomplete", reason) for reason in report.figures.incomplete
    ]
    missed = [gate for gate in report.figures.gates if not gate.passed]
    errors += [(None, f"judgekit: {one.gate.metric or 'run'}", one.sentence) for one in missed]
    warnings: list[_Annotation] = []
    lost = len(errors) + sum(metric.errors for metric in findings)
    for metric in findings:
        name = metric.summary.metric
        for case, verdict in metric.first_errors:
            errors.append((case, f"{name}: {case}", f"{verdict.kind}: {verdict.line}"))
        for case, _, verdict in metric.worst:
            message = " / ".join((verdict.line, *verdict.details[:2]))
            warnings.append((case, f"{name}: {case}", message))
    failed = sum(metric.failed for metric in findings)
    shown = [("error", *_few(errors, lost)), ("warning", *_few(warnings, failed))]
    places = find({case for _, entries, _ in shown for case, *_ in entries if case is not None})
    for kind, entries, left in shown:
        for about, title, message in entries:
            at = places.get(about) if about else None
            yield command(kind, title, message, at=at and (_from_root(at[0]), at[1]))
        if left:
            yield command(kind, "judgekit", f"and {left:,} more; the summary of the job has them")


def _from_root(file: str) -> str:
    """Return a path relative to the checkout, as GitHub needs it."""
    root = os.environ.get("GITHUB_WORKSPACE")
    return Path(os.path.relpath(file, root)).as_posix() if root else file


def _few(entries: list[_Annotation], count: int) -> tuple[list[_Annotation], int]:
    """Return the entries to show, and the number of the others."""
    if count <= MOST_ANNOTATIONS:
        return entries, 0
    return entries[: MOST_ANNOTATIONS - 1], count - (MOST_ANNOTATIONS - 1)


def command(
    kind: str, title: str, message: str, *, at: tuple[str, int | None] | None = None
) -> str:
    r"""Return a workflow command.

    >>> command("error", "a, b: c", "100%\n::warning::x")
    '::error title=a%2C b%3A c::100%25 ::warning::x'
    """
    properties = {"title": one_line(title, most=200)}
    if at is not None:
        properties["file"] = at[0]
        if at[1] is not None:
            properties["line"] = str(at[1])
    text = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{kind} {text}::{_message(one_line(message))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


@contextmanager
def quiet(say: Callable[[str], None]) -> Iterator[None]:
    """Keep the runner from reading commands in the output of a block."""
    word = secrets.token_hex(16)
    say(f"::stop-commands::{word}")
    try:
        yield
    finally:
        say(f"::{word}::")
