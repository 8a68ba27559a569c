"""A copy of the package to change: its commands and Python code run in processes of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from copy import copy
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

    def copied_to(self, folder: Path) -> ScratchPackage:
        """Return a second copy as this one is now, with its working folder."""
        second = copy(self)
        second.root, second.work = folder / "copy", folder / "work"
        shutil.copytree(self.root, second.root)
        shutil.copytree(self.work, second.work)
        return second

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

    def python(self, code: str, *, stdin: str | None = None, exits: int | None = 0) -> Finished:
        """Run Python code on the copy; the code may be indented.

        Args:
            code: the program.
            stdin: the standard input.
            exits: the exit code that it must have; any for `None`.
        """
        return self._run(["-c", dedent(code)], stdin, exits)

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


RUBRICS = "rubrics"
_NEW_BASE = "You judge answers that AI assistants gave. You are careful, impartial and literal."


def first_generation(folder: Path) -> ScratchPackage:
    """Return a copy of the package as it was under generation 1 of the built-in rubrics.

    A made-up generation 2 needs this, whatever generations the package has.
    """
    scratch = ScratchPackage(folder)
    rubrics = scratch.root / RUBRICS
    for path in (rubrics / "versions").glob("*@1.jinja"):
        name = path.name.removesuffix("@1.jinja")
        if name != "base" and not name.startswith("_"):
            shutil.copy2(path, rubrics / f"{name}.jinja")
    shutil.rmtree(rubrics / "versions", ignore_errors=True)
    for path in rubrics.glob("*.jinja"):
        if "\nextends: base@" in path.read_text("utf-8"):  # added in a later generation
            path.unlink()
    _write_generations(scratch, {"1": {}})
    return scratch


def _generations(scratch: ScratchPackage) -> dict[str, dict[str, int]]:
    generations: dict[str, dict[str, int]] = json.loads(_table(scratch).read_text("utf-8"))[
        "generations"
    ]
    return generations


def _write_generations(scratch: ScratchPackage, generations: dict[str, dict[str, int]]) -> None:
    _table(scratch).write_text(json.dumps({"generations": generations}), "utf-8")


def _table(scratch: ScratchPackage) -> Path:
    return scratch.root / "judgekit/core/data/rubric_generations.json"


def with_quality_2(scratch: ScratchPackage) -> ScratchPackage:
    """Add a made-up generation 2: `base@2`, and version 2 of `quality`, which extends it.

    The copy is of `first_generation`.

    In `quality@2`, `correctness` has other levels, `concision` is renamed to `brevity`, `clarity`
    has another text, and `coherence` is gone.
    """
    rubrics = scratch.root / RUBRICS
    frozen = rubrics / "versions"
    frozen.mkdir(exist_ok=True)
    for name in ("quality", "base", "_criteria", "_criteria_last"):
        shutil.copy2(rubrics / f"{name}.jinja", frozen / f"{name}@1.jinja")
    base = (rubrics / "base.jinja").read_text("utf-8")
    new = base.replace("version: 1", "version: 2").replace(_NEW_BASE, "You judge answers.")
    (frozen / "base@2.jinja").write_text(new, "utf-8")
    (rubrics / "quality.jinja").write_text(QUALITY_2, "utf-8")
    _write_generations(scratch, {"1": {}, "2": {"base": 2, "quality": 2}})
    return scratch


def with_version_2(scratch: ScratchPackage, name: str) -> ScratchPackage:
    """Add version 2 of a rubric to generation 2, with another description.

    Args:
        scratch: a copy with `with_quality_2`.
        name: a rubric whose parent is `base`.
    """
    file = scratch.root / RUBRICS / f"{name}.jinja"
    shutil.copy2(file, scratch.root / RUBRICS / "versions" / f"{name}@1.jinja")
    text = file.read_text("utf-8")
    # Every version 2 asks something else, whatever its frame.
    changed = text.replace("version: 1", "version: 2", 1).replace(
        "description: ", "description: Judge this. ", 1
    )
    assert changed.count("Judge this. ") == 1
    file.write_text(changed, "utf-8")
    known = _generations(scratch)
    _write_generations(scratch, {**known, "2": {**known["2"], name: 2}})
    return scratch


QUALITY_2 = """\
---
name: quality
version: 2
extends: base@2
description: How good the answer is as an answer, apart from what format or policy it had to follow.
requires: [input, output]
renamed: {concision: brevity}
criteria:
  helpfulness:
    weight: 0.30
    text: Does the answer move the user forward on what they came for?
    levels: &levels
      excellent: {value: 1.0, text: "could hardly be better"}
      good: {value: 0.75, text: "does the job, small gaps"}
      fair: {value: 0.5, text: "of some use, real gaps"}
      poor: {value: 0.25, text: "of little use"}
      bad: {value: 0.0, text: "of no use, or worse"}
  correctness:
    weight: 0.30
    text: Is what the answer states true, as far as the material or common knowledge lets you tell?
    nullable: true
    levels: {right: 1.0, wrong: 0.0}
  clarity:
    weight: 0.20
    text: Would the user understand the answer when they read it once?
    levels: *levels
  brevity:
    weight: 0.20
    text: Is the answer as short as its content allows?
    levels: *levels
---
"""


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
        about = '"the answer to compare with", "Baseline", answer=True'
        baseline = f'    CaseField("baseline", "text", {about}),\n'
        draft = (
            '    CaseField("draft", "text", "the first draft", "First draft",'
            ' aliases={"first_draft": "a tool"}),\n'
        )
        scratch.replace("core/case_field.py", baseline, baseline + draft)
    return scratch
