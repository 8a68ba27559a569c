"""Everything that keeps a rubric from loading: all of it, where loading stops at the first."""

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
    """A rubric file, read as far as its faults let it be."""

    faults: tuple[RubricError, ...]
    layers: tuple[Layer, ...]
    """The file and what it extends; empty when the front matter cannot be used."""
    criteria: tuple[Criterion, ...]
    modes: dict[str, dict[str, float]]
    default_mode: str
    merged: MergedLayers | None
    loader: Folders


def open_rubric(path: Path) -> Opened:
    """Read a rubric file and collect its faults, in the order in which loading would meet them."""
    loader = Folders(tuple(dict.fromkeys((path.parent, builtin_folder()))))
    faults: list[RubricError] = []
    try:
        layers = chain(path, loader)
        layers[0].file = layers[0].tested()
    except RubricError as exc:
        found = _front_faults(path) or (exc,)
        return Opened(tuple(found), (), (), {}, "default", None, loader)
    own = layers[0]
    merged = MergedLayers(layers, complain=faults.append)
    criteria: tuple[Criterion, ...] = ()
    modes: dict[str, dict[str, float]] = {}
    default = "default"
    if own.file.abstract:
        # Nothing of it is asked before somebody extends it; its words can be looked at now.
        criteria = MergedLayers(layers, complain=_overlook).criteria()
    else:
        criteria = merged.criteria()
        modes, default = merged.modes(criteria) if criteria else ({}, default)
        _check_rest(own, merged, criteria, list(modes), faults)
    _check_template(own, loader, merged, criteria, faults)
    return Opened(tuple(faults), tuple(layers), criteria, modes, default, merged, loader)


def _overlook(error: RubricError) -> None:
    """Take no notice."""


def template_faults(name: str, *, loader: Folders) -> tuple[RubricError, ...]:
    """Return what is wrong with one template file, a partial one for instance."""
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
    """Return all that is wrong with the shape of a front matter, by line."""
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
        found: list[RubricError] = []
        for fault in exc.errors(include_url=False)[:_MOST]:
            steps = steps_to(fault)
            message = describe(fault, steps, TestedFile, hints=HINTS)
            rule = _RULES.get(fault["type"], "bad-value")
            found.append(RubricError(message, where=lines.where(*steps), rule=rule))
        return tuple(found)
    return ()


_MOST = 50
"""Faults of one front matter that are shown; a file with more is not read to its end by anyone."""
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
    declared = declared_in(merged.layers, complain=lambda _: None)  # said with the template
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
