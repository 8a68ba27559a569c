"""Rubric files: their text, and the folders in which templates are found by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, TemplateNotFound
from jinja2 import Template as JinjaTemplate

from judgekit.core.errors import RubricError
from judgekit.core.input_file import read_text
from judgekit.rubric.sheet import Sheet, sheet_of

MAX_FILE = 1_000_000
"""Maximum size of a rubric file, in bytes."""

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


def read_file(path: Path) -> str:
    """Return a rubric file's text.

    Raises:
        RubricError: the file is unreadable, too large, or not UTF-8.
    """
    try:
        return read_text(path, most=MAX_FILE)
    except OSError as exc:
        message = f"cannot be read: {exc.strerror}"
        raise RubricError(message, where=str(path), rule="unreadable") from exc
    except UnicodeDecodeError as exc:
        message = f"not UTF-8 (byte {exc.start})"
        raise RubricError(message, where=str(path), rule="unreadable") from exc


def split_front_matter(text: str) -> tuple[str, str]:
    """Return front matter and body; empty lines before the body keep its line numbers."""
    match = _FRONT.match(text)
    if match is None:
        return "", text
    body = text[match.end() :]
    return match.group(1), "\n" * text.count("\n", 0, match.end()) + body


class Folders(BaseLoader):
    """Finds `.jinja` files by name, first in a rubric's folder, then in the built-in one."""

    def __init__(
        self, folders: tuple[Path, ...], *, inline: Mapping[str, tuple[Path, str]] | None = None
    ) -> None:
        self.folders = folders
        # Template name -> the file that contains it, and its text.
        self._inline = inline or {}
        self.parents: dict[str, str] = {}
        """Template name -> the name that its front matter extends."""
        self._paths = {name: path for name, (path, _) in self._inline.items()}
        self._sheets: dict[str, Sheet] = {}

    def find(self, name: str) -> Path:
        """Return the file of a template name.

        Raises:
            TemplateNotFound: there is no such file, or the name points outside the folders.
        """
        path = self._paths.get(name) or next(self.all_of(name), None)
        if path is None:
            raise TemplateNotFound(name)
        self._paths[name] = path
        return path

    def read(self, name: str) -> str:
        """Return the text of a template, front matter included.

        Raises:
            TemplateNotFound: no such file.
            RubricError: it cannot be read.
        """
        return self._inline[name][1] if name in self._inline else read_file(self.find(name))

    def all_of(self, name: str) -> Iterator[Path]:
        """Yield the files of a name, folder by folder, without those outside the folders."""
        if _NAME.fullmatch(name) and ".." not in name and name.endswith(".jinja"):
            for folder in self.folders:
                path = folder / name
                if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                    yield path

    def source(self, name: str) -> tuple[str, str, str, bool]:
        """Return the arguments of `sheet_of` for a template.

        The `extends` of its front matter is inserted before its first line.

        Raises:
            TemplateNotFound: no such file.
            RubricError: it cannot be read.
        """
        path, parent = str(self.find(name)), self.parents.get(name)
        _, body = split_front_matter(self.read(name))
        lead = f'{{% extends "{parent}" %}}' if parent else ""
        return lead + body, name, path, parent is not None

    def sheet(self, name: str) -> Sheet:
        """Return a template, parsed, checked and compiled.

        Raises:
            TemplateNotFound: no such file.
            RubricError: the template is wrong.
        """
        if name not in self._sheets:
            self._sheets[name] = sheet_of(*self.source(name))
        return self._sheets[name]

    def load(
        self, environment: Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> JinjaTemplate:
        """Return a template for an environment; all environments share its code."""
        sheet = self.sheet(name)
        return environment.template_class.from_code(environment, sheet.code, globals or {}, None)
