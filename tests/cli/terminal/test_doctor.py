"""`judgekit doctor` on a terminal, its judge on a server of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.asking import write_suite
from tests.live.server import Server, error

from .driver import JUDGEKIT, Terminal

pytestmark = pytest.mark.loopback


def test_doctor_asks_and_keeps_to_80_columns(tmp_path: Path) -> None:
    with Server() as server:
        server.models = [{"id": "qwen3-8b"}]
        server.rule = lambda body: (
            error(500, "response_format.type: Input should be 'text' or 'json_object'")
            if (body.get("response_format") or {}).get("type") == "json_schema"
            else None
        )
        write_suite(tmp_path, server, ["case-1", "case-2"])
        command = (*JUDGEKIT, "doctor", "suite.yaml", "--ask")
        with Terminal(command, cwd=tmp_path, columns=80) as terminal:
            terminal.expect("asking judge, openai/judge")
            terminal.expect("suite.yaml, 2 cases", seconds=60)
            terminal.expect("2 calls to openai/judge")
            terminal.expect("served as qwen3-8b")
            terminal.expect("output mode json_object_schema (probed now)")
            terminal.expect("not json_schema: response_format.type")
            terminal.expect("answered 4 times, the same each time")
            terminal.expect("no problems")
            assert terminal.finish() == 0
            shown = terminal.text.split("packages", 1)[1]
            assert max(map(len, shown.splitlines())) <= 80
