"""Rules for length and number: "in at most 50 words", "two paragraphs", "three bullets"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from judgekit.metrics.prompt_alignment.amount import read_amount
from judgekit.metrics.prompt_alignment.directive import Directive
from judgekit.metrics.prompt_alignment.requirement import Kind, Requirement
from judgekit.metrics.prompt_alignment.rule_words import has_any, rule_pattern, rule_words, stated

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
