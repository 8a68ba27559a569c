"""The suites of docs/redaction.md redact."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judgekit.core.yaml_file import parse_yaml
from judgekit.suite.suite import build_suite

TEXT = (Path(__file__).parents[2] / "docs" / "redaction.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


@pytest.mark.parametrize("text", blocks("yaml"))
def test_suite_redacts(text, tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPORT_SALT", "x")
    data, lines = parse_yaml(text, file="suite.yaml")

    suite = build_suite(data, base=tmp_path, lines=lines)

    assert re.search(r"\[EMAIL-[0-9a-f]{8}\]", suite.redact("ann@example.com, LM-12345"))
