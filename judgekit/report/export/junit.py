"""Write a run as JUnit XML: a suite per metric with a test per case, and a suite of gates.

Only elements that Jenkins, GitLab and GitHub actions all support are used: `testsuites` with
counts, `testsuite`, `testcase` with `name` and `classname`, and in it `failure`, `error` or
`skipped` with a message.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from judgekit.report.corrected import corrected_lines
from judgekit.report.export.findings import PASSED, RowVerdict, verdicts
from judgekit.report.export.target import named, one_line, written
from judgekit.report.manifest import mapping

if TYPE_CHECKING:
    from judgekit.report.report import Report

MOST_DETAIL = 10_000
"""Maximum length of the details of one row, in characters."""
_IN_MEMORY = 1 << 20
_ESCAPES = str.maketrans(
    # Without these escapes, parsers turn line ends and tabs of an attribute into spaces.
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;",
     "\t": "&#9;"}
)  # fmt: skip
_TAGS = {"failed": "failure", "error": "error", "skipped": "skipped"}


def write(report: Report, path: Path) -> None:
    """Write a run as JUnit XML; the same bytes for the same results, in constant memory.

    Raises:
        ConfigError: the file cannot be written, or the results cannot be read.
    """
    with written(path) as file, ExitStack() as stack:
        suites = {
            name: _Suite(name, stack.enter_context(_spool()), tuple(corrected_lines(summary)))
            for name, summary in report.metrics.items()
        }  # one pass over the results for all suites
        for row, verdict in verdicts(report):
            suites[row.metric].add(row.case, verdict)
        gates = _Suite("judgekit gates", stack.enter_context(_spool()))
        for result in report.figures.gates:
            gate = result.gate
            subject = f"{gate.subject}: " if gate.metric else ""
            failed = RowVerdict("failed", result.answer or "misses", result.sentence)
            name = f"{subject}{gate.statistic} {gate.bound:g}"
            gates.add(name, PASSED if result.passed else failed)
        for number, reason in enumerate(report.figures.incomplete, start=1):
            gates.add(f"complete {number}", RowVerdict("error", "incomplete", reason))
        _join(file, report, [*suites.values(), gates])


def _spool() -> IO[bytes]:
    import tempfile

    return tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)


@dataclass
class _Suite:
    name: str
    spool: IO[bytes]
    properties: tuple[str, ...] = ()
    """The means corrected with labels, as texts."""
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, verdict: RowVerdict) -> None:
        self.counts["tests"] += 1
        self.counts[verdict.outcome] += 1
        begin = f"  <testcase{_attributes(name=name, classname=self.name, time='0')}"
        tag = _TAGS.get(verdict.outcome)
        if tag is None:
            self.spool.write(f"{begin}/>\n".encode())
            return
        attributes = _attributes(message=one_line(verdict.line), type=verdict.kind)
        detail = named("\n".join((verdict.line, *verdict.details)))
        if len(detail) > MOST_DETAIL:
            detail = detail[: MOST_DETAIL - 1] + "…"
        # Line ends are allowed in content.
        text = detail.translate(_ESCAPES).replace("&#10;", "\n")
        self.spool.write(
            f"{begin}>\n   <{tag}{attributes}>{text}</{tag}>\n  </testcase>\n".encode()
        )


def _shown(counts: Counter[str]) -> dict[str, Any]:
    """Return counts as attributes."""
    names = {"tests": "tests", "failures": "failed", "errors": "error", "skipped": "skipped"}
    return {name: counts[outcome] for name, outcome in names.items()} | {"time": "0"}


def _attributes(**values: Any) -> str:
    return "".join(
        f' {name}="{named(str(value)).translate(_ESCAPES)}"' for name, value in values.items()
    )


def _join(file: BinaryIO, report: Report, suites: list[_Suite]) -> None:
    whole = sum((suite.counts for suite in suites), Counter[str]())
    name = mapping(report.figures.manifest.get("suite")).get("name") or "judgekit"
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    file.write(f"{head}<testsuites{_attributes(name=name, **_shown(whole))}>\n".encode())
    for suite in suites:
        file.write(f" <testsuite{_attributes(name=suite.name, **_shown(suite.counts))}>\n".encode())
        if suite.properties:
            listed = "".join(
                f"   <property{_attributes(name='corrected', value=line)}/>\n"
                for line in suite.properties
            )
            file.write(f"  <properties>\n{listed}  </properties>\n".encode())
        suite.spool.seek(0)
        while piece := suite.spool.read(_IN_MEMORY):
            file.write(piece)
        file.write(b" </testsuite>\n")
    file.write(b"</testsuites>\n")
