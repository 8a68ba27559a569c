"""The words around a wish that decide whether a rule may read it as one."""

from __future__ import annotations

import re


def verbose(source: str) -> re.Pattern[str]:
    """Return a pattern in verbose syntax that ignores case."""
    return re.compile(source, re.VERBOSE | re.IGNORECASE)


METHOD = verbose(
    r"""\b(?: how\s+(?:to|do|can|should) | whether | functions? | scripts? | programs? | regex
    | query | algorithm | parser )\b"""
)
"""Before a wish: it is asked of something the answer is about."""
ABOUT = verbose(r"\b(?:that|which|who|whose|whether|how|why|what|where|when|about)\b")
"""Before a wish: perhaps so; for rules that must be stricter."""
NEGATION = verbose(r"\b(?:not|don['’]t|never|avoid|without|no|rather\s+than|instead\s+of)\b")
EACH = verbose(r"\b(?:each|every|per)\b")
"""What is wished of each part cannot be counted in the whole."""
WHOLE = r"(?!\s+(?:of|from|above|below|per|each|later|ago|in\s+the|earlier)\b)"
"""After a unit: it is not "two paragraphs of the contract"."""
PIECE = (
    r"(?:answer|summary|essay|response|reply|story|paragraph|description|explanation|overview"
    r"|review|article|email|message|text|poem|post|introduction|abstract|sentence|speech|letter)"
)
"""What an answer can be called."""


def stated(match: re.Match[str]) -> str:
    """Return the words of the request that a pattern found."""
    return " ".join(match[0].split()).strip(" ,")
