"""Collect all faults of a rubric file; loading stops at the first one."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from jinja2 import TemplateNotFound
from pydantic import ValidationError

from judgekit.core.errors import ConfigError, RubricError
from judgekit.core.file_model import describe, steps_to
from judgekit.core.request import Form
from judgekit.core.yaml_file import parse_yaml
from judgekit.rubric.chain import Layer, chain
from judgekit.rubric.checks import with_parameter_hint
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.declared import check_used, declared_in
from judgekit.rubric.file import LabelledFile
from judgekit.rubric.filetext import read_file, split_front_matter
from judgekit.rubric.folders import Folders
from judgekit.rubric.hints import HINTS
from judgekit.rubric.labelled import Weighing, read_labelled
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.load import MergedLayers, check_shown, examples_of
from judgekit.rubric.template import Template
from judgekit.rubric.testfile import Known, TestedFile, read_tests


class Opened(NamedTuple):
    """A rubric file, read as far as its faults allow."""

    faults: tuple[RubricError, ...]
    layers: tuple[Layer, ...]
    """The file and the files that it extends; empty if the front matter is unusable."""
    criteria: tuple[Criterion, ...]
    modes: dict[str, dict[str, float]]
    default_mode: str
    merged: MergedLayers | None
    loader: Folders


def open_rubric(path: Path) -> Opened:
    """Read a rubric file and collect its faults, in the order of loading."""
    loader = Folders(tuple(dict.fromkeys((path.parent, builtin_folder()))))
    faults: list[RubricError] = []
    try:
        layers = chain(path, loader)
        layers[0].file = layers[0].tested()
    except RubricError as exc:
        return Opened(_front_faults(path) or (exc,), (), (), {}, "default", None, loader)
    own = layers[0]
    merged = MergedLayers(layers, complain=faults.append)
    criteria: tuple[Criterion, ...] = ()
    modes: dict[str, dict[str, float]] = {}
    default = "default"
    if own.file.abstract:
        # Lint checks the texts of an abstract file, although no judge sees it yet.
        criteria = MergedLayers(layers, complain=_overlook).criteria()
    else:
        criteria = merged.criteria()
        modes, default = merged.modes(criteria) if criteria else ({}, default)
        _check_rest(own, merged, criteria, list(modes), faults)
    _check_template(own, loader, merged, criteria, faults)
    return Opened(tuple(faults), tuple(layers), criteria, modes, default, merged, loader)


def _overlook(error: RubricError) -> None:
    """Ignore a fault."""


def template_faults(name: str, *, loader: Folders) -> tuple[RubricError, ...]:
    """Return the faults of one template file, such as a partial."""
    faults: list[RubricError] = []
    try:
        loader.tree(name, complain=faults.append)
    except TemplateNotFound:
        message = f"template {name!r} was not found"
        faults.append(RubricError(message, rule="template-missing"))
    except RubricError as exc:
        faults.append(exc)
    return tuple(faults)


def _front_faults(path: Path) -> tuple[RubricError, ...]:
    """Return the faults in the structure of a front matter, by line."""
    try:
        front, _ = split_front_matter(read_file(path))
        data, lines = parse_yaml(front, file=str(path), first=2)
    except ConfigError:
        return ()
    if not isinstance(data, dict):
        return ()
    try:
        TestedFile.model_validate(data)
    except ValidationError as exc:
        faults: list[RubricError] = []
        for fault in exc.errors(include_url=False)[:_MOST]:
            steps = steps_to(fault)
            message = describe(fault, steps, TestedFile, hints=HINTS)
            rule = _RULES.get(fault["type"], "bad-value")
            faults.append(RubricError(message, where=lines.where(*steps), rule=rule))
        return tuple(faults)
    return ()


_MOST = 50
"""Most faults of one front matter that are shown."""
_RULES = {"extra_forbidden": "unknown-key", "missing": "missing-key"}


def _check_rest(
    own: Layer,
    merged: MergedLayers,
    criteria: tuple[Criterion, ...],
    modes: list[str],
    faults: list[RubricError],
) -> None:
    merged.groups(criteria)
    form = Form(questions=tuple(c.question for c in criteria), details=merged.details(criteria))
    if not criteria:
        return
    examples_of(own, form, complain=faults.append)
    if isinstance(own.file.examples, LabelledFile):
        try:
            read_labelled(
                own.file.examples,
                folder=own.path.parent,
                rubric=own.file.name,
                form=form,
                weighing=Weighing(criteria, {c.group: 1.0 for c in criteria}, "weighted_mean"),
                where=own.lines.where("examples"),
            )
        except RubricError as exc:
            faults.append(exc)
    declared = declared_in(merged.layers, complain=_overlook)  # reported with the template
    known = Known({c.id: c for c in criteria}, modes, own.lines, declared)
    try:
        read_tests(own.file.tests, own.file.orderings, known)
    except RubricError as exc:
        exc.rule = "bad-case" if exc.rule == "bad-case" else "test-invalid"
        faults.append(exc)


def _check_template(
    own: Layer,
    loader: Folders,
    merged: MergedLayers,
    criteria: tuple[Criterion, ...],
    faults: list[RubricError],
) -> None:
    found = template_faults(own.name, loader=loader)
    if found:
        declared = declared_in(merged.layers, complain=_overlook)
        faults += [with_parameter_hint(fault, declared) for fault in found]
        return
    try:
        template = Template(own.name, loader=loader)
        if criteria:
            check_shown(template, [criterion.id for criterion in criteria], own)
        declared = declared_in(merged.layers, complain=faults.append)
        if criteria:
            check_used(
                merged.layers,
                criteria=criteria,
                details=merged.details(criteria),
                mentions=template.mentions,
                declared=declared,
                complain=faults.append,
            )
    except RubricError as exc:
        faults.append(exc)
