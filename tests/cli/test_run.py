from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import forks
from tests.cli.conftest import EXAMPLE, SUITE, one_line
from tests.forks import Fork


def test_the_example_says_all_there_is_to_say(judgekit):
    done = judgekit("run", EXAMPLE, "--no-out")

    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0] == "Support assistant: 34 cases, judge manual/example"
    assert any("Verdicts authored to illustrate" in line for line in lines)
    for metric in ("prompt_alignment", "safety", "quality"):
        assert any(line.startswith(metric) and "34 judged" in line for line in lines)
        assert any(line.startswith("pass ") and f" {metric}: " in line for line in lines)
    assert lines[-2].startswith("replies: 102 from the tape; spent $0.00")
    assert lines[-1] == "PASS: 4 gates, 22 of 34 cases below a threshold."


def test_a_run_folder_is_written_and_named(judgekit, recorded):
    done = judgekit("run", "suite.yaml", "--out", "out")

    assert done.code == 0
    assert done.out.splitlines()[-1] == (
        "PASS: 1 gate, 1 of 4 cases below a threshold. Page: out/report.html"
    )
    assert sorted(path.name for path in (recorded / "out").iterdir()) == [
        "report.html", "report.json", "results.jsonl", "run.json", "tape.jsonl",
    ]  # fmt: skip


def test_json_is_json_and_nothing_else(judgekit, recorded):
    done = judgekit("run", "suite.yaml", "--json")

    data = json.loads(done.out)
    assert done.code == 0
    assert [metric["metric"] for metric in data["metrics"]] == ["safety", "length"]
    assert data["run"]["origins"] == {"tape": 4}


def test_a_missed_gate_is_exit_code_1(judgekit, recorded):
    text = SUITE.replace("maximum: 9, gate: {mean: 0.5}", "maximum: 1, gate: {mean: 1.0}")
    (recorded / "suite.yaml").write_text(text, "utf-8")

    done = judgekit("run", "suite.yaml")

    assert done.code == 1
    assert "MISS  length: mean" in done.out


