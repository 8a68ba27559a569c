"""The page on pytest: its test module runs, and it knows every flag and setting."""

from __future__ import annotations

import re
from pathlib import Path

from judgekit import pytest_plugin
from tests.testing.conftest import RECORD

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pytest.md").read_text("utf-8")


def test_the_module_on_the_page_records_and_replays(pytester, run, monkeypatch):
    monkeypatch.setenv("JUDGEKIT_HOME", str(pytester.path / "store"))
    folder = pytester.path
    block, _ = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    # The fake judge asked here gives everything its lowest word.
    (folder / "test_tone.py").write_text(block.replace("=0.9", "=0.0"), "utf-8")
    (folder / "cases.jsonl").write_text('{"id": "a", "output": "Short."}\n', "utf-8")

    for words in (RECORD, ()):
        code, out = run(*words)
        assert code == 0, out
    assert (folder / "cassettes" / "test_tone.jsonl").exists()


def test_every_flag_and_setting_is_on_the_page():
    source = Path(pytest_plugin.__file__).read_text("utf-8")

    for name in re.findall(r'"(--judgekit-[\w-]+)"', source):
        assert f"`{name}`" in PAGE
    for name in re.findall(r'addini\(\s*"(\w+)"', source):
        assert f"`{name}`" in PAGE
