"""Rules for words and letters: what is quoted, how an answer begins and ends, its case."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgekit.metrics.prompt_alignment.directive import MASK, SUBJECT, Directive
from judgekit.metrics.prompt_alignment.requirement import Kind, Requirement
from judgekit.metrics.prompt_alignment.rule_words import (
    ABOUT,
    EACH,
    METHOD,
    NEGATION,
    PIECE,
    stated,
    verbose,
)

MAX_QUOTED = 200
"""Characters of a quotation that is taken as words to look for."""

_QUOTE = re.compile(f'"{MASK}+"')
_THE = r"(?:(?:the|these|this|following|exact|both)\s+)*"
_NOUN = r"(?:words?|phrases?|terms?|names?|keywords?|sentences?|strings?|expressions?)"
_QUOTES = rf"""(?P<quotes> :?\s*"{MASK}+"
    (?: \s* (?:,|and|&|or) \s* (?:(?:and|or)\s+)? "{MASK}+" )* )"""
_OBJECT = rf"(?:(?:(?:your|the|an?)\s+)?(?:(?:whole|entire|final)\s+)?(?:{PIECE}|output|it)\s+)?"
_HERE = r"(?: ^ | ,\s+(?:and\s+)? | \b(?:and|then|but|must|should|also)\s+ )"
_START = rf"{_HERE} (?:start|begin|open) \s+ {_OBJECT} with \s+"
_END = rf"{_HERE} (?:end|finish|conclude|close) \s+ {_OBJECT} (?:with|by) \s+"

_QUOTED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "contains",
        verbose(
            rf"""{_HERE} (?:also\s+)?
            (?: (?:include|mention|contain|incorporate) \s+ {_THE} (?:{_NOUN}\s*)?
              | (?:use|add|insert|say) \s+ {_THE} {_NOUN}\s* ) {_QUOTES}"""
        ),
    ),
    (
        "excludes",
        verbose(
            rf"""(?: ^ | ,\s+(?:and\s+)? | \b(?:and|but|must|should|shall|always|{PIECE})\s+ )
            (?: (?: do\s+not | don['’]t | never | not | avoid | without | refrain\s+from ) \s+
                (?:ever\s+)? (?:us|mention|includ|contain|say|writ)(?:e|ing)? \s+
                {_THE} (?:{_NOUN}\s*)?
              | (?:avoid|without) \s+ {_THE} {_NOUN}\s* ) {_QUOTES}"""
        ),
    ),
    ("starts_with", verbose(rf"{_START} {_THE} (?:{_NOUN}\s*)? {_QUOTES}")),
    ("ends_with", verbose(rf"{_END} {_THE} (?:{_NOUN}\s*)? {_QUOTES}")),
)
_EITHER = verbose(r"\bor\b")


def quoted(directive: Directive, request: str) -> Iterator[Requirement]:
    """Yield words in quotation marks that must, or must not, stand somewhere in the answer."""
    text = directive.text
    if EACH.search(text):
        return
    for kind, pattern in _QUOTED:
        for match in pattern.finditer(text):
            if any(words.search(text, 0, match.start()) for words in (ABOUT, METHOD)):
                continue
            quotes = list(_QUOTE.finditer(text, match.start("quotes"), match.end()))
            # Of "this or that" neither is required; of "neither this nor that", both are.
            either = kind == "contains" and _EITHER.search(match["quotes"])
            if len(quotes) > 1 and (either or kind in ("starts_with", "ends_with")):
                continue
            begin = directive.start
            stated_as = request[begin + match.start() : begin + match.end()].strip(" ,")
            for quote in quotes:
                words = request[begin + quote.start() + 1 : begin + quote.end() - 1].strip()
                if words and len(words) <= MAX_QUOTED:
                    yield Requirement(text=stated_as, kind=kind, argument=words)


_QUESTION = verbose(rf"{_END} (?:asking\s+)? (?:a|one) \s+ (?:[\w-]+\s+)? question\b")
_ANSWER = (
    r"(?:\s+(?:everything|it|(?:your|the)\s+(?:(?:entire|whole|full)\s+)?"
    r"(?:answer|response|reply|output|text)))?"
)
_IN_CASE = rf"""
    (?: ^(?:answer|respond|reply|write|output|use|keep) {_ANSWER}
        (?:\s+(?:entirely|completely|only|all))?
      | ^{SUBJECT}\s+(?:\w+\s+){{0,5}}?(?:be|use) | ,?\s+(?:and|but) | ^ )
    \s* (?:\b(?:in|using)\s+)? (?:(?:all|only|entirely)\s+)*"""
_TO_THE_END = r"(?:\s+(?:letters|characters|text))? (?:\s+only)? \s* (?:$|,|\band\b)"
_CASES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("lower_case", verbose(rf"{_IN_CASE} (?:lower[\s-]?case|small\s+letters) {_TO_THE_END}")),
    (
        "upper_case",
        verbose(
            rf"{_IN_CASE} (?:upper[\s-]?case|(?:all\s+)?caps|capital\s+letters|capitals)"
            rf"{_TO_THE_END}"
        ),
    ),
)


def manners(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield a question at the end, and letters all small or all capital."""
    text = directive.text
    match = _QUESTION.search(text)
    if match and not (NEGATION.search(text, 0, match.end()) or EACH.search(text)):
        yield Requirement(text=stated(match), kind="ends_with_question")
    for kind, pattern in _CASES:
        match = pattern.search(text)
        barred = (NEGATION, METHOD, ABOUT)
        if match and not any(words.search(text, 0, match.end()) for words in barred):
            yield Requirement(text=stated(match), kind=kind)
