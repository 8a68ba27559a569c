"""A rubric that never shows the answer is named before a call is paid for."""

from __future__ import annotations

import logging

import pytest

from judgekit.suite.doctor.examine import examine
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

RUBRIC = """---
name: blind
version: 1
description: Judge the answer.
requires: [output]
criteria:
  good: {text: Is it good?, kind: boolean}
---
{%% role user %%}
{{ case.input }} %s
{%% for criterion in criteria %%}{{ criterion.text }}{%% endfor %%}
{%% endrole %%}
"""
LINE = "the rubric blind@1 never shows the answer to the judge"


@pytest.fixture
def suite(tmp_path):
    def write(output):
        (tmp_path / "blind.jinja").write_text(RUBRIC % output, "utf-8")
        (tmp_path / "cases.jsonl").write_text('{"id": "a", "input": "x", "output": "y"}\n')
        path = tmp_path / "suite.yaml"
        path.write_text("cases: cases.jsonl\njudge: fake/judge\nmetrics:\n"
                        "  blind: {rubric: blind.jinja}\n", "utf-8")  # fmt: skip
        return path

    return write


@pytest.mark.parametrize(
    ("output", "hidden"),
    [("", True), ("{% if case.output %}An answer.{% endif %}", True), ("{{ case.output }}", False)],
)
def test_a_run_that_may_call_says_it_before(suite, caplog, output, hidden):
    path = suite(output)

    with caplog.at_level(logging.WARNING, logger="judgekit"):
        run_suite_sync(load_suite(path, Overrides(record="new_episodes")))

    assert [LINE in record.getMessage() for record in caplog.records] == [True] * hidden
    assert any(LINE in problem for problem in examine(path).problems) is hidden


def test_a_replay_says_nothing(suite, caplog):
    path = suite("")
    run_suite_sync(load_suite(path, Overrides(record="new_episodes")))
    caplog.clear()

    run_suite_sync(load_suite(path, Overrides(record="none")))

    assert not caplog.records
