"""Log-probabilities as servers send them: where a value begins in each output mode."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli import main

from .server import Fault, Server

pytestmark = pytest.mark.loopback

RUBRIC = """\
---
name: mark
version: 1
extends: base
description: How good an answer is.
requires: [output]
criteria:
  stars: {weight: 0.25, kind: score, minimum: 1, maximum: 5, text: How good is it?}
  tone:
    weight: 0.25
    kind: choice
    text: What is its tone?
    options: {warm: 1.0, plain: 0.5, cold: 0.0}
  right: {weight: 0.5, kind: boolean, text: Is it right?}
---
"""
EMOJI = "\N{GRINNING FACE}"
ANSWERS = {
    "stars": {"reason": f'Über "value": 3 {EMOJI}.', "value": 4},
    "tone": {"reason": "a reason", "value": "warm"},
    "right": {"reason": "", "value": True},
}
LISTED: dict[str, dict[str, float]] = {
    "4": {"4": 0.5, "5": 0.3, "2": 0.1, "N": 0.05},
    "warm": {"warm": 0.6, "cold": 0.2, "pl": 0.2},
    "true": {"true": 0.9, "false": 0.1},
}
"""What the model says -> the likeliest tokens in its place."""
PIECES = re.compile(r'"?[a-z_]+|\d|\s+|[{}]+|"[:,]?|.', re.DOTALL)

Around = Callable[[str], str]
Run = Callable[[Path, str], tuple[dict[str, Any], str]]


def token(raw: bytes, probability: float, *, number: bool) -> dict[str, Any]:
    """Return a token of llama.cpp: it has an id, and text only where that is valid UTF-8."""
    data: dict[str, Any] = {"id": sum(raw)} if number else {}
    return data | {
        "token": raw.decode("utf-8", "ignore"),
        "bytes": list(raw),
        "logprob": math.log(probability),
    }


def spelled(text: str, *, number: bool = True) -> dict[str, Any]:
    """Return the log-probabilities of a text; an emoji is split into bytes."""
    content = []
    for piece in PIECES.findall(text):
        quote = '"' if re.fullmatch('"[a-z_]+', piece) else ""
        listed = LISTED.get(piece.removeprefix(quote), {piece.removeprefix(quote): 0.99})
        top = [token((quote + word).encode(), p, number=number) for word, p in listed.items()]
        if piece == EMOJI:
            tops = [[token(bytes([byte]), 0.99, number=number)] for byte in piece.encode()]
        else:
            tops = [top]
        content += [{**top[0], "top_logprobs": top} for top in tops]
    return {"content": content}


MODES: dict[str, tuple[str, Around, Around]] = {
    "json_schema": ("json_schema", str, str),
    "json_object": ("json_object", lambda text: f"\n{text}\n", str),
    "tools": (
        "tools",
        lambda text: json.dumps(json.loads(text)),  # arguments are written again by the server
        lambda text: f'<tool_call>\n{{"name": "verdict", "arguments": {text}}}\n</tool_call>',
    ),
    "fence": ("text", lambda text: f"Here is my verdict:\n```json\n{text}\n```", str),
    "thoughts": ("text", str, lambda text: f'<think>{{"stars": 3}}? No.</think>{text}<|im_end|>'),
}
"""Name -> output mode, what the reply is, and what the model wrote to say it."""


@pytest.fixture
def suite(tmp_path: Path) -> Callable[..., Path]:
    def write(server: Server, mode: str, **metric: Any) -> Path:
        (tmp_path / "mark.jinja").write_text(RUBRIC, "utf-8")
        (tmp_path / "cases.jsonl").write_text('{"id": "one", "output": "Up."}\n', "utf-8")
        params = {"logprobs": True, "top_logprobs": 4}
        judge = {"model": "openai/judge", "api_base": server.base, "mode": mode, "params": params}
        content = {
            "cases": "cases.jsonl",
            "judge": judge,
            "cassette": "tape.jsonl",
            "metrics": {"mark": {"rubric": "mark.jinja", **metric}},
        }
        path = tmp_path / "suite.yaml"
        path.write_text(json.dumps(content), "utf-8")
        return path

    return write


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a suite, and returns its only row and what was printed."""

    def command(suite: Path, record: str) -> tuple[dict[str, Any], str]:
        out = suite.with_name("out")
        words = ["run", str(suite), "--record", record, "--out", str(out)]
        monkeypatch.setattr(sys, "argv", ["judgekit", *words])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        assert left.value.code == 0, printed.err
        *_, line = (out / "results.jsonl").read_text("utf-8").splitlines()
        return json.loads(line)["result"], " ".join(printed.out.split())

    return command


@pytest.mark.parametrize("name", MODES)
def test_value_is_found_in_every_output_mode(
    name: str, server: Server, suite: Callable[..., Path], run: Run
) -> None:
    mode, said, wrote = MODES[name]
    text = json.dumps(ANSWERS, ensure_ascii=False, indent=1 if name == "fence" else None)

    def change(body: dict[str, Any]) -> None:
        body["choices"][0]["logprobs"] = spelled(wrote(said(text) if mode == "text" else text))

    server.rule = lambda body: Fault(text=said(text), change=change)

    row, _ = run(suite(server, mode, readout="expected"), "new_episodes")

    stars, tone, right = (part["distribution"] for part in row["parts"])
    assert stars["labels"] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert stars["mass"] == pytest.approx(0.9)
    assert stars["probabilities"] == pytest.approx([0, 1 / 9, 0, 5 / 9, 3 / 9])
    assert dict(zip(tone["labels"], tone["probabilities"], strict=True)) == pytest.approx(
        {"warm": 0.6, "plain": 0.2, "cold": 0.2}
    )
    assert right["probabilities"] == pytest.approx([0.9, 0.1])
    # (4 - 1) / 4 would be the value of the answer; the distribution has its mean.
    mean = (1 * 2 + 5 * 4 + 3 * 5) / 9
    assert [part["value"] for part in row["parts"]] == pytest.approx([(mean - 1) / 4, 0.7, 0.9])
    assert row["parts"][0]["answer"] == pytest.approx(mean)

    server.rule = lambda body: Fault(status=500)
    assert run(suite(server, mode, readout="expected"), "none")[0] == row
    plain, _ = run(suite(server, mode), "none")
    assert [part["answer"] for part in plain["parts"]] == [4.0, "warm", True]
    assert plain["parts"][0]["distribution"] == stars
    words, _ = run(suite(server, mode, readout="yes"), "none")
    assert [part["value"] for part in words["parts"]] == pytest.approx([0.75, 1.0, 0.9])


def test_little_mass_is_reported(server: Server, suite: Callable[..., Path], run: Run) -> None:
    text = json.dumps({**ANSWERS, "stars": {"reason": "", "value": 1}})
    logprobs = spelled(text, number=False)
    one = next(step for step in logprobs["content"] if step["token"] == "1")
    one["logprob"] = one["top_logprobs"][0]["logprob"] = math.log(0.6)
    one["top_logprobs"].append(token(b"Seven", 0.4, number=False))
    server.rule = lambda body: Fault(
        text=text, change=lambda reply: reply["choices"][0].update(logprobs=logprobs)
    )

    _, out = run(suite(server, "json_schema", readout="mode"), "new_episodes")

    assert "stars: legal answers have 60% of the probability on average" in out
    assert "less than 80% in 1 of 1 rows" in out
