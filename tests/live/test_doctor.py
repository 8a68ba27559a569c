"""What the doctor says of judges that it may ask."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgekit.suite.doctor.examine import examine
from judgekit.suite.doctor.text import diagnosis_text
from judgekit.suite.measured import measured_speed
from judgekit.suite.overrides import Overrides

from .asking import write_suite
from .server import Fault, Server, error
from .test_ladder import mode_of, talkative

pytestmark = pytest.mark.loopback


def test_judge_is_asked_a_few_times(server: Server, tmp_path: Path) -> None:
    server.models = [{"id": "qwen3-8b"}]
    server.latency = 0.05
    suite = write_suite(tmp_path, server, ["case-1", "case-2"])

    began = time.monotonic()
    found = examine(suite, ask=True, times=3)
    took = time.monotonic() - began

    (role,) = found.roles
    assert (role.mode, role.mode_from, role.server) == ("json_schema", "probe", "qwen3-8b")
    assert (role.asked, role.repeats, found.exit_code) == (4, True, 0)
    assert role.seconds is not None
    assert 0.05 <= role.seconds < took / 2  # the median: two of them took as long or longer
    assert server.calls() == 5
    assert all(seen.body["temperature"] == 0 for seen in server.seen)
    kept = measured_speed(tmp_path, model=role.model, api_base=server.base)
    assert kept is not None
    assert kept.seconds == pytest.approx(role.seconds, abs=0.001)
    said = diagnosis_text(found)
    assert "output mode json_schema (probed now)" in said
    assert "answered 4 times, the same each time" in said


def test_rung_is_probed_anew(server: Server, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, server, ["case-1"])
    examine(suite, ask=True, times=2)
    server.rule = lambda body: (
        error(400, "response_format is not supported") if body.get("response_format") else None
    )

    (role,) = examine(suite, ask=True, times=2).roles

    assert (role.mode, role.mode_from) == ("tools", "probe")
    (known,) = examine(suite).roles
    assert (known.mode, known.mode_from) == ("tools", "store")


def test_judge_that_changes_its_mind_is_found_out(server: Server) -> None:
    answers = iter(range(100))
    server.rule = lambda body: Fault(
        text=lambda good: good.replace("Because.", f"Because {next(answers)}.")
    )

    found = examine(None, Overrides(judge="openai/judge", api_base=server.base), ask=True, times=2)

    assert found.roles[0].repeats is False
    assert "NOT the same each time" in diagnosis_text(found)


def test_judge_that_cannot_be_read_is_a_problem(server: Server) -> None:
    server.rule = lambda body: Fault(change=talkative)

    found = examine(None, Overrides(judge="openai/judge", api_base=server.base), ask=True, times=2)

    assert found.exit_code == 2
    assert "its reply is not a verdict" in found.problems[0]
    assert found.roles[0].mode == "text"
    assert {mode_of(seen.body) for seen in server.seen} >= {"json_schema", "text"}


def test_server_that_is_down_is_a_problem_at_once(tmp_path: Path) -> None:
    with socket.socket() as kept:  # nobody else gets the port, and nobody listens at it
        kept.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{kept.getsockname()[1]}"
        suite = write_suite(tmp_path, SimpleNamespace(base=f"http://{host}/v1"), ["case-1"])

        found = examine(suite, ask=True)

    assert found.exit_code == 2
    (problem,) = found.problems
    assert problem.startswith(f"judge openai/judge at {host}: ")
