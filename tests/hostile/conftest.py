"""What the hostile tests share: doors to push at, a clock, and a bound on memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from tests import forks
from tests.growth import start_of_python

PATIENCE = 120
"""Seconds on the clock, beside four for each of processor time: machines do other work as well."""
MEMORY = 3 << 30
"""Address space of a process under attack; the interpreter and its libraries take most of 1 GB."""


def most_seconds():
    """Return the processor time an attack may take: about 10 s, more where the machine is slow."""
    return round(600 * start_of_python()) + 1


@dataclass
class Said:
    """What a command did."""

    code: int
    out: str
    err: str


def _bounded_for(seconds):
    def bounded():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    return bounded


def _environment(changes):
    fixed = {"OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    return {**os.environ, **fixed, **(changes or {})}


def run_bounded(arguments, *, folder, stdin=None, environment=None, seconds=None):
    """Run Python with a bound on memory and time."""
    seconds = seconds or most_seconds()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=_environment(environment),
        input=stdin,
        capture_output=True,
        timeout=PATIENCE + 4 * seconds,
        preexec_fn=_bounded_for(seconds),
        check=False,
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def judgekit(tmp_path):
    """Run the command line in `tmp_path`; whatever it prints is fit for a terminal."""

    def run(*arguments, stdin=None, environment=None):
        seconds = most_seconds()
        bounds = {"memory": MEMORY, "seconds": seconds, "patience": PATIENCE + 4 * seconds}
        done = forks.run(
            arguments,
            cwd=tmp_path,
            env=_environment(environment),
            stdin=stdin or b"",
            bounds=bounds,
        )
        said = Said(done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in said.err + said.out
        for text in (said.out, said.err):
            assert not [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]
        return said

    return run


@pytest.fixture
def refused(judgekit):
    """Run the command line, and return the one line it must refuse with."""

    def run(*arguments, code=2, **options):
        said = judgekit(*arguments, **options)
        lines = said.err.splitlines()
        assert (said.code, len(lines)) == (code, 1), said
        assert lines[0].startswith("judgekit: ")
        assert len(lines[0]) < 1000
        return lines[0]

    return run


@pytest.fixture(autouse=True)
def in_time():
    """Fail a test that takes too much of the processor."""
    started = time.process_time()
    yield
    assert time.process_time() - started < most_seconds()


SHOWN = "{% if false %}{{ criteria }}{{ case.output }}{% endif %}"
"""A rubric must name the criteria and the case; this does, and prints nothing."""
FRONT = """\
---
name: hostile
criteria:
  a:
    text: Is it right?
    details: {why: "Why so?"}
---
"""


def shown(body):
    """Return what makes a template name criteria and case, as it must, without printing a thing."""
    named = "criteria" in body and "case" in body
    return "" if named else "{% if criteria and case %}{% endif %}"


@pytest.fixture
def rubric_of(tmp_path):
    """Write a rubric with a body and return its path."""

    def write(body, front=FRONT):
        path = tmp_path / "hostile.jinja"
        path.write_text(front + body + shown(body), encoding="utf-8")
        return path

    return write
