"""A finding: one problem, its place, and the rule that explains it."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Worst first."""


class Problem(NamedTuple):
    """What a check yields."""

    where: str
    """`file:line`, or the file alone."""
    message: str
    criterion: str | None = None
    """The criterion that it is about: silences of that criterion apply."""


class LintFinding(NamedTuple):
    """A problem, and the rule that it breaks."""

    file: str
    line: int
    """From 1; 1 as well for a finding about the whole file."""
    rule: str
    severity: Severity
    message: str
    criterion: str | None = None
    silenced: str | None = None
    """The reason why the file silences it."""


def finding(problem: Problem, *, rule: str, severity: Severity) -> LintFinding:
    """Return a problem as the finding of a rule."""
    file, colon, line = problem.where.rpartition(":")
    if not (colon and line.isascii() and line.isdigit()):
        file, line = problem.where, "1"
    return LintFinding(file, max(1, int(line)), rule, severity, problem.message, problem.criterion)
