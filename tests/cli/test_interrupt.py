"""Ctrl-C once, twice, and when the work is already done."""

from __future__ import annotations

import io
import signal
import subprocess
import sys

import pytest
import typer

from judgekit.cli.output import run_distributed
from judgekit.ray.run import StoppedRun
from judgekit.suite.overrides import Overrides

SCRIPT = """
import atexit, os, signal, sys, time
from judgekit.cli.screen import on_interrupt

def wait(word):
    print(word, flush=True)
    sys.stdin.readline()

atexit.register(wait, "leaving")
stop = []
with on_interrupt(lambda: stop.append(1), kept="all of it is kept"):
    wait("working")
print("stopped", len(stop), flush=True)
wait("after")
"""


@pytest.fixture
def program():
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        yield process
        process.kill()


def reached(process, word):
    for line in process.stdout:
        if line.strip() == word:
            return
    raise AssertionError(f"{word!r} was not said")


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def test_the_first_stops_and_says_so(program):
    reached(program, "working")
    program.send_signal(signal.SIGINT)
    assert program.stderr.readline() == "\n"
    assert program.stderr.readline() == (
        "stopping; all of it is kept (Ctrl-C again to leave at once)\n"
    )
    go_on(program)
    reached(program, "stopped 1")
    reached(program, "after")
    go_on(program)
    reached(program, "leaving")
    go_on(program)
    assert program.wait(120) == 0


@pytest.mark.parametrize("place", ["working", "after", "leaving"])
def test_the_second_ends_it_wherever_it_is_without_a_traceback(program, place):
    reached(program, "working")
    program.send_signal(signal.SIGINT)
    program.stderr.readline()
    program.stderr.readline()
    for word in ("working", "after", "leaving"):
        if word != "working":
            reached(program, word)
        if word == place:
            break
        go_on(program)
    program.send_signal(signal.SIGINT)

    assert program.wait(120) == -signal.SIGINT
    assert program.stderr.read() == ""


def test_without_one_ctrl_c_means_what_it_meant_before(program):
    reached(program, "working")
    go_on(program)
    reached(program, "stopped 0")
    reached(program, "after")
    program.send_signal(signal.SIGINT)
    reached(program, "leaving")
    go_on(program)

    assert "KeyboardInterrupt" in program.communicate(timeout=120)[1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_message_of_a_stopped_distributed_run_begins_a_line(tmp_path, monkeypatch):
    def stopped(*_, progress, **options):
        progress(3, 1)
        raise StoppedRun("stopped; run the same command again to continue")

    monkeypatch.setattr("judgekit.ray.run.run_on_ray", stopped)
    monkeypatch.setattr("sys.stderr", Terminal())

    with pytest.raises(typer.Exit):
        run_distributed(tmp_path / "suite.yaml", Overrides(), quiet=False)

    last = sys.stderr.getvalue().split("\x1b[K")[-1]
    assert last == "judgekit: stopped; run the same command again to continue\n"
