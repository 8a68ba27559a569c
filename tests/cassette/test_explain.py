from __future__ import annotations

import asyncio

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.explain import Explainer, explain_all
from judgekit.cassette.record import Record
from judgekit.core.case import Case
from judgekit.core.errors import CassetteMiss
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.miss import DECIDES, NOT_OLDER
from judgekit.core.request import Form, Question
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from tests.cassette.conftest import make_reply, make_request

CASES = [
    Case(id="a", output="The night train leaves at eight and arrives in the morning."),
    Case(id="b", output="Nothing to do with it at all."),
]


def explained(asked, *recorded):
    records = [Record(r.key, r, make_reply()) for r in recorded]
    explanation = Explainer(records).explain(asked)
    assert explain_all([asked, asked], iter(records)) == [explanation] * 2
    return explanation


def long(text, **changes):
    return make_request(f"A long text so that it is not shown whole: {text}", **changes)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": "fake/other"}, "model (fake/judge recorded, fake/other asked)"),
        ({"identity": "x"}, 'identity (null recorded, "x" asked)'),
        ({"sample": 2}, "sample (0 recorded, 2 asked)"),
        ({"mode": "tools"}, 'mode (null recorded, "tools" asked)'),
        ({"params": {"seed": 2}}, "params.seed (1 recorded, 2 asked)"),
        ({"params": {}}, "params.seed (recorded with one, asked without)"),
        (
            {"params": {"seed": 1, "top_p": 0.5}},
            "params.top_p (not recorded with one)",
        ),
        ({"text": "Text"}, "message 2 (user) (text recorded, Text asked)"),
        ({"system": "judge"}, "message 1 (system) (Judge. recorded, judge asked)"),
        (
            {"form": Form(questions=(Question(id="q", kind="boolean", text="Good?"),))},
            "question q from character 19: 'score",
        ),
    ],
)
def test_the_line_names_the_field_that_differs(change, told):
    recorded = make_request(params={"seed": 1})
    asked = make_request(**{"params": {"seed": 1}, **change})

    explanation = explained(asked, recorded, make_request("far away", model="other/model"))

    assert explanation.key == recorded.key
    assert len(explanation.differences) == 1
    assert explanation.line().startswith(
        f"not recorded; nearest is {recorded.key[:12]}, which differs in {told}"
    )


def test_long_texts_are_told_by_the_place_they_part():
    line = explained(long("one"), long("two")).line()

    assert line.endswith("message 2 (user) from character 44: 'two' recorded, 'one' asked")


def test_a_text_that_only_ends_sooner_is_told_so():
    line = explained(long(""), long("more")).line()

    assert line.endswith("from character 44: 'more' recorded, its end asked")


def test_many_differences_are_counted():
    asked = make_request("t", system="s", model="m", sample=1, identity="i")

    assert explained(asked, make_request()).line().endswith("; and 2 more")


def test_the_fewest_fields_apart_are_nearest_then_the_most_alike():
    near, far = long("almost the same"), long("something else altogether, really")

    assert explained(long("almost the sane"), far, near).key == near.key


def test_the_text_compares_line_by_line():
    text = explained(make_request("one\ntwo\nthree"), make_request("one\n2\nthree")).text()

    assert "    -2\n    +two\n" in text
    assert "     one\n" in text


def test_nothing_recorded_is_said():
    explanation = explained(make_request())

    assert explanation.line() == "nothing is recorded yet"
    assert explanation.text() == "nothing is recorded yet\n"


# -- through a rubric -------------------------------------------------------------

RUBRIC = """---
name: mine
criteria:
  a: {text: Is it so?}
---
Rules{% for c in criteria %}{% endfor %}.
{{ case.output | fence("a") }}
"""


@pytest.fixture
def rubric(tmp_path):
    path = tmp_path / "mine.jinja"
    path.write_text(RUBRIC, encoding="utf-8")
    return path


@pytest.fixture
def tape(tmp_path, rubric, store):
    path = tmp_path / "tape.jsonl"
    with Cassette(FakeJudge(), tape=path, store=store, record="all") as cassette:
        for case in CASES:
            asyncio.run(RubricMetric(rubric, judge=cassette).score(case))
    return path


def missed(tape, rubric, case=CASES[0], *, model="fake/judge", params=None, sample=1):
    judge = FakeJudge(model=model)
    judge.settings = JudgeSettings(params=params or {})
    metric = RubricMetric(rubric, judge=Cassette(judge, tape=tape), samples=sample)
    with pytest.raises(CassetteMiss) as caught:
        asyncio.run(metric.score(case))
    differs, *others = str(caught.value).rsplit("; ", 2)
    assert others == [NOT_OLDER, DECIDES]
    return differs


def test_a_changed_rubric_text_is_named(tape, rubric):
    rubric.write_text(RUBRIC.replace(".\n", ". Be strict.\n"), encoding="utf-8")

    assert "differs in message 1 (user) from character 7" in missed(tape, rubric)


def test_a_changed_criterion_is_named(tape, rubric):
    rubric.write_text(RUBRIC.replace("Is it so?", "Is it not so?"), encoding="utf-8")

    assert "which differs in question a from character" in missed(tape, rubric)


def test_a_changed_answer_is_named(tape, rubric):
    case = CASES[0].model_copy(update={"output": CASES[0].output.replace("eight", "nine")})

    assert missed(tape, rubric, case).endswith(
        "message 1 (user) from character 38: 'eight and arrives in the morni' recorded, "
        "'nine and arrives in the mornin' asked"
    )


def test_the_digests_of_fences_do_not_hide_the_nearest_record(tape, rubric):
    case = CASES[1].model_copy(update={"output": CASES[1].output.replace("all", "first")})

    assert "'all." in missed(tape, rubric, case)


def test_another_model_is_named(tape, rubric):
    line = missed(tape, rubric, model="fake/other")

    assert line.endswith("which differs in model (fake/judge recorded, fake/other asked)")


def test_another_parameter_is_named(tape, rubric):
    assert missed(tape, rubric, params={"temperature": 0}).endswith(
        "params.temperature (not recorded with one)"
    )


def test_a_further_sample_is_named(tape, rubric):
    assert missed(tape, rubric, sample=3).endswith("which differs in sample (0 recorded, 1 asked)")
