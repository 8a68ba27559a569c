"""Find the repetition at the end of a text: a model that loops writes the same words again."""

import re

_TAIL = 8_000
"""Number of characters at the end of a text that are searched."""
_LEAST = 200
"""Minimum length of a repetition, in characters; shorter ones occur in normal texts."""
_TIMES = 3
"""Minimum number of times that the phrase occurs in a row."""
_DIGIT = re.compile(r"[0-9]")


def repeated_end(text: str) -> str | None:
    """Return the phrase that the end of a text repeats; `None` if it does not repeat itself.

    Digits count as equal, because loops often count. Takes linear time.

    >>> repeated_end("Yes, it is. " * 40)
    'Yes, it is. '
    >>> repeated_end("It is right, as far as I can see.") is None
    True
    """
    tail = text[-_TAIL:]
    exact = _repeated(tail, tail)
    counted = _repeated(tail, _DIGIT.sub("0", tail)) if exact is None else None
    # A list of different numbers is no loop.
    return counted if counted and any(map(str.isalpha, counted)) else exact


def _repeated(tail: str, compared: str) -> str | None:
    """Return the phrase that ends a text, by the characters of another text of its length."""
    backwards = compared[::-1]
    # The prefix function of Knuth, Morris and Pratt: of each prefix of the reversed text, the
    # length of the longest proper prefix that is also its suffix.
    borders = [0] * len(backwards)
    border = longest = period = 0
    for index in range(1, len(backwards)):
        while border and backwards[index] != backwards[border]:
            border = borders[border - 1]
        border += backwards[index] == backwards[border]
        borders[index] = border
        length = index + 1
        if length >= _LEAST and length >= _TIMES * (length - border):
            longest, period = length, length - border
    if not longest:
        return None
    # The loop starts at its first whole phrase; the text may be cut off inside another one.
    start = len(tail) - longest
    return tail[start : start + period]
