"""Directives: the clauses of a request that tell the reader to do something, and their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from judgekit.metrics.word_data import fill, fill_parts, read_words

MASK = "\ue000"
"""Stands for each character between quotation marks, so that no rule reads what is quoted."""


class Language(NamedTuple):
    """A programming language in an answer."""

    names: tuple[str, ...]
    """What a code fence may say instead of its name."""
    line: re.Pattern[str]
    """What a line of its code looks like."""


class RuleWords(NamedTuple):
    """The data file, with its patterns compiled."""

    patterns: Mapping[str, re.Pattern[str]]
    rules: Mapping[str, Any]
    """Lists of patterns, or mappings of a kind of requirement to its list."""
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
    """Return whether one of several patterns is found before a place of a text."""
    return any(rule_pattern(name).search(text, 0, end) for name in names)


def stated(match: re.Match[str]) -> str:
    """Return the words of the request that a pattern found."""
    return " ".join(match[0].split()).strip(" ,")


MAX_REQUEST = 50_000
"""Characters of a request that are read."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,1000})\"|“([^”\n]{1,1000})”|«([^»\n]{1,1000})»|`([^`\n]{1,1000})`"
    r"|(?<!\w)'([^'\n]{1,200})'(?!\w)|‘([^’\n]{1,200})’(?!\w)"
)
_BLANKS = re.compile(r"(?<=\s{16})\s")
_BREAK = re.compile(r"[.!?;](?=[\s\"]|$)|:(?=\s)(?!\s*\")|[\n()]")
_MARKER = re.compile(r"\s*(?:[-*+•#>]+\s+|\d{1,3}[.)]\s+)?")


class Directive(NamedTuple):
    """A clause from its verb on, quotations masked, and where it stands in the request."""

    text: str
    start: int


def find_directives(request: str) -> Iterator[Directive]:
    """Yield the clauses that tell the reader to do something; the first 50,000 characters.

    A clause counts when it begins with an imperative ("List ...", "Could you please list ..."),
    says what the answer must be ("Your answer should ..."), or is the wish itself ("At most 50
    words."). Statements, most questions, conditions ("if ...") and code do not. English only.
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
    """Return where in a clause the directive begins."""
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
    """Return the text, as long as before, with code left out and quotations masked.

    A long run of blanks ends a clause: the patterns of wishes look for words apart by blanks, and
    would try every division of the run.
    """
    text = _BLANKS.sub("\n", text)
    text = _FENCED.sub(lambda match: "\n" * len(match[0]), text)
    return _QUOTED.sub(lambda match: f'"{MASK * (len(match[0]) - 2)}"', text)
