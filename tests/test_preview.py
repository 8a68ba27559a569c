from __future__ import annotations

import json

import pytest

from judgekit.case import Case
from judgekit.errors import CaseError, ConfigError, RubricError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.preview import rendered
from judgekit.rubric.shelf import rubric_names

ROWS = [{"id": "one", "input": "q1", "output": "a1"}, {"id": "two", "input": "q2", "output": "a2"}]


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return str(path)


def render(rubric, **wanted):
    return rendered(rubric, **{"cases": None, "case": None, "mode": None, "model": "M", **wanted})


@pytest.mark.parametrize("name", [n for n in rubric_names() if n != "base"])
def test_without_cases_every_rubric_is_shown_on_a_sample(name):
    text = render(name)

    assert text.startswith("--- system\n")
    assert "(the answer to judge)" in text


@pytest.mark.parametrize(("case", "answer"), [(None, "a1"), ("one", "a1"), ("two", "a2")])
def test_the_wanted_case_is_shown_or_the_first(cases, case, answer):
    assert f"\n{answer}\n" in render("safety", cases=cases, case=case)


def test_the_key_is_the_one_a_run_would_ask_for(cases):
    metric = RubricMetric("safety", judge=FakeJudge(model="openai/x"))
    _, (request,) = metric.requests(Case(**ROWS[0]))

    text = render("safety", cases=cases, model="openai/x")

    assert text.endswith(f"--- key\n{request.key} (model openai/x)\n")
    assert "".join(f"--- {m.role}\n{m.content}\n" for m in request.messages) in text


def test_the_mode_decides_what_is_shown():
    assert "(the system prompt)" not in render("prompt_alignment", mode="user")


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        ({"case": "three"}, ConfigError, "no case 'three'"),
        ({"mode": "systm"}, ConfigError, "did you mean 'system'"),
        ({"rubric": "saftey"}, RubricError, "did you mean 'safety'"),
        ({"mode": "system"}, CaseError, "needs the case to have 'system'"),
    ],
)
def test_what_cannot_be_shown_is_said(cases, wanted, error, message):
    rubric = wanted.pop("rubric", "prompt_alignment")

    with pytest.raises(error, match=message):
        render(rubric, cases=cases, **wanted)


def test_a_case_without_cases_is_refused():
    with pytest.raises(ConfigError, match="case 'two' of which cases"):
        render("safety", case="two")
