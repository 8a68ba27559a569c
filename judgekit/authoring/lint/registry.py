"""Every rule, by name."""

from __future__ import annotations

from judgekit.authoring.lint import (
    about,
    examples,
    levels,
    literals,
    loading,
    results,
    scales,
    silence,
    templates,
    weights,
    wording,
)
from judgekit.authoring.lint.rule import Rule, near_rule
from judgekit.core.errors import ConfigError

FAMILIES: dict[str, tuple[Rule, ...]] = {
    "Loading": loading.RULES,
    "The file": about.RULES,
    "Wording": wording.RULES,
    "Left in a text": literals.RULES,
    "Number scales": scales.RULES,
    "Words to answer with": levels.RULES,
    "Weights and modes": weights.RULES,
    "The template": templates.RULES,
    "Examples and tests": examples.RULES,
    "Results": results.RULES,
    "Silences": silence.RULES,
}
"""Heading -> its rules, in the order of documents."""

RULES: dict[str, Rule] = {rule.id: rule for rules in FAMILIES.values() for rule in rules}


def find_rule(id: str) -> Rule:
    """Return a rule.

    Raises:
        ConfigError: there is none of that name; near names are suggested.
    """
    if id not in RULES:
        raise ConfigError(f"no rule {id!r}{near_rule(id, RULES)}")
    return RULES[id]
