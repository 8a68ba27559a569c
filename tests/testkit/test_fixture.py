"""The fixture `judgekit`, by running pytest inside pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

# pytest run inside pytest forgets what it imported; what holds classes must be one and the same.
import judgekit.judges.fake
import judgekit.metrics.fallback
import judgekit.metrics.regex
import judgekit.rubric.load
import judgekit.store
import judgekit.testkit.session

assert yaml
assert judgekit

pytest_plugins = ["pytester"]

LOADED = [] if entry_points(group="pytest11", name="judgekit") else ["-p", "judgekit.pytest_plugin"]
ALONE = ("-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:asyncio", "-p",
         "no:cacheprovider", "-W", "error",
         *LOADED)  # fmt: skip

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
def run(pytester):
    """Run pytest in this process; return the exit code and what it printed."""

    def run(*words):
        done = pytester.runpytest_inprocess(*ALONE, *words)
        return int(done.ret), done.stdout.str()

    return run


RECORD = ("--judgekit-judge", "fake/judge")


def tape(project, name="test_tone"):
    return project / "cassettes" / f"{name}.jsonl"


def records(path):
    return [line for line in path.read_text("utf-8").splitlines() if line.startswith('{"key"')]


def test_a_miss_names_the_command_that_records_it(project, run):
    code, out = run("test_tone.py::test_kind")

    assert code == 1
    assert "kind of case 'test_kind': no score (cassette_miss): nothing is recorded yet" in out
    assert (
        "to record it: pytest test_tone.py::test_kind --judgekit-record new_episodes "
        "--judgekit-judge MODEL"
    ) in out
    assert not tape(project).exists()


def test_what_is_recorded_once_is_replayed_without_a_judge(project, run):
    first = run(*RECORD)
    again = run()

    assert (first[0], again[0]) == (0, 0), first[1]
    assert "2 replies asked and recorded" in first[1]
    assert len(records(tape(project))) == 2
    assert "asked" not in again[1]


def test_a_failed_check_says_case_criterion_reason_quote_and_threshold(project, run):
    run(*RECORD)
    spoil(project, "What now?")

    code, out = run()

    assert code == 1
    assert "kind of case 'test_rude': 0, and at least 0.5 is wanted" in out
    assert "kind 0.00: No greeting at all." in out
    assert '"What now?" (in output)' in out
    assert "see more: judgekit cassette show" in out
    assert "judgekit/testkit" not in out  # the user's own line is shown, not ours


def spoil(project, said):
    """Record a bad verdict on one of the cases, by the same judge."""
    from judgekit.case import Case
    from judgekit.cassette.cassette import Cassette
    from judgekit.cassette.lazystore import lazy_store
    from judgekit.cassette.mode import RecordMode
    from judgekit.evaluation import score_sync
    from judgekit.judges.fake import FakeJudge
    from judgekit.metrics.rubric import RubricMetric

    verdict = {"kind": {"reason": "No greeting at all.", "quotes": [said], "value": False}}
    judge = FakeJudge(lambda request: json.dumps(verdict), model="fake/judge")
    cassette = Cassette(judge, tape=tape(project), store=lazy_store(project), record=RecordMode.ALL)
    metric = RubricMetric(project / "rubrics/kind.jinja", judge=cassette)
    score_sync(Case(id="x", output=said), metric)
    cassette.close()


def test_a_soft_check_says_so_and_passes(project, run):
    (project / "test_tone.py").write_text(TESTS.replace("0.5)", "0.5, soft=True)"), "utf-8")
    run(*RECORD)
    spoil(project, "What now?")

    code, out = run()

    assert code == 0
    assert "judgekit: 1 soft checks do not hold" in out
    assert "kind of case 'test_rude': 0, and at least 0.5 is wanted" in out


def test_an_unused_recording_fails_the_session_unless_told_otherwise(project, run):
    run(*RECORD)
    (project / "test_tone.py").write_text(TESTS.partition("def test_rude")[0], "utf-8")

    code, out = run()
    assert code == 1
    assert "test_tone.jsonl: 1 recorded reply not used" in out
    assert run("--judgekit-unused", "warn")[0] == 0
    assert "unused recordings" not in run("--judgekit-unused", "ignore")[1]
    code, out = run("--judgekit-unused", "remove")
    assert (code, len(records(tape(project)))) == (0, 1)
    assert "1 recorded reply removed" in out
    assert run()[0] == 0


@pytest.mark.parametrize("words", [("-k", "kind"), ("test_tone.py::test_kind",)])
def test_what_was_not_run_leaves_nothing_unused(project, run, words):
    run(*RECORD)

    code, out = run(*words)

    assert (code, "unused recordings" in out) == (0, False)


def test_a_failing_test_hides_no_unused_recording_as_its_own(project, run):
    run(*RECORD)
    (project / "test_tone.py").write_text("def test_kind(judgekit):\n    assert 0\n", "utf-8")

    code, out = run()

    assert code == 1
    assert "unused recordings" not in out


def test_each_test_may_have_a_cassette_of_its_own(project, run):
    (project / "pytest.ini").write_text("[pytest]\njudgekit_cassette = test\n", "utf-8")

    assert run(*RECORD)[0] == 0
    assert run()[0] == 0
    names = sorted(path.name for path in (project / "cassettes/test_tone").iterdir())
    assert names == ["test_kind.jsonl", "test_rude.jsonl"]


def test_a_marker_names_a_cassette(project, run):
    text = "import pytest\n@pytest.mark.judgekit(cassette='shared.jsonl')" + TESTS
    (project / "test_tone.py").write_text(text, "utf-8")

    assert run(*RECORD)[0] == 0
    assert len(records(project / "shared.jsonl")) == 1
    assert len(records(tape(project))) == 1


def test_a_wrong_marker_is_one_line(project, run):
    text = "import pytest\n@pytest.mark.judgekit(tape='x')" + TESTS
    (project / "test_tone.py").write_text(text, "utf-8")

    code, out = run("-k", "kind")

    assert code == 1
    assert "the marker judgekit takes cassette=FILE, not tape" in out


def test_cases_of_a_file_are_tests_of_their_own(project, run):
    (project / "cases.jsonl").write_text(
        '{"id": "one", "output": "Hello."}\n{"id": "zwei/ä", "output": "x"}\n', "utf-8"
    )
    (project / "test_tone.py").write_text(
        "import pytest\n"
        "@pytest.mark.judgekit_cases('cases.jsonl')\n"
        "def test_short(judgekit, case):\n"
        "    judgekit.check(case, 'length', threshold=1.0, maximum=3)\n",
        "utf-8",
    )

    code, out = run("-v")

    assert code == 0, out
    assert "test_short[one] PASSED" in out
    assert out.count("PASSED") == 2


@pytest.mark.parametrize(
    ("marker", "argument", "message"),
    [
        ("'none.jsonl'", "case", "no such file"),
        ("'empty.jsonl'", "case", "there are no cases in it"),
        ("'empty.jsonl'", "other", "judgekit_cases gives the argument `case`"),
        ("'empty.jsonl', formt='x'", "case", "formt"),
    ],
)
def test_a_file_of_cases_that_gives_none_is_an_error(project, run, marker, argument, message):
    (project / "empty.jsonl").write_text("", "utf-8")
    (project / "test_tone.py").write_text(
        f"import pytest\n@pytest.mark.judgekit_cases({marker})\ndef test_x({argument}): pass\n",
        "utf-8",
    )

    code, out = run()

    assert code == 2
    assert message in out


def test_a_fallback_fails_unless_it_is_allowed(project, run):
    text = """
