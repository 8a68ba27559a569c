"""Rules that read what a directive asks of the form of an answer: length, shape, words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from judgekit.metrics.prompt_alignment.code_language import language_name
from judgekit.metrics.prompt_alignment.directive import Directive
from judgekit.metrics.prompt_alignment.requirement import Kind, Requirement
from judgekit.metrics.prompt_alignment.rule_words import (
    MASK,
    has_any,
    rule_pattern,
    rule_words,
    stated,
)

_BARE_SLACK = {"words": 0.2, "characters": 0.2}
"""How far off "100 words" may be: nobody counts to the word, but everybody counts sentences."""
_MOST_ITEMS = 50


def lengths(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield limits on words, sentences, paragraphs and characters."""
    text = directive.text
    if rule_pattern("each").search(text) or not rule_pattern("writes").match(text):
        return
    negated = rule_pattern("negated").match(text)
    for pattern in [rule_pattern("exceed")] if negated else rule_words().rules["lengths"]:
        for match in pattern.finditer(text):
            if has_any(["method"], text, match.start()):
                continue
            kind = cast("Kind", f"{match['unit'].lower()}s")
            phrase = text[match.start("amount") : match.end()]
            low, high = read_amount(
                f"at most {phrase}" if negated else phrase, tolerance=_BARE_SLACK.get(kind, 0.0)
            )
            if (high or low or 0) > 0:
                yield Requirement(text=stated(match), kind=kind, minimum=low, maximum=high)


def items(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield numbers of items; a number of bullets asks for bullets, too."""
    text = directive.text
    if rule_pattern("negated").match(text):
        return
    bullets = rule_pattern("bullets")
    for pattern in (*rule_words().rules["items"], bullets):
        for match in pattern.finditer(text):
            low, high = read_amount(match["amount"])
            too_many = (low or 0) > _MOST_ITEMS
            several = rule_pattern("more").search(text, match.end())
            if (high or low or 0) < 2 or too_many or several:
                continue
            if has_any(["each"], text, match.end()):
                continue
            if pattern is bullets:
                if has_any(["method", "about"], text, match.start()):
                    continue
                yield Requirement(text=stated(match), kind="bullet_list")
            yield Requirement(text=stated(match), kind="items", minimum=low, maximum=high)


Bounds = tuple[int | None, int | None]
_LIMITS = ("at_least", "at_most", "below", "above", "roughly")
"""Patterns of words that make a number a limit, in the order in which they count."""


def read_amount(phrase: str, *, tolerance: float = 0.0) -> Bounds:
    """Return the least and greatest number a phrase allows.

    Args:
        phrase: what the part `amount` of the data file matched, with the unit and "or less"
            after it if they are there.
        tolerance: how far off a number without a limit may be, as a share of it; "about"
            always allows a fifth.

    >>> read_amount("under 100"), read_amount("three"), read_amount("3-5"), read_amount("about 10")
    ((None, 99), (3, 3), (3, 5), (8, 12))
    """
    phrase = " ".join(phrase.lower().split())
    words = rule_words()
    numbers = [
        words.numbers.get(match[0]) or int(match[0].replace(",", ""))
        for match in words.patterns["number"].finditer(phrase)
    ]
    first = numbers[0]
    if len(numbers) > 1:
        return min(numbers[:2]), max(numbers[:2])
    limit = next((name for name in _LIMITS if words.patterns[name].search(phrase)), None)
    if limit == "at_least":
        return first, None
    if limit == "at_most":
        return None, first
    if limit == "below":
        return None, max(first - 1, 0)
    if limit == "above":
        return first + 1, None
    if limit == "roughly":
        tolerance = 0.2
    elif "exactly" in phrase:
        tolerance = 0.0
    slack = int(first * tolerance)
    return first - slack, first + slack


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
