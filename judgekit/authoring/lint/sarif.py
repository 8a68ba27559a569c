"""Findings as SARIF 2.1.0, the format of code hosts and editors."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judgekit import __version__
from judgekit.authoring.lint.lint import Linted
from judgekit.authoring.lint.registry import lint_rules
from judgekit.authoring.lint.rule import LintFinding, LintRule
from judgekit.authoring.lint.text import one_line
from judgekit.core.canonical import digest

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def lint_sarif(linted: Linted) -> str:
    """Return the findings as SARIF 2.1.0: the same bytes for the same files.

    It lists only rules with findings. A silenced finding is a suppressed result with its reason.
    """
    broken = {finding.rule for finding in linted.findings}
    used = [rule for rule in lint_rules().values() if rule.id in broken]
    index = {rule.id: number for number, rule in enumerate(used)}
    driver = {
        "name": "judgekit",
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in used],
    }
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
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": _message(finding.message)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        # A colon in its first part would be a scheme.
                        "uri": quote(path, safe="/~+,;=@!$&'()*-._"),
                        "uriBaseId": "%SRCROOT%",
                    },
                    "region": {"startLine": finding.line},
                }
            }
        ],
        # Without the line, so that a finding that moves keeps its fingerprint.
        "partialFingerprints": {"judgekit/v1": digest(fingerprint)[:32]},
    }
    if finding.silenced is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": one_line(finding.silenced)}]
    return result


def _message(text: str) -> str:
    """Return a text as a message: SARIF reads braces as placeholders and brackets as links."""
    escaped = one_line(text).replace("\\", "\\\\").replace("{", "{{").replace("}", "}}")
    return escaped.replace("[", "\\[").replace("]", "\\]")
