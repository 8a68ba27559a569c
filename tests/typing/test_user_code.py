"""`mypy --strict` accepts the code of a user: the blocks of every page, without our settings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.docs.page import PAGES, blocks

USES = Path(__file__).parent / "public_api.py"
# Libraries whose types a user installs apart from judgekit.
SETTINGS = """
[mypy]
strict = true
[mypy-openai.*,pandas.*,polars.*,datasets.*,ray.*]
follow_imports = skip
ignore_missing_imports = true
"""
WRONG = """
import judgekit

judgekit.evaluate_sync([judgekit.Case(id="a", context="one")], [judgekit.Rubrik])
"""


def programs():
    """Yield a file name and a program for each page: its blocks, on the lines of the page."""
    for name, path in PAGES.items():
        text = path.read_text("utf-8")
        file = re.sub(r"\W", "_", name)
        lines = [""] * (text.count("\n") + 2)
        for block in blocks(text):
            if block.language == "python" and block.not_run is None:
                written = block.text.splitlines()
                lines[block.line : block.line + len(written)] = written
        if any(lines):
            yield f"{file}.py", "\n".join(lines)


def test_blocks_of_pages_and_uses_of_public_names_pass_and_mistakes_do_not(tmp_path):
    (tmp_path / "mypy.ini").write_text(SETTINGS, "utf-8")
    for file, program in programs():
        (tmp_path / file).write_text(program, "utf-8")
    (tmp_path / "uses.py").write_text(USES.read_text("utf-8"), "utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, "utf-8")
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    assert len(files) > 20

    # In a folder without judgekit's sources: as an installed, typed package.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", *files],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stderr == ""
    (error, summary) = done.stdout.splitlines()
    assert error.startswith('wrong.py:4: error: Module has no attribute "Rubrik"')
    assert summary.startswith("Found 1 error in 1 file")


def test_the_package_says_that_it_is_typed():
    import judgekit

    assert (Path(judgekit.__file__).parent / "py.typed").read_text("utf-8") == ""
