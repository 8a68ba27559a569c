"""`--set`: parameters of rubrics from the command line."""

from __future__ import annotations

import pytest

from tests.cli.conftest import one_line

TONE = """\
---
name: tone
extends: base
description: Tone.
parameters: {audience: adults, words: 50}
criteria:
  fit: {text: "For {{ parameters.audience }} in {{ parameters.words }} words?"}
---
"""


@pytest.fixture
def tone(folder):
    (folder / "tone.jinja").write_text(TONE, "utf-8")
    suite = "cases: cases.jsonl\njudge: fake/judge\nrecord: new_episodes\nmetrics: {tone: }\n"
    (folder / "suite.yaml").write_text(suite, "utf-8")
    return folder


def test_run_sets_a_parameter_and_the_report_says_so(tone, judgekit):
    done = judgekit("run", "suite.yaml", "--json", "--set", "tone.audience=5", "--set=tone.words=5")

    assert done.code == 0, done.err
    assert '"audience": "5"' in done.out
    assert '"words": 5' in done.out


def test_score_sets_it_with_or_without_the_name_of_its_only_rubric(tone, judgekit):
    keys = []
    for flag in ("words=5", "tone.words=5", "words=6"):
        done = judgekit(
            *("score", "--rubric", "tone.jinja", "-o", "x", "--judge", "fake/judge"),
            *("--json", "--set", flag),
        )
        assert done.code == 0, done.err
        keys.append(done.out.partition('"request_key": ')[2][:66])

    assert keys[0] == keys[1] != keys[2]


def test_render_shows_what_is_set(tone, judgekit):
    done = judgekit("rubric", "render", "tone.jinja", "--set", "audience=old men", "--set=words=3")

    assert "For old men in 3 words?" in done.out


@pytest.mark.parametrize("flag", ["tone.words", "=3", ".words=3", "words=3"])
def test_run_wants_the_metric_and_the_name(tone, judgekit, flag):
    line = one_line(judgekit("run", "suite.yaml", "--set", flag))

    assert line.startswith(f"--set {flag}: write it as METRIC.NAME=VALUE")
