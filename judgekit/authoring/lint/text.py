"""Findings as lines for a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from judgekit.authoring.lint.finding import SEVERITIES, Finding
from judgekit.authoring.lint.lint import Linted
from judgekit.authoring.lint.paths import shown_path
from judgekit.authoring.lint.registry import RULES
from judgekit.core.canonical import printable

VERSION = 1
"""Of the JSON."""


def lint_text(linted: Linted) -> str:
    """Return the findings a line each, what to do under each rule's first, and a last line."""
    return "\n".join(_lines(linted)) + "\n"


def _lines(linted: Linted) -> Iterator[str]:
    explained: set[str] = set()
    for found in linted.open:
        where = f"{shown_path(found.file)}:{found.line}"
        yield _line(f"{where}: {found.severity} {found.rule}: {found.message}")
        if found.rule not in explained:
            explained.add(found.rule)
            rule = RULES[found.rule]
            yield f"    why: {rule.why}"
            yield f"    mend: {rule.mend}"
    yield summary(linted)


def summary(linted: Linted) -> str:
    """Return how much was found, in a line."""
    parts = [_count(linted.count(severity), severity) for severity in SEVERITIES]
    said = ", ".join(part for part in parts if part) or "nothing to mend"
    silent = len(linted.findings) - len(linted.open)
    tail = f" ({silent} silenced)" if silent else ""
    return f"{said} in {_count(len(linted.files), 'file')}{tail}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""


def _line(text: str) -> str:
    return " ".join(printable(text).split())


def lint_json(linted: Linted) -> str:
    """Return the findings as JSON: the same bytes for the same files."""
    value = {
        "judgekit": "lint",
        "version": VERSION,
        "files": [shown_path(str(path)) for path in linted.files],
        "counts": {severity: linted.count(severity) for severity in SEVERITIES},
        "findings": [_entry(found) for found in linted.findings],
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _entry(found: Finding) -> dict[str, object]:
    rule = RULES[found.rule]
    return {
        "file": shown_path(found.file),
        "line": found.line,
        "rule": found.rule,
        "severity": found.severity,
        "message": _line(found.message),
        "criterion": found.criterion,
        "why": rule.why,
        "mend": rule.mend,
        "silenced": found.silenced,
    }
