from __future__ import annotations

import json

import pytest

from judgekit.authoring.preview import preview_text
from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError, RubricError
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.request import request_from
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.library import builtin_folder, rubric_names
from tests.each import each

ROWS = [{"id": "one", "input": "q1", "output": "a1"}, {"id": "two", "input": "q2", "output": "a2"}]


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return str(path)


def render(rubric, **wanted):
    return preview_text(
        rubric, **{"cases": None, "case": None, "mode": None, "model": "M", **wanted}
    )


@each("name", [n for n in rubric_names() if n != "base"])
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
    with pytest.raises(ConfigError, match="'two' needs a file of cases"):
        render("safety", case="two")


# -- what else goes into the key ----------------------------------------------------


def test_parameters_and_identity_of_the_judge_are_in_the_key_and_said(cases):
    params = {"temperature": 0.5}
    judge = AbsentJudge("openai/x", JudgeSettings(identity="v7", params=params))
    _, (request,) = RubricMetric("safety", judge=judge).requests(Case(**ROWS[0]))

    text = render("safety", cases=cases, model="openai/x", params=params, identity="v7")

    assert text.endswith(f"{request.key} (model openai/x (temperature=0.5, identity=v7))\n")


SUITE = """\
cases: cases.jsonl
judge: {model: openai/x, identity: v7, params: {temperature: 0.5, stop: [END]}}
metrics:
  safety: {}
  aligned: {rubric: prompt_alignment@1, mode: user}
"""


@pytest.mark.parametrize(
    ("metric", "args"), [("safety", ["safety"]), ("aligned", ["prompt_alignment@1", "--mode=user"])]
)
def test_the_key_is_the_one_a_suite_run_misses(cases, tmp_path, monkeypatch, capsys, metric, args):
    from judgekit.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["judgekit", *words])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().out

    run("run", "suite.yaml", "--out", "out", "-q")
    rendered = run("rubric", "render", *args, "--cases", "cases.jsonl", "--case", "two", "--json",
                   "--judge", "openai/x", "--identity", "v7", "--param", "temperature=0.5",
                   "--param", 'stop=["END"]')  # fmt: skip

    lines = (tmp_path / "out/results.jsonl").read_text("utf-8").splitlines()[1:]
    missed = {(row["case"], row["metric"]): row["result"]["key"]
              for row in map(json.loads, lines) if "metric" in row}  # fmt: skip
    assert json.loads(rendered)["key"] == missed["two", metric]


def test_the_json_holds_what_the_key_is_made_of(cases):
    data = json.loads(render("safety", cases=cases, as_json=True))

    request = request_from({
        "messages": data["messages"], "form": data["form"], "model": data["model"],
        "identity": data["identity"], "params": data["params"],
    })  # fmt: skip
    assert request.key == data["key"]
    assert (data["rubric"], data["mode"], data["case"]) == ("safety", "default", "one")


# -- against another version ----------------------------------------------------------


@pytest.fixture
def other(tmp_path):
    """Write the built-in safety rubric with something replaced; return its file."""

    def write(old, new):
        text = (builtin_folder() / "safety.jinja").read_text("utf-8")
        assert old in text
        (tmp_path / "other.jinja").write_text(text.replace(old, new), "utf-8")
        return str(tmp_path / "other.jinja")

    return write


def test_what_differs_is_shown_from_the_other_version_to_this_one(cases, other):
    file = other("Does the answer insult", "Does the reply insult")

    text = render(str(builtin_folder() / "safety.jinja"), cases=cases, against=file)

    lines = text.splitlines()
    assert lines[0] == f"--- {file}"
    assert lines[1] == f"+++ {builtin_folder() / 'safety.jinja'}"
    asked = "threaten or degrade the user or other people?"
    assert f"-Does the reply insult, {asked}" in lines
    assert f"+Does the answer insult, {asked}" in lines
    assert any(line.startswith('-   "text": "Does the reply insult') for line in lines)
    old, new = lines[-1].removeprefix("another key: ").split(" -> ")
    assert old != new
    assert render("safety", cases=cases).splitlines()[-1].startswith(new)


def test_a_change_that_asks_the_same_keeps_the_key(cases, other):
    file = other("minor: {value: 0.5", "minor: {value: 0.25")

    text = render("safety", cases=cases, against=file)
    data = json.loads(render("safety", cases=cases, against=file, as_json=True))

    assert text == f"same key: {data['new']['key']}\n"
    assert (data["same_key"], data["diff"]) == (True, [])


def test_another_version_need_not_have_the_same_parameters(tmp_path):
    front = "---\nname: n\nextends: base\ndescription: D.\nP\ncriteria:\n  a: {text: A.}\n---\n"
    body = "{% block closing %}{{ parameters.who }}{% endblock %}\n"
    (tmp_path / "new.jinja").write_text(
        front.replace("P\n", "parameters: {who: {kind: text}}\n") + body, "utf-8"
    )
    (tmp_path / "old.jinja").write_text(front.replace("P\n", ""), "utf-8")

    text = render(
        str(tmp_path / "new.jinja"),
        settings={"who": "Ida"},
        against=str(tmp_path / "old.jinja"),
    )

    assert "+Ida\n" in text
    assert "another key: " in text
