"""Every suite in docs/judges.md loads, and every command in it runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.config import build_suite
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.rung import MODES
from judgekit.yamlfile import parse_yaml

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
SUITES = [text for language, text in BLOCKS if language == "yaml"]
COMMANDS = [
    line for language, text in BLOCKS if language == "console" for line in text.splitlines()
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "verdicts.jsonl").touch()
    return tmp_path


def test_every_kind_of_block_is_known() -> None:
    assert {language for language, _ in BLOCKS} == {"yaml", "console"}
    assert len(SUITES) >= 8


@pytest.mark.parametrize("text", SUITES)
def test_suite_loads(folder: Path, text: str) -> None:
    data, lines = parse_yaml(text, file="suite.yaml")

    suite = build_suite(data, base=folder, lines=lines)

    assert suite.metrics
    assert all(metric.judge is suite.judges["judge"] for metric in suite.metrics[:1])  # type: ignore[attr-defined]
    suite.close()


def test_suites_make_the_judges_they_describe(folder: Path) -> None:
    made = {}
    for text in SUITES:
        suite = build_suite(parse_yaml(text, file="suite.yaml")[0], base=folder)
        made |= {file.model: (role, suite) for role, file in suite.roles.items()}

    providers = {model.partition("/")[0] for model in made}
    assert providers == {
        "openai", "anthropic", "openrouter", "ollama_chat", "hosted_vllm", "lm_studio", "manual",
    }  # fmt: skip
    role, suite = made["openai/local"]
    limited = suite.judges[role].judge  # type: ignore[attr-defined]
    assert isinstance(limited.judge, LiteLLMJudge)
    assert limited.judge.identity == "Qwen3-8B-Q4_K_M"


def test_every_rung_is_described_in_order() -> None:
    described = re.findall(r"^\| `(\w+)` \| ", TEXT, re.MULTILINE)

    assert described == ["mode", *MODES]


@pytest.mark.parametrize("line", COMMANDS)
def test_command_runs(line: str) -> None:
    prompt, *words = shlex.split(line)

    assert (prompt, words[0]) == ("$", "judgekit")
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
