"""The rules in words: for the terminal, and as the reference page."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.authoring.lint.registry import FAMILIES
from judgekit.authoring.lint.rule import Rule


def rule_list() -> str:
    """Return every rule with why and how to mend, a paragraph each."""
    return "\n".join(explained(rule) for rules in FAMILIES.values() for rule in rules)


def explained(rule: Rule) -> str:
    """Return one rule in words."""
    return "\n".join(_lines(rule)) + "\n"


def _lines(rule: Rule) -> Iterator[str]:
    yield f"{rule.id} ({rule.severity})"
    yield f"    why: {rule.why}"
    yield f"    mend: {rule.mend}"
    if rule.languages != "any":
        yield f"    looks at: {rule.languages}"
    if not rule.silenceable:
        yield "    cannot be silenced"


def rule_tables() -> str:
    """Return the rules as Markdown, a table for each family."""
    lines: list[str] = []
    for heading, rules in FAMILIES.items():
        lines += [f"### {heading}", "", "| rule | severity | why | how to mend | looks at |"]
        lines.append("| --- | --- | --- | --- | --- |")
        for rule in rules:
            cells = (f"`{rule.id}`", rule.severity, rule.why, rule.mend, rule.languages)
            lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)
