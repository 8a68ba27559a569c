"""A judge as a model string, a function, or the entry point of a package."""

from __future__ import annotations

import asyncio
import json

import pytest
from pydantic import BaseModel

import judgekit
from judgekit.core.entry_points import Offer
from judgekit.core.errors import ConfigError, InvalidReply, JudgeRefused, JudgeUnavailable
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.request import Try
from judgekit.judges import named
from judgekit.judges.fake import FakeJudge
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import build_suite, load_suite

CASE = judgekit.Case(id="a", input="Where is it?", output="On its way.")


async def strict(request):
    """A judge of one's own: the worst answer to every question."""
    return {q.id: {"reason": "No.", "value": 0.0} for q in request.form.questions}


async def text(request):
    return "an answer"


SUITE = {
    "judge": "fake/judge",
    "record": "none",
    "cases": [{"input": "Where is it?", "output": "On its way."}],
    "metrics": {"kind": {"criteria": {"polite": "Is the answer polite?"}}},
}


@pytest.mark.parametrize(
    "make",
    [
        lambda judge: judgekit.create_metric("quality", judge=judge),
        lambda judge: judgekit.create_metric("faithfulness", judge=judge),
        lambda judge: judgekit.create_metric("brand_safety", judge=judge),
        lambda judge: RubricMetric("safety", judge=judge),
        lambda judge: RubricMetric("safety", judge=judgekit.LimitedJudge(judge)),
        lambda judge: judgekit.create_metric("perplexity", judge=judge),
    ],
)
@pytest.mark.parametrize(("judge", "model"), [("fake/x", "fake/x"), (strict, "python/strict")])
def test_every_metric_takes_a_model_string_and_a_function(make, judge, model):
    assert make(judge).info().made_with["model"] == model


def test_a_function_judges():
    score = judgekit.score_sync(CASE, RubricMetric("helpfulness", judge=wordy))

    assert score.value == 0.0
    assert score.judgments[0].model == "python/wordy"


async def wordy(request):
    return {q.id: {"reason": "No.", "value": q.labels[-1]} for q in request.form.questions}


def test_a_plain_function_may_answer_too():
    score = judgekit.score_sync(CASE, RubricMetric("helpfulness", judge=plain))

    assert score.value == 1.0


def plain(request):
    return {q.id: {"reason": "Yes.", "value": q.labels[0]} for q in request.form.questions}


def test_what_a_function_returns_must_be_a_reply():
    async def nothing(request):
        return 3

    failure = judgekit.score_sync(CASE, RubricMetric("helpfulness", judge=nothing))

    assert failure.kind == "invalid_reply"
    assert failure.message == (
        "python/nothing returned int; return the text of the reply, a dict, a pydantic object "
        "or a Reply"
    )


def test_answers_come_from_a_function():
    answers = judgekit.answer_cases_sync([judgekit.Case(id="a", input="Hi")], text)

    assert answers.cases[0].output == "an answer"


def test_other_strings_are_models_of_litellm():
    judge = as_judge("openai/some-model")

    assert isinstance(judge, LiteLLMJudge)
    assert judge.model == "openai/some-model"


@pytest.mark.parametrize("given", [3, None, {"model": "x"}])
def test_what_is_no_judge_is_refused(given):
    with pytest.raises(ConfigError, match="a judge is a model string"):
        RubricMetric("helpfulness", judge=given)


@pytest.mark.parametrize("judge", [strict, "fake/other", FakeJudge(model="fake/mine")])
def test_a_judge_for_a_suite_replaces_its_own_and_may_be_asked(judge, tmp_path):
    suite = build_suite(SUITE, base=tmp_path, judge=judge)
    report = run_suite_sync(suite)

    model = {strict: "python/strict", "fake/other": "fake/other"}.get(judge, "fake/mine")
    assert report.figures.manifest["judge"]["model"] == model
    assert report.run["origins"]["live"] == 1
    if judge is strict:
        assert report.metrics["kind"].mean == 0.0


def test_run_suite_takes_a_judge(tmp_path):
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE), "utf-8")

    report = asyncio.run(judgekit.run_suite(tmp_path / "suite.yaml", judge=strict))

    assert report.metrics["kind"].mean == 0.0
    with pytest.raises(ConfigError, match="give the judge to load_suite"):
        asyncio.run(judgekit.run_suite(load_suite(tmp_path / "suite.yaml"), judge=strict))


@pytest.fixture
def offered(monkeypatch):
    """Offer judges as an installed package would."""

    def offer(**values):
        found = [Offer(name, f"tests.judges.test_named:{v}", "acme") for name, v in values.items()]
        monkeypatch.setattr(named, "offers", lambda group: found)

    return offer


class Mine:
    model = "acme/mine-2"

    async def ask(self, request):
        return await FakeJudge(strict_script, model=self.model).ask(request)


def strict_script(request):
    return {q.id: {"reason": "No.", "value": 0.0} for q in request.form.questions}


@pytest.mark.parametrize(
    ("value", "model"), [("strict", "python/strict-1"), ("Mine", "acme/mine-2")]
)
def test_a_suite_names_a_judge_of_a_package(offered, tmp_path, value, model):
    offered(**{"strict-1": value})
    suite = build_suite(
        {**SUITE, "judge": "python/strict-1", "record": "new_episodes"}, base=tmp_path
    )

    report = run_suite_sync(suite)

    assert report.metrics["kind"].mean == 0.0
    assert next(report.results).rows[0].result.meta["model"] == model