from judgekit import WithFallback, create

def metric(kit):
    from judgekit.errors import JudgeUnavailable
    class Down:
        model = "down"
        async def ask(self, request):
            raise JudgeUnavailable("gone")
    return WithFallback(create("quality", judge=Down()), create("length", maximum=9))

def test_no(judgekit):
    judgekit.check({"input": "q", "output": "short"}, metric(judgekit))

def test_yes(judgekit):
    judgekit.check({"input": "q", "output": "short"}, metric(judgekit), allow_fallback=True)
"""
    (project / "test_tone.py").write_text(text, "utf-8")

    code, out = run("-rA")

    assert code == 1
    assert "scored by the fallback length (unavailable: gone)" in out
    assert "PASSED test_tone.py::test_yes" in out


def test_it_scores_and_evaluates_without_asserting(project, run):
    text = """
def test_score(judgekit):
    result = judgekit.score({"output": "a b"}, "length", maximum=1)
    assert (result.type, result.value) == ("score", 0.0)
    assert judgekit.score({}, "length", maximum=1).kind == "invalid_case"

def test_evaluate(judgekit):
    report = judgekit.evaluate([{"output": "Hello"}, {"output": "You"}], "kind")
    assert report.metrics["kind"].judged == 2
"""
    (project / "test_tone.py").write_text(text, "utf-8")

    assert run(*RECORD)[0] == 0
    assert run()[0] == 0


def test_it_works_inside_a_running_loop(project, run):
    text = """
import asyncio

def test_loop(judgekit):
    async def inside():
        judgekit.check({"output": "Hello"}, "kind")
        judgekit.check({"output": "aab"}, "regex", pattern="(a+)+b", threshold=1.0)
    asyncio.run(inside())
"""
    (project / "test_tone.py").write_text(text, "utf-8")

    assert run(*RECORD)[0] == 0
    code, out = run()
    assert code == 0, out


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("judgekit_record = sometimes", "judgekit_record: 'sometimes' is none of none"),
        ("judgekit_unused = maybe", "judgekit_unused: 'maybe' is none of fail"),
        ("judgekit_cassette = folder", "judgekit_cassette: 'folder' is none of module, test"),
    ],
)
def test_a_wrong_setting_stops_the_session(project, pytester, setting, message):
    (project / "pytest.ini").write_text(f"[pytest]\n{setting}\n", "utf-8")

    done = pytester.runpytest_inprocess(*ALONE)

    assert done.ret == 4
    assert message in done.stderr.str()


def test_workers_share_a_cassette_and_miss_no_unused_record(project):
    def run(*words):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *ALONE, "-n", "2", *words],
            cwd=project, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    code, out = run(*RECORD)
    assert code == 0, out
    assert len(records(tape(project))) == 2
    assert run()[0] == 0

    (project / "test_tone.py").write_text(TESTS.partition("def test_rude")[0], "utf-8")
    code, out = run()
    assert code == 1
    assert "1 recorded reply not used" in out


def test_an_unrelated_project_loads_nothing_of_judgekit(tmp_path):
    (tmp_path / "test_x.py").write_text(
        "import sys\ndef test_x():\n"
        "    loaded = [n for n in sys.modules if n.split('.')[0] == 'judgekit']\n"
        "    assert set(loaded) <= {'judgekit', 'judgekit.pytest_plugin'}, loaded\n"
        "    assert not {'pydantic', 'jinja2', 'yaml', 'litellm'} & set(sys.modules)\n",
        "utf-8",
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *ALONE, str(tmp_path)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
    assert Path(tmp_path).exists()
