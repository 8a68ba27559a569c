from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.workflow_output import WorkflowStream, print_command, without_commands

MARKS = ["::stop-commands::x", "::add-mask::e", "##[error]x", "##[group]", "::", ":: x"]


def written(*texts: str) -> str:
    inner = io.StringIO()
    stream = WorkflowStream(inner)
    stream.writelines(texts)
    return inner.getvalue()


def is_command(line: str) -> bool:
    """Return whether a runner takes a line for a command."""
    return line.lstrip().startswith("::") or "##[" in line


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    "before", ["", " ", "\t ", "a\n", "a\r", "a\r\n ", "\n\n", "\u2028", "x\x0b"]
)
def test_no_line_is_a_command(before: str, mark: str) -> None:
    whole = f"{before}{mark} and the rest\nnext\n"
    outputs = {written(whole), written(*whole)}
    outputs |= {written(whole[:cut], whole[cut:]) for cut in range(len(whole))}

    assert len(outputs) == 1
    (out,) = outputs
    assert not any(map(is_command, out.splitlines()))
    assert out.replace(" ", "") == whole.replace(" ", "")


def test_other_text_stays_as_it_is() -> None:
    text = "a: b\n# Title\n## Title\n  x::y ::z\n: one\n[##]\n\n::".rstrip(":")
    assert written(text) == text


def test_random_pieces() -> None:
    dice = random.Random(7)
    for _ in range(2_000):
        text = "".join(dice.choice([":", "#", "[", " ", "\n", "x", "::", "##["]) for _ in range(12))
        cuts = sorted(dice.sample(range(len(text)), 2))
        out = written(text[: cuts[0]], text[cuts[0] : cuts[1]], text[cuts[1] :])
        assert not any(map(is_command, out.splitlines())), text


def test_json_keeps_its_values() -> None:
    value = {"id": "##[error]x", "list": ["::stop-commands::x", "a##[b"]}
    for indent in (None, 1):
        out = written(json.dumps(value, indent=indent))
        assert json.loads(out) == value
        assert not any(map(is_command, out.splitlines()))


def test_only_there_and_only_for_foreign_texts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    with without_commands():
        print("::a::")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    with without_commands():
        print("::b::")
        print("::c::", file=sys.stderr)
        print_command("::error::d")
        print_command("::error::e", error=True)

    assert capsys.readouterr() == ("::a::\n: :b::\n::error::d\n", ": :c::\n::error::e\n")


SUITE = """\
cases: cases.jsonl
judge: {model: "fake/::add-mask::e"}
metrics: {faithfulness: {}, length: {maximum: 3}}
gates: {length: {minimum_pass_rate: 0.9}}
"""


@pytest.mark.parametrize(
    "words",
    [
        ["run", "suite.yaml", "--no-out", "--record", "new_episodes"],
        ["run", "suite.yaml", "--no-out", "--record", "new_episodes", "-v"],
        ["run", "suite.yaml", "--no-out", "--record", "new_episodes", "--json"],
        ["run", "::stop-commands::x"],
        ["run", "--filter", "##[error]x"],
        ["evaluate", "--cases", "cases.jsonl", "--evaluator", "length"],
        ["cases", "lint", "cases.jsonl"],
        ["cases", "lint", "##[error]x.jsonl"],
        ["rubric", "show", "::add-mask::e"],
        ["doctor", "suite.yaml"],
        ["metrics", "show", "##[error]x"],
    ],
    ids=" ".join,
)
def test_no_verb_prints_a_command(tmp_path: Path, words: list[str], monkeypatch: Any) -> None:
    rows = [
        {"id": mark, "input": f"{mark}\n{mark}", "output": f"a\n{mark} b c", "context": [mark]}
        for mark in MARKS
    ]
    (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "suite.yaml").write_text(SUITE)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))

    done = subprocess.run(
        [sys.executable, "-m", "judgekit", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    assert lines
    assert [line for line in lines if is_command(line)] == []
