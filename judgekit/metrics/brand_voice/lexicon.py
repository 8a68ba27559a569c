"""Lexicon: which preferred and avoided words of a persona a reply uses."""

from __future__ import annotations

import math
from typing import NamedTuple

from judgekit.metrics.brand_voice.phrases import Phrases, plain

PENALTY = 0.1
"""Taken off for each avoided word that is used."""


class LexiconScore(NamedTuple):
    """The score of the words of a reply."""

    value: float | None
    """0..1; `None` if the persona has no words."""
    preferred: dict[str, int]
    """Preferred entries used -> how often."""
    avoided: dict[str, int]


def score_lexicon(text: str, preferred: Phrases, avoided: Phrases) -> LexiconScore:
    """Return preferred entries used / preferred entries, less .1 for each avoided entry used.

    Clamped to 0..1. Each entry counts once. A persona without preferred words
    starts from 1.

    >>> liked, shunned = Phrases(["baseline", "signal"]), Phrases(["lol"])
    >>> score_lexicon("The baseline shows it, lol.", liked, shunned).value
    0.4
    """
    if not len(preferred) and not len(avoided):
        return LexiconScore(None, {}, {})
    form = plain(text)
    liked, shunned = preferred.used(form), avoided.used(form)
    share = len(liked) / len(preferred) if len(preferred) else 1.0
    value = math.fsum((share, *(-PENALTY,) * len(shunned)))
    return LexiconScore(max(0.0, min(1.0, value)), liked, shunned)
