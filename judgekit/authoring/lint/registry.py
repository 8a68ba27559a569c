"""All rules: their texts from `rules.yaml`, their checks from the modules of this package."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from judgekit.authoring.lint import (  # noqa: F401 - each registers its checks
    examples,
    results,
    scales,
    templates,
    whole,
    wording,
)
from judgekit.authoring.lint.rule import CHECKS, LintRule
from judgekit.core.yaml_file import package_data

_FILE = Path(__file__).with_name("rules.yaml")


@cache
def rule_families() -> dict[str, tuple[LintRule, ...]]:
    """Return heading -> its rules, in the order of the documentation."""
    return {
        heading: tuple(LintRule(id, check=CHECKS.get(id), **text) for id, text in rules.items())
        for heading, rules in package_data(_FILE).items()
    }


@cache
def lint_rules() -> dict[str, LintRule]:
    """Return id -> rule."""
    return {rule.id: rule for rules in rule_families().values() for rule in rules}