def test_what_is_not_recorded_is_exit_code_3_and_says_how_to_allow_it(judgekit, folder):
    done = judgekit("run", "suite.yaml")

    assert done.code == 3
    assert "4 failed" in done.out
    assert "nothing is recorded yet" in done.out
    assert "4 calls to fake/judge" in done.err
    assert "tokens in and" in done.err
    assert ", free" in done.err
    assert done.err.endswith("To record them, add: --record new_episodes\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["none.yaml"], "none.yaml: no such suite file"),
        (
            ["cases.jsonl"],
            "cases.jsonl: is no suite but a file of data; to write a suite",
        ),
        (["suite.yaml", "--only", "safty"], "did you mean 'safety'?"),
        (["suite.yaml", "--record", "some"], "no record mode 'some'"),
        (["suite.yaml", "--param", "temperature"], "--param temperature: write it as name=value"),
        (["suite.yaml", "--cases", "none.jsonl"], "none.jsonl"),
        (["suite.yaml", "--cases", "."], "this is a folder; name a file in it"),
        (["suite.yaml", "--format", "odd"], "'odd' is not known; use"),
        (["suite.yaml", "--limit", "0"], "limit is 0;"),
        (["suite.yaml", "--limit", "9" * 30], "limit is 9999"),
        (["suite.yaml", "--limit", "9" * 30, "--where", "id=a"], "limit is 9999"),
        (
            ["suite.yaml", "--param", "temperature=1e999"],
            "temperature is inf, not a finite",
        ),
        (["suite.yaml", "--param", "a=[1, NaN]"], "--param a=[1, NaN]: a[1] is nan"),
        (["suite.yaml", "--limit", "-1"], "limit is -1;"),
        (["suite.yaml", "--retry-failed", "none"], "not a run folder"),
        (["suite.yaml", "--retry-failed", "cases.jsonl"], "cases.jsonl"),
        (["suite.yaml", "--out", "suite.yaml"], "suite.yaml: is a file; name a new folder"),
        (["suite.yaml", "--out", "suite.yaml/x"], "cannot be written: Not a directory"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(judgekit, folder, args, message):
    line = one_line(judgekit("run", *args))

    assert any(part in line for part in message.split("|"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace("Made up", "Made on"), "was changed after it was written"),
        (lambda text: text[:-9], "the last line is cut off"),
        (lambda text: "x" + text, "not a cassette"),
    ],
)
def test_a_damaged_tape_is_one_line_and_exit_code_2(judgekit, recorded, damage, message):
    tape = recorded / "tape.jsonl"
    tape.write_text(damage(tape.read_text("utf-8")), "utf-8")

    assert message in one_line(judgekit("run", "suite.yaml"))


def test_cases_may_come_from_standard_input(judgekit, folder):
    done = judgekit("run", "suite.yaml", "--cases", "-", "--only", "length",
                    stdin='{"id": "x", "output": "One two."}\n')  # fmt: skip

    assert done.out.startswith("Small: 1 case, ")


def test_naming_a_judge_asks_it_and_another_is_not_recorded(judgekit, recorded):
    before = (recorded / "tape.jsonl").read_text("utf-8")

    done = judgekit("run", "suite.yaml", "--judge", "fake/other", "--limit", "2")

    assert "judge fake/other" in done.out
    assert "2 live" in done.out
    assert (recorded / "tape.jsonl").read_text("utf-8") != before


def test_a_trial_judge_leaves_the_tape_as_it_is(judgekit, recorded):
    before = (recorded / "tape.jsonl").read_text("utf-8")

    done = judgekit("run", "suite.yaml", "--judge", "fake/other", "--limit", "2", "--no-out")

    assert "2 new replies kept in the private store; --record new_episodes writes" in done.out
    assert (recorded / "tape.jsonl").read_text("utf-8") == before
    done = judgekit("run", "suite.yaml", "--judge", "fake/other", "--no-out", "--record", "all")
    assert (recorded / "tape.jsonl").read_text("utf-8") != before


def test_without_a_judge_a_metric_that_has_no_stand_in_is_said(judgekit, folder):
    assert "needs a judge" in one_line(judgekit("run", "suite.yaml", "--no-judge"))


def test_without_a_judge_computed_metrics_run(judgekit, folder):
    done = judgekit("run", "suite.yaml", "--no-judge", "--only", "length")

    assert done.code == 0
    assert "no judge" in done.out.splitlines()[0]


def test_retrying_takes_the_good_rows_over(judgekit, recorded):
    judgekit("run", "suite.yaml", "--out", "out")
    (recorded / "tape.jsonl").unlink()

    done = judgekit("run", "suite.yaml", "--retry-failed", "out")

    assert done.code == 0
    assert "4 judged" in done.out


# -- terminals and pipes ----------------------------------------------------------


def on_a_terminal(args, cwd, **environment):
    """Run with standard output and error on a terminal; return what it showed."""
    ours, theirs = pty.openpty()
    with Path(os.devnull).open() as nothing:
        running = Fork(
            args, cwd=cwd, env={**os.environ, "TERM": "xterm", **environment},
            streams=(nothing.fileno(), theirs, theirs),
        )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            bit = os.read(ours, 65536)
        except OSError:
            break
        if not bit:
            break
        shown += bit
    os.close(ours)
    return running.wait(timeout=120), shown.decode()


def test_a_terminal_gets_colours_unless_it_says_no(tmp_path):
    _, colourful = on_a_terminal(["run", EXAMPLE], tmp_path)
    _, plain = on_a_terminal(["run", EXAMPLE, "--quiet"], tmp_path, NO_COLOR="1")

    assert "\x1b[32mpass  prompt_alignment: mean" in colourful
    assert "\x1b" not in plain


@pytest.mark.parametrize("args", [["run", EXAMPLE, "--json"], ["metrics"], ["rubric", "list"]])
def test_a_reader_that_has_had_enough_is_no_error(tmp_path, args):
    ours, theirs = os.pipe()
    os.close(ours)
    running = forks.run(args, cwd=tmp_path, stdout=theirs)
    os.close(theirs)

    assert running.returncode == 141
    assert running.stderr == ""


SLOW = """
import asyncio, sys
from judgekit.judges.fake import FakeJudge
ask = FakeJudge.ask
async def slowly(self, request):
    await asyncio.sleep(0.05)
    return await ask(self, request)
FakeJudge.ask = slowly
from judgekit.cli import main
sys.argv = ["judgekit", "run", "suite.yaml", "--record", "new_episodes", "--out", "out"]
print("ready", flush=True)
main()
"""


def test_ctrl_c_ends_a_run_with_what_there_is(folder):
    rows = [{"id": f"c{n}", "output": f"Because {n}."} for n in range(2000)]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    running = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    results = folder / "out" / "results.jsonl"
    for _ in range(600):
        if results.exists() and b'"type":"case"' in results.read_bytes():
            break
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)

    assert running.returncode == 3
    assert "stopped early" in out
    assert "stopping; what is done is kept" in err
    assert "Traceback" not in err
    assert (folder / "tape.jsonl").exists()
    assert (folder / "out" / "report.json").exists()


def test_without_a_cassette_the_summary_says_where_replies_are_kept(folder, judgekit):
    suite = folder / "suite.yaml"
    suite.write_text(suite.read_text("utf-8").replace("cassette: tape.jsonl\n", ""), "utf-8")

    done = judgekit("run", "suite.yaml", "--record", "new_episodes")

    assert "4 new replies kept in the private store" in done.out
