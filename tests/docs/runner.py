"""Run a page like a reader: write every file and run every command, in order, in one folder.

The rules, which a new page follows without its own test:

- A block after a line that ends in a colon and names a file in backquotes is that file.
- `console`: lines after `$ ` are commands, run in order. A line that ends in a backslash
  continues. Lines below a command are its output; `...` is any text, or any lines. A command that
  must fail says so at its end: `; echo "exit code $?"`.
- `python`: run, with the names of the blocks above it. A `text` block right after it is its
  output. `pycon` is a doctest. `pyi`, a signature, must parse.
- `yaml` with `metrics:` and no file is a suite that must load (from cases.jsonl unless it names
  others). With `gate:`, `criteria:` or `lint:` alone it is a part of a suite or a rubric.
- `jinja` without a file is a rubric that must load. `json`, `jsonl` and `toml` must parse.
- `mermaid` is a picture and is not run.
- A block with the first line `# not run: REASON` is not run. `NOT_RUN` in test_pages.py counts.

No model answers here, so `fake/judge` replaces the models that pages name. Its verdicts mean
nothing, so a gate may then fail.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import judgekit
from judgekit.cli import main
from judgekit.core.yaml_file import parse_yaml
from judgekit.rubric.load import load_rubric
from judgekit.suite.suite import build_suite
from tests import forks
from tests.docs.page import ROOT, Block, blocks

HOSTED = re.compile(r"\b(?:openai|anthropic)/[\w.-]+")
STATUS = re.compile(r'; echo "exit code \$\?"$')


class Printed(NamedTuple):
    """What a command printed, and its exit code."""

    out: str
    err: str
    code: int


class PageFails(AssertionError):
    """A block does not do what the page says."""


class Reader:
    """Follows a page in an empty folder."""

    def __init__(self, name: str, folder: Path, replaced: Mapping[str, str]) -> None:
        self.name = name
        self.folder = folder
        self.replaced = replaced
        self.replaced_model = False
        self.output: str | None = None
        self.ran = 0
        self.names: dict[str, object] = {"__name__": "__main__"}

    def follow(self, text: str) -> None:
        """Do everything the page says, in order."""
        for block in blocks(text):
            self.ran += block.not_run is None
            if block.not_run is None:
                try:
                    self._do(block)
                except PageFails as exc:
                    raise PageFails(f"{self.name}:{block.line}: {exc}") from None
                except Exception as exc:
                    exc.add_note(f"at {self.name}:{block.line}")
                    raise

    def _do(self, block: Block) -> None:
        output, self.output = self.output, None
        if block.file is not None and block.language != "console":
            self._write(block.file, block.text)
            return
        match block.language:
            case "console":
                for command, shown in commands(block.text):
                    self._type(command, shown)
            case "python":
                self.output = self._program(block)
            case "text":
                if output is None:
                    raise PageFails("nothing above this block prints it")
                agree(block.text, output)
            case "yaml":
                self._part(block.text)
            case "jinja":
                name = re.search(r"^name: (\w+)$", block.text, re.MULTILINE)
                path = self.folder / f"{name[1] if name else 'rubric'}.jinja"
                path.write_text(block.text, "utf-8")
                load_rubric(path)
            case "json" | "jsonl":
                rows = block.text.splitlines() if block.language == "jsonl" else [block.text]
                for row in rows:
                    json.loads(row)
            case "toml":
                tomllib.loads(block.text)
            case "pyi":
                ast.parse(block.text)
            case "mermaid":
                pass
            case "pycon":
                self._doctest(block.text)
            case other:
                raise PageFails(f"a block of kind {other!r} is not run by any rule")

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = self._replace(text)
        if path.suffix in (".yaml", ".py"):
            text = self._replace_model(text)
        path.write_text(text, "utf-8")

    def _replace(self, text: str) -> str:
        for old, new in self.replaced.items():
            text = text.replace(old, new)
        return text

    def _replace_model(self, text: str) -> str:
        """Replace hosted models by the fake judge, unless they have an address."""
        if "api_base" in text or "--api-base" in text:
            return text
        new = HOSTED.sub("fake/judge", text)
        self.replaced_model |= new != text
        return new

    def _type(self, command: str, shown: str | None) -> None:
        typed = self._replace_model(self._replace(command))
        status = STATUS.search(typed)
        if status:
            typed = typed[: status.start()]
        done = self._run(typed)
        where = f"$ {command}\n{done.out}{done.err}"
        ending = f"{done.err}exit code {done.code}\n" if status else ""
        if not status and done.code != 0 and not (done.code == 1 and self.replaced_model):
            raise PageFails(f"exit code {done.code}\n{where}")
        if shown is not None:
            agree(shown, f"{done.out}{ending}", where=where)

    def _run(self, typed: str) -> Printed:
        words = shlex.split(typed, comments=True)
        into = None
        if len(words) > 2 and words[0] == "judgekit" and words[-2] == ">":
            into = words[-1]
            words = words[:-2]
        if words[0] == "make":
            makefile = (ROOT / "Makefile").read_text("utf-8")
            return Printed("", "", 0 if re.search(rf"^{words[1]}:", makefile, re.M) else 2)
        if words[0] == "judgekit" and not {"|", "&&", ";"} & set(words):
            done = in_process(words)
        else:
            done = in_shell(typed, self.folder)
        if into:
            (self.folder / into).write_text(done.out, "utf-8")
            done = done._replace(out="")
        return done

    def _program(self, block: Block) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            text = self._replace(block.text)
            exec(compile("\n" * block.line + text, self.name, "exec"), self.names)
        return output.getvalue()

    def _doctest(self, text: str) -> None:
        # The names of the page, such as those of a submodule.
        names = {**{name: getattr(judgekit, name) for name in judgekit.__all__}, **self.names}
        examples = doctest.DocTestParser().get_doctest(text, names, self.name, self.name, 0)
        output = io.StringIO()
        if doctest.DocTestRunner(verbose=False).run(examples, out=output.write).failed:
            raise PageFails(output.getvalue())

    def _part(self, text: str) -> None:
        data, lines = parse_yaml(text, file="suite.yaml")
        if not isinstance(data, dict) or {"criteria", "lint"} & set(data):
            part = self.folder / "part.jinja"
            part.write_text(f"---\nname: part\nextends: base\n{text}---\n", "utf-8")
            load_rubric(part)
            return
        if "metrics" not in data:
            length = {"length": {"maximum": 9}}
            data = {"metrics": length, **data}
        suite = build_suite({"cases": "cases.jsonl", **data}, base=self.folder, lines=lines)
        suite.close()


def commands(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield each command of a console block with its shown output, if any."""
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown or None


