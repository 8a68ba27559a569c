"""Every result can be put into plain sentences, by whatever metric it was made."""

from __future__ import annotations

import asyncio
import math
import shutil

import pytest

from judgekit.core.case import Case
from judgekit.core.score import Failure, FailureKind, Fallback, Part, Score
from judgekit.datasets import load_cases
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.benchmarks.perplexity import Perplexity
from judgekit.metrics.cards import card_of
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.text.exact_match import ExactMatch
from tests.each import each
from tests.metrics.test_registry import made


def test_value_method_reason_and_confidence_are_said():
    metric = ExactMatch()
    score = asyncio.run(metric.score(Case(id="c", output="Paris", reference="paris")))

    assert score.explain(metric) == (
        "exact_match: 1 on 0 to 1, higher is better. Computed: normalised exact match. "
        "The output is the accepted answer. "
        "Confidence 1.00, which is always 1: a comparison is certain."
    )
    assert score.explain().startswith("1. Computed")


def test_a_range_without_end_and_its_direction():
    metric = Perplexity(judge=FakeJudge())
    score = asyncio.run(metric.score(Case(id="c", output="a b c")))

    assert " on 1 upwards, lower is better. " in score.explain(metric)
    assert metric.range[1] == math.inf


def test_the_parts_that_cost_most_are_named_first():
    parts = (
        Part(id="good", value=1.0, weight=0.5),
        Part(id="poor", value=0.2, weight=0.3),
        Part(id="middling", value=0.5, weight=0.2),
        Part(id="unasked", status="not_applicable"),
    )
    score = Score(value=0.66, source="judge", method="x by y@1", parts=parts, reason="So so.")

    assert score.explain() == (
        "0.66. Judged: x by y@1. So so. Made of poor 0.20 (weight 30%), "
        "middling 0.50 (weight 20%), good 1.00 (weight 50%). Left out: unasked."
    )


def test_where_lower_is_better_the_highest_part_costs_most():
    parts = tuple(Part(id=f"p{v}", value=v, weight=1 / 3) for v in (0.1, 0.9, 0.4))
    metric = Perplexity(judge=FakeJudge())

    assert "Made of p0.9 0.90" in Score(value=5.0, parts=parts).explain(metric)


def test_a_scale_a_fallback_and_no_score_are_said():
    shown = Score(value=0.85, scale=10, fallback=Fallback(substitute="length", cause="no_judge"))

    text = shown.explain(ExactMatch(name="mine"))
    assert text.startswith("mine: 8.5 on 0 to 10, higher is better. length stood in, which is no")
    none = Score(status="not_applicable", reason="There is nothing to compare.")
    assert none.explain() == "no score: not applicable. Computed. There is nothing to compare."


@pytest.mark.parametrize("kind", FailureKind.__args__)
def test_a_failure_says_why_there_is_none(kind):
    text = Failure(kind=kind, message="what happened").explain(ExactMatch())

    assert text.startswith("exact_match: no score, because ")
    assert text.endswith(": what happened.")


def test_hostile_text_stays_one_line():
    score = Score(value=1.0, method="m\x1b[31m", reason="a\r\nb\u202e\x00")

    assert score.explain().isprintable()


@each("name", sorted(BUILTIN.keys() - {"code"}))
def test_every_metric_is_explained(name):
    explain(name)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="NOT TESTED: code needs bubblewrap")
def test_code_is_explained():
    explain("code")


def explain(name):
    metric = made(name)
    case = next(load_cases([{"id": "c", **card_of(name).example.case}]))
    score = asyncio.run(metric.score(case))

    text = score.explain(metric)

    assert text.startswith(f"{name}: ")
    assert text.endswith((".", "!", "?", "…"))
    assert len(text) < 5_000
    assert text == score.explain(metric)
