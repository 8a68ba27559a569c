"""`judgekit answer` with a real server behind it: outages, interruption, secrets, replay."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgekit.cli import main
from judgekit.datasets import load_cases
from judgekit.datasets.perturb import Perturbation, perturb
from judgekit.datasets.write import write_cases

from .server import PLAIN, Fault, error

pytestmark = pytest.mark.loopback
CANARY = "sk-canary-0123456789abcdef"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = [
        {"id": f"c{n}", "input": f"Question case-{n}?", "system": "Be brief."} for n in range(6)
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answered(monkeypatch, capsys, server, *flags):
    """Run the verb in this process; return its exit code and what it said."""
    words = ["judgekit", "answer", "cases.jsonl", "--model", "openai/system", "--api-base"]
    monkeypatch.setattr(sys, "argv", [*words, server.base, *map(str, flags)])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code, capsys.readouterr().err


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_cases_are_asked_as_chats_with_the_usual_parameters(folder, server, monkeypatch, capsys):
    code, err = answered(monkeypatch, capsys, server, "--out", "out.jsonl")

    assert code == 0, err
    assert [row["output"] for row in rows(folder / "out.jsonl")] == [PLAIN] * 6
    body = server.seen[0].body
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["max_tokens"], body["temperature"], body["top_p"]) == (256, 0.0, 1.0)
    assert "response_format" not in body


def test_an_outage_costs_its_row_and_the_same_command_mends_it(folder, server, monkeypatch, capsys):
    server.plan["case-3"] = [Fault(reset=True)] * 9
    flags = ("--out", "out.jsonl", "--cassette", "tape.jsonl")

    monkeypatch.setattr("judgekit.judges.calls.Calls._wait", lambda *_: 0.01)
    code, err = answered(monkeypatch, capsys, server, *flags)
    assert code == 3
    assert "5 answered (5 live); 1 without an answer" in err
    assert "c3: unavailable" in err
    broken = rows(folder / "out.jsonl")
    assert "output" not in broken[3]
    assert broken[3]["metadata"]["answered"]["output"]["failure"].startswith("unavailable")

    server.plan.clear()
    server.forget()
    code, err = answered(monkeypatch, capsys, server, *flags)
    assert code == 0
    assert server.calls() == 1  # what was answered is not asked again
    assert all("output" in row for row in rows(folder / "out.jsonl"))


def test_answers_replay_without_a_server_or_its_libraries(folder, server, monkeypatch, capsys):
    flags = ("--cassette", "tape.jsonl", "--out")
    answered(monkeypatch, capsys, server, *flags, "live.jsonl")
    code = """
import socket, sys
def refused(*args, **kwargs):
    raise AssertionError("a replay reached for the network")
socket.socket.connect = socket.getaddrinfo = refused
from judgekit.cli import main
try:
    main()
finally:
    assert {"litellm", "instructor", "openai", "diskcache"}.isdisjoint(sys.modules)
"""
    words = ["answer", "cases.jsonl", "--model", "openai/system", "--record", "none"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words, *flags, "replay.jsonl"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert (folder / "live.jsonl").read_bytes() == (folder / "replay.jsonl").read_bytes()
    assert "6 from the tape" in done.stderr


def test_another_temperature_is_another_request(folder, server, monkeypatch, capsys):
    answered(monkeypatch, capsys, server, "--cassette", "tape.jsonl", "--out", "x.jsonl")
    flags = ("--temperature", 1, "--cassette", "tape.jsonl", "--record", "none", "--out", "x.jsonl")
    code, err = answered(monkeypatch, capsys, server, *flags)

    assert code == 3
    assert "params.temperature (0.0 recorded, 1.0 asked)" in err


def test_the_key_is_in_nothing_that_is_written(folder, server, monkeypatch, capsys):
    monkeypatch.setenv("SYSTEM_KEY", CANARY)
    server.echo = True
    server.plan["case-1"] = [error(400, f"bad key {CANARY}")] * 9
    flags = ("--api-key-env", "SYSTEM_KEY", "--cassette", "tape.jsonl", "--out", "out.jsonl")
    _, err = answered(monkeypatch, capsys, server, *flags)

    assert server.seen[0].headers["authorization"] == f"Bearer {CANARY}"
    assert CANARY not in err
    for path in folder.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path


def test_perturbed_copies_are_answered(folder, server, monkeypatch, capsys):
    answered(monkeypatch, capsys, server, "--out", "out.jsonl")
    copies = perturb(load_cases("out.jsonl"), [Perturbation("typos")])
    write_cases(copies, folder / "cases.jsonl")
    answered(monkeypatch, capsys, server, "--out", "copies.jsonl")

    found = rows(folder / "copies.jsonl")
    assert [row["parent"] for row in found] == [f"c{number}" for number in range(6)]
    assert all(row["baseline"] and row["output"] for row in found)


def test_ctrl_c_keeps_what_is_answered_and_loses_no_case(folder, server):
    server.plan["case-4"] = [Fault(delay=2)]
    words = ["answer", "cases.jsonl", "--model", "openai/system", "--api-base", server.base]
    process = subprocess.Popen(
        [sys.executable, "-m", "judgekit", *words, "--concurrency", "1", "--out", "out.jsonl"],
        cwd=folder, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    try:
        server.wait_for(5)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    finally:
        process.kill()

    assert process.returncode == 3, err
    assert "5 answered (5 live); 1 without an answer" in err
    found = rows(folder / "out.jsonl")
    assert [row["id"] for row in found] == [f"c{number}" for number in range(6)]
    assert ["output" in row for row in found] == [True] * 5 + [False]