def test_identity_and_params_of_a_function_are_part_of_the_key(offered, tmp_path):
    offered(mine="strict")
    keys = set()
    for judge in ({}, {"identity": "v2"}, {"params": {"level": 3}}):
        data = {**SUITE, "judge": {"model": "python/mine", **judge}}
        metric = build_suite(data, base=tmp_path).metrics[0]
        keys.add(metric.requests(CASE)[1][0].key)

    assert len(keys) == 3


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("python/stict", "no judge named 'stict' in the entry points judgekit.judges; did you mean"
         " 'strict'?"),
        ("python/broken", "judge 'broken' of tests.judges.test_named:missing cannot be loaded"),
        ("python/number", "judge 'number' of tests.judges.test_named:SUITE is a dict; a judge is"),
        ({"model": "python/object", "identity": "x"}, "judge 'object' is an object with settings"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_line(offered, tmp_path, judge, message):
    offered(strict="strict", broken="missing", number="SUITE", object="Mine")
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps({**SUITE, "judge": judge}, indent=1), "utf-8")

    with pytest.raises(ConfigError) as caught:
        load_suite(path)

    assert str(caught.value).startswith(f"{path}:2: {message}")


def judged_by(judge, **choices):
    return judgekit.score_sync(CASE, RubricMetric("helpfulness", judge=judge, **choices))


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({}, "the reply lacks 'helpfulness'; the reply begins: {}"),
        ({"helpfulness": {"value": "x"}}, "the reply lacks 'helpfulness.reason'"),
        ({"helpfulness": {"reason": "r", "value": 1}}, "'helpfulness.value' of the reply must"),
        ({"helpfulness": "r"}, "'helpfulness' of the reply must be keys and values"),
        ("It is good.", "the reply holds no JSON object; the reply begins: It is good."),
        ("\n".join(["word"] * 99), f"begins: {('word ' * 16)}…"),
        ({"id": "x", "model": "m", "choices": []}, "(.choices[0].message.content)"),
    ],
)  # fmt: skip
def test_an_invalid_reply_names_the_judge_and_shows_its_beginning(reply, message):
    async def mine(request):
        return reply

    failure = judged_by(mine)

    assert failure.kind == "invalid_reply"
    assert failure.message.startswith("python/mine: ")
    assert message in failure.message
    assert len(failure.message) < 400


class Verdict(BaseModel):
    helpfulness: dict[str, str]


@pytest.mark.parametrize("form", [dict, json.dumps, lambda data: Verdict(**data)])
def test_a_reply_is_a_dict_a_text_or_a_pydantic_object(form):
    async def mine(request):
        level = request.form.questions[0].labels[0]
        return form({"helpfulness": {"reason": "Yes.", "value": level}})

    assert judged_by(mine).value == 1.0


def test_a_request_has_the_schema_and_the_instructions():
    seen = []

    async def mine(request):
        seen.append(request)
        return {}

    judged_by(mine)
    judgekit.answer_cases_sync([judgekit.Case(id="a", input="Hi")], mine)
    verdict, answer = seen

    assert list(verdict.schema["properties"]) == ["helpfulness"]
    assert verdict.instructions.endswith(json.dumps(verdict.schema, ensure_ascii=False))
    verdict.schema["properties"].clear()  # a copy
    assert verdict.schema["properties"]
    assert (answer.schema, answer.instructions) == ({}, "")


def test_an_exception_is_unavailable_with_its_place(monkeypatch):
    monkeypatch.setenv("ACME_API_KEY", "sk-secret-12345")

    async def mine(request):
        return json.loads("sk-secret-12345") or request

    failure = judged_by(mine)
    line = mine.__code__.co_firstlineno + 1

    assert failure.kind == "unavailable"
    assert failure.message.startswith("python/mine raised JSONDecodeError: Expecting value")
    assert failure.message.endswith(f" (test_named.py:{line})")


@pytest.mark.parametrize(
    "error", [RuntimeError("key sk-secret-12345"), RuntimeError(), KeyError(3)]
)
def test_the_exception_of_an_object_is_translated_too(error, monkeypatch):
    monkeypatch.setenv("ACME_API_KEY", "sk-secret-12345")

    class Own:
        model = "acme/own"

        async def ask(self, request):
            raise error

    failure = judged_by(Own())

    assert failure.kind == "unavailable"
    assert failure.message.startswith(f"acme/own raised {type(error).__name__}")
    assert "secret" not in failure.message


def test_an_exception_may_tell_what_was_paid():
    class Paid(Exception):
        cost = 0.25

    async def mine(request):
        raise Paid

    with pytest.raises(JudgeUnavailable) as caught:
        asyncio.run(as_judge(mine).ask(None))

    assert caught.value.cost == 0.25


@pytest.mark.parametrize(
    ("attempt", "kind"),
    [
        (Try(text="{", finish="length"), "truncated"),
        (Try(text='{"a"', finish="max_tokens"), "truncated"),
        (Try(refusal="I cannot judge this."), "refused"),
        (Try(text="", finish="content_filter"), "refused"),
        (Try(text=""), "empty"),
        (JudgeRefused("no"), "refused"),
        (InvalidReply("cut", kind="truncated"), "truncated"),
    ],
)
def test_a_function_says_why_there_is_no_verdict(attempt, kind):
    async def mine(request):
        if isinstance(attempt, Exception):
            raise attempt
        return judgekit.Reply(tries=(attempt,))

    assert judged_by(mine).kind == kind


def test_a_fake_judge_takes_a_function():
    with pytest.raises(ConfigError, match="FakeJudge takes a function of the request"):
        FakeJudge({"a": {"value": True}})
