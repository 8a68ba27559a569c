"""An empty answer is an answer: judged, counted apart, and never a missing value."""

from __future__ import annotations

import asyncio
import math
import shutil
from inspect import signature

import pytest

import judgekit
from judgekit.core.case import Case
from judgekit.core.case_field import ANSWERS
from judgekit.core.errors import JudgeRejected
from judgekit.datasets import load_cases
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.cards import card_of
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.registry import create_metric, find
from judgekit.report.display import summary_text
from judgekit.report.text import report_json
from judgekit.rubric.filters import fenced
from tests.metrics.test_every_metric import case_of, outcome

BLANK = ("", " \n\t")
RUBRIC = """---
name: mine
version: 1
description: Judge the answer.
requires: [input]
criteria:
  good: {text: Is it good?, kind: boolean}
---
{% role user %}
{% if case.output is none %}none{% elif case.output %}full{% else %}empty{% endif %}

{{ case.input }} {% if case.output %}{{ case.output }}{% endif %}

{% for criterion in criteria %}{{ criterion.text }}{% endfor %}
{% endrole %}
"""
TOKENS = [-0.5]


class Tokens:
    """Log-probabilities of a model: one for each character."""

    model = "tokens"

    async def logprobs(self, *, prompt, continuation):
        return TOKENS * len(continuation)


class Hosted:
    """A hosted embedder that refuses empty texts, as many do; the refusal would stop a run."""

    identity = "hosted-1"

    async def aembed(self, texts):
        if any(not text.strip() for text in texts):
            raise JudgeRejected("input cannot be an empty string")
        return [[float(len(text)), float(text.count("e"))] for text in texts]


def made(name, **more):
    if name == "code" and not shutil.which("bwrap"):
        pytest.skip("NOT TESTED: the sandbox needs bubblewrap")
    options = {**card_of(name).example.options, **more}
    if find(name).asks == "logprobs":
        return create_metric(name, judge=Tokens(), **options)
    return create_metric(
        name, **({"judge": FakeJudge()} if BUILTIN[name].judged else {}), **options
    )


@pytest.mark.parametrize("output", BLANK)
@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_every_metric_scores_an_empty_answer_or_says_why_not(name, output):
    found = outcome(made(name), case_of(name, output))

    assert not isinstance(found, str), found
    assert found.status in ("scored", "not_applicable")
    assert found.reason


EMBEDDING = sorted(
    name for name in BUILTIN if "embedder" in signature(find(name).factory).parameters
)


@pytest.mark.parametrize("output", BLANK)
@pytest.mark.parametrize("name", EMBEDDING)
def test_no_hosted_embedder_gets_an_empty_answer(name, output):
    found = outcome(made(name, embedder=Hosted()), case_of(name, output))

    assert not isinstance(found, str), found
    assert found.value is None or math.isfinite(found.value)


@pytest.mark.parametrize("output", BLANK)
def test_the_judge_sees_that_the_answer_is_empty(output):
    judge = FakeJudge()
    case = Case(id="c", input="Where is it?", output=output)

    asyncio.run(create_metric("quality", judge=judge).score(case))

    (request,) = judge.asked
    assert fenced(output, "answer") in request.messages[-1].content


def test_plans_tell_missing_empty_and_full_answers_apart(tmp_path):
    judge = FakeJudge()
    path = tmp_path / "mine.jinja"
    path.write_text(RUBRIC, "utf-8")
    metric = judgekit.RubricMetric(path, judge=judge)
    outputs = ["x", None, "", " ", "y", None, "", " "]

    for number, output in enumerate(outputs):
        asyncio.run(metric.score(Case(id=str(number), input="?", output=output)))

    shown = [request.messages[-1].content.splitlines()[0] for request in judge.asked]
    assert shown == ["full", "none", "empty", "full"] * 2


def test_an_empty_answer_may_be_the_better_one():
    judge = FakeJudge()
    case = Case(id="c", input="Say nothing.", output="", baseline="Hello!")
    found = judgekit.score_sync(case, create_metric("preference", judge=judge))

    assert found.status == "scored"
    assert found.details["lengths"] == [0, 6]
    assert {"output", "baseline"} == ANSWERS


def test_an_empty_cell_of_a_table_is_a_missing_value(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,input,output,baseline\na,Hi,,\nb,Hi,x,\n", "utf-8")

    assert [(case.output, case.baseline) for case in load_cases(path)] == [
        (None, None),
        ("x", None),
    ]


def test_an_empty_answer_of_a_row_stays_one(tmp_path):
    rows = [
        {"id": "a", "input": "Hi", "output": ""},
        {"id": "b", "input": "Hi", "output": None},
        {"id": "c", "messages": [{"role": "user", "content": "Hi"},
                                 {"role": "assistant", "content": ""}]},
    ]  # fmt: skip

    assert [case.output for case in load_cases(rows)] == ["", None, ""]


def test_empty_answers_are_counted_apart_and_can_be_gated():
    cases = [Case(id=str(n), input="?", output=output) for n, output in enumerate(["x", "", " \n"])]
    report = judgekit.evaluate_sync(
        [*cases, Case(id="none", input="?")],
        [create_metric("length", maximum=4)],
        gates={"length": [{"empty_answers": 2}, {"empty_answers": 1}, {"empty_answers": "50%"}]},
    )

    (summary,) = report.figures.metrics
    assert (summary.empty_answers, summary.scored, summary.failed) == (2, 3, 1)
    assert [gate.passed for gate in report.figures.gates] == [True, False, True]
    assert "2 answers are empty: they were scored like any other." in summary_text(
        report, width=200
    )
    assert '"empty_answers": 2' in report_json(report)
