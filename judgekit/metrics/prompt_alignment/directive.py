"""Directives: the clauses of a request that contain an instruction, and their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from judgekit.metrics.word_data import fill, fill_parts, read_words

MASK = "\ue000"
"""Replaces each character in quotation marks, so that no rule matches quoted text."""


class Language(NamedTuple):
    """A programming language in an answer."""

    names: tuple[str, ...]
    """Other names of the language on a code fence."""
    line: re.Pattern[str]
    """Pattern of a typical line of code."""


class RuleWords(NamedTuple):
    """The data file, with its patterns compiled."""

    patterns: Mapping[str, re.Pattern[str]]
    rules: Mapping[str, Any]
    """Lists of patterns, or mappings of a kind of requirement to its list of patterns."""
    numbers: Mapping[str, int]
    languages: Mapping[str, Language]


@lru_cache(maxsize=1)
def rule_words() -> RuleWords:
    """Return the patterns; they are read and compiled once."""
    data = read_words("requests/english.yaml").data
    numbers = sorted(data["numbers"], key=len)[::-1]
    spelled = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in numbers)
    parts = fill_parts(data["parts"], number_words=spelled, mask=MASK)

    def compiled(value: Any) -> Any:
        if isinstance(value, str):
            return re.compile(fill(value, parts), re.VERBOSE | re.IGNORECASE)
        if isinstance(value, list):
            return [compiled(item) for item in value]
        return {name: compiled(item) for name, item in value.items()}

    languages = {
        name: Language((name, *entry["names"]), re.compile(entry["line"]))
        for name, entry in data["languages"].items()
    }
    patterns, rules = compiled(data["patterns"]), compiled(data["rules"])
    return RuleWords(patterns, rules, data["numbers"], languages)


def rule_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of the data file."""
    return rule_words().patterns[name]


def has_any(names: Sequence[str], text: str, end: int) -> bool:
    """Return whether one of several patterns matches before a position in a text."""
    return any(rule_pattern(name).search(text, 0, end) for name in names)


def stated(match: re.Match[str]) -> str:
    """Return the words of the request that a pattern matched."""
    return " ".join(match[0].split()).strip(" ,")


MAX_REQUEST = 50_000
"""Maximum number of characters of a request to check."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,1000})\"|“([^”\n]{1,1000})”|«([^»\n]{1,1000})»|`([^`\n]{1,1000})`"
    r"|(?<!\w)'([^'\n]{1,200})'(?!\w)|‘([^’\n]{1,200})’(?!\w)"
)
_BLANKS = re.compile(r"(?<=\s{16})\s")
_BREAK = re.compile(r"[.!?;](?=[\s\"]|$)|:(?=\s)(?!\s*\")|[\n()]")
_MARKER = re.compile(r"\s*(?:[-*+•#>]+\s+|\d{1,3}[.)]\s+)?")


class Directive(NamedTuple):
    """A clause from its verb on, with masked quotations, and its position in the request."""

    text: str
    start: int


def find_directives(request: str) -> Iterator[Directive]:
    """Yield the clauses that contain an instruction, from the first 50,000 characters.

    A clause counts if it begins with an imperative ("List ...", "Could you please list ..."),
    states what the answer must be ("Your answer should ..."), or is only a requirement ("At most 50
    words."). Statements, most questions, conditions ("if ...") and code do not count. English only.
    """
    masked = _masked(request[:MAX_REQUEST])
    patterns = rule_words().patterns
    start = 0
    for end in [*(match.start() for match in _BREAK.finditer(masked)), len(masked)]:
        marker = _MARKER.match(masked, start, end)
        start = marker.end() if marker else start
        clause = masked[start:end].rstrip()
        if len(clause) > 1 and not patterns["condition"].search(clause):
            offset = _directive_offset(clause)
            if offset is not None:
                yield Directive(clause[offset:], start + offset)
        start = end + 1


def _directive_offset(clause: str) -> int | None:
    """Return the offset of the directive in a clause."""
    patterns = rule_words().patterns
    lead = patterns["lead"].match(clause)
    at = lead.end() if lead else 0
    if patterns["start"].match(clause, at) or patterns["fragment"].match(clause, at):
        return at
    if patterns["question"].match(clause):
        method = patterns["method_question"].match(clause)
        tail = None if method else patterns["tail"].search(clause)
        tail = tail or re.search(r",\s*(?=in\b)[^,]*$", clause, re.IGNORECASE)
        return tail.start() if tail else None
    inner = patterns["inner"].search(clause)
    if inner and patterns["start"].match(clause, inner.end()):
        return inner.end()
    return None


def _masked(text: str) -> str:
    """Return a text of the same length, without code and with masked quotations.

    A long run of blanks ends a clause; otherwise the patterns would try every division of the run.
    """
    text = _BLANKS.sub("\n", text)
    text = _FENCED.sub(lambda match: "\n" * len(match[0]), text)
    return _QUOTED.sub(lambda match: f'"{MASK * (len(match[0]) - 2)}"', text)
