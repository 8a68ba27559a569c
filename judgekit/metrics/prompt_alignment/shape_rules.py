"""Rules for shape: lists, tables, JSON and code."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.metrics.prompt_alignment.code_language import language_name
from judgekit.metrics.prompt_alignment.directive import Directive
from judgekit.metrics.prompt_alignment.requirement import Requirement
from judgekit.metrics.prompt_alignment.rule_words import has_any, rule_pattern, rule_words, stated


def shapes(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield bulleted and numbered lists, tables and JSON."""
    text = directive.text
    for kind, patterns in rule_words().rules["shapes"].items():
        for match in (match for pattern in patterns for match in pattern.finditer(text)):
            # "Explain how it works in bullet points" is a wish, "how it is sent as JSON" is none.
            lists = kind in ("bullet_list", "numbered_list")
            strict = not lists or match[0].lower().startswith("as")
            barred = ["negation", "method", "about"] if strict else ["negation", "method"]
            if not has_any(barred, text, match.end()):
                yield Requirement(text=stated(match), kind=kind)


def code(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield the wish for code, of a language if one is named."""
    for pattern in rule_words().rules["code"]:
        match = pattern.match(directive.text)
        if match and not rule_pattern("story").search(match[0]):
            language = match.groupdict().get("language") or ""
            yield Requirement(text=stated(match), kind="code", argument=language_name(language))
            return
