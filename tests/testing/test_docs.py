"""The page on pytest: its test module runs, and it knows every flag and setting."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from judgekit import pytest_plugin

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pytest.md").read_text("utf-8")


def test_the_module_on_the_page_records_and_replays(tmp_path):
    block, _ = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    # The fake judge asked here gives everything its lowest word.
    (tmp_path / "test_tone.py").write_text(block.replace("=0.6", "=0.0"), "utf-8")
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "Short."}\n', "utf-8")

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    first = run("--judgekit-judge", "fake/judge")
    again = run()

    assert first.returncode == 0, first.stdout
    assert again.returncode == 0, again.stdout
    assert (tmp_path / "cassettes" / "test_tone.jsonl").exists()


def test_every_flag_and_setting_is_on_the_page():
    source = Path(pytest_plugin.__file__).read_text("utf-8")

    for name in re.findall(r'"(--judgekit-[\w-]+)"', source):
        assert f"`{name}`" in PAGE
    for name in re.findall(r'addini\(\s*"(\w+)"', source):
        assert f"`{name}`" in PAGE
