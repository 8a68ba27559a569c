"""A judge whose answers a test writes down, one rubric at a time."""

from __future__ import annotations

import re

from judgekit.judges.fake import FakeJudge

FENCED = re.compile(r"<([a-z_]+)-[0-9a-f]{16}>\n(.*?)\n</\1-[0-9a-f]{16}>", re.DOTALL)


def shown(request, tag):
    """Return the texts a request shows under a tag."""
    text = request.messages[-1].content
    return [found for name, found in FENCED.findall(text) if name == tag]


def statements(*texts, not_met=()):
    """Return an extraction: claims, and statements that are none."""
    items = [{"item": t, "reason": "as it says", "met": t not in not_met} for t in texts]
    return {"statements": {"items": items}}


def support(probability, *, contradicted=False, quotes=()):
    """Return what was found out about one claim."""
    return {
        "support": {
            "reason": f"worth {probability}",
            "quotes": list(quotes),
            "contradicted": contradicted,
            "value": probability,
        }
    }


class Scripted(FakeJudge):
    """Answers by rubric: an object, or a function of the request."""

    def __init__(self, **by_rubric):
        super().__init__(self._say)
        self.by_rubric = by_rubric

    def _say(self, request):
        said = self.by_rubric[request.about.rubric]
        return said(request) if callable(said) else said

    def count(self, rubric):
        """Return how often a rubric was asked."""
        return sum(request.about.rubric == rubric for request in self.asked)
