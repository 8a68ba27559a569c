"""The bodies of requests are the recorded ones, so a new litellm changes none unnoticed."""

from __future__ import annotations

import json

import pytest

from judgekit.judges.output_mode import MODES, Mode

from .bodies import FILE, JUDGES, lines
from .server import Server

pytestmark = pytest.mark.loopback


@pytest.mark.parametrize("modes", [MODES[:1], pytest.param(MODES, marks=pytest.mark.thorough)])
def test_bodies_are_those_that_were_recorded(server: Server, modes: tuple[Mode, ...]) -> None:
    recorded = FILE.read_text(encoding="utf-8").splitlines()
    expected = [line for line in recorded if json.loads(line)["mode"] in modes]

    assert len(expected) >= len(JUDGES) * len(modes)
    assert lines(server, modes) == expected
