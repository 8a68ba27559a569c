"""Redaction: what must not be recorded is replaced before any key is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from judgekit.case import Case
from judgekit.errors import ConfigError

Redact = Callable[[str], str]


class Rule(NamedTuple):
    """A regular expression and what stands in its place."""

    pattern: str
    replacement: str = "[REDACTED]"


def redactor(rules: Sequence[Rule]) -> Redact:
    """Return a function that applies rules in order.

    Raises:
        ConfigError: a pattern is not a regular expression.
    """
    compiled = []
    for rule in rules:
        try:
            compiled.append((re.compile(rule.pattern), rule.replacement))
        except re.error as exc:
            raise ConfigError(
                f"redact: {rule.pattern!r} is not a regular expression: {exc}"
            ) from exc

    def redact(text: str) -> str:
        for pattern, replacement in compiled:
            text = pattern.sub(lambda _, replacement=replacement: replacement, text)  # type: ignore[misc]
        return text

    return redact


def redact_case(case: Case, redact: Redact) -> Case:
    """Return a case with every text in it redacted: its id and the keys of mappings, too."""
    fields = case.model_dump(mode="json")
    return Case.model_validate({name: _everywhere(v, redact) for name, v in fields.items()})


def _everywhere(value: object, redact: Redact) -> object:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_everywhere(item, redact) for item in value]
    if isinstance(value, dict):
        redacted: dict[str, object] = {}
        for key, item in value.items():
            name = redact(key)
            while name in redacted:  # two keys may look the same once redacted; lose neither
                name += "'"
            redacted[name] = item if key == "role" else _everywhere(item, redact)
        return redacted
    return value
