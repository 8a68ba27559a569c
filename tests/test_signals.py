"""What the tests themselves need of the process they start in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
IGNORING = """
import signal, subprocess, sys

signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.exit(subprocess.run([sys.executable, "-c", sys.argv[1]], cwd=sys.argv[2]).returncode)
"""
CHILD = """
import signal, subprocess, sys

if {load}:
    import tests.conftest
code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no inherited signals")
@pytest.mark.parametrize(("load", "ignored"), [(True, "False"), (False, "True")])
def test_children_can_be_interrupted_wherever_the_tests_were_started(load, ignored):
    """A shell that starts the tests in the background leaves SIGINT ignored."""
    code = CHILD.format(load=load)

    done = subprocess.run(
        [sys.executable, "-c", IGNORING, code, str(ROOT)], capture_output=True, text=True
    )

    assert (done.stdout.split(), done.returncode) == ([ignored], 0), done.stderr
