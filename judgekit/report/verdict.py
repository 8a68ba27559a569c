"""The verdict of a run in one line: the same truth as its exit code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from judgekit.core.canonical import printable
from judgekit.core.display.parts import Style, counted, cut
from judgekit.report.folder import BELOW, PAGE
from judgekit.report.manifest import entries_in, mapping
from judgekit.report.thresholds import passes

if TYPE_CHECKING:
    from judgekit.report.report import Report

MOST_COUNTED = 20_000
"""Maximum number of cases to read for runs that do not have this number."""
_REASON = 120
_WORDS: dict[int, tuple[str, Style]] = {
    0: ("PASS", "good"),
    1: ("FAIL", "bad"),
    3: ("INCOMPLETE", "bad"),
    4: ("PENDING", "bad"),
}
"""Exit code -> word and style."""
_UNGATED: tuple[str, Style] = ("DONE", "plain")
"""Instead of PASS without a gate: a run that nothing is required of cannot pass."""


class RunVerdict(NamedTuple):
    """The outcome of a run, for terminals, pages and exports."""

    word: str
    """PASS, DONE (complete, without a gate), FAIL, INCOMPLETE, or PENDING in batch jobs."""
    style: Style
    gates: int
    missed: int
    """Number of missed gates."""

    def data(self) -> dict[str, str | int]:
        """Return the verdict as JSON values."""
        return {"word": self.word, "gates": self.gates, "missed": self.missed}

    @property
    def phrase(self) -> str:
        """The outcome in a few words, for a heading or a list."""
        if self.word == "FAIL" and self.gates > 1:
            return f"{self.missed} of {self.gates} gates missed"
        return {"FAIL": "gate missed", "DONE": "complete"}.get(self.word, self.word.lower())


def run_verdict(report: Report) -> RunVerdict:
    """Return the verdict of a run, which its exit code decides."""
    gates = report.figures.gates
    word, style = _WORDS[report.exit_code] if report.exit_code or gates else _UNGATED
    return RunVerdict(word, style, len(gates), sum(not gate.passed for gate in gates))


def verdict_line(report: Report, page: str | None = None) -> str:
    """Return the last line of a run: the verdict, the facts behind it, and where the page is."""
    verdict = run_verdict(report)
    about = ", ".join(_facts(report, verdict))
    if report.figures.incomplete:
        first, *others = report.figures.incomplete
        more = f" and {counted(len(others), 'more reason')}" if others else ""
        about = f"{cut(first, _REASON)}{more}; {about}"
    at = f" Page: {page}" if page else ""
    return " ".join(printable(f"{verdict.word}: {about}.{at}").split())


def location(report: Report) -> str | None:
    """Return where a person reads the run: its page, or its folder if it has none."""
    if report.folder is None:
        return None
    page = report.folder / PAGE
    return str(page if page.exists() else report.folder)


def _facts(report: Report, verdict: RunVerdict) -> Iterator[str]:
    manifest, selected = report.figures.manifest, mapping(report.run.get("selected"))
    unchecked = len(entries_in(manifest.get("gates_not_checked")))
    gates = counted(verdict.gates, "gate")
    if verdict.missed:
        yield f"{verdict.missed} of {gates}{'' if verdict.word == 'FAIL' else ' missed'}"
    elif verdict.gates:
        yield gates
    elif "shard" in selected:
        yield f"shard {selected['shard']}, gates are checked by judgekit merge"
    elif not unchecked:
        yield "no gate"
    if unchecked:
        yield f"{counted(unchecked, 'gate')} not checked"
    cases = counted(report.figures.cases, "case")
    sides = {s.higher_is_better for s in report.figures.metrics if s.threshold is not None}
    below = _below(report) if sides else None
    if below is None:
        yield cases
    else:
        side = " or ".join(["below"] * (True in sides) + ["above"] * (False in sides))
        yield f"{below:,} of {cases} {side} a threshold"


def _below(report: Report) -> int | None:
    """Return the number of cases that miss a threshold; `None` if it would take long to count."""
    known = report.run.get(BELOW)
    if type(known) is int and 0 <= known <= report.figures.cases:
        return known
    if report.figures.cases > MOST_COUNTED:
        return None
    rules = {s.metric: (s.threshold, s.higher_is_better) for s in report.figures.metrics}
    return sum(
        any(
            row.result.type == "score"
            and row.result.fallback is None
            and passes(row.result.value, *rules.get(row.metric, (None, True))) is False
            for row in scored.rows
        )
        for scored in report.results
    )
