from __future__ import annotations

import json

import pytest

RUBRIC = """\
---
name: polite
version: 1
extends: base
description: Whether an answer is polite.
requires: [output]
criteria:
  kind:
    weight: 1.0
    kind: boolean
    text: Is it kind?
---
{% block task %}{{ super() }}{% include "_tone.jinja" %}{% endblock %}
"""
SUITE = {
    "cases": "cases.jsonl",
    "judge": "fake/judge",
    "cassette": "tape.jsonl",
    "metrics": {
        "polite": {"rubric": "rubrics/polite.jinja", "threshold": 0.5, "gate": {"mean": 0.0}},
        "length": {"maximum": 3},
    },
}


def write_cases(folder, texts):
    rows = [{"id": id, "output": text} for id, text in texts.items()]
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in rows), "utf-8")


def write_suite(folder, **changes):
    (folder / "suite.yaml").write_text(json.dumps({**SUITE, **changes}), "utf-8")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a suite of a rubric and a computed metric, to stand in."""
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "polite.jinja").write_text(RUBRIC, "utf-8")
    (tmp_path / "rubrics" / "_tone.jinja").write_text("Think of a child.\n", "utf-8")
    write_cases(tmp_path, {"a": "One two.", "b": "One two three.", "c": "One two three four."})
    write_suite(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
