"""Templates: no code, no other files, no end of time or memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.each import each
from tests.hostile.conftest import most_seconds, run_bounded
from tests.hostile.template_worker import entries

WORKER = Path(__file__).with_name("template_worker.py")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("templates")
    said = run_bounded([str(WORKER), str(folder)], folder=folder, seconds=120)
    assert said.code == 0, said.err[-2000:]
    assert not (folder / "mark").exists()
    return {found["name"]: found for found in map(json.loads, said.out.splitlines())}


@each("name", [name for name, *_ in entries()])
def test_a_hostile_template_is_harmless(outcomes, name):
    found = outcomes[name]

    assert found["seconds"] < most_seconds()
    if found["kind"] == "=":
        assert (found["refused"], found["said"]) == (False, found["words"])
    else:
        assert found["refused"]
        assert found["words"] in found["said"]
        assert len(found["said"].splitlines()) == 1
        assert "hostile.jinja" in found["said"] or "too deeply" in found["said"]