def agree(shown: str, printed: str, *, where: str = "") -> None:
    """Check that the output matches the shown text; `...` is any text.

    Raises:
        PageFails: it does not.
    """
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == "..."
        else re.escape(line).replace(r"\.\.\.", ".*") + r" *\n"
        for line in shown.rstrip("\n").splitlines()
    )
    whole = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    if re.fullmatch(pattern + r"\n*", whole) is None:
        raise PageFails(f"shown:\n{shown}\nprinted:\n{whole}\n{where}")


def in_process(words: list[str]) -> Printed:
    """Run the command line in this process, like its entry point."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    code = 0
    with (
        patch.object(sys, "argv", words),
        patch.object(sys, "stdin", io.StringIO()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as exc:
            code = exc.code if isinstance(exc.code, int) else 0 if exc.code is None else 1
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Printed(texts[0], texts[1], code)


def in_shell(typed: str, folder: Path) -> Printed:
    """Run other commands in a shell with the judgekit, python and pytest of the tests."""
    done = subprocess.run(
        ["bash", "-c", typed],
        cwd=folder,
        env={
            **os.environ,
            **forks.in_shell(),
            "PYTHONIOENCODING": "utf-8",
            # As in pyproject.toml: a reader does not have the plug-ins of our tests.
            "PYTEST_ADDOPTS": "-p no:asyncio",
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Printed(done.stdout, done.stderr, done.returncode)
