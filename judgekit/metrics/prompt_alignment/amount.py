"""Amounts in a request: "at most 50", "three", "between 3 and 5", as bounds."""

from __future__ import annotations

from judgekit.metrics.prompt_alignment.rule_words import rule_words

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
