"""Lint on hostile files: findings and nothing else, in bounded time and memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hostile.conftest import most_seconds, run_bounded
from tests.hostile.lint_worker import files

WORKER = Path(__file__).with_name("lint_worker.py")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lint")
    said = run_bounded([str(WORKER), str(folder)], folder=folder, seconds=120)
    assert said.code == 0, said.err[-2000:]
    assert not (folder / "mark").exists()
    return [json.loads(line) for line in said.out.splitlines()]


def test_every_file_was_looked_at(outcomes):
    assert [found["name"] for found in outcomes] == [name for name, _ in files()]


def test_nothing_ends_in_a_traceback(outcomes):
    assert [(found["name"], found["fault"]) for found in outcomes if found["fault"]] == []


def test_every_hostile_file_has_a_finding(outcomes):
    assert [found["name"] for found in outcomes if not found["count"]] == []


def test_nothing_takes_long(outcomes):
    assert [(f["name"], f["seconds"]) for f in outcomes if f["seconds"] > most_seconds()] == []


def test_what_is_printed_is_fit_for_a_terminal(outcomes):
    for found in outcomes:
        odd = [c for c in found["said"] if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]
        assert odd == [], found["name"]
        assert all(ord(c) < 0x202A or ord(c) > 0x202E for c in found["said"]), found["name"]
