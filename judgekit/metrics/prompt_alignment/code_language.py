"""Programming languages: their names in requests, on code fences, and how their code looks."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.metrics.markdown import Markdown
from judgekit.metrics.prompt_alignment.rule_words import rule_words

_SPELLINGS = {"golang": "go", "shell": "bash", "js": "javascript", "ts": "typescript"}


def language_name(written: str) -> str:
    """Return the one name of a language that a request names.

    >>> language_name("Golang"), language_name("Python")
    ('go', 'python')
    """
    return _SPELLINGS.get(written.lower(), written.lower())


def has_code(markdown: Markdown, language: str) -> bool:
    """Return whether a text holds code, of a language if one is named.

    A fence that carries the language's name is taken at its word, one that carries another's is
    not it. Without a name on the fence, or without a fence, a line must look like the language.
    """
    if not language:
        return bool(markdown.fences) or any(_looks_like(name, markdown.lines) for name in _RAW)
    if any(fence.language in rule_words().languages[language].names for fence in markdown.fences):
        return True
    unnamed = [fence.code.splitlines() for fence in markdown.fences if not fence.language]
    return any(_looks_like(language, lines) for lines in (*unnamed, markdown.lines))


_RAW = ("python", "javascript", "c", "go", "rust")
"""Languages looked for in text without fences when none is named."""


def _looks_like(language: str, lines: Sequence[str]) -> bool:
    pattern = rule_words().languages[language].line
    return any(pattern.match(line[:500]) for line in lines)
