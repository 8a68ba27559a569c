"""Decision judges without network: bodies, what cannot be asked, parts, and juries."""

from __future__ import annotations

import asyncio
import json
import textwrap

import pytest

from judgekit import Case, DecisionJudge, RubricMetric
from judgekit.core.errors import ConfigError
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import BaseJudge
from judgekit.core.jury import Jury
from judgekit.core.request import Reply, Request, Try, Usage
from judgekit.judges.decisions import body_of
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.pairwise.preference import PairwiseMetric
from judgekit.rubric.load import load_rubric
from tests.live.deciding import decide, even

CASE = Case(id="a", output="The moon.")


class LocalEndpoint(BaseJudge):
    """An endpoint of this process, which checks requests strictly."""

    def __init__(self, api, answers=even):
        self.settings = JudgeSettings(api=api)
        self.answers, self.asked = answers, []

    @property
    def model(self):
        return "openai/local"

    async def ask(self, request: Request):
        self.asked.append(request)
        body = {"model": "local", **body_of(request)}
        text = json.dumps(decide(body, self.answers))
        usage = Usage(input_tokens=40, output_tokens=3)
        return Reply(tries=(Try(text=text, finish="stop"),), usage=usage)


def rubric(folder, criteria):
    path = folder / "mine.jinja"
    head = "---\nname: mine\nextends: base\ndescription: d\nrequires: [output]\ncriteria:\n"
    path.write_text(head + textwrap.indent(textwrap.dedent(criteria), "  ") + "---\n")
    return load_rubric(path)


ALL_KINDS = """\
polite: {kind: boolean, weight: 0.2, text: "Is it polite?"}
right:
  weight: 0.2
  text: How right is it?
  levels: {wholly: {value: 1.0, text: "in all"}, partly: {value: 0.5, text: "in part"}, not: 0.0}
topic: {kind: choice, weight: 0.2, text: "Which topic?", options: {sun: 0.0, moon: 1.0}}
sure:
  weight: 0.2
  text: How sure is it?
  nullable: true
  levels: {sure: 1.0, unsure: 0.0}
facts: {kind: checklist, weight: 0.2, text: "Which facts does it state?", items: [one, two]}
"""
OPENAI = [
    {"type": "predicate", "name": "polite", "instructions": "Is it polite?"},
    {
        "type": "score",
        "name": "right",
        "instructions": "How right is it?",
        "levels": [
            {"label": "not"},
            {"label": "partly", "description": "in part"},
            {"label": "wholly", "description": "in all"},
        ],
    },
    {
        "type": "choice",
        "name": "topic",
        "instructions": "Which topic?",
        "choices": [{"value": "sun"}, {"value": "moon"}],
    },
    {
        "type": "choice",
        "name": "sure",
        "instructions": "How sure is it?",
        "choices": [{"value": "sure"}, {"value": "unsure"}, {"value": "cannot tell"}],
    },
    {
        "type": "predicate",
        "name": "facts[1]",
        "instructions": "Which facts does it state?\nIs this item met? one",
    },
    {
        "type": "predicate",
        "name": "facts[2]",
        "instructions": "Which facts does it state?\nIs this item met? two",
    },
]
SYSTEMONE = {
    "polite": {
        "type": "noul",
        "instructions": "Is it polite?",
        "criteria": {"true": "yes", "false": "no"},
    },
    "right": {
        "type": "score",
        "instructions": "How right is it?",
        "criteria": ["not", "partly: in part", "wholly: in all"],
    },
    "topic": {
        "type": "choice",
        "instructions": "Which topic?",
        "criteria": {"sun": None, "moon": None},
    },
}


def test_questions_as_the_endpoint_reads_them(tmp_path):
    mine = rubric(tmp_path, ALL_KINDS)
    _, (openai,) = RubricMetric(mine, judge=LocalEndpoint("decisions")).requests(CASE)
    _, (systemone,) = RubricMetric(mine, judge=LocalEndpoint("systemone")).requests(CASE)

    assert body_of(openai)["questions"] == OPENAI
    assert {n: q for n, q in body_of(systemone)["questions"].items() if n in SYSTEMONE} == SYSTEMONE
    assert body_of(openai)["input"] == body_of(systemone)["state"]
    assert "The moon." in body_of(openai)["input"]
    assert openai.key != systemone.key
    assert '"api":"decisions"' in openai.canonical


def test_chat_keys_have_no_api_and_no_descriptions(tmp_path):
    _, (request,) = RubricMetric(rubric(tmp_path, ALL_KINDS), judge=FakeJudge()).requests(CASE)

    assert '"api"' not in request.canonical
    assert '"descriptions"' not in request.canonical


@pytest.mark.parametrize("api", ["decisions", "systemone"])
def test_values_come_from_probabilities(tmp_path, api):
    def answers(name, options):
        if not options:
            return [{"polite": 0.8, "facts[1]": 0.9, "facts[2]": 0.2}[name]]
        known = {"wholly": 0.5, "partly": 0.3, "not": 0.2, "sun": 0.4, "moon": 0.6}
        return [{**known, "sure": 0.6, "unsure": 0.2, "cannot tell": 0.2}[o] for o in options]

    metric = RubricMetric(rubric(tmp_path, ALL_KINDS), judge=LocalEndpoint(api, answers))
    score = asyncio.run(metric.score(CASE))

    parts = {part.id: part for part in score.parts}
    assert parts["polite"].value == pytest.approx(0.8)
    assert parts["right"].value == pytest.approx(0.5 + 0.15)
    assert (parts["topic"].answer, parts["topic"].value) == ("moon", 1.0)
    assert parts["sure"].value == pytest.approx(0.6 / 0.8)
    assert parts["facts"].value == 0.5
    assert parts["right"].distribution.source == "decisions"


