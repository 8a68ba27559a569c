"""Whether a text says yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from judgekit.metrics.benchmarks.wording import wording

_BREAK = re.compile(r"[.,;:!?…\n\"“”()\[\]<>–—]|(?<!\w)-|-(?!\w)")
_DISCOURSE = ("right", "so")
"""Words that begin a sentence more often than they answer a question."""
_MOST = 60
"""Characters of a clause that is yes or no and nothing else."""


class Polar(NamedTuple):
    """A yes or no, and the clause that states it."""

    answer: str
    clause: str


def polarity(text: str) -> Polar | None:
    """Return what a text says: its last "yes" or "no" that punctuation sets off.

    Without one, the last clause that calls something right or wrong ("that is not true"), or
    agrees as a whole ("I think so"); without one, a text that is nothing but an assurance.

    >>> polarity("Nope."), polarity("It isn't true."), polarity("I have no idea.")
    (Polar(answer='no', clause='Nope'), Polar(answer='no', clause="It isn't true"), None)
    """
    clauses = list(_clauses(text))
    for read in (_worded, _judged):
        for clause in reversed(clauses):
            if len(clause) <= _MOST and (answer := read(_plain(clause))):
                return Polar(answer, clause)
    if len(clauses) == 1 and len(clauses[0]) <= _MOST:
        plain = _plain(clauses[0])
        words = wording().polarity
        if plain in words.texts:
            return Polar(words.texts[plain], clauses[0])
        bare = " ".join(words.boosters.sub("", plain).split())
        if answer := _called(bare):
            return Polar(answer, clauses[0])
        if not bare and words.assurances.search(plain):
            return Polar("yes", clauses[0])
    return None


def leading_polarity(text: str) -> str | None:
    """Return the yes or no that a statement begins with."""
    clause = next(_clauses(text), "")
    if len(clause) <= _MOST and (answer := _worded(_plain(clause)) or _judged(_plain(clause))):
        return answer
    first = _plain(clause[:_MOST]).partition(" ")[0]
    return wording().polarity.words.get(first)


def _clauses(text: str) -> Iterator[str]:
    for part in _BREAK.split(text):
        if clause := part.strip(" \t\r*_`'‘’"):
            yield clause


def _plain(clause: str) -> str:
    return " ".join(clause.casefold().replace("’", "'").split())


def _worded(clause: str) -> str | None:
    """Return the answer of a clause of polar words and assurances: "definitely not"."""
    words = wording().polarity
    rest = words.leads.sub("", clause, count=1) if words.leads.match(clause) else clause
    left = words.boosters.sub(" ", rest).split()
    negated = "not" in left
    answers = {words.words.get(word) for word in left if word != "not"}
    if negated:
        # "Definitely not" is an answer; "not yes" is none.
        return None if answers else "no"
    return answers.pop() if len(answers) == 1 else None


def _judged(clause: str) -> str | None:
    """Return the answer of a clause that agrees, or calls something right or wrong."""
    words = wording().polarity
    if clause in words.phrases:
        return words.phrases[clause]
    match = words.statement.fullmatch(clause)
    if match is not None:
        right = (match["right"] is not None) != bool(match["not"] or match["also"])
        return "yes" if right else "no"
    return None if clause in _DISCOURSE else _called(clause)


def _called(clause: str) -> str | None:
    """Return the answer of a verdict without a subject: "not correct"."""
    match = wording().polarity.verdict.fullmatch(clause)
    if match is None:
        return None
    return "yes" if (match["right"] is not None) != bool(match["not"]) else "no"
