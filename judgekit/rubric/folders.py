"""Load templates by name from the folders of a rubric."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, TemplateNotFound, nodes
from jinja2 import Template as JinjaTemplate

from judgekit.core.errors import RubricError
from judgekit.rubric.filetext import read_file, split_front_matter
from judgekit.rubric.sheet import Complain, Sheet, refuse, sheet_of, tree_of

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


class Folders(BaseLoader):
    """Finds `.jinja` files by plain names, in a rubric's own folder, then the built-in one."""

    def __init__(
        self, folders: tuple[Path, ...], *, inline: Mapping[str, tuple[Path, str]] | None = None
    ) -> None:
        self.folders = folders
        # Template name -> the file that contains it, and its text.
        self._inline = inline or {}
        self.parents: dict[str, str] = {}
        """Template name -> the name its front matter extends."""
        self._paths: dict[str, Path] = {}
        self._sheets: dict[str, Sheet] = {}

    def find(self, name: str) -> Path:
        """Return the file of a template name.

        Raises:
            TemplateNotFound: no such file, or a name that tries to leave the folders.
        """
        if name in self._inline:
            return self._inline[name][0]
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
        """Yield the files of a name, folder by folder, without those that leave a folder."""
        if _NAME.fullmatch(name) and ".." not in name and name.endswith(".jinja"):
            for folder in self.folders:
                path = folder / name
                if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                    yield path

    def sheet(self, name: str) -> Sheet:
        """Return a template, parsed, checked and compiled.

        The `extends` of its front matter is put before its first line.

        Raises:
            TemplateNotFound: no such file.
            RubricError: the template is wrong.
        """
        if (known := self._sheets.get(name)) is not None:
            return known
        path = self.find(name)
        _, body = split_front_matter(self.read(name))
        parent = self.parents.get(name)
        lead = f'{{% extends "{parent}" %}}' if parent else ""
        self._sheets[name] = sheet = sheet_of(lead + body, name, str(path), parent is not None)
        return sheet

    def tree(self, name: str, *, complain: Complain = refuse) -> nodes.Template:
        """Return the syntax tree of a template, and report faults in its names.

        Nobody may change it: lint reads the files of one rubric several times, and those that
        many rubrics extend.

        Args:
            name: its name, as in `find`.
            complain: called with each fault; raises the first one by default.

        Raises:
            TemplateNotFound: no such file.
            RubricError: it cannot be parsed.
        """
        path, parent = str(self.find(name)), self.parents.get(name)
        _, body = split_front_matter(self.read(name))
        try:
            return _tree_without_faults(body, name, path, parent)
        except RubricError:
            if complain is refuse:
                raise
        return tree_of(body, name, path, parent=parent, complain=complain)

    def load(
        self, environment: Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> JinjaTemplate:
        """Return a template for an environment; all environments share its code."""
        sheet = self.sheet(name)
        return environment.template_class.from_code(environment, sheet.code, globals or {}, None)


@lru_cache(maxsize=16)
def _tree_without_faults(body: str, name: str, path: str, parent: str | None) -> nodes.Template:
    return tree_of(body, name, path, parent=parent, complain=refuse)
