"""Answers that a text names, and which of them it rejects, takes back or leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from judgekit.metrics.benchmarks.wording import wording

_WINDOW = 60
"""Characters beside a mention in which it may be rejected."""
_JOINT = 24
"""Characters that may stand between two coordinated mentions."""


class AnswerMention(NamedTuple):
    """A letter, choice or number, and where it stands."""

    start: int
    end: int
    name: str


class ResolvedMentions(NamedTuple):
    """The mentions of a text, after rejections."""

    groups: list[list[AnswerMention]]
    """Mentions that are not rejected or taken back, in order; coordinated ones together."""
    rejected: set[str]

    @property
    def names(self) -> set[str]:
        """The names that are kept."""
        return {mention.name for group in self.groups for mention in group}


def standing(text: str, mentions: Sequence[AnswerMention], *, choices: bool) -> ResolvedMentions:
    """Return which mentions of a text stand.

    A mention is rejected by what stands right before it ("not B", "rather than B") or after it
    ("B is wrong"); coordinated mentions ("neither A nor B") share that. Of choices, what comes
    before a correction ("B. Sorry, C") or a contrast ("A is close, but C fits") is taken back.

    Args:
        text: a sentence, or a text.
        mentions: in the order of the text, without overlaps.
        choices: whether they are choices, not numbers.
    """
    words = wording()
    before = words.rejects_choice_before if choices else words.rejects_before
    remaining: list[list[AnswerMention]] = []
    affirmed: list[list[AnswerMention]] = []
    rejected: set[str] = set()
    groups = _groups(text, mentions)
    end = 0
    for number, group in enumerate(groups):
        start, last = group[0].start, group[-1].end
        following = groups[number + 1][0].start if number + 1 < len(groups) else len(text)
        if before.search(text[max(end, start - _WINDOW) : start]) or words.rejects_after.match(
            text[last : min(following, last + _WINDOW)]
        ):
            rejected.update(mention.name for mention in group)
        else:
            if words.affirms_after.match(text[last : min(following, last + _WINDOW)]):
                affirmed.append(group)
            if choices and remaining and _is_taken_back(text, end, group, following):
                remaining.clear()
            remaining.append(group)
        end = last
    if choices and len(affirmed) == 1 and affirmed[0] in remaining:
        # "B is the answer, A a distractor."
        remaining = affirmed
    if len(remaining) > 1 and len(remaining[-1]) == 1:
        # "Between B and D, D": the last word is about the two before it.
        pick = remaining[-1][0].name
        remaining = [g for g in remaining if len(g) == 1 or pick not in {m.name for m in g}]
    return ResolvedMentions(remaining, rejected)


def _groups(text: str, mentions: Sequence[AnswerMention]) -> list[list[AnswerMention]]:
    """Return the mentions, with those that "or", "nor" or "and" joins together in one list."""
    groups: list[list[AnswerMention]] = []
    run: list[AnswerMention] = []
    worded = False
    for mention in mentions:
        gap = text[run[-1].end : mention.start] if run else ""
        if not run or len(gap) > _JOINT or not wording().joint.fullmatch(gap):
            groups += _runs(run, worded)
            run, worded = [], False
            gap = ""
        run.append(mention)
        worded = worded or any(char.isalpha() or char in "/&" for char in gap)
    return groups + _runs(run, worded)


def _runs(run: list[AnswerMention], worded: bool) -> list[list[AnswerMention]]:
    """Return a run as one group; commas alone ("not 10, 12") coordinate nothing."""
    if worded:
        return [run]
    return [[mention] for mention in run]


def _is_taken_back(text: str, end: int, group: list[AnswerMention], following: int) -> bool:
    """Whether what was named before `end` is taken back for a group."""
    words = wording()
    gap = text[end : group[0].start]
    if words.correction.search(gap):
        return True
    after = text[group[-1].end : min(following, group[-1].end + _WINDOW)]
    return bool(words.contrast.search(gap)) and not words.hedge.search(f"{gap} {after}")
