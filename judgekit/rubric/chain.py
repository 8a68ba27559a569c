"""Read and validate a rubric file and the files that it extends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from judgekit.core.errors import ConfigError, RubricError, place
from judgekit.core.file_model import Hints, validate_file
from judgekit.core.file_model import Path as Steps
from judgekit.core.suggest import closest, suggest
from judgekit.core.yaml_file import Lines, parse_yaml
from judgekit.rubric.file import CriterionFile, RubricFile
from judgekit.rubric.folders import Folders, read_file, split_front_matter
from judgekit.rubric.library import builtin_folder, rubric_names
from judgekit.rubric.versions import SUFFIX, frozen_name, home_of, versions_in

if TYPE_CHECKING:
    from judgekit.rubric.testfile import TestedFile


F = TypeVar("F", bound=RubricFile)
MAX_LAYERS = 10
"""Maximum length of a chain of files that extend each other."""


class Layer:
    """One file of an `extends` chain."""

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        text: str | None = None,
        data: dict[str, Any] | None = None,
        lines: Lines | None = None,
    ) -> None:
        self.path = path
        self.name = name or path.name
        self._text = read_file(path) if text is None else text
        self._front, _ = split_front_matter(self._text)
        # Built-in rubrics have valid tests, at the end of the file. Parsing the tests of three of
        # them takes as long as replaying a dozen cases.
        self.untested = home_of(path).resolve() == builtin_folder().resolve()
        """Whether the tests were left out."""
        front = self._front.partition("\ntests:\n")[0] if self.untested else self._front
        if data is not None and lines is not None:
            self.data, self.lines = data, lines
        else:
            self.data, self.lines = self._parsed(front)
        tested = not self.data.keys().isdisjoint(("tests", "orderings"))
        self.file: RubricFile = self.tested() if tested else self._validated(RubricFile)
        self._check_version()

    def _check_version(self) -> None:
        """Check that the name of a frozen file is that in its front matter."""
        frozen, file = frozen_name(self.path), self.file
        if frozen is not None and frozen != (file.name, file.version):
            message = f"the file name says {frozen}, but this is {file.name}@{file.version}"
            raise RubricError(message, where=self.lines.where("version"), rule="bad-value")

    def tested(self) -> TestedFile:
        """Return the front matter with its tests.

        Raises:
            RubricError: a test is malformed.
        """
        from judgekit.rubric.testfile import TestedFile

        if self.untested:
            self.data, self.lines = self._parsed(self._front)
        self.file, self.untested = self._validated(TestedFile), False
        return self.file

    def _parsed(self, front: str) -> tuple[dict[str, Any], Lines]:
        try:
            data, lines = parse_yaml(front, file=str(self.path), first=2)
        except ConfigError as exc:
            error = RubricError(str(exc), rule="yaml")
            error.where = exc.where
            raise error from exc
        if data is None:
            message = "has no front matter; begin with ---, name: ..., criteria: ..., ---"
            if self._text.startswith("---") and not front:
                message = "has no front matter: end it with a line of ---, above the template"
            line = _indented(self._text)
            if line:
                message = "has no front matter: delete the space before ---"
            raise RubricError(message, where=place(self.path, line or 1), rule="front-matter")
        if not isinstance(data, dict):
            message = "front matter must be keys and values"
            raise RubricError(message, where=place(self.path, 2), rule="front-matter")
        return data, lines

    def _validated(self, kind: type[F]) -> F:
        return validate_file(
            kind, self.data, lines=self.lines, error=RubricError, hints=self._hints
        )

    def _hints(self) -> Hints:
        return hints(extends="extends" in self.data)


def _indented(text: str) -> int:
    """Return the number of the first line of --- with white space before it; 0 if there is none."""
    lines = enumerate(text.split("\n"), start=1)
    return next((n for n, line in lines if line.strip() == "---" and line[0] != "-"), 0)


def own_layer(path: Path) -> Layer:
    """Return the own layer of a rubric.

    A frozen file has the template name of the newest one, so that its digest stays the same.
    """
    frozen = frozen_name(path)
    return Layer(path, name=None if frozen is None else f"{frozen.name}{SUFFIX}")


def chain(own: Layer, loader: Folders) -> list[Layer]:
    """Return the layers of a rubric from its own layer on."""
    layers = [own]
    loader.enter(own.path)
    loader.bind(own.name, own.path)
    seen = {own.path.resolve()}
    while parent := layers[-1].file.extends:
        last = layers[-1]
        name = parent if parent.endswith(SUFFIX) else parent + SUFFIX
        path = next(loader.all_of(name), None)
        if path is not None and path.resolve() in seen and path.parent == last.path.parent:
            # A rubric may have the name of the built-in rubric that it extends.
            others = (other for other in loader.all_of(name) if other.resolve() not in seen)
            path = next(others, path)
        fault = None
        if path is None:
            known = sorted({n for f in loader.folders for n in rubric_names(f)})
            fault = f"extends {parent!r}, which was not found{suggest(parent, known)}"
            if "/" in parent or "\\" in parent:
                fault = f"extends {parent!r}: write a name, not a path; the file must be beside it"
            if has := _versions(parent, loader):
                fault = f"extends {parent!r}, a version that does not exist; there are {has}"
        elif path.resolve() in seen:
            fault = f"extends {parent!r}, which leads back to itself"
        elif name == last.name:
            fault = f"rename this rubric: it extends one of the same name {parent!r}"
        elif len(layers) == MAX_LAYERS:
            fault = f"the {MAX_LAYERS + 1}th file in a row that extends"
        if path is None or fault is not None:
            raise RubricError(str(fault), where=last.lines.where("extends"), rule="extends")
        seen.add(path.resolve())
        loader.parents[last.name] = name
        loader.enter(path)
        loader.bind(name, path)
        layers.append(Layer(path, name=name))
    return layers


def _versions(parent: str, loader: Folders) -> str:
    """Return the versions of a parent that was not found, as text."""
    name = parent.removesuffix(SUFFIX).rpartition("@")[0]
    versions = [version for f in loader.folders for version in versions_in(f, name)] if name else []
    return ", ".join(f"{name}@{version}" for version in dict.fromkeys(versions))


_CRITERION = 'criteria: {kind: {text: "Is the answer kind?"}}'
_FORMS: dict[Steps, str] = {
    ("criteria",): f"each criterion is a key: {_CRITERION}",
    ("criteria", "*"): f"its text is a key, too: {_CRITERION}",
    ("criteria", "*", "text"): 'add the question: text: "Is the answer kind?"',
    ("criteria", "*", "levels"): "each level is a key with its value: {good: 1, bad: 0}",
    ("criteria", "*", "levels", "*"): "a level is NAME: VALUE, from 0 to 1: {good: 1, bad: 0}",
    (
        "criteria",
        "*",
        "levels",
        "*",
        "value",
    ): "0 is the worst value, 1 the best: {good: 1, bad: 0}",
    ("criteria", "*", "options", "*"): "an option is NAME: VALUE, from 0 to 1: {good: 1, bad: 0}",
    ("criteria", "*", "options", "*", "value"): "0 is the worst value, 1 the best",
    ("criteria", "*", "options"): "each option is a key with its value: {good: 1, bad: 0}",
    ("criteria", "*", "items"): 'list the items: ["an apology", "a date"]',
    ("requires",): "list fields of a case: [input, output]",
    ("modes",): "each mode is a key: {user: {user: 1.0}}",
    ("parameters",): "each parameter is a key: {audience: adults}",
    ("tests", "*", "expect"): "write expect: {value: {min: 0.6}}",
    ("tests", "*", "expect", "*"): "write {min: 0.6}",
    ("name",): "name the rubric as its file: name: my_rubric",
}
"""Place of a wrong or missing value (`*` is any name) -> the form that works."""


def _value_hint(path: Steps) -> str:
    starred = path[:1] + ("*",) * (len(path) > 1) + path[2:]
    if starred[2:3] in (("levels",), ("options",)) and len(starred) > 3:
        starred = (*starred[:3], "*", *starred[4:])
    if starred[:1] == ("tests",) and len(starred) > 3:
        starred = (*starred[:3], "*", *starred[4:])
    form = _FORMS.get(starred)
    return f"; {form}" if form else ""


def _inherited_hint(path: Steps) -> str:
    """Return the hint for a value in a file that extends another one."""
    also = "; an inherited criterion is replaced whole: repeat its keys"
    return _value_hint(path) + (also if path[:1] == ("criteria",) and path[2:] == ("text",) else "")


def _key_hint(path: Steps, known: list[str]) -> str:
    key = str(path[-1])
    if len(path) == 1 and key in CriterionFile.model_fields and not closest(key, known, alike=0.8):
        return f"; it belongs to a criterion: criteria: {{NAME: {{{key}: ...}}}}"
    return suggest(key, known)


def hints(*, extends: bool = False) -> Hints:
    """Return the hints for errors in a rubric file, which may extend another one."""
    return Hints(key=_key_hint, value=_inherited_hint if extends else _value_hint)
