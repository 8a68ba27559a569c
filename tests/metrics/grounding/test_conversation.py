"""A short message such as "And when does it open?" needs the conversation: judges see it."""

from __future__ import annotations

import asyncio

import pytest

from judgekit.core.case import Case, Message
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.grounding.claims import ContextRecall, Faithfulness, Hallucination
from judgekit.metrics.grounding.coverage import (
    AnswerRelevancy,
    Completeness,
    ContextPrecision,
    FactsCoveredJudge,
)
from judgekit.metrics.safety_and_quality.quality import Accuracy
from tests.each import each
from tests.metrics.scripted import shown

CASE = Case(
    id="c",
    history=(Message(role="user", content="Tell me about the museum of clocks."),),
    input="And when does it open?",
    output="At nine.",
    reference=("At nine o'clock.",),
    context=("The museum opens at nine.",),
)
METRICS = (
    Accuracy, AnswerRelevancy, Completeness, ContextPrecision, ContextRecall, FactsCoveredJudge,
    Faithfulness, Hallucination,
)  # fmt: skip


@each("metric", METRICS)
def test_every_request_shows_the_conversation_but_those_about_one_claim(metric):
    judge = FakeJudge()
    asyncio.run(metric(judge=judge).score(CASE))

    seen = {request.about.rubric: shown(request, "user") for request in judge.asked}

    # A claim is worded to be understood alone, and only the passages may support it.
    assert seen.pop("claim_support", []) == []
    assert seen
    assert set(map(tuple, seen.values())) == {("Tell me about the museum of clocks.",)}


@pytest.mark.parametrize("history", [(), CASE.history])
def test_version_1_asks_the_same_with_and_without_a_conversation(history):
    judge = FakeJudge()
    metric = ContextPrecision(judge=judge, rubric="passage_relevance@1")
    asyncio.run(metric.score(CASE.model_copy(update={"history": history})))

    assert [shown(request, "user") for request in judge.asked] == [[]]
