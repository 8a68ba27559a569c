"""The first steps after `judgekit init`: every advice that is printed works as printed."""

from __future__ import annotations

import re
import shlex

from judgekit.authoring.scaffold.project import ProjectPlan, write_project
from judgekit.core.example_model import EXAMPLE_MODEL

QUESTION = "Is the reply as short as the question allows?"


def commands(text):
    """Return the commands of an advice, each up to its end."""
    return re.findall(r"judgekit ((?:rubric|run)[^;\n]*)", text)


def test_the_first_change_of_a_rubric_leads_to_a_verdict(tmp_path, monkeypatch, judgekit):
    write_project(tmp_path, ProjectPlan("shop"))
    monkeypatch.chdir(tmp_path)
    assert judgekit("run").code == 0
    rubric = tmp_path / "rubrics" / "helpful_reply.jinja"
    text = rubric.read_text("utf-8")

    rubric.write_text(text.replace("weight: 0.2", "weight: 0.3"), "utf-8")
    unbalanced = judgekit("run")
    assert unbalanced.code == 2
    assert "write `weights: relative`" in unbalanced.err
    rubric.write_text(
        text.replace("weight: 0.2", "weight: 0.3").replace(
            "criteria:", "weights: relative\ncriteria:"
        ),
        "utf-8",
    )
    assert judgekit("run").code == 0

    rubric.write_text(text.replace(QUESTION, "Is the reply short?"), "utf-8")
    missing = judgekit("run")
    assert missing.code == 3
    assert missing.err.endswith(
        "3 calls to manual/template, answered by a person.\n"
        "manual/template is a person. To answer in this terminal, add: --record new_episodes\n"
        f"To call a model instead, add: --judge {EXAMPLE_MODEL}\n"
    )
    # Here there is no terminal, and `fake/judge` stands for the model.
    person = judgekit("run", "--record", "new_episodes", stdin="")
    assert person.code == 2
    assert "a person answers in a terminal, and this is none" in person.err
    assert judgekit("run", "--judge", "fake/judge").code in (0, 1)

    tested = judgekit("rubric", "test")
    assert tested.code == 3
    by_model, by_hand = commands(tested.out)
    assert "--judge manual/template" in by_hand
    asked = judgekit(*shlex.split(by_model.replace(EXAMPLE_MODEL, "fake/judge")))
    assert asked.code in (0, 1)
    assert "not recorded" not in asked.out


def test_rows_without_an_id_are_named_by_their_line(tmp_path, monkeypatch, judgekit):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.csv").write_text("id,output\n,one two three\n,one\nb,one two\n", "utf-8")
    suite = "cases: c.csv\nmetrics: {length: {maximum: 1, threshold: 1}}\n"
    (tmp_path / "suite.yaml").write_text(suite, "utf-8")

    done = judgekit("run", "--no-out")

    assert re.search(r"^c\.csv:2 +0\.00", done.out, re.MULTILINE)
    assert re.search(r"^b +0\.00", done.out, re.MULTILINE)
