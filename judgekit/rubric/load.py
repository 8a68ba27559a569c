"""Load rubric files; every error names its file and line, and is raised before any call to a judge.

Loading raises the first fault; `open_rubric`, for lint, returns all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateNotFound
from pydantic import ValidationError

from judgekit.core.arguments import checked
from judgekit.core.canonical import digest, digest_json
from judgekit.core.errors import AbstractRubric, ConfigError, InvalidReply, RubricError
from judgekit.core.file_model import comment_hint, describe, steps_to, validate_file
from judgekit.core.judgment import read_answers
from judgekit.core.request import Form
from judgekit.core.yaml_file import Lines, parse_yaml
from judgekit.rubric.chain import Layer, chain, hints, own_layer
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.file import CriterionFile, InlineRubricFile, LabelledFile
from judgekit.rubric.folders import Folders, read_file, split_front_matter
from judgekit.rubric.library import builtin_folder, find_rubric, newest_base
from judgekit.rubric.merge import MergedLayers
from judgekit.rubric.parameter import Parameter
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.template import Template
from judgekit.rubric.template_file import faults_of, with_parameter_hint
from judgekit.rubric.versions import frozen_name, home_of

if TYPE_CHECKING:
    from judgekit.rubric.labelled import Example, Labelled
    from judgekit.rubric.rubric import Tested


_MOST = 50
"""Maximum number of faults of one front matter that are shown."""
_RULES = {"extra_forbidden": "unknown-key", "missing": "missing-key"}


@checked
def load_rubric(
    source: str | Path, *, base: Path | None = None, folders: Sequence[Path] = ()
) -> Rubric:
    """Load a rubric with everything it extends or includes.

    Args:
        source: a name, also with a version such as `quality@1`, or a path (see `find_rubric`).
        base: folder that names and paths are relative to.
        folders: folders to search for names first.

    Raises:
        RubricError: one of the files is invalid; names file and line.
    """
    path = find_rubric(source, base=base, folders=folders)
    place = path.resolve()
    known = _builtin.get((path, place))
    if known is not None and known[1] == _states(known[0].files):
        return known[0].again()
    loader = folders_of(path)
    rubric = build_rubric(
        chain(own_layer(path), loader), path=path, loader=loader, remade=load_rubric
    )
    if home_of(place) != builtin_folder().resolve():
        return rubric
    _builtin[path, place] = (rubric, _states(rubric.files))
    return rubric.again()


def rubric_of_text(text: str, *, path: Path) -> Rubric:
    """Load a rubric as if its file had another text.

    Args:
        text: the whole file.
        path: the file; it decides where parents are found.

    Raises:
        RubricError: the text is invalid; names file and line.
    """
    builtin = builtin_folder()
    inline = {path.name: (path, text)}
    loader = Folders((home_of(path), builtin), builtin=builtin, inline=inline)
    layers = chain(Layer(path, text=text), loader)
    return build_rubric(layers, path=path, loader=loader, remade=load_rubric)


_builtin: dict[tuple[Path, Path], tuple[Rubric, list[tuple[int, int]]]] = {}
"""Built-in rubrics that were read, with the state of their files: reading one takes as long as
replaying ten cases."""


def _states(files: Sequence[Path]) -> list[tuple[int, int]]:
    return [(state.st_mtime_ns, state.st_size) for state in (file.stat() for file in files)]


def folders_of(path: Path) -> Folders:
    """Return the folders in which a rubric finds templates: its own, then the built-in one."""
    builtin = builtin_folder()
    return Folders(tuple(dict.fromkeys((home_of(path), builtin))), builtin=builtin)


def build_rubric(
    layers: list[Layer], *, path: Path, loader: Folders, remade: Callable[[Path], Rubric]
) -> Rubric:
    """Build a rubric from its layers; `remade` is its member of that name.

    Raises:
        RubricError: one of them is invalid; names file and line.
    """
    own = layers[0]
    if own.file.abstract:
        message = f"{own.file.name!r} is abstract: extend it, it cannot judge by itself"
        raise AbstractRubric(message, where=own.lines.where("abstract"))
    builder = RubricBuilder(layers, path, loader, remade)
    rubric = builder.build()
    if rubric is None:
        raise builder.faults[0]
    return rubric


class Opened:
    """A rubric file, read as far as its faults allow."""

    def __init__(self, loader: Folders) -> None:
        self.loader = loader
        self.faults: list[RubricError] = []
        self.layers: list[Layer] = []
        """The file and the files that it extends; empty if the front matter is unusable."""
        self.merged: MergedLayers | None = None
        self.criteria: tuple[Criterion, ...] = ()
        self.modes: dict[str, dict[str, float]] = {}
        self.rubric: Rubric | None = None
        """`None` if it is abstract or has faults."""


def open_rubric(path: Path) -> Opened:
    """Read a rubric file and collect its faults, in the order of loading."""
    opened = Opened(folders_of(path))
    try:
        layers = chain(own_layer(path), opened.loader)
        layers[0].tested()
    except RubricError as exc:
        opened.faults = _front_faults(path) or [exc]
        return opened
    builder = RubricBuilder(layers, path, opened.loader)
    opened.rubric, opened.faults = builder.build(), builder.faults
    opened.layers, opened.merged = layers, builder.merged
    opened.criteria, opened.modes = builder.criteria, builder.modes
    return opened


def template_faults(name: str, *, loader: Folders) -> list[RubricError]:
    """Return the faults of one template file, such as a partial."""
    try:
        return faults_of(*loader.source(name))
    except TemplateNotFound:
        return [RubricError(f"template {name!r} was not found", rule="template-missing")]
    except RubricError as exc:
        return [exc]


def _front_faults(path: Path) -> list[RubricError]:
    """Return the faults in the structure of a front matter, by line."""
    from judgekit.rubric.testfile import TestedFile

    faults = []
    try:
        front, _ = split_front_matter(read_file(path))
        data, lines = parse_yaml(front, file=str(path), first=2)
        if isinstance(data, dict):
            TestedFile.model_validate(data)
    except ConfigError:
        return []
    except ValidationError as exc:
        at: dict[tuple[int | str, ...], list[Any]] = {}
        for fault in exc.errors(include_url=False)[:_MOST]:
            at.setdefault(steps_to(fault, data), []).append(fault)
        for steps, same in at.items():
            message = describe(
                same[0], steps, TestedFile, hints=hints(extends="extends" in data), others=same
            )
            message += comment_hint(same[0], steps, lines)
            rule = _RULES.get(same[0]["type"], "bad-value")
            faults.append(RubricError(message, where=lines.where(*steps), rule=rule))
    return faults


class RubricBuilder:
    """Builds a rubric from its layers.

    Args:
        layers: the rubric's own layer, then the layers that it extends.
        path: its file.
        loader: finds its templates.
        remade: makes the rubric again.

    Attributes:
        faults: everything wrong in the files, in the order of loading.
    """

    def __init__(
        self,
        layers: list[Layer],
        path: Path,
        loader: Folders,
        remade: Callable[[Path], Rubric] = load_rubric,
    ) -> None:
        self.own, self.path, self.loader, self.remade = layers[0], path, loader, remade
        self.faults: list[RubricError] = []
        abstract = self.own.file.abstract
        # Lint checks the texts of an abstract file; missing parts may be in its children.
        self.merged = MergedLayers(layers, faults=[] if abstract else self.faults)
        self.criteria = self.merged.criteria()
        self.modes: dict[str, dict[str, float]] = {}
        self.default_mode = "default"
        if self.criteria and not abstract:
            self.modes, self.default_mode = self.merged.modes(self.criteria)
        self.merged.faults = self.faults

    @contextmanager
    def _collecting(self) -> Iterator[None]:
        """Collect a fault that is raised."""
        try:
            yield
        except RubricError as exc:
            self.faults.append(exc)

    def build(self) -> Rubric | None:
        """Return the rubric; `None` if it is abstract or has faults."""
        file, merged, criteria = self.own.file, self.merged, self.criteria
        declared = merged.parameters()
        template = self._template(declared)
        details = merged.details(criteria)
        if template is not None and criteria:
            with self._collecting():
                merged.check_used(
                    declared, criteria=criteria, details=details, mentions=template.mentions
                )
        if file.abstract:
            return None
        groups = merged.groups(criteria)
        if not criteria:
            return None
        form = Form(questions=tuple(c.question for c in criteria), details=details)
        labelled, files = self._labelled(form)
        examples = labelled.chosen if labelled else self._examples(form)
        tested = cache(lambda: self._tests(declared))
        # The tests of built-in rubrics are valid; they are parsed when they are needed.
        if not self.own.untested:
            with self._collecting():
                tested()
        if template is None or self.faults:
            return None
        files |= {name: digest(self.loader.read(name)) for name in template.files}
        return Rubric(
            name=file.name,
            version=file.version,
            digest=digest_json(files),
            description=merged.description(),
            criteria=criteria,
            groups=groups,
            modes=self.modes,
            default_mode=self.default_mode,
            combine=merged.combine,
            requires=tuple(merged.first("requires") or ("output",)),
            details=details,
            examples=examples,
            labelled=labelled,
            tested=tested,
            declared=declared,
            renamed=merged.renamed(criteria),
            template=template,
            path=self.path,
            remade=self.remade,
        ).with_defaults()

    def _template(self, declared: Collection[str]) -> Template | None:
        """Return the template; it must show the judge the criteria and the case."""
        try:
            template = Template(self.own.name, loader=self.loader)
        except RubricError as exc:
            faults = template_faults(self.own.name, loader=self.loader) or [exc]
            self.faults += [with_parameter_hint(fault, declared) for fault in faults]
            return None
        where = str(self.own.path)
        shows_criteria = "criteria" in template.names or all(
            criterion.id in template.text for criterion in self.criteria
        )
        if not shows_criteria:
            message = "the template never shows the criteria: loop over `criteria`, or extend base"
            self.faults.append(RubricError(message, where=where, rule="hidden-criteria"))
        if self.criteria and "case" not in template.names:
            message = 'the template never shows the case: write {{ case.output | fence("answer") }}'
            self.faults.append(RubricError(message, where=where, rule="hidden-case"))
        return template

    def _labelled(self, form: Form) -> tuple[Labelled | None, dict[str, str]]:
        """Return the labelled rows, if there are any, and the digests of their files."""
        file = self.own.file
        if not isinstance(file.examples, LabelledFile):
            return None, {}
        from judgekit.rubric.labelled import Weighing, read_labelled

        weights = self.modes.get(self.default_mode, {})
        try:
            return read_labelled(
                file.examples,
                folder=home_of(self.path),
                rubric=file.name,
                form=form,
                weighing=Weighing(self.criteria, weights, self.merged.combine),
                where=self.own.lines.where("examples"),
            )
        except RubricError as exc:
            self.faults.append(exc)
            return None, {}

    def _examples(self, form: Form) -> tuple[Example, ...]:
        """Return the examples written in the front matter, checked against the form."""
        examples = []
        for number, entry in enumerate(self.own.file.inline_examples):
            from judgekit.rubric.labelled import Example, form_for, inline_case

            where = self.own.lines.where("examples", number)
            with self._collecting():
                case = inline_case(entry.case, id=f"example-{number + 1}", where=where)
                try:
                    read_answers(entry.answers, form=form_for(form, tuple(entry.answers)))
                except InvalidReply as exc:
                    message = f"the example's answers do not fit the criteria: {exc}"
                    raise RubricError(message, where=where, rule="example-invalid") from exc
                examples.append(Example(case=case, answers=entry.answers))
        return tuple(examples)

    def _tests(self, declared: Mapping[str, Parameter]) -> Tested:
        file = self.own.tested() if self.own.untested else self.own.file
        none = not file.tests and not file.orderings
        if none and frozen_name(self.path) is None:
            return (), ()
        from judgekit.rubric.testfile import Known, later_tests, read_tests

        later = later_tests(self.path) if none else None
        tests, lines = later or (file, self.own.lines)
        by_id = {criterion.id: criterion for criterion in self.criteria}
        known = Known(by_id, list(self.modes), lines, declared)
        return read_tests(tests.tests, tests.orderings, known)


def criteria_rubric(
    name: str,
    criteria: Mapping[str, str | Mapping[str, Any]],
    *,
    description: str | None = None,
    requires: Sequence[str] | None = None,
) -> Rubric:
    """Return the rubric of criteria that are written in Python.

    It equals the rubric of a metric with these criteria in a suite, so both have the same keys.

    Args:
        name: the name in reports.
        criteria: id -> question, or a mapping with the keys of a criterion in a rubric file.
        description: the task, as the judge reads it.
        requires: fields every case must have; `output` by default.

    Raises:
        RubricError: a setting is wrong; names the setting.
    """
    data: dict[str, Any] = {"criteria": criteria}
    given = {"description": description, "requires": requires}
    data |= {key: value for key, value in given.items() if value is not None}
    # No file contains the criteria, so messages have no place.
    lines = Lines(file="")
    checked = validate_file(InlineRubricFile, data, lines=lines, error=RubricError, hints=hints)
    return inline_rubric(
        name,
        checked.criteria,
        description=checked.description,
        requires=checked.requires,
        file=Path("criteria"),
        lines=lines,
    )


def inline_rubric(
    name: str,
    criteria: Mapping[str, CriterionFile],
    *,
    description: str | None = None,
    requires: list[str] | None = None,
    file: Path,
    lines: Lines,
) -> Rubric:
    """Return the rubric of criteria that are written in another file.

    It equals a rubric file with this front matter, `extends: base` and no template. The version of
    `base` is that of the generation of the suite.
    Weights are rescaled to add up to 1. The digest depends on the settings and not on their
    spelling; the order of criteria and levels counts, because the judge sees it.

    Args:
        name: the name in reports; characters that are invalid in a rubric name become `_`.
        criteria: the criteria by id.
        description: the task, as the judge reads it.
        requires: fields every case must have; `output` by default.
        file: the file that contains them.
        lines: where each setting is in that file.

    Raises:
        RubricError: a setting is wrong; names file and line.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    front: dict[str, Any] = {
        "name": plain if plain[:1].isalpha() else f"r{plain}",
        "extends": newest_base(),
        "weights": "relative",
        "criteria": {id: c.model_dump(exclude_unset=True) for id, c in criteria.items()},
    }
    given = {"description": description, "requires": requires}
    front |= {key: value for key, value in given.items() if value is not None}
    # JSON is YAML, so this is the text of an equal rubric file.
    text = f"---\n{json.dumps(front, ensure_ascii=False)}\n---\n"
    own = f"inline:{front['name']}"
    # Only the built-in base, so the judge's text depends only on the suite.
    builtin = builtin_folder()
    loader = Folders((builtin,), builtin=builtin, inline={own: (file, text)})
    layer = Layer(file, name=own, text=text, data=front, lines=lines)

    def remade(path: Path) -> Rubric:
        texts: Any = {"description": description, "requires": requires}
        return inline_rubric(name, criteria, **texts, file=path, lines=lines)

    return build_rubric(chain(layer, loader), path=file, loader=loader, remade=remade)
