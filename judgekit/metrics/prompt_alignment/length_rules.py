"""Rules for length and number: "in at most 50 words", "two paragraphs", "three bullets"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from judgekit.metrics.prompt_alignment.amount import AMOUNT, LIMITED, NUMBER, read_amount
from judgekit.metrics.prompt_alignment.directive import SUBJECT, WRITING, Directive
from judgekit.metrics.prompt_alignment.requirement import Kind, Requirement
from judgekit.metrics.prompt_alignment.rule_words import (
    ABOUT,
    EACH,
    METHOD,
    PIECE,
    WHOLE,
    stated,
    verbose,
)

_BARE_SLACK = {"words": 0.2, "characters": 0.2}
"""How far off "100 words" may be: nobody counts to the word, but everybody counts sentences."""
_MOST_ITEMS = 50

# Verbs such as "find" or "count" are about the words of another text.
_WRITES = verbose(
    rf"""(?: {WRITING} | {SUBJECT} | do\s+not | don['’]t | never | in | within | using | at | no
      | under | up | max\w* | min\w* | exactly | between | about | around | approximately | fewer
      | less | over | {NUMBER} )\b | ,\s*in\b"""
)
_NEGATED = verbose(r"(?:do\s+not|don['’]t|never)\b")
_UNIT = r"(?P<unit>word|sentence|paragraph|character)"
_AFTER = r"(?:\s+(?:or\s+(?:less|fewer|more)|max(?:imum)?|min(?:imum)?)\b)?"
_COUNT = rf"(?P<amount>{AMOUNT})"

_LENGTHS = (
    # "in two sentences", "in at most 50 words"
    verbose(
        rf"""\b(?:in|within|using|into) \s+ {_COUNT} \s+ (?:short\s+)?
        {_UNIT}s? {_AFTER}\b {WHOLE}"""
    ),
    # "keep it under 100 words", "your answer must have at least 3 sentences", "at most 50 words"
    verbose(
        rf"""(?: ^ | ^{SUBJECT}\s+(?:\w+\s+){{0,3}}? | ,\s+ | ,?\s+(?:and|but)\s+
          | \b(?:to|of|be|use|it|me|write|longer|answers?|responses?|repl(?:y|ies)|{PIECE})\s+ )
        (?P<amount>{LIMITED}) \s+ (?:short\s+)? {_UNIT}s? {_AFTER}\b {WHOLE}"""
    ),
    # "limit your answer to 50 words"
    verbose(
        rf"""^(?:limit|restrict|keep|shorten|cut|reduce|condense|trim)\b .{{0,60}}? \bto \s+
        {_COUNT} \s+ {_UNIT}s?\b {WHOLE}"""
    ),
    # "a 100-word summary"
    verbose(rf"\ban? \s+ (?:\w+\s+)? (?P<amount>{NUMBER}) [-\s] {_UNIT} \s+ (?:\w+\s+)? {PIECE}\b"),
    # "write two paragraphs", "your answer should be three sentences"
    verbose(
        rf"""(?: ^(?:write|give|provide|compose|draft|create|produce|generate|use|return|output)
            (?:\s+(?:me|us))?
          | ^{SUBJECT}\s+(?:be|have|contain|use|consist\s+of) ) \s+
        {_COUNT} \s+ (?:(?:short|brief|concise|clear|complete)\s+)?
        (?P<unit>sentence|paragraph)s?\b {WHOLE}"""
    ),
)
# "do not exceed 50 words", "don't write more than 50 words"
_EXCEED = verbose(
    rf"""^(?:do\s+not|don['’]t|never) \s+ (?:\w+\s+){{0,3}}? (?:exceed|more\s+than|over) \s+
    (?P<amount>{NUMBER}) \s+ {_UNIT}s?\b {WHOLE}"""
)


def lengths(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield limits on words, sentences, paragraphs and characters."""
    text = directive.text
    if EACH.search(text) or not _WRITES.match(text):
        return
    negated = _NEGATED.match(text)
    for pattern in (_EXCEED,) if negated else _LENGTHS:
        for match in pattern.finditer(text):
            if METHOD.search(text, 0, match.start()):
                continue
            kind = cast("Kind", f"{match['unit'].lower()}s")
            phrase = text[match.start("amount") : match.end()]
            low, high = read_amount(
                f"at most {phrase}" if negated else phrase, tolerance=_BARE_SLACK.get(kind, 0.0)
            )
            if (high or low or 0) > 0:
                yield Requirement(text=stated(match), kind=kind, minimum=low, maximum=high)


_THING = (
    r"(?:examples|items|points|tips|reasons|steps|ideas|ways|suggestions|options|facts|names"
    r"|questions|advantages|disadvantages|benefits|drawbacks|differences|similarities|titles"
    r"|headlines|synonyms|recommendations|strategies|alternatives|features|takeaways|keywords"
    r"|slogans|taglines|variations|versions|hypotheses|use\s+cases|methods|techniques|arguments)"
)
_ITEMS = (
    verbose(
        rf"""^(?:list|name) \s+ (?:(?:me|out|down|at|the|top|best)\s+)*? {_COUNT} \s+
        (?!(?:stars?|percent|kg|km|minutes?|hours?|days?)\b) [a-z][\w-]*"""
    ),
    verbose(
        rf"""^(?:give|provide|suggest|write|share|generate|create|recommend|offer|propose|tell
          |state|identify|mention|brainstorm|show|outline|describe|come\s+up\s+with) \s+
        (?:(?:me|us)\s+)? (?:top\s+)? {_COUNT} \s+ (?:[\w-]+\s+){{0,3}}? {_THING}\b"""
    ),
    verbose(
        rf"""(?: ^(?:give|make|write|create|provide|generate)\s+(?:(?:me|us)\s+)?
          | ^(?:answer|respond|reply)\s+(?:with|as|in)\s+ )
        a \s+ (?:\w+\s+)? list \s+ of \s+ (?:the\s+)? (?:top\s+)? {_COUNT} \s+ [a-z][\w-]*"""
    ),
)
_BULLETS = verbose(
    rf"""(?: ^(?:use|write|give|provide|list|make|create)\s+(?:(?:me|us)\s+)?
      | \b(?:in|as|using|into|to)\s+ | ^{SUBJECT}\s+(?:\w+\s+){{0,2}}? | ^ )
    {_COUNT} \s+ (?:(?:short|brief|concise|key|main|clear)\s+)?
    (?:bullet(?:ed)?[\s-]points?|bullets) \b {WHOLE}"""
)
# Another number after the first: "three pros and three cons" are not three items.
_MORE = verbose(rf"(?:\band|,|\bplus)\s+(?:\w+\s+)?(?:{NUMBER})")


def items(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield numbers of items; a number of bullets asks for bullets, too."""
    text = directive.text
    if _NEGATED.match(text):
        return
    for pattern in (*_ITEMS, _BULLETS):
        for match in pattern.finditer(text):
            low, high = read_amount(match["amount"])
            too_many = (low or 0) > _MOST_ITEMS
            if (high or low or 0) < 2 or too_many or _MORE.search(text, match.end()):
                continue
            if EACH.search(text, 0, match.end()):
                continue
            if pattern is _BULLETS:
                if _elsewhere(text, match):
                    continue
                yield Requirement(text=stated(match), kind="bullet_list")
            yield Requirement(text=stated(match), kind="items", minimum=low, maximum=high)


def _elsewhere(text: str, match: re.Match[str]) -> bool:
    return bool(METHOD.search(text, 0, match.start()) or ABOUT.search(text, 0, match.start()))
