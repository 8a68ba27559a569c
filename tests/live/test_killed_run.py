"""A run killed at any moment of its life: the next one goes on, and ends as if nothing had been.

The moments are told from outside, by what the run has left on the disk and at the server so far;
which of them, and how long after, is drawn. In between any two of them, a run has nothing but what
the earlier one left.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError
from judgekit.report.report import Report

from .asking import UNDER_WAY, stored, tokens, write_suite
from .forge import Forge
from .server import Server

pytestmark = pytest.mark.loopback

SAME = ("results.jsonl", "report.json", "tape.jsonl")
Moment = Callable[[], bool]


def left(folder: Path, *names: str) -> Moment:
    """Return whether a file is there, or begun beside its place."""
    return lambda: any((folder / n).exists() or any(folder.glob(f".{n}.*")) for n in names)


def written(path: Path, size: float) -> Moment:
    return lambda: path.exists() and path.stat().st_size >= size


def identity(path: Path) -> int | None:
    """Return what tells a file from another one of its name; `None` without a file."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def wait_until(moment: Moment) -> None:
    end = time.monotonic() + 120
    while not moment():
        assert time.monotonic() < end, "the moment never came"
        time.sleep(0.0005)


def kill_at(process: int, moment: Moment, after: float) -> None:
    """Kill a run some seconds after a moment; one that has ended by then is no loss."""
    wait_until(moment)
    time.sleep(after)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def check_killed(folder: Path, whole: dict[str, bytes]) -> str:
    """Check that what a killed run left is read as the whole of it or not at all."""
    try:
        report = Report.read(folder)
        found = list(report.results)
    except ConfigError as exc:
        assert not (folder / "report.json").exists()
        return str(exc)
    assert len(found) == report.figures.cases
    assert contents(folder) == whole
    assert (folder / "report.html").exists()
    return "whole"


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME if (folder / name).exists()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_a_run_that_asks_goes_on_wherever_it_was_killed(
    server: Server, forge: Forge, tmp_path: Path
) -> None:
    server.latency = 0.02
    count = 40
    (tmp_path / "calm").mkdir()
    calm = write_suite(tmp_path / "calm", server, tokens(count))
    forge.start(calm)
    assert forge.ended() == 0
    whole = contents(calm.with_name("out"))
    assert len(whole) == len(SAME)
    tape = calm.with_name("tape.jsonl").read_bytes()

    dice = random.Random(5)
    ends = []
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        suite, out = write_suite(folder, server, tokens(count)), folder / "out"
        server.forget()
        asked = dice.randint(1, count)
        moments = {
            "start": lambda: True,
            "asking": lambda asked=asked: server.calls() >= asked,
            "rows": written(out / "results.jsonl", 1),
            "tape": left(out, "tape.jsonl"),
            "occasion": left(out, "run.json"),
            "page": left(out, "report.html"),
            "report": left(out, "report.json"),
            "cassette": left(folder, "tape.jsonl"),
        }
        stage = list(moments)[number % len(moments)]
        after = dice.uniform(0, 0.15 if stage in ("start", "asking", "rows") else 0.004)

        kill_at(forge.start(suite), moments[stage], after)
        forge.ended()
        ends.append(check_killed(out, whole))

        arrived = stored(suite)
        answered = {seen.token for seen in server.seen if seen.token and seen.answered is not None}
        assert len(answered - arrived) <= UNDER_WAY
        if stage in ("tape", "occasion", "page", "report", "cassette"):
            arrived = set(tokens(count))  # the last row is written when all are stored
        server.forget()
        forge.start(suite)
        assert forge.ended() == 0
        assert not {seen.token for seen in server.seen} & arrived, stage
        assert contents(out) == whole, stage
        assert suite.with_name("tape.jsonl").read_bytes() == tape, stage
        assert names(out) == names(calm.with_name("out"))
        assert names(folder) == names(calm.parent)
    assert "whole" in ends
    assert any("stopped before its end" in end for end in ends)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_computed_run_goes_on_wherever_it_was_killed(tmp_path: Path) -> None:
    with Forge() as forge:
        calm = computed(tmp_path / "calm")
        began = time.monotonic()
        forge.start(calm)
        assert forge.ended() == 0
        seconds = time.monotonic() - began
        whole = contents(calm.with_name("out"))
        size = len(whole["results.jsonl"])

        dice = random.Random(6)
        suite = computed(tmp_path / "killed")
        out = suite.with_name("out")
        ends = []
        for number in range(10):
            moments = {
                "any": lambda: True,
                "rows": written(out / "results.jsonl", dice.uniform(0, size)),
                "occasion": left(out, "run.json"),
                "page": left(out, "report.html"),
                "report": left(out, "report.json"),
            }
            stage = list(moments)[number % len(moments)]
            after = dice.uniform(0, seconds if stage == "any" else 0.003)
            if number % 2:  # into the folder of a run that was killed, or of one that ended
                forge.start(suite)
                assert forge.ended() == 0

            before = identity(out / "report.json")
            process = forge.start(suite)
            if number % 2 and stage not in ("any", "rows"):
                # What the last run left is gone by then.
                wait_until(lambda before=before: identity(out / "report.json") != before)
            kill_at(process, moments[stage], after)
            forge.ended()
            ends.append(check_killed(out, {n: whole[n] for n in whole}))

        forge.start(suite)
        assert forge.ended() == 0
        assert contents(out) == whole
        assert names(out) == names(calm.with_name("out"))
        assert any("stopped before its end" in end for end in ends)


def computed(folder: Path) -> Path:
    """Write a suite that asks nobody, with enough cases to be killed in the middle of."""
    folder.mkdir()
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(350):
            words = " ".join(f"word{number * place % 97}" for place in range(60))
            lines.write(json.dumps({"id": f"c{number}", "output": words}) + "\n")
    suite = folder / "suite.yaml"
    metrics = {"length": {"maximum": 9}, "longer": {"metric": "length", "maximum": 99}}
    suite.write_text(json.dumps({"cases": "cases.jsonl", "metrics": metrics}), "utf-8")
    return suite
