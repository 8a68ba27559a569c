"""Findings as SARIF 2.1.0, the form in which code hosts and editors take them."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from judgekit import __version__
from judgekit.authoring.lint.finding import Finding
from judgekit.authoring.lint.lint import Linted
from judgekit.authoring.lint.paths import relative_path
from judgekit.authoring.lint.registry import RULES
from judgekit.authoring.lint.rule import Rule
from judgekit.core.canonical import digest, printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def lint_sarif(linted: Linted) -> str:
    """Return the findings as SARIF 2.1.0: the same bytes for the same files.

    Only rules that found something are listed. What a file silences is there as a suppressed
    result, with the reason given.
    """
    used = [rule for rule in RULES.values() if any(f.rule == rule.id for f in linted.findings)]
    index = {rule.id: number for number, rule in enumerate(used)}
    driver = {
        "name": "judgekit",
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in used],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, index[found.rule]) for found in linted.findings],
    }
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": _message(rule.why)},
        "help": {"text": _message(rule.mend)},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(found: Finding, index: int) -> dict[str, Any]:
    path = relative_path(found.file)
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": index,
        "level": found.severity,
        "message": {"text": _message(found.message)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(path), "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": found.line},
                }
            }
        ],
        # The line is left out, so that a finding that moves stays the same one.
        "partialFingerprints": {
            "judgekit/v1": digest(f"{path}\n{found.rule}\n{found.criterion}\n{found.message}")[:32]
        },
    }
    if found.silenced is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": _line(found.silenced)}]
    return result


def _uri(path: str) -> str:
    """Return a relative path as a URI reference; a colon in its first part would make a scheme."""
    return quote(path, safe="/~+,;=@!$&'()*-._")


def _message(text: str) -> str:
    """Return a text as a message: plain braces would be placeholders, plain brackets links."""
    escaped = _line(text).replace("\\", "\\\\").replace("{", "{{").replace("}", "}}")
    return escaped.replace("[", "\\[").replace("]", "\\]")


def _line(text: str) -> str:
    return " ".join(printable(text).split())
