"""Findings as lines for a terminal, as JSON and as SARIF, and the rules as text."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judgekit import __version__
from judgekit.authoring.lint.lint import lint_rules
from judgekit.authoring.lint.rule import SEVERITIES, Linted, LintFinding, LintRule, near_rule
from judgekit.core.canonical import digest, printable
from judgekit.core.errors import ConfigError
from judgekit.core.json_document import json_document

MOST_LINES = 5
"""Maximum number of further lines to name for one problem."""


def lint_text(linted: Linted, rules: Mapping[str, LintRule] | None = None) -> str:
    """Return one line per finding, with explanation and fix for the first of each rule.

    Args:
        linted: the findings.
        rules: their rules, by id; those of rubrics by default.
    """
    return "\n".join(_lines(linted, lint_rules() if rules is None else rules)) + "\n"


def _lines(linted: Linted, rules: Mapping[str, LintRule]) -> Iterator[str]:
    explained: set[str] = set()
    equal: dict[tuple[str, str, str], list[LintFinding]] = {}
    for one in linted.open:
        equal.setdefault((one.file, one.rule, one.message), []).append(one)
    for one, *others in equal.values():
        where = f"{shown_path(one.file)}:{one.line}"
        also = f" ({_others(others)})" if others else ""
        yield one_line(f"{where}: {one.severity} {one.rule}: {one.message}{also}")
        if one.rule not in explained:
            explained.add(one.rule)
            yield f"    why: {rules[one.rule].why}"
            if fix := rules[one.rule].fix:
                yield f"    fix: {fix}"
    parts = [_count(linted.count(severity), severity) for severity in SEVERITIES]
    counts = ", ".join(part for part in parts if part) or "no problems"
    silent = len(linted.findings) - len(linted.open)
    tail = f" ({silent} silenced)" if silent else ""
    yield f"{counts} in {_count(len(linted.files), 'file')}{tail}"


def _others(others: Sequence[LintFinding]) -> str:
    """Return where else a problem is, as far as it fits."""
    lines = [str(one.line) for one in others[:MOST_LINES]]
    more = ", ..." if len(others) > len(lines) else ""
    return f"and {len(others):,} more: line{'s' * (len(others) > 1)} {', '.join(lines)}{more}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""


def one_line(text: str) -> str:
    """Return a text as one printable line."""
    return " ".join(printable(text).split())


def shown_path(file: str) -> str:
    """Return a path relative to the working folder if it is inside, else as it is."""
    path = Path(file)
    here = Path.cwd()
    if path.is_absolute() and path.is_relative_to(here):
        path = path.relative_to(here)
    return path.as_posix()


def lint_json(linted: Linted, rules: Mapping[str, LintRule] | None = None) -> str:
    """Return the findings as JSON: the same bytes for the same files.

    Args:
        linted: the findings.
        rules: their rules, by id, for files of cases; those of rubrics by default.
    """
    hidden = ("silenced", "criterion") if rules is not None else ("silenced", "case", "field")
    rules = lint_rules() if rules is None else rules
    value = {
        "files": [shown_path(str(path)) for path in linted.files],
        "counts": {severity: linted.count(severity) for severity in SEVERITIES},
        "findings": [_entry(one, rules[one.rule], hidden=hidden) for one in linted.findings],
    }
    return json_document("lint", value) + "\n"


def _entry(one: LintFinding, rule: LintRule, *, hidden: Collection[str]) -> dict[str, Any]:
    fields = {name: value for name, value in one._asdict().items() if name not in hidden}
    shown = {"file": shown_path(one.file), "message": one_line(one.message)}
    return {**fields, **shown, "why": rule.why, "mend": rule.fix, "silenced": one.silenced}


def rules_text(
    rules: Mapping[str, LintRule], *, only: str | None = None, command: str = "rubric"
) -> str:
    """Return rules with explanation and fix, one paragraph each.

    Args:
        rules: the rules, by id.
        only: the one rule to return.
        command: the command that checks them; only rubrics can silence rules.

    Raises:
        ConfigError: the rule does not exist; the message suggests a similar one.
    """
    shown = _chosen(rules, only, command=command)
    return "\n".join(_explained(rule, silences=command == "rubric") for rule in shown)


def rules_json(
    rules: Mapping[str, LintRule], *, only: str | None = None, command: str = "rubric"
) -> str:
    """Return rules as JSON; see `rules_text`."""
    names = ("id", "severity", "why", "fix", "languages", "silenceable")
    shown = _chosen(rules, only, command=command)
    entries = [{name: getattr(rule, name) for name in names} for rule in shown]
    return json_document("lint_rules", {"rules": entries}) + "\n"


def _chosen(rules: Mapping[str, LintRule], only: str | None, *, command: str) -> list[LintRule]:
    if only is not None and only not in rules:
        raise ConfigError(f"no rule {only!r}{near_rule(only, rules, command=command)}")
    return list(rules.values()) if only is None else [rules[only]]


def _explained(rule: LintRule, *, silences: bool) -> str:
    lines = [f"{rule.id} ({rule.severity})", f"    why: {rule.why}"]
    if rule.fix:
        lines.append(f"    fix: {rule.fix}")
    if rule.languages != "any":
        lines.append(f"    checks: {rule.languages}")
    if silences and not rule.silenceable:
        lines.append("    cannot be silenced")
    return "\n".join(lines) + "\n"


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def lint_sarif(linted: Linted) -> str:
    """Return the findings as SARIF 2.1.0: the same bytes for the same files.

    It lists only rules with findings. A silenced finding is a suppressed result with its reason.
    """
    broken = {finding.rule for finding in linted.findings}
    used = [rule for rule in lint_rules().values() if rule.id in broken]
    index = {rule.id: number for number, rule in enumerate(used)}
    rules = [_rule(rule) for rule in used]
    driver = {"name": "judgekit", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.rule]) for finding in linted.findings],
    }
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _rule(rule: LintRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": _message(rule.why)},
        "help": {"text": _message(rule.fix)},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: LintFinding, index: int) -> dict[str, Any]:
    path = Path(os.path.relpath(finding.file)).as_posix()
    fingerprint = f"{path}\n{finding.rule}\n{finding.criterion}\n{finding.message}"
    # A colon in the first segment would be read as a scheme.
    artifact = {"uri": quote(path, safe="/~+,;=@!$&'()*-._"), "uriBaseId": "%SRCROOT%"}
    location = {"artifactLocation": artifact, "region": {"startLine": finding.line}}
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": _message(finding.message)},
        "locations": [{"physicalLocation": location}],
        # Without the line number, so a moved finding keeps its fingerprint.
        "partialFingerprints": {"judgekit/v1": digest(fingerprint)[:32]},
    }
    if finding.silenced is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": one_line(finding.silenced)}]
    return result


def _message(text: str) -> str:
    """Return a text as a message: SARIF reads braces as placeholders and brackets as links."""
    escaped = one_line(text).replace("\\", "\\\\").replace("{", "{{").replace("}", "}}")
    return escaped.replace("[", "\\[").replace("]", "\\]")
