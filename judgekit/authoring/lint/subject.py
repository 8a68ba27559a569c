"""The subject of rules: one rubric file, parsed as far as possible."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.lint.rule import Problem
from judgekit.authoring.lint.words import english
from judgekit.core.errors import ConfigError, RubricError, place
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.file import CriterionFile, LevelFile, RubricFile
from judgekit.rubric.live import shown
from judgekit.rubric.load import Opened, folders_of, load_rubric, open_rubric, template_faults
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.template import Template
from judgekit.rubric.template_analysis import Literal, literal
from judgekit.rubric.versions import VersionedName, frozen_name, home_of, versions_in


class OwnCriterion(NamedTuple):
    """A criterion that this file defines."""

    id: str
    file: CriterionFile
    criterion: Criterion
    subject: LintSubject

    def problem(self, message: str, *steps: str | int) -> Problem:
        """Return a problem of this criterion, at a key of it."""
        where = self.subject.at("criteria", self.id, *steps)
        return Problem(where, f"{self.id!r}{message}", self.id)

    @property
    def english(self) -> bool:
        """Whether its text is English."""
        return self.subject.english(self.file.text)

    @property
    def words(self) -> tuple[str, dict[str, LevelFile]]:
        """The key of the answer words, `levels` or `options`, and the words."""
        if self.file.levels:
            return "levels", dict(self.file.levels)
        return "options", dict(self.file.options or {})

    @property
    def has_texts(self) -> bool:
        """Whether a level has a text."""
        return any(level.text for level in self.criterion.levels)

    @property
    def free_number(self) -> bool:
        """Whether the answer is a number without levels."""
        return self.file.chosen_kind == "score" and not self.file.levels


class TemplateFile(NamedTuple):
    """A template file of the rubric that is not built in."""

    name: str
    path: Path
    tree: Any
    words: Literal


class LintSubject:
    """One file: a rubric, or a partial template without front matter.

    Attributes:
        path: the file.
        faults: the errors that prevent loading; most rules do not run then.
        rubric: the rubric, loaded; `None` when it is abstract, partial, or does not load.
        readable: whether the front matter can be used.
        criteria: all criteria, including inherited ones.
        parents: the files that this one extends, nearest first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = path.name.startswith("_")
        self.rendered: dict[tuple[str, bool], str | ConfigError] = {}
        """(mode, whether the case is sparse) -> the rendered text, or the error."""
        self.visible: dict[str, Collection[str]] = {}
        """Mode -> the fields of a case that the judge sees."""
        if self.partial:
            self.opened = Opened(folders_of(path))
            self.opened.faults = template_faults(path.name, loader=self.opened.loader)
        else:
            self.opened = open_rubric(path)
        self.loader, self.faults = self.opened.loader, self.opened.faults
        self.rubric, self.criteria = self.opened.rubric, self.opened.criteria
        self.by_id = {criterion.id: criterion for criterion in self.criteria}
        self.readable, self.parents = bool(self.opened.layers), self.opened.layers[1:]

    # -- the front matter --------------------------------------------------------------

    @property
    def file(self) -> RubricFile:
        """The front matter."""
        return self.opened.layers[0].file

    def at(self, *steps: str | int) -> str:
        """Return `file:line` of a value of the front matter."""
        return self.opened.layers[0].lines.where(*steps) or place(self.path, 1)

    @cached_property
    def own(self) -> tuple[OwnCriterion, ...]:
        """The criteria that this file defines."""
        if not self.readable:
            return ()
        return tuple(
            OwnCriterion(id, entry, self.by_id[id], self)
            for id, entry in self.file.criteria.items()
            if entry is not None and id in self.by_id
        )

    def inherited(self, name: str) -> Any:
        """Return the value of a key in this file, or in the nearest file that it extends."""
        assert self.opened.merged is not None  # noqa: S101 - only readable subjects
        return self.opened.merged.first(name)

    @cached_property
    def previous(self) -> Rubric | None:
        """The newest older version of this rubric, if one is kept and loads."""
        name = frozen_name(self.path) or VersionedName(self.path.stem, None)
        older = versions_in(home_of(self.path), name.name)
        for version in sorted(older, reverse=True):
            if version < self.file.version:
                with suppress(RubricError):
                    return load_rubric(older[version])
        return None

    @cached_property
    def words(self) -> str:
        """All texts about criteria, to detect the language."""
        description = self.file.description if self.readable else None
        return " ".join([description or "", *(own.file.text for own in self.own)])

    def english(self, text: str) -> bool:
        """Return whether a text of this file is English."""
        return english(text, around=self.words)

    def shares(self) -> dict[str, dict[str, float]]:
        """Return mode -> criterion -> weight in the value if every criterion has an answer."""
        sums: dict[str, float] = {}
        for criterion in self.criteria:
            sums[criterion.group] = sums.get(criterion.group, 0.0) + max(0.0, criterion.weight)
        return {
            mode: {
                c.id: weights[c.group] * c.weight / sums[c.group]
                for c in self.criteria
                if weights.get(c.group, 0.0) > 0 and sums.get(c.group, 0.0) > 0
            }
            for mode, weights in self.opened.modes.items()
        }

    # -- the templates -----------------------------------------------------------------

    @cached_property
    def trees(self) -> dict[str, Any]:
        """Name -> syntax tree of every template file of the rubric."""
        names = [self.path.name] if self.partial else []
        with suppress(RubricError):
            names += Template(self.path.name, loader=self.loader).files
        return {name: self.loader.template_file(name).tree for name in names}

    @cached_property
    def bodies(self) -> tuple[TemplateFile, ...]:
        """The template files in the folder of this one; built-in files are not the author's."""
        paths = {name: self.loader.find(name) for name in self.trees}
        extended = {layer.name for layer in self.parents}
        return tuple(
            TemplateFile(name, path, self.trees[name], literal(self.trees[name]))
            for name, path in paths.items()
            if path.parent == self.path.parent and name not in extended
        )

    @property
    def loaded(self) -> Rubric:
        """The rubric, for rules that run only if it loads."""
        assert self.rubric is not None  # noqa: S101 - see `needs` in rules.yaml
        return self.rubric

    @cached_property
    def printed(self) -> set[str]:
        """The names that the templates read in parts that can be rendered."""
        return shown(self.trees, (self.path.name, *(layer.name for layer in self.parents)))


def without_place(error: ConfigError) -> str:
    """Return the message of an error without its file and line."""
    return str(error).removeprefix(f"{error.where}: ") if error.where else str(error)
