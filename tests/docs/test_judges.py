"""The suites of docs/judges.md make the judges they describe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judgekit.core.yaml_file import parse_yaml
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.output_mode import MODES
from judgekit.suite.suite import build_suite

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
SUITES = [text for language, text in BLOCKS if language == "yaml"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "verdicts.jsonl").touch()
    verdict = next(text for language, text in BLOCKS if '"failed"' in text)
    (tmp_path / "theirs.jsonl").write_text(verdict, encoding="utf-8")
    return tmp_path


def test_suites_make_the_judges_they_describe(folder: Path) -> None:
    made = {}
    for text in SUITES:
        suite = build_suite(parse_yaml(text, file="suite.yaml")[0], base=folder)
        made |= {file.model: (role, suite) for role, file in suite.roles.items()}

    providers = {model.partition("/")[0] for model in made}
    assert providers == {
        "openai", "anthropic", "openrouter", "ollama_chat", "hosted_vllm", "lm_studio", "manual",
        "recorded",
    }  # fmt: skip
    role, suite = made["openai/local"]
    limited = suite.judges[role].judge  # type: ignore[attr-defined]
    assert isinstance(limited.judge, LiteLLMJudge)
    assert limited.judge.settings.identity == "Qwen3-8B-Q4_K_M"


def test_every_rung_is_described_in_order() -> None:
    section = TEXT.partition("## Output modes")[2]
    described = re.findall(r"^\| `(\w+)` \| ", section, re.MULTILINE)

    start = described.index("mode")
    assert described[start : start + len(MODES) + 1] == ["mode", *MODES]
