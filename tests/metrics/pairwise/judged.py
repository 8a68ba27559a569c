"""Judges with a known preference, which read the two answers in the prompt."""

from __future__ import annotations

import random
import re

from judgekit.judges.fake import FakeJudge

_ANSWERS = re.compile(r"<answer_([ab])-([0-9a-f]+)>\n(.*?)\n</answer_\1-\2>", re.S)


def answers_of(request):
    """Return the texts that the judge sees as Answer A and Answer B."""
    found = {name: text for name, _, text in _ANSWERS.findall(request.messages[-1].content)}
    return found["a"], found["b"]


def judge_by(choose, **options):
    """Return a judge that answers `A`, `B` or `tie` as `choose(a, b, random)` says."""

    def script(request):
        label = choose(*answers_of(request), random.Random(request.key))
        return {"preference": {"reason": f"{label}.", "value": label}}

    return FakeJudge(script, **options)


def better(a, b, chance):
    """Prefer the answer with more of the word `good`."""
    good, other = a.count("good"), b.count("good")
    return "tie" if good == other else "A" if good > other else "B"


def shorter(a, b, chance):
    return "tie" if len(a) == len(b) else "A" if len(a) < len(b) else "B"


def first(a, b, chance):
    return "A"


def positional(share, truth=better):
    """Prefer the answer shown first with this probability, otherwise the better one."""
    return lambda a, b, chance: "A" if chance.random() < share else truth(a, b, chance)