def test_balanced_orders_do_not_turn_a_scale_round(tmp_path):
    judge = LocalEndpoint("decisions")
    metric = RubricMetric(rubric(tmp_path, ALL_KINDS), judge=judge, samples=2, order="balanced")

    asyncio.run(metric.score(CASE))

    first, second = (body_of(request)["questions"] for request in judge.asked)
    assert first[0]["name"] == second[-1]["name"] == "polite"
    one, other = ({q["name"]: q for q in questions} for questions in (first, second))
    assert one["right"]["levels"] == other["right"]["levels"]
    assert one["topic"]["choices"] == other["topic"]["choices"][::-1]


@pytest.mark.parametrize(
    ("criterion", "why"),
    [
        ("free: {weight: 1, text: t}", "its answer is a free number; give it levels"),
        ("free: {kind: checklist, weight: 1, text: t}", "its answer is a free list; give it items"),
    ],
)
def test_free_answers_are_refused_before_a_run(tmp_path, criterion, why):
    with pytest.raises(ConfigError) as caught:
        RubricMetric(rubric(tmp_path, criterion + "\n"), judge=LocalEndpoint("decisions"))

    assert str(caught.value) == (
        "mine: openai/local (api: decisions) does not support criterion 'free' of rubric 'mine': "
        f"{why}, or name another judge"
    )
    RubricMetric(rubric(tmp_path, criterion + "\n"), judge=FakeJudge())


def test_what_is_not_asked_is_named(tmp_path):
    criteria = """\
    a: {kind: boolean, weight: 1, text: t, quotes: true, details: {why: {text: x}}}
    """
    metric = RubricMetric(rubric(tmp_path, criteria), judge=LocalEndpoint("decisions"))

    _, (request,) = metric.requests(CASE)

    assert metric.options["not_asked"] == ["reasons", "quotes, detail why of a"]
    assert "quotes" not in request.form.canonical
    assert "not_asked" not in RubricMetric(metric.rubric, judge=FakeJudge()).options


def test_too_many_questions_are_split_into_requests(tmp_path):
    criteria = "".join(f"c{n}: {{kind: boolean, text: t}}\n" for n in range(150))
    items = ", ".join(f"i{n}" for n in range(100))
    criteria += f"one: {{kind: checklist, text: t, items: [{items}]}}\n"
    criteria += f"two: {{kind: checklist, text: t, items: [{items}]}}\n"
    criteria += f"three: {{kind: checklist, text: t, items: [{items}]}}\n"
    judge = LocalEndpoint("decisions")

    score = asyncio.run(RubricMetric(rubric(tmp_path, criteria), judge=judge).score(CASE))

    assert [len(body_of(request)["questions"]) for request in judge.asked] == [350, 100]
    assert len(score.parts) == 153
    assert len(score.judgments) == 2


def test_jury_of_a_chat_and_an_endpoint(tmp_path):
    def chat(request):
        return {"polite": {"reason": "r", "value": False}}

    mine = rubric(tmp_path, "polite: {kind: boolean, weight: 1, text: Is it polite?}\n")
    endpoint = LocalEndpoint("decisions", lambda name, options: [0.9])
    jury = Jury({"chat": FakeJudge(chat), "quick": endpoint}, vote="mean")

    score = asyncio.run(RubricMetric(mine, judge=jury).score(CASE))

    assert score.value == pytest.approx((0.0 + 0.9) / 2)
    assert [opinion.answers["polite"] for opinion in score.opinions] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "ollama/qwen"}, "a decision endpoint of ollama needs api_base"),
        ({"model": "gpt-6-luna"}, "has no provider; write openai/gpt-6-luna"),
        ({"model": "openai/m", "api": "decision"}, "did you mean 'decisions'"),
        ({"model": "openai/m", "params": {"input": "x"}}, "'input' is set by the request"),
        ({"model": "openai/m", "timeout": 0}, "timeout must be positive"),
        ({"model": "openai/m", "api_base": "localhost"}, "must begin with http"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        DecisionJudge(**arguments)


def test_other_address_in_the_environment_is_no_public_address(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    judge = DecisionJudge("openai/m")
    _, (request,) = RubricMetric("role_adherence", judge=judge).requests(
        Case(id="a", system="You are a pirate.", output="Arr.")
    )

    with pytest.raises(Exception, match="OPENAI_BASE_URL is set in the environment"):
        asyncio.run(judge.ask(request))


def test_probabilities_of_two_answers_are_mapped_back():
    judge = LocalEndpoint(
        "decisions", lambda name, options: [{"A": 0.7}.get(o, 0.15) for o in options]
    )
    metric = PairwiseMetric("preference", judge=judge, rule="mean")

    score = asyncio.run(metric.score(Case(id="a", input="x", output="one", baseline="other")))

    assert score.value == pytest.approx(0.5)  # the first place alone counts for this judge
    assert len(judge.asked) == 2
