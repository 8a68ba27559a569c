"""What `--verbose` says of a judge that has to be asked more than once."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.cli.verbose import logged

from .asking import judge_of, run, tokens
from .server import Fault, Server, error

pytestmark = pytest.mark.loopback


def test_retries_and_rungs_are_said_and_no_key_is(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server.echo = True
    server.plan = {"case-000": [error(503, "busy"), Fault(reset=True)]}
    judge = judge_of(server, retries=3, mode=None)

    with logged():
        outcome = run(judge, tokens(2), tmp_path)
    said = capsys.readouterr().err.splitlines()
    run(judge_of(server, retries=3), ["case-009"], tmp_path)

    assert outcome.kinds == {"case-000": "scored", "case-001": "scored"}
    assert "openai/judge: asked by json_schema" in said
    retries = [line for line in said if ": attempt " in line]
    assert [line.partition(": attempt ")[2][:2] for line in retries] == ["1:", "2:"]
    assert "HTTP 503" in retries[0]
    assert all(" again in " in line for line in retries)
    assert "sk-very" not in "".join(said)
    assert capsys.readouterr().err == ""  # without the option nothing is
