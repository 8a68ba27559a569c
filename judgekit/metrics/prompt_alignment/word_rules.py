"""Rules for words and letters: what is quoted, how an answer begins and ends, its case."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgekit.metrics.prompt_alignment.directive import Directive
from judgekit.metrics.prompt_alignment.requirement import Requirement
from judgekit.metrics.prompt_alignment.rule_words import (
    MASK,
    has_any,
    rule_pattern,
    rule_words,
    stated,
)

MAX_QUOTED = 200
"""Characters of a quotation that is taken as words to look for."""
_QUOTE = re.compile(f'"{MASK}+"')


def quoted(directive: Directive, request: str) -> Iterator[Requirement]:
    """Yield words in quotation marks that must, or must not, stand somewhere in the answer."""
    text = directive.text
    if rule_pattern("each").search(text):
        return
    for kind, (pattern,) in rule_words().rules["quoted"].items():
        for match in pattern.finditer(text):
            if has_any(["about", "method"], text, match.start()):
                continue
            quotes = list(_QUOTE.finditer(text, match.start("quotes"), match.end()))
            # Of "this or that" neither is required; of "neither this nor that", both are.
            either = kind == "contains" and rule_pattern("either").search(match["quotes"])
            if len(quotes) > 1 and (either or kind in ("starts_with", "ends_with")):
                continue
            begin = directive.start
            stated_as = request[begin + match.start() : begin + match.end()].strip(" ,")
            for quote in quotes:
                words = request[begin + quote.start() + 1 : begin + quote.end() - 1].strip()
                if words and len(words) <= MAX_QUOTED:
                    yield Requirement(text=stated_as, kind=kind, argument=words)


def manners(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield a question at the end, and letters all small or all capital."""
    text = directive.text
    match = rule_pattern("question_at_end").search(text)
    each = rule_pattern("each").search(text)
    if match and not each and not has_any(["negation"], text, match.end()):
        yield Requirement(text=stated(match), kind="ends_with_question")
    for kind, (pattern,) in rule_words().rules["cases"].items():
        match = pattern.search(text)
        if match and not has_any(["negation", "method", "about"], text, match.end()):
            yield Requirement(text=stated(match), kind=kind)
