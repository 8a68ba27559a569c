from __future__ import annotations

import json

import pytest

from tests.cli.conftest import judgekit

__all__ = ["judgekit"]

KIND = """\
---
name: kind
extends: base
description: Is the answer kind?
criteria:
  kind:
    text: Is it kind?
    levels: {warm: 1, cool: 0.5, rude: 0}
    quotes: true
  short: {text: Is it short?, kind: boolean, nullable: true}
  points: {text: Each point it makes., kind: checklist}
tests:
TESTS
---
"""
WARM = """\
  - name: warm
    case: {output: "Thank you so much, dear friend!"}
    expect: {kind: warm, value: {min: 0.9}}"""
RUDE = """\
  - name: rude
    case: {input: "May I?", output: "Go away, you pest."}
    expect: {kind: {answer: rude, quotes: {contain: pest, from: output}}, short: true}"""
BLANK = """\
  - name: blank
    case: {output: "  "}
    expect: {value: {status: invalid_case}}"""
ORDER = "orderings:\n  - {better: warm, worse: rude, by: 0.5}"
ALL = "\n".join([WARM, RUDE, BLANK, ORDER])


def answers(kind="warm", *, quotes=(), short=True, points=(), reason="Because of its words."):
    """Return what a judge answers to the rubric KIND."""
    return {
        "kind": {"reason": reason, "quotes": list(quotes), "value": kind},
        "short": {"reason": "Counted.", "value": short},
        "points": {"items": [
            {"item": item, "reason": f"{item} it is", "met": met} for item, met in points
        ]},
    }  # fmt: skip


GOOD = {
    "warm": answers("warm", quotes=["Thank you"]),
    "rude": answers("rude", quotes=["you pest"], points=[("one", False)]),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder to stand in, with a rubric that has tests."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubrics").mkdir()
    write(tmp_path)
    return tmp_path


def write(project, tests=ALL, name="kind"):
    text = KIND.replace("TESTS", tests).replace("name: kind", f"name: {name}", 1)
    (project / "rubrics" / f"{name}.jinja").write_text(text, "utf-8")


def judge(project, verdicts):
    """Write a person's answers; return the flags that ask for them."""
    lines = [json.dumps({"case": c, "rubric": "kind", "answers": a}) for c, a in verdicts.items()]
    (project / "answers.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return ["--judge", "manual/me", "--answers", "answers.jsonl"]


@pytest.fixture
def recorded(project, judgekit):
    """The project with its tests recorded."""
    assert judgekit("rubric", "test", *judge(project, GOOD)).code == 0
    return project
