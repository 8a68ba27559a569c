"""How the process ends: with its exit code and all output."""

from __future__ import annotations

import subprocess
import sys

import pytest

LEAVING = """
import atexit, sys, threading, time
atexit.register(lambda: print("atexit ran"))

if {thread}:
    threading.Thread(target=lambda: (time.sleep(0.3), print("thread done"))).start()
sys.argv = ["judgekit", *{arguments!r}]
from judgekit.cli import main
main()
"""


def left(*arguments, thread=False):
    script = LEAVING.format(arguments=arguments, thread=thread)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "code"), [(("--version",), 0), (("run", "nothing.yaml"), 2), (("nothing",), 2)]
)
def test_the_code_and_all_output_survive(arguments, code):
    done = left(*arguments)

    assert done.returncode == code
    assert "judgekit" in done.stdout + done.stderr
    assert done.stdout.endswith("atexit ran\n")


def test_threads_are_waited_for():
    done = left("--version", thread=True)

    assert done.returncode == 0
    assert "thread done" in done.stdout


def test_a_module_run_says_what_went_wrong():
    run = [sys.executable, "-m", "judgekit", "run", "nothing.yaml"]

    done = subprocess.run(run, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.startswith("judgekit: nothing.yaml: no such suite file")
