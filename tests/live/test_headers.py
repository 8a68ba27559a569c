"""Headers for gateways: sent with every request, on both ways, and found nowhere afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import JudgekitError
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

from .asking import write_suite
from .server import Server, error

pytestmark = pytest.mark.loopback
SECRET = "gw-7f3a9c1e5b2d"
HEADERS = {"X-Team": "research", "X-Gateway": "id ${GATEWAY_PASS}"}
LIVE = Overrides(record="new_episodes")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGEKIT_HOME", raising=False)
    monkeypatch.setenv("GATEWAY_PASS", SECRET)


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_headers_are_sent_and_their_values_stay_in_memory(
    server: Server, tmp_path: Path, via: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.models = [{"id": f"model of {SECRET}"}]
    server.echo = True
    server.plan = {"case-2": [error(401, f"bad gateway: {SECRET}")]}
    asked = ["case-1", "case-2"]
    suite = write_suite(tmp_path, server, asked, via=via, headers=HEADERS, retries=0, timeout=60)

    try:
        run_suite_sync(load_suite(suite, LIVE), out=tmp_path / "run")
        said = ""
    except JudgekitError as exc:
        said = str(exc)

    chats = [seen for seen in server.seen if "chat" in seen.path]
    assert chats
    for seen in chats:
        assert seen.headers["x-team"] == "research"
        assert seen.headers["x-gateway"] == f"id {SECRET}"
    assert SECRET not in said
    assert SECRET.encode() not in everything(tmp_path)
    assert SECRET not in "".join(capsys.readouterr())


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_an_unset_variable_stops_the_run_before_a_call(
    server: Server, tmp_path: Path, via: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GATEWAY_PASS")
    suite = write_suite(tmp_path, server, ["case-1"], via=via, headers=HEADERS)

    with pytest.raises(JudgekitError, match="GATEWAY_PASS is not set in the environment"):
        run_suite_sync(load_suite(suite, LIVE))

    assert server.calls() == 0


def test_a_replay_needs_no_variable_and_other_headers_have_the_same_keys(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_suite_sync(load_suite(write_suite(tmp_path, server, ["case-1"], headers=HEADERS), LIVE))
    asked = server.calls()
    monkeypatch.delenv("GATEWAY_PASS")

    for headers in (HEADERS, {}, {"X-Other": "${NOWHERE}"}):
        report: Any = run_suite_sync(
            load_suite(write_suite(tmp_path, server, ["case-1"], headers=headers))
        )
        assert report.exit_code == 0

    assert server.calls() == asked
