"""The pytest plugin, by running pytest inside pytest, or in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from judgekit.authoring.rubric_test.run import RubricTestSettings, run_tests
from judgekit.judges.manual import ManualJudge
from tests.authoring.rubric_test.conftest import ALL, GOOD, KIND, RUDE, answers, judge, write

ROOT = Path(__file__).parents[2]
# Where the package was installed before it had a plugin, pytest does not find it by itself.
LOADED = [] if entry_points(group="pytest11", name="judgekit") else ["-p", "judgekit.pytest_plugin"]
ALONE = ("-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:asyncio", "-p",
         "no:cacheprovider", "-W", "error",
         *LOADED)  # fmt: skip


@pytest.fixture
def project(pytester):
    """A folder to stand in, with a rubric whose tests are recorded."""
    (pytester.path / "rubrics").mkdir()
    write(pytester.path)
    record(pytester.path, GOOD)
    (pytester.path / "pytest.ini").write_text("[pytest]\njudgekit_rubrics = rubrics\n", "utf-8")
    return pytester.path


@pytest.fixture
def run_pytest(pytester):
    """Run pytest in this process; return the exit code and what it printed."""

    def run(*args):
        done = pytester.runpytest_inprocess(*ALONE, *args)
        return int(done.ret), done.stdout.str()

    return run


def record(project, verdicts):
    from judgekit.cassette.mode import RecordMode
    from judgekit.rubric.load import load_rubric
    from judgekit.suite.judge_file import JudgeFile

    judge(project, verdicts)
    settings = RubricTestSettings(
        judge=JudgeFile(model="manual/me", answers="answers.jsonl"), record=RecordMode.ALL
    )
    return run_tests(load_rubric("rubrics/kind.jinja"), settings)


def run_process(folder, *args, err=""):
    """Run pytest in a process of its own; return the exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *ALONE, *args],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert err in done.stderr
    assert err or done.stderr == ""
    return done.returncode, done.stdout


def results(out):
    """Return the results `-v` or `-rA` printed: item -> word."""
    words = (line.split()[:2] for line in out.splitlines() if "::" in line)
    return {item: word for word, item in words if word.isupper()}


def test_each_test_and_ordering_is_an_item(project, run_pytest):
    code, out = run_pytest("-rA")

    assert code == 0
    assert results(out) == {
        f"rubrics/kind.jinja::{name}": "PASSED"
        for name in ("warm", "rude", "blank", "warm-over-rude")
    }


def test_a_failure_names_the_expected_and_the_given_answer_without_a_traceback(project, run_pytest):
    record(project, GOOD | {"rude": answers("cool", reason="A little brisk.\x1b[2J")})

    code, out = run_pytest("-rA")

    assert code == 1
    assert results(out)["rubrics/kind.jinja::rude"] == "FAILED"
    assert results(out)["rubrics/kind.jinja::warm"] == "PASSED"
    failure = out.partition("= FAILURES =")[2].partition("= PASSES =")[0]
    assert "_ kind: rude _" in failure
    assert (
        "kind: expected rude, a quote that contains 'pest', quotes from output; the judge answered"
        in failure
    )
    assert "reason: A little brisk." in failure
    assert f"{project}/rubrics/kind.jinja:16" in failure
    assert "Traceback" not in out
    assert "pytest_plugin.py" not in out
    assert "\x1b" not in out


def test_what_is_not_recorded_fails_with_the_command_that_records_it(project, run_pytest):
    (project / "cassettes/rubrics/kind.jsonl").unlink()

    code, out = run_pytest("-rA")

    assert code == 1
    assert results(out)["rubrics/kind.jinja::blank"] == "PASSED"
    assert results(out)["rubrics/kind.jinja::warm"] == "FAILED"
    assert "/rubrics/kind.jinja --record new_episodes --judge openai/gpt-6-luna" in out


@pytest.mark.thorough
def test_the_items_are_spread_over_processes(project):
    code, out = run_process(project, "-rA", "-n", "2", "rubrics/kind.jinja")

    assert code == 0
    assert len(results(out)) == 4
    assert "2 workers [4 items]" in out


