"""A finding: one thing to mend, where it stands, and the rule that says why."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Worst first."""


class Said(NamedTuple):
    """What a check says, before it is known under which rule and how severe."""

    where: str
    """`file:line`, or the file alone."""
    message: str
    criterion: str | None = None
    """The criterion it is about, whose own silences count then."""


class Finding(NamedTuple):
    """One thing a rule found."""

    file: str
    line: int
    """From 1; 1 as well when the finding is about the whole file."""
    rule: str
    severity: Severity
    message: str
    criterion: str | None = None
    silenced: str | None = None
    """The reason the file gives for not mending it."""


def finding(said: Said, *, rule: str, severity: Severity) -> Finding:
    """Return a finding of a rule."""
    file, line = spot(said.where)
    return Finding(file, line, rule, severity, said.message, said.criterion)


def spot(where: str) -> tuple[str, int]:
    """Return file and line of `file:line`; line 1 of a file alone."""
    file, colon, line = where.rpartition(":")
    if colon and line.isascii() and line.isdigit():
        return file, max(1, int(line))
    return where, 1
