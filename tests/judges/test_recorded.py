"""Verdicts of other systems: samples, orders, probabilities, failures, and mistakes in the file."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit import Case, Cassette, RecordedJudge, RubricMetric
from judgekit.core.errors import CaseError, ConfigError, InvalidReply, JudgeRefused
from judgekit.core.judgment import parse_reply
from judgekit.core.key_rules import judge_identity
from judgekit.core.request import Detail, Form, Question
from judgekit.core.score import Failure, Score, guarded
from judgekit.metrics.pairwise.preference import PairwiseMetric
from judgekit.rubric.load import load_rubric
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

RUBRIC = """\
---
name: brief
extends: base
description: Is the answer polite and right?
requires: [output]
criteria:
  right: {weight: 0.5, text: Is it right?, levels: {wholly: 1.0, partly: 0.5, not: 0.0}}
  polite: {weight: 0.5, kind: boolean, text: Is it polite?, quotes: true}
---
"""
CASE = Case(id="a", output="Thanks, it is 4.")
GOOD = {"right": "wholly", "polite": {"value": True, "reason": "Thanks.", "quotes": ["Thanks"]}}


@pytest.fixture
def recorded(tmp_path):
    (tmp_path / "brief.jinja").write_text(RUBRIC)

    def make(*lines, **options):
        path = tmp_path / "verdicts.jsonl"
        entries = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(entries) + "\n")
        judge = RecordedJudge(path)
        return RubricMetric(load_rubric(tmp_path / "brief.jinja"), judge=judge, **options)

    return make


def line(**fields):
    return {"case": "a", "rubric": "brief", **fields}


def score(metric):
    return asyncio.run(guarded(CASE, metric))


def test_answers_are_verdicts_of_that_judge(recorded):
    metric = recorded(line(answers=GOOD))

    result = score(metric)

    assert isinstance(result, Score)
    assert result.value == 1.0
    assert result.meta["model"] == "recorded/verdicts"
    assert [part.reason for part in result.parts] == ["recorded without a reason", "Thanks."]
    assert result.parts[1].quotes[0].text == "Thanks"
    _, (request,) = metric.requests(CASE)
    assert '"api":"recorded"' in request.canonical
    assert judge_identity(request) == metric.judge.settings.identity


def test_another_content_of_the_file_has_another_key(recorded):
    _, (first,) = recorded(line(answers=GOOD)).requests(CASE)
    _, (second,) = recorded(line(answers=GOOD), line(sample=1, answers=GOOD)).requests(CASE)

    assert first.key != second.key


@pytest.mark.parametrize("source", ["samples", "logprobs", "decisions"])
def test_probabilities_keep_their_source(recorded, source):
    probabilities = {"right": {"not": 0.1, "wholly": 0.7, "partly": 0.2}, "polite": 0.8}
    given_source = {} if source == "samples" else {"source": source}

    parts = score(recorded(line(probabilities=probabilities, **given_source))).parts

    assert parts[0].distribution.labels == ("wholly", "partly", "not")
    assert parts[0].distribution.source == source
    assert [part.answer for part in parts] == ["wholly", True]
    assert parts[0].value == pytest.approx(0.8 if source == "decisions" else 1.0)


def test_log_probabilities_keep_their_mass(recorded):
    given_line = line(
        answers={"right": "wholly", "polite": True},
        probabilities={"right": {"wholly": 0.4, "not": 0.1}},
        source="logprobs",
    )

    distribution = score(recorded(given_line)).parts[0].distribution

    assert distribution.mass == pytest.approx(0.5)
    assert distribution.probability("wholly") == pytest.approx(0.8)


def test_samples_and_orders_are_matched(recorded):
    words = ["wholly", "not", "not"]
    lines = [
        line(sample=n, order=order, answers={**GOOD, "right": word})
        for n, (order, word) in enumerate(
            zip(["written", "reversed", "shuffled 1"], words, strict=True)
        )
    ]

    result = score(recorded(*lines, samples=3, order="balanced"))

    assert result.parts[0].answer == "not"
    assert [o.order for o in result.opinions] == ["written", "reversed", "shuffled 1"]
    assert [o.answers["right"] for o in result.opinions] == words
    wrong = score(recorded(*lines, samples=3, order="written"))
    assert isinstance(wrong, Failure)
    assert "sample 1 in the order written, only reversed" in wrong.message


def test_parts_of_the_criteria_take_their_answers(recorded):
    assert score(recorded(line(answers=GOOD), calls="each")).value == 1.0


def test_raw_text_is_read_as_a_reply_of_a_chat(recorded):
    good = {
        "right": {"reason": "r", "value": "partly"},
        "polite": {"reason": "r", "quotes": [], "value": True},
    }
    assert score(recorded(line(raw=f"```json\n{json.dumps(good)}\n```"))).value == 0.75

    failure = score(recorded(line(raw="I cannot say.")))

    assert (failure.kind, failure.message) == ("invalid_reply", "the reply holds no JSON object")


@pytest.mark.parametrize(
    ("failed", "kind", "message"),
    [
        ("refused", "refused", "recorded as refused"),
        ("truncated", "truncated", "recorded as truncated"),
        ("invalid_case", "invalid_case", "recorded as invalid case"),
        ("HTTP 529 for an hour", "unavailable", "HTTP 529 for an hour"),
    ],
)
def test_failures_are_rows_and_replay(recorded, tmp_path, failed, kind, message):
    metric = recorded(line(failed=failed))
    rows = []
    for mode in ("new_episodes", "none"):
        with Cassette.open(tmp_path / "tape.jsonl", metric.judge, record=mode) as cassette:
            rows.append(score(RubricMetric(metric.rubric, judge=cassette)))

    assert [(row.kind, row.message) for row in rows] == [(kind, message)] * 2


def test_missing_verdict_is_an_unavailable_row(recorded):
    failure = score(recorded(line(case="b", answers=GOOD)))

    assert failure.kind == "unavailable"
    assert "no verdict for case 'a', rubric 'brief', sample 0" in failure.message


MISTAKES = {
    "no_json": ("{", "1: not a verdict: the reply is not JSON"),
    "key": (line(answer=GOOD), "1: unknown key 'answer'; did you mean 'answers'?"),
    "no_case": ({"rubric": "brief", "answers": {}}, "1: needs 'case' and 'rubric', both text"),
    "sample": (line(sample=-1, answers=GOOD), "1: sample is a whole number from 0, not -1"),
    "order": (line(order="revers", answers=GOOD), "1: order is written, reversed, shuffled 1"),
    "nothing": (line(), "1: needs one of 'answers', 'raw' and 'failed'"),
    "both": (line(answers=GOOD, raw="x"), "1: needs one of 'answers', 'raw' and 'failed'"),
    "source": (line(raw="x", source="samples"), "1: 'source' goes with 'answers' and"),
    "list": (line(answers=[1]), "1: 'answers' is an object by criterion"),
    "failed": (line(failed=True), "1: 'failed' is a text"),
}


@pytest.mark.parametrize(("entry", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_the_file_name_the_line(recorded, entry, message):
    with pytest.raises(ConfigError) as caught:
        recorded(entry)

    assert f"verdicts.jsonl:{message}" in str(caught.value)


def test_duplicates_name_both_lines(recorded):
    with pytest.raises(ConfigError, match=r":2: .*sample 0 is there twice; the first is line 1"):
        recorded(line(answers=GOOD), line(answers=GOOD))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"answers": {"right": "wholly"}}, "polite is missing"),
        ({"answers": {**GOOD, "right": "fully"}}, "right.value: Input should be 'wholly'"),
        ({"answers": {**GOOD, "polite": "yes"}}, "polite.value: Input should be a valid boolean"),
        (
            {"answers": GOOD, "probabilities": {"polite": 1.2}},
            "probabilities.polite: 1.2 is not a probability",
        ),
        (
            {"answers": GOOD, "probabilities": {"right": {"wholly": 0.4}}},
            "probabilities.right: their sum is 0.4, not 1",
        ),
        (
            {"answers": GOOD, "probabilities": {"right": {"good": 1}}},
            "probabilities.right.good: 'good' is not one of wholly, partly, not",
        ),
        (
            {"answers": GOOD, "probabilities": {"polite": 0.5}, "source": "guess"},
            "source: 'guess' is not one of decisions, logprobs, samples",
        ),
    ],
)
def test_answers_that_do_not_fit_stop_the_run_with_their_line(recorded, fields, message):
    with pytest.raises(ConfigError) as caught:
        score(recorded(line(case="b", failed="refused"), line(**fields)))

    assert f"verdicts.jsonl:2: the verdict does not fit the rubric: {message}" in str(caught.value)


def test_missing_and_empty_files_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"no such file of verdicts: verdict.jsonl"):
        RecordedJudge(tmp_path / "verdict.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(ConfigError, match=r"empty.jsonl: holds no verdict"):
        RecordedJudge(tmp_path / "empty.jsonl")


def test_suite_with_recorded_verdicts_replays(tmp_path):
    (tmp_path / "brief.jinja").write_text(RUBRIC)
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "x"}\n')
    (tmp_path / "verdicts.jsonl").write_text(json.dumps(line(answers=GOOD)) + "\n")
    suite = {
        "cases": "cases.jsonl",
        "judge": {"recorded": "verdicts.jsonl"},
        "cassette": "tape.jsonl",
        "metrics": {"brief": {"rubric": "brief.jinja"}},
    }
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps(suite))

    reports = [
        run_suite_sync(load_suite(path, Overrides(record=mode)), out=tmp_path / mode)
        for mode in ("new_episodes", "none")
    ]

    values = [report.metrics["brief"].mean for report in reports]
    assert values == [1.0, 1.0]
    assert any("not compared with people" in text for text in reports[0].calibration)


KINDS = (
    Question(id="polite", kind="boolean", text="t", nullable=True),
    Question(id="right", kind="score", text="t", labels=("good", "bad")),
    Question(id="stars", kind="score", text="t", minimum=1, maximum=5),
    Question(id="facts", kind="checklist", text="t", items=("one", "two")),
)
EVERY_KIND = Form(questions=KINDS, details=(Detail(name="why"),), api="recorded")


def test_every_kind_of_question_has_an_answer():
    answers = {
        "polite": None,
        "right": "bad",
        "stars": {"value": 4, "reason": "r"},
        "facts": {"one": True, "two": False},
        "why": "So.",
    }
    probabilities = {"stars": {"5": 0.25, "4": 0.75}, "polite": {"cannot tell": 0.6, "yes": 0.4}}
    text = json.dumps({"answers": answers, "probabilities": probabilities})

    parsed = parse_reply(text, EVERY_KIND)

    assert parsed.answers["stars"].distribution.labels == (4.0, 5.0)
    assert parsed.answers["polite"].distribution.labels == (True, None)
    assert [item["met"] for item in parsed.answers["facts"].items] == [True, False]
    assert parsed.details == {"why": "So."}


def test_cannot_tell_stands_after_the_numbers():
    question = Question(id="stars", kind="score", text="t", maximum=5.0, nullable=True)
    content = {"answers": {}, "probabilities": {"stars": {"4": 0.7, "cannot tell": 0.2, "1": 0.1}}}

    parsed = parse_reply(json.dumps(content), Form(questions=(question,), api="recorded"))

    assert parsed.answers["stars"].distribution.labels == (1.0, 4.0, None)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(
            st.sampled_from(["polite", "right", "value", "items", "yes", "good", "why"]), part
        )
    ),
    max_leaves=8,
)


@given(
    content=st.dictionaries(
        st.sampled_from(["answers", "probabilities", "source", "raw", "failed"]), ANYTHING
    )
)
def test_malformed_content_raises_nothing_else(content):
    try:
        parse_reply(json.dumps(content), EVERY_KIND)
    except (InvalidReply, JudgeRefused, CaseError):
        return


def test_orders_of_two_answers_are_told_apart(tmp_path):
    path = tmp_path / "theirs.jsonl"
    pair = Case(id="a", input="x", output="one", baseline="other")

    def verdict(*orders):
        entries = [
            {"case": "a", "rubric": "preference", "answers": {"preference": "A"}, **order}
            for order in orders
        ]
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        metric = PairwiseMetric("preference", judge=RecordedJudge(path))
        return asyncio.run(guarded(pair, metric))

    both = verdict({"order": "written"}, {"order": "swapped"})
    assert both.value == 0.5  # the first answer both times
    assert [opinion.order for opinion in both.opinions] == ["written", "swapped"]
    failure = verdict({})  # says nothing about the other order
    assert failure.kind == "unavailable"
    assert "in the order swapped, only any order" in failure.message


def test_verdicts_that_are_not_utf8_have_their_line(tmp_path):
    file = tmp_path / "theirs.jsonl"
    file.write_bytes(b"{}\n" + "café".encode("latin-1"))

    with pytest.raises(ConfigError, match=r"theirs.jsonl:2: not UTF-8: byte 6 is 0xe9; save the"):
        RecordedJudge(file)