def test_only_rubrics_that_were_asked_for_are_collected(project, run_pytest):
    (project / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (project / "page.jinja").write_text("<p>{{ tests }}</p>", "utf-8")
    (project / "front.jinja").write_text("---\ntitle: x\ntests: [\n---\n", "utf-8")
    (project / "latin.jinja").write_bytes(b"---\nt: \xe9\n---\n")
    (project / "test_it.py").write_text("def test_it(): pass\n", "utf-8")

    assert "1 passed" in run_pytest()[1]
    assert "1 passed" in run_pytest(".", "rubrics")[1]
    assert "4 passed" in run_pytest("rubrics/kind.jinja")[1]
    code, out = run_pytest("rubrics/kind.jinja::rude")
    assert (code, "1 passed" in out) == (0, True)


def test_a_setting_that_names_nothing_is_refused(project):
    code, out = run_process(project, "-o", "judgekit_rubrics=rubics", err="rubics: no such file")

    assert (code, out) == (4, "")


def test_what_is_listed_but_has_no_tests_is_left_alone(project, run_pytest):
    front = "---\nname: n\nextends: base\ndescription: D.\ncriteria:\n  a: {text: A.}\n---\n"
    (project / "rubrics/n.jinja").write_text(front, "utf-8")
    (project / "rubrics/_part.jinja").write_text("{% macro m() %}{% endmacro %}", "utf-8")

    assert "4 passed" in run_pytest()[1]


def test_a_rubric_that_does_not_load_and_a_damaged_cassette_are_said(project, run_pytest):
    (project / "rubrics/bad.jinja").write_text(
        KIND.replace("TESTS", RUDE.replace("answer: rude", "answer: rud")), "utf-8"
    )

    code, out = run_pytest()
    assert code == 2
    assert "bad.jinja:15: kind: no such answer: 'rud'; did you mean 'rude'?" in out
    (project / "rubrics/bad.jinja").unlink()
    (project / "cassettes/rubrics/kind.jsonl").write_bytes(b"{}\n")
    code, out = run_pytest()

    assert code == 1
    assert "kind.jsonl:1: not a cassette" in out
    assert "Traceback" not in out


def test_of_several_judges_one_is_chosen_by_a_setting(project, run_pytest):
    tape = project / "cassettes/rubrics/kind.jsonl"
    other = {"case": "warm", "rubric": "kind", "answers": answers("rude")}
    (project / "other.jsonl").write_text(json.dumps(other) + "\n", "utf-8")
    assert ManualJudge("you", project / "other.jsonl").model == "manual/you"
    from judgekit.cassette.mode import RecordMode
    from judgekit.rubric.load import load_rubric
    from judgekit.suite.judge_file import JudgeFile

    you = JudgeFile(model="manual/you", answers="other.jsonl")
    run_tests(load_rubric("rubrics/kind.jinja"), RubricTestSettings(you, RecordMode.NEW_EPISODES))

    code, out = run_pytest()
    assert (code, f"{tape}: recorded by manual/me, manual/you" in out) == (1, True)
    chosen = run_pytest("-o", "judgekit_judge=manual/me")
    other_way = run_pytest("-o", "judgekit_judge=manual/you", "-rA")

    assert chosen[0] == 0
    assert results(other_way[1])["rubrics/kind.jinja::warm"] == "FAILED"


def test_loading_the_plugin_imports_nothing_of_judgekit_but_itself(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import sys\n\n"
        "def test_it():\n"
        "    ours = sorted(m for m in sys.modules if m.partition('.')[0] == 'judgekit')\n"
        "    assert ours == ['judgekit', 'judgekit.pytest_plugin']\n"
        "    assert not {'pydantic', 'yaml', 'jinja2', 'typer', 'numpy'} & set(sys.modules)\n",
        "utf-8",
    )
    (tmp_path / "page.jinja").write_text("---\ntests: x\n---\n", "utf-8")

    code, out = run_process(tmp_path)

    assert (code, "1 passed" in out) == (0, True), out


def test_the_plugin_is_offered_to_pytest():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["entry-points"]["pytest11"] == {"judgekit": "judgekit.pytest_plugin"}
    assert ALL.count("name:") == 3
