from __future__ import annotations

import asyncio

import pytest

from judgekit.core.case import Case


@pytest.fixture
def score():
    """Score one session: replies in order, the last one as its output."""

    def scored(metric, *replies, **fields):
        *earlier, last = replies
        history = [{"role": "assistant", "content": text} for text in earlier]
        case = Case(id="c", history=history, output=last, **fields)
        return asyncio.run(metric.score(case))

    return scored
