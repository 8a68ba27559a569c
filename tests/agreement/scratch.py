"""A copy of the package to change: its commands and Python code run in processes of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Finished(NamedTuple):
    """A process that has ended."""

    code: int
    out: str
    err: str


class ScratchPackage:
    """A copy of `judgekit/` and `rubrics/` in a folder, and a working folder beside them.

    >>> scratch = ScratchPackage(tmp_path)                                       # doctest: +SKIP
    >>> scratch.replace("core/case.py", "old text", "new text")                  # doctest: +SKIP
    >>> scratch.judgekit("rubric", "render", "tone.jinja").out                   # doctest: +SKIP
    >>> scratch.python("from judgekit import Case; print(Case(id='a'))").out     # doctest: +SKIP
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "copy"
        """The folder that holds `judgekit/` and `rubrics/`."""
        self.work = folder / "work"
        """The working folder of every process."""
        self.work.mkdir()
        for name in ("judgekit", "rubrics"):
            # The compiled files come along: they are valid because the times of files are kept.
            shutil.copytree(ROOT / name, self.root / name)

    def replace(self, file: str, old: str, new: str) -> None:
        """Replace a text that a file of the package has exactly once.

        Args:
            file: its path under `judgekit/`.
            old: the text to replace.
            new: the text in its place.
        """
        path = self.root / "judgekit" / file
        text = path.read_text("utf-8")
        assert text.count(old) == 1, f"{file} has {text.count(old)} times: {old!r}"
        path.write_text(text.replace(old, new), "utf-8")

    def add(self, file: str, text: str) -> None:
        """Write a new file of the package, or append to one that is there."""
        path = self.root / "judgekit" / file
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)

    def write(self, name: str, text: str) -> Path:
        """Write a file in the working folder; the text may be indented."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
        return path

    def python(self, code: str, *, exits: int | None = 0) -> Finished:
        """Run Python code on the copy; the code may be indented.

        Args:
            code: the program.
            exits: the exit code that it must have; any for `None`.
        """
        return self._run(["-c", dedent(code)], None, exits)

    def judgekit(self, *args: object, stdin: str | None = None, exits: int | None = 0) -> Finished:
        """Run a command of the copy.

        Args:
            args: the arguments after `judgekit`.
            stdin: the standard input.
            exits: the exit code that it must have; any for `None`.
        """
        return self._run(["-m", "judgekit", *map(str, args)], stdin, exits)

    def _run(self, args: list[str], stdin: str | None, exits: int | None) -> Finished:
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root),
            "JUDGEKIT_HOME": str(self.work / "home"),
        }
        done = subprocess.run(
            [sys.executable, "-W", "error", *args],
            cwd=self.work,
            env=environment,
            input=stdin or "",
            capture_output=True,
            text=True,
            check=False,
        )
        if exits is not None:
            assert done.returncode == exits, f"{args}\n{done.stdout}\n{done.stderr}"
        return Finished(done.returncode, done.stdout, done.stderr)


def with_draft(scratch: ScratchPackage, *, field: bool = True, row: bool = True) -> ScratchPackage:
    """Add the text field `draft` to the case: an entry in the model, and a row in the table."""
    if field:
        scratch.replace(
            "core/case.py",
            '    parent: str | None = None\n    """',
            '    draft: str | None = None\n    """The first version of the answer."""\n'
            '    parent: str | None = None\n    """',
        )
        scratch.replace(
            "core/case.py",
            "            parent: str | None = None,\n",
            "            draft: str | None = None,\n            parent: str | None = None,\n",
        )
    if row:
        baseline = '    CaseField("baseline", "text", "the answer to compare with", "Baseline"),\n'
        draft = (
            '    CaseField("draft", "text", "the first draft", "First draft",'
            ' aliases=("first_draft",)),\n'
        )
        scratch.replace("core/case_field.py", baseline, baseline + draft)
    return scratch
