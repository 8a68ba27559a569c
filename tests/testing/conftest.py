"""What tests of the fixture `judgekit` share: a project, and pytest run inside pytest."""

from __future__ import annotations

import json
from functools import partial
from importlib.metadata import entry_points

import pytest
import yaml

import judgekit.cassette.store

# pytest run inside pytest forgets what it imported; what holds classes must be one and the same.
import judgekit.judges.fake
import judgekit.metrics.fallback
import judgekit.metrics.text.regex
import judgekit.rubric.load
import judgekit.testing.session

assert yaml
assert judgekit

LOADED = [] if entry_points(group="pytest11", name="judgekit") else ["-p", "judgekit.pytest_plugin"]
OTHERS = ("hypothesispytest", "anyio", "asyncio", "cacheprovider")


def alone(*beside):
    """Return the words for pytest with no plugin of others but those named, and no warning."""
    absent = [f"-pno:{name}" for name in OTHERS if name not in beside]
    return (*absent, "-W", "error", *LOADED)


ALONE = alone()
RECORD = ("--judgekit-judge", "fake/judge")

RUBRIC = """---
name: kind
extends: base
description: Is the answer kind?
criteria:
  kind: {text: "Does it greet?", kind: boolean, quotes: true}
---
"""
TESTS = """
def test_kind(judgekit):
    judgekit.check({"output": "Hello there."}, "kind", threshold=1.0)

def test_rude(judgekit):
    judgekit.check({"output": "What now?"}, "kind", threshold=0.5)
"""


@pytest.fixture
def project(pytester, monkeypatch):
    monkeypatch.setenv("JUDGEKIT_HOME", str(pytester.path / "store"))
    (pytester.path / "rubrics").mkdir()
    (pytester.path / "rubrics/kind.jinja").write_text(RUBRIC, "utf-8")
    (pytester.path / "test_tone.py").write_text(TESTS, "utf-8")
    return pytester.path


@pytest.fixture
def run_beside(pytester):
    """Run pytest with plugins of others; return the exit code and what it printed."""

    def run(plugins, *words):
        done = pytester.runpytest_inprocess(*alone(*plugins), *words)
        return int(done.ret), done.stdout.str()

    return run


@pytest.fixture
def run(run_beside):
    """Run pytest in this process; return the exit code and what it printed."""
    return partial(run_beside, ())


def tape(project, name="test_tone"):
    return project / "cassettes" / f"{name}.jsonl"


def records(path):
    return [line for line in path.read_text("utf-8").splitlines() if line.startswith('{"key"')]


def spoil(project, said):
    """Record a bad verdict on one of the cases, by the same judge."""
    from judgekit.cassette.cassette import Cassette, store_opener
    from judgekit.cassette.mode import RecordMode
    from judgekit.core.case import Case
    from judgekit.judges.fake import FakeJudge
    from judgekit.metrics.rubric import RubricMetric
    from judgekit.runner.evaluation import score_sync

    verdict = {"kind": {"reason": "No greeting at all.", "quotes": [said], "value": False}}
    judge = FakeJudge(lambda request: json.dumps(verdict), model="fake/judge")
    cassette = Cassette(
        judge, tape=tape(project), store=store_opener(project), record=RecordMode.ALL
    )
    metric = RubricMetric(project / "rubrics/kind.jinja", judge=cassette)
    score_sync(Case(id="x", output=said), metric)
    cassette.close()
