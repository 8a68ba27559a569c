"""What goes where: data on standard output, all else on standard error, and neither may be shut."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.cli.screen import Meter, colourful
from judgekit.core.case import Case
from judgekit.runner.progress import Progress
from judgekit.suite.overrides import Overrides
from judgekit.suite.suite import load_suite
from tests import forks

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
VERBS = ["--version", "run suite.yaml", "report out", "metrics", "schema suite"]


@pytest.fixture
def done(recorded, judgekit):
    assert judgekit("run", "suite.yaml", "--out", "out").code == 0
    return recorded


def shell(line, folder, *, env=None):
    return subprocess.run(
        ["sh", "-c", f'J() {{ "{sys.executable}" -m judgekit "$@"; }}; {line}'],
        cwd=folder, capture_output=True, text=True, check=False, env=env,
    )  # fmt: skip


@needs_full
@pytest.mark.parametrize("verb", VERBS)
def test_output_that_cannot_be_written_is_one_line(done, verb):
    if verb == "metrics":  # once as a new process, which also ends as one
        found = shell(f"J {verb} > /dev/full", done)
    else:
        found = shell(f"judgekit {verb} > /dev/full", done, env={**os.environ, **forks.in_shell()})

    assert found.returncode == 2
    assert found.stderr == "judgekit: standard output: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_files_of_the_run(done, closed):
    found = shell(f"J run suite.yaml --out again {closed}", done)

    assert (found.returncode, found.stderr) == (0, "")
    for name in ("results.jsonl", "report.json", "tape.jsonl"):
        assert (done / "again" / name).read_bytes() == (done / "out" / name).read_bytes()


def test_a_reader_that_has_had_enough_ends_it_quietly(done):
    found = shell("{ J metrics; echo code $? >&2; } | head -1", done)

    assert found.stdout.count("\n") == 1
    assert found.stderr in ("code 141\n", "code 0\n")  # all of it may fit the pipe


def test_quiet_prints_the_last_line_and_errors_alone(folder, judgekit):
    loud = judgekit("run", "suite.yaml")
    quiet = judgekit("run", "suite.yaml", "--quiet")

    assert "Not recorded yet" in loud.err
    assert (quiet.code, quiet.err) == (loud.code, "")
    assert quiet.out == loud.out.splitlines(keepends=True)[-1]
    assert quiet.out.startswith("INCOMPLETE: 4 rows failed (0 allowed); ")
    told = judgekit("run", "suite.yaml", "--quiet", "--verbose")
    assert (told.code, told.out) == (2, "")
    assert told.err == "judgekit: give --quiet or --verbose, not both\n"


def test_verbose_says_what_was_found_and_what_came_of_each_case(recorded, judgekit, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    told = judgekit("run", "suite.yaml", "--verbose")

    assert told.out == judgekit("run", "suite.yaml").out
    lines = told.err.splitlines()
    assert lines[:3] == [
        "cases: cases.jsonl",
        "judge: fake/judge, record: none",
        "cassette: tape.jsonl, 4 recorded",
    ]
    assert "rubric of safety: safety@" in lines[3]
    assert [line.partition(":")[0] for line in lines[4:8]] == ["c0", "c1", "c2", "c3"]
    assert "sk-" not in told.err


def test_verbose_names_every_failure(folder, judgekit):
    told = judgekit("run", "suite.yaml", "--verbose", "--limit", "1")

    assert "c0: length 1" in told.err
    assert "c0: safety failed (cassette_miss): nothing is recorded yet" in told.err


class Screen:
    def __init__(self, terminal):
        self._terminal = terminal

    def isatty(self):
        return self._terminal


@pytest.mark.parametrize(
    ("settings", "terminal", "colours"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "3"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"CLICOLOR": "0"}, True, False),
        ({"CLICOLOR": "1"}, False, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colours_are_for_terminals_unless_somebody_says_so(
    settings, terminal, colours, monkeypatch
):
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    monkeypatch.setattr(sys, "stdout", Screen(terminal))

    assert colourful() is colours


def test_the_meter_says_how_far_it_is_and_what_it_costs(recorded):
    suite = load_suite("suite.yaml")
    meter = Meter(suite)
    try:
        assert meter.line(Progress(1, 0), seconds=2) == "1/4 cases, 0.5 a second, 6 s left"
        suite.cassette.ledger.origins["live"] = 3
        suite.cassette.ledger.spent = 0.25
        suite.cassette.ledger.avoided = 1.5
        line = meter.line(Progress(4, 2, Case(id="a", output="b")), seconds=0.1)
        assert line == "4/4 cases, 40 a second, 2 failed, 3 live, $0.2500 spent, $1.5000 avoided"
        suite.cassette.ledger.savings.dollars = 0.125
        line = meter.line(Progress(4, 2, Case(id="a", output="b")), seconds=0.1)
        assert "$0.2500 spent, $0.1250 saved by cache and tier, $1.5000 avoided" in line
        suite.cassette.ledger.savings.dollars = -0.125
        line = meter.line(Progress(4, 2, Case(id="a", output="b")), seconds=0.1)
        assert "$0.1250 more, for cache writes" in line
        assert meter.line(Progress(1, 0), seconds=3600).startswith("1/4 cases, 0.0 a second, 3.0 h")
        # More than were counted: the file has grown, and what is left is not known.
        assert meter.line(Progress(9, 0), seconds=1).startswith("9 cases, 9.0 a second, 3 live")
    finally:
        suite.close()


def test_a_clock_runs_while_a_judge_is_probed_and_stops_with_the_first_case(recorded, capsys):
    suite = load_suite("suite.yaml", Overrides(record="new_episodes"))
    try:
        meter = Meter(suite)
        ready = "getting ready to call fake/judge"
        assert meter.idle(None, seconds=4.4) == f"{ready}, 4 s"
        assert meter.idle(("host", 2.0), seconds=5) == f"{ready}, 5 s"
        slow = f"{ready}, 9 s, waiting 5 s for a connection to host"
        assert meter.idle(("host", 5.0), seconds=9) == slow
        meter._terminal = True
        meter(Progress(1, 0))
        assert "1/4 cases" in capsys.readouterr().err
        assert meter.idle(None, seconds=10) is None
        assert "waiting 5 s" in meter.idle(("host", 5.0), seconds=10)
    finally:
        suite.close()


def test_cases_are_counted_only_where_a_line_is_a_case(recorded):
    from judgekit.suite.estimate import expected_cases

    def expected(**flags):
        suite = load_suite("suite.yaml", Overrides(**flags))
        try:
            return expected_cases(suite)
        finally:
            suite.close()

    Path("some.jsonl").write_text('{"output": "a"}\n{"output": "b"}', "utf-8")
    Path("turns.jsonl").write_text('{"session_id": 1, "turn_index": 0}\n', "utf-8")
    Path("some.csv").write_text("output\na\n", "utf-8")
    assert (expected(), expected(limit=3), expected(cases="some.jsonl")) == (4, 3, 2)
    assert [expected(cases=c) for c in ("turns.jsonl", "some.csv", "-")] == [None] * 3


def test_ctrl_c_before_a_run_begins_is_no_missed_gate(recorded):
    script = (
        "import os, signal, sys\nimport judgekit.suite.suite as suite\n"
        "suite.open_suite = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)\n"
        "from judgekit.cli import main\nsys.argv = ['judgekit', 'run', 'suite.yaml']\nmain()\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert found.returncode == 130
    assert "Traceback" not in found.stderr


def test_verbose_prints_the_traceback_of_a_metric_once(folder, monkeypatch, capsys):
    from judgekit.cli import main
    from judgekit.metrics.text.length import Length

    async def score(self, case):
        raise ZeroDivisionError(f"no way with {os.environ['MY_TOKEN']}")

    monkeypatch.setenv("MY_TOKEN", "secret-of-mine")
    monkeypatch.setattr(Length, "score", score)
    told = {}
    for flag in ("--quiet", "--verbose"):
        command = ["judgekit", "run", "--only", "length", "--out", flag.strip("-"), flag]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit):
            main()
        told[flag] = capsys.readouterr().err

    assert told["--quiet"] == ""
    assert told["--verbose"].count("Traceback (most recent call last):") == 1
    assert f'File "{__file__}", line ' in told["--verbose"]
    assert "ZeroDivisionError: no way with [key]" in told["--verbose"]
    assert told["--verbose"].count("length failed (metric_error)") == 4
    kept = [folder / name / "results.jsonl" for name in ("quiet", "verbose")]
    assert kept[0].read_bytes() == kept[1].read_bytes()
    assert "Traceback" not in kept[0].read_text("utf-8")


def test_a_run_says_how_to_see_why_a_metric_failed(folder, judgekit, monkeypatch):
    from judgekit.metrics.text.length import Length

    async def score(self, case):
        raise ZeroDivisionError("no")

    monkeypatch.setattr(Length, "score", score)

    done = judgekit("run", "--only", "length")

    assert "judgekit: rows failed with metric_error; --verbose prints the traceback" in done.err
