"""Rubric files: their text, and the folders in which templates are found by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, TemplateNotFound
from jinja2 import Template as JinjaTemplate

from judgekit.core.errors import RubricError, place
from judgekit.core.generation import current, last_with, newest, version_in
from judgekit.core.input_file import read_text, undecodable
from judgekit.rubric.template_file import ParsedTemplate, template_file_of
from judgekit.rubric.versions import (
    SUFFIX,
    VersionedName,
    builtin_file,
    file_in,
    frozen_name,
    home_of,
    never_moves,
)

MAX_FILE = 1_000_000
"""Maximum size of a rubric file, in bytes."""

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*(@[1-9][0-9]{0,8})?\.jinja"
)


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
        message, line = undecodable(exc)
        raise RubricError(message, where=place(path, line), rule="unreadable") from exc


def split_front_matter(text: str) -> tuple[str, str]:
    """Return front matter and body; empty lines before the body keep its line numbers."""
    match = _FRONT.match(text)
    if match is None:
        return "", text
    body = text[match.end() :]
    return match.group(1), "\n" * text.count("\n", 0, match.end()) + body


class Folders(BaseLoader):
    """Finds `.jinja` files by name, first in a rubric's folder, then in the built-in one.

    `NAME@V.jinja` is a version. In the built-in folder, a bare name means the version of the
    generation that applies when the loader is created.

    Args:
        folders: the folders.
        builtin: the built-in folder.
        inline: template name -> the file that contains it, and its text.
    """

    def __init__(
        self,
        folders: tuple[Path, ...],
        *,
        builtin: Path,
        inline: Mapping[str, tuple[Path, str]] | None = None,
    ) -> None:
        self.folders = folders
        self._builtin = frozenset(f for f in folders if f.resolve() == builtin.resolve())
        self._generation = current()
        self.frozen = False
        """Whether built-in files are looked up only among the frozen ones."""
        # Template name -> the file that contains it, and its text.
        self._inline = inline or {}
        self.parents: dict[str, str] = {}
        """Template name -> the name that its front matter extends."""
        self._paths = {name: path for name, (path, _) in self._inline.items()}
        self._template_files: dict[str, ParsedTemplate] = {}

    def enter(self, path: Path) -> None:
        """Let further names mean what they mean in a built-in rubric of the chain.

        A version of a built-in rubric is the same in all generations that have it, and a frozen
        one is built from frozen files only.
        """
        frozen = frozen_name(path)
        if home_of(path) not in self._builtin or (frozen is None and never_moves(path.stem)):
            return
        name, version = frozen or (path.stem, version_in(path.stem, newest()))
        self.frozen = self.frozen or frozen is not None
        if version is not None and version_in(name, self._generation) != version:
            self._generation = last_with(name, version)

    def bind(self, name: str, path: Path) -> None:
        """Use a file for a template name."""
        self._paths.setdefault(name, path)

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
        if not _NAME.fullmatch(name) or ".." in name:
            return
        wanted = VersionedName.parse(name.removesuffix(SUFFIX))
        for folder in self.folders:
            if folder in self._builtin:
                path = builtin_file(folder, wanted, generation=self._generation, frozen=self.frozen)
            else:
                path = file_in(folder, wanted)
            if path is not None and path.resolve().is_relative_to(folder.resolve()):
                yield path

    def source(self, name: str) -> tuple[str, str, str, bool]:
        """Return the arguments of `template_file_of` for a template.

        The `extends` of its front matter is inserted before its first line.

        Raises:
            TemplateNotFound: no such file.
            RubricError: it cannot be read.
        """
        path, parent = str(self.find(name)), self.parents.get(name)
        _, body = split_front_matter(self.read(name))
        lead = f'{{% extends "{parent}" %}}' if parent else ""
        return lead + body, name, path, parent is not None

    def template_file(self, name: str) -> ParsedTemplate:
        """Return a template, parsed, checked and compiled.

        Raises:
            TemplateNotFound: no such file.
            RubricError: the template is wrong.
        """
        if name not in self._template_files:
            self._template_files[name] = template_file_of(*self.source(name))
        return self._template_files[name]

    def load(
        self, environment: Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> JinjaTemplate:
        """Return a template for an environment; all environments share its code."""
        code = self.template_file(name).code
        return environment.template_class.from_code(environment, code, globals or {}, None)
