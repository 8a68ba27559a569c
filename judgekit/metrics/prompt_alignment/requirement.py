"""Requirement: a formal requirement of a request, and the rule that checks it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from judgekit.embedders.folding import fold
from judgekit.metrics.markdown import (
    Markdown,
    count_bullets,
    count_numbered,
    has_table,
    parse_markdown,
)
from judgekit.metrics.prompt_alignment.directive import rule_words
from judgekit.metrics.text.contains import mentions
from judgekit.metrics.text.length import COUNTS
from judgekit.metrics.tokens import count_lines, count_paragraphs, count_sentences

_SPELLINGS = {"golang": "go", "shell": "bash", "js": "javascript", "ts": "typescript"}


def language_name(written: str) -> str:
    """Return the canonical name of a language that a request names.

    >>> language_name("Golang"), language_name("Python")
    ('go', 'python')
    """
    return _SPELLINGS.get(written.lower(), written.lower())


def has_code(markdown: Markdown, language: str) -> bool:
    """Return whether a text contains code, in a language if one is given.

    A fence with the name of the language counts, and one with another name does not. Without a name
    on the fence, or without a fence, a line must look like the language.
    """
    if not language:
        return bool(markdown.fences) or any(_looks_like(name, markdown.lines) for name in _RAW)
    if any(fence.language in rule_words().languages[language].names for fence in markdown.fences):
        return True
    unnamed = [fence.code.splitlines() for fence in markdown.fences if not fence.language]
    return any(_looks_like(language, lines) for lines in (*unnamed, markdown.lines))


_RAW = ("python", "javascript", "c", "go", "rust")
"""Languages to search for in text without fences, if the request names none."""


def _looks_like(language: str, lines: Sequence[str]) -> bool:
    pattern = rule_words().languages[language].line
    return any(pattern.match(line[:500]) for line in lines)


LengthKind = Literal["words", "sentences", "paragraphs", "characters"]
Kind = Literal[
    LengthKind,
    "items",
    "bullet_list",
    "numbered_list",
    "table",
    "code",
    "json",
    "contains",
    "excludes",
    "starts_with",
    "ends_with",
    "ends_with_question",
    "lower_case",
    "upper_case",
]

_CHECKS: dict[str, str] = {
    "items": "has {bounds} items",
    "bullet_list": "has a bulleted list of two items or more",
    "numbered_list": "has a numbered list of two items or more",
    "table": "has a table",
    "code": "has {argument} code",
    "json": "is JSON, or holds a block of JSON",
    "contains": 'contains "{argument}"',
    "excludes": 'does not contain "{argument}"',
    "starts_with": 'starts with "{argument}"',
    "ends_with": 'ends with "{argument}"',
    "ends_with_question": "ends with a question",
    "lower_case": "has no capital letter",
    "upper_case": "has no small letter",
}

_TRIM = "\"'“”‘’*_#>`~ \t\r\n"
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement:
    """One requirement of a request that a rule can check."""

    text: str
    """The words of the request that state it."""
    kind: Kind
    argument: str = ""
    """The quoted words, or the programming language."""
    minimum: int | None = None
    maximum: int | None = None

    @property
    def check(self) -> str:
        """The checked property, in words: "has at most 50 words"."""
        if self.kind in get_args(LengthKind):
            one = self.minimum == self.maximum == 1
            return f"has {self._bounds} {self.kind[:-1] if one else self.kind}"
        filled = _CHECKS[self.kind].format(bounds=self._bounds, argument=self.argument)
        return " ".join(filled.split())

    def met_by(self, output: str) -> bool:
        """Return whether an output meets it; takes linear time.

        >>> short = Requirement(text="in one sentence", kind="sentences", minimum=1, maximum=1)
        >>> short.check, short.met_by("Yes. No."), short.met_by("Yes.")
        ('has 1 sentence', False, True)
        """
        if self.kind in get_args(LengthKind):
            return self._within(COUNTS[cast("LengthKind", self.kind)](output.strip()))
        if self.kind in ("bullet_list", "numbered_list", "table", "code", "json", "items"):
            return self._shape_met(output)
        if self.kind in ("contains", "excludes"):
            return mentions(output, self.argument) == (self.kind == "contains")
        if self.kind in ("lower_case", "upper_case"):
            wrong = str.isupper if self.kind == "lower_case" else str.islower
            return not any(wrong(char) for char in output)
        return self._edge_met(output)

    @property
    def _bounds(self) -> str:
        if self.minimum == self.maximum:
            return f"{self.minimum}"
        if self.minimum is None:
            return f"at most {self.maximum}"
        if self.maximum is None:
            return f"at least {self.minimum}"
        return f"{self.minimum} to {self.maximum}"

    def _within(self, count: int) -> bool:
        low = self.minimum is None or count >= self.minimum
        return low and (self.maximum is None or count <= self.maximum)

    def _edge_met(self, output: str) -> bool:
        if self.kind == "ends_with_question":
            return output.rstrip(_TRIM + ")]").endswith(("?", "？", "؟"))
        words = " ".join(fold(self.argument).split())
        text = " ".join(fold(output).split())
        if self.kind == "starts_with":
            return text.startswith(words) or text.lstrip(_TRIM).startswith(words)
        return text.endswith(words) or text.rstrip(_TRIM + ".!?").endswith(
            words.rstrip(_TRIM + ".!?") or words
        )

    def _shape_met(self, output: str) -> bool:
        markdown = parse_markdown(output)
        if self.kind == "items":
            return any(self._within(count) for count in _item_counts(markdown))
        if self.kind == "code":
            return has_code(markdown, self.argument)
        if self.kind == "table":
            return has_table(markdown)
        if self.kind == "json":
            return _holds_json(output, markdown)
        count = count_bullets if self.kind == "bullet_list" else count_numbered
        return count(markdown) > 1


def _item_counts(markdown: Markdown) -> set[int]:
    """Return the possible numbers of items in a text.

    A list gives one number. Without a list the boundaries of items are unknown, so lines,
    paragraphs, sentences, pieces between commas, and "first, second, third" each give a possible
    number.
    """
    listed = {count_bullets(markdown), count_numbered(markdown)} - {0}
    if listed:
        return listed
    text = "\n".join(markdown.lines).strip()
    pieces = re.split(r",\s+and\s|,\s+or\s|[,;、]|\sand\s|\sor\s", text.partition(":")[2] or text)
    words = set(re.findall(r"[a-z]+", text.lower()))
    ordinals = 0
    while ordinals < len(_ORDINALS) and words & {_ORDINALS[ordinals], f"{_ORDINALS[ordinals]}ly"}:
        ordinals += 1
    return {
        count_lines(text),
        count_paragraphs(text),
        count_sentences(text),
        sum(bool(piece.strip(" .")) for piece in pieces),
        ordinals,
    }


def _holds_json(output: str, markdown: Markdown) -> bool:
    named = [
        fence.code for fence in markdown.fences if fence.language in ("", "json", "jsonc", "json5")
    ]
    return any(_is_json(text) for text in (output, *named))


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
