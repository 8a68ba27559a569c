"""Load rubric files; every error names its file and line, before any call to a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import digest, digest_json
from judgekit.core.errors import AbstractRubric, InvalidReply, RubricError
from judgekit.core.judgment import read_answers
from judgekit.core.request import Detail, Form
from judgekit.core.suggest import suggest
from judgekit.rubric.chain import Layer, chain, description_of
from judgekit.rubric.checks import with_parameter_hint
from judgekit.rubric.complain import Complain, refuse
from judgekit.rubric.declared import check_used, declared_in
from judgekit.rubric.file import MAX_CRITERIA, CriterionFile, DetailFile, LabelledFile
from judgekit.rubric.fold import Combine
from judgekit.rubric.folders import Folders
from judgekit.rubric.library import builtin_folder, find_rubric
from judgekit.rubric.rubric import Group, Rubric
from judgekit.rubric.template import Template

if TYPE_CHECKING:
    from judgekit.rubric.criterion import Criterion
    from judgekit.rubric.labelled import Example
    from judgekit.rubric.parameter import Parameter
    from judgekit.rubric.rubric import Tested


def load_rubric(
    source: str | Path, *, base: Path | None = None, folders: Sequence[Path] = ()
) -> Rubric:
    """Load a rubric with everything it extends or includes.

    Args:
        source: a name or a path (see `find_rubric`).
        base: folder that names and paths are relative to.
        folders: folders to search for names first.

    Raises:
        RubricError: with file and line, for anything wrong in any file involved.
    """
    path = find_rubric(source, base=base, folders=folders)
    folders = tuple(dict.fromkeys((path.parent, builtin_folder())))
    loader = Folders(folders)
    return build_rubric(chain(path, loader), path=path, loader=loader)


def build_rubric(layers: list[Layer], *, path: Path, loader: Folders) -> Rubric:
    """Build a rubric from its layers.

    Raises:
        RubricError: with file and line, for anything wrong in any of them.
    """
    own = layers[0]
    file = own.file
    if file.abstract:
        raise AbstractRubric(
            f"{file.name!r} is abstract: extend it, it cannot judge by itself",
            where=own.lines.where("abstract"),
        )
    merged = MergedLayers(layers)
    criteria = merged.criteria()
    modes, default_mode = merged.modes(criteria)
    declared = declared_in(layers)
    try:
        template = Template(own.name, loader=loader)
    except RubricError as exc:
        raise with_parameter_hint(exc, declared) from exc
    check_shown(template, [c.id for c in criteria], own)
    files = {name: digest(loader.read(name)) for name in sorted(template.files)}
    form = Form(questions=tuple(c.question for c in criteria), details=merged.details(criteria))
    combine: Combine = merged.first("combine") or "weighted_mean"
    labelled = None
    if isinstance(file.examples, LabelledFile):
        from judgekit.rubric.labelled import Weighing, read_labelled

        labelled, read = read_labelled(
            file.examples,
            folder=path.parent,
            rubric=file.name,
            form=form,
            weighing=Weighing(criteria, modes[default_mode], combine),
            where=own.lines.where("examples"),
        )
        files.update(read)
    check_used(
        layers,
        criteria=criteria,
        details=form.details,
        mentions=template.mentions,
        declared=declared,
    )
    # The tests of built-in rubrics are parsed when they are needed; those of others are checked.
    tested = cache(partial(_tests, own, criteria, list(modes), declared))
    if not own.builtin:
        tested()
    return Rubric(
        name=file.name,
        version=file.version,
        digest=digest_json(files),
        description=description_of(layers),
        criteria=criteria,
        groups=merged.groups(criteria),
        modes=modes,
        default_mode=default_mode,
        combine=combine,
        requires=merged.requires(),
        details=form.details,
        examples=examples_of(own, form) if labelled is None else labelled.chosen,
        labelled=labelled,
        tested=tested,
        declared=declared,
        template=template,
        path=path,
    ).with_defaults()


def _tests(
    own: Layer, criteria: Sequence[Criterion], modes: list[str], declared: Sequence[Parameter]
) -> Tested:
    file = own.tested() if own.builtin else own.file
    if not file.tests and not file.orderings:
        return (), ()
    from judgekit.rubric.testfile import Known, read_tests

    known = Known({c.id: c for c in criteria}, modes, own.lines, declared)
    return read_tests(file.tests, file.orderings, known)


def examples_of(layer: Layer, form: Form, complain: Complain = refuse) -> tuple[Example, ...]:
    """Return the examples written in a front matter, checked against the form."""
    examples = []
    for number, entry in enumerate(layer.file.inline_examples):
        where = layer.lines.where("examples", number)
        from judgekit.rubric.inlinecase import inline_case
        from judgekit.rubric.labelled import Example

        questions = tuple(q for q in form.questions if q.id in entry.answers)
        details = tuple(d for d in form.details if d.name in entry.answers)
        try:
            case = inline_case(entry.case, id=f"example-{number + 1}", where=where)
            read_answers(entry.answers, form=Form(questions=questions, details=details))
        except RubricError as exc:
            complain(exc)
        except InvalidReply as exc:
            message = f"the example's answers do not fit the criteria: {exc}"
            complain(RubricError(message, where=where, rule="example-invalid"))
        else:
            examples.append(Example(case=case, answers=entry.answers))
    return tuple(examples)


def check_shown(template: Template, ids: list[str], own: Layer) -> None:
    """Refuse a template that leaves the judge without the criteria or without the case."""
    where = str(own.path)
    if "criteria" not in template.names and not all(id in template.text for id in ids):
        message = "the template never shows the criteria: loop over `criteria`, or extend base"
        raise RubricError(message, where=where, rule="hidden-criteria")
    if "case" not in template.names:
        message = 'the template never shows the case: write {{ case.output | fence("answer") }}'
        raise RubricError(message, where=where, rule="hidden-case")


def _group_of(id: str) -> str:
    return id.partition(".")[0] if "." in id else ""


class MergedLayers:
    """The merged layers of a rubric; a file overrides what it extends.

    Args:
        layers: the rubric's own layer, then what it extends.
        complain: called with each fault; raises the first one by default.
    """

    def __init__(self, layers: list[Layer], *, complain: Complain = refuse) -> None:
        self.layers = layers
        self.complain = complain

    def _fault(self, rule: str, message: str, layer: Layer, *path: str) -> None:
        self.complain(RubricError(message, where=layer.lines.where(*path), rule=rule))

    def first(self, name: str) -> Any:
        """Return a setting from the first layer that has it."""
        values = (getattr(layer.file, name) for layer in self.layers)
        return next((value for value in values if value is not None), None)

    def requires(self) -> tuple[str, ...]:
        """Return the fields that every case must have."""
        return tuple(self.first("requires") or ("output",))

    def details(self, criteria: tuple[Criterion, ...]) -> tuple[Detail, ...]:
        """Return the details of all layers; none may have the name of a criterion."""
        merged: dict[str, DetailFile] = {}
        ids = [criterion.id for criterion in criteria]
        for layer in reversed(self.layers):
            merged.update(layer.file.details)
            for name in layer.file.details:
                if name in ids:
                    message = f"{name!r} is a criterion and a detail"
                    self._fault("bad-value", message, layer, "details", name)
        return tuple(detail.value(name) for name, detail in merged.items())

    def groups(self, criteria: tuple[Criterion, ...]) -> tuple[Group, ...]:
        """Return the groups of all layers; the rubric's own must have criteria."""
        own = self.layers[0]
        known = list(dict.fromkeys(c.group for c in criteria if c.group))
        for name in own.file.groups:
            if name not in known:
                message = f"group {name!r} has no criteria{suggest(name, known)}"
                self._fault("empty-group", message, own, "groups", name)
        merged: dict[str, Group] = {}
        for layer in reversed(self.layers):
            for name, group in layer.file.groups.items():
                merged[name] = Group(name=name, requires=tuple(group.requires), text=group.text)
        return tuple(merged.values())

    def criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria of all layers, by id; a layer may replace or remove others."""
        merged: dict[str, tuple[CriterionFile, Layer]] = {}
        for layer in reversed(self.layers):
            for id, criterion in layer.file.criteria.items():
                if criterion is not None:
                    merged[id] = (criterion, layer)
                elif merged.pop(id, None) is None:
                    message = f"removes {id!r}, which it does not inherit"
                    self._fault("removes-nothing", message, layer, "criteria", id)
        own = self.layers[0]
        if not merged:
            message = 'has no criteria; add criteria: {kind: {text: "Is the answer kind?"}}'
            self._fault("no-criteria", message, own, "criteria")
        if len(merged) > MAX_CRITERIA:
            message = f"has {len(merged)} criteria, of {MAX_CRITERIA} at most"
            self._fault("bad-value", message, own, "criteria")
        self._check_weights(merged)
        sizes = Counter(map(_group_of, merged))
        values = []
        for id, (c, layer) in merged.items():
            share = 1.0 / sizes[_group_of(id)]
            try:
                values.append(c.value(id, lines=layer.lines, default_weight=share))
            except RubricError as exc:
                self.complain(exc)
        return tuple(values)

    def _check_weights(self, merged: dict[str, tuple[CriterionFile, Layer]]) -> None:
        relative = self.first("weights") in ("relative", "points")
        combine = self.first("combine") or "weighted_mean"
        sums: dict[str, float] = {}  # group -> sum of its positive weights
        weighted: dict[str, set[bool]] = {}  # group -> whether its criteria have weights
        for id, (criterion, layer) in merged.items():
            group, weight = _group_of(id), criterion.weight
            weighted.setdefault(group, set()).add(weight is not None)
            sums[group] = sums.get(group, 0.0) + max(0.0, weight or 0.0)
            if weight is not None and weight < 0 and combine != "weighted_mean":
                message = (
                    f"{id!r} is a penalty, which takes away from a weighted mean; "
                    f"combine {combine} has no use for one"
                )
                self._fault("penalty-unused", message, layer, "criteria", id, "weight")
            if weight == 0:
                message = f"{id!r} has weight 0 and would be asked for nothing; remove it"
                self._fault("weight-zero", message, layer, "criteria", id, "weight")
            if len(weighted[group]) > 1:
                message = f"{id!r}: give every criterion of a group a weight, or none"
                self._fault("weight-missing", message, layer, "criteria", id)
        for group, total in sums.items():
            if True not in weighted[group]:
                continue
            of = f" of group {group!r}" if group else ""
            if total <= 0:
                message = f"the weights{of} are all penalties; one must be positive"
                self._fault("weight-sum", message, self.layers[0], "criteria")
            elif not relative and abs(total - 1.0) > 1e-6:
                message = (
                    f"the positive weights{of} add up to {total:g}, not 1; "
                    "correct them, or write `weights: relative` to have them rescaled"
                )
                self._fault("weight-sum", message, self.layers[0], "criteria")

    def modes(self, criteria: tuple[Criterion, ...]) -> tuple[dict[str, dict[str, float]], str]:
        """Return mode -> group -> weight, and the default mode."""
        groups = list(dict.fromkeys(c.group for c in criteria))
        merged: dict[str, tuple[dict[str, float], Layer]] = {}
        for layer in reversed(self.layers):
            for mode, weights in layer.file.modes.items():
                merged[mode] = (dict(weights), layer)
        own = self.layers[0]
        default = self.first("default_mode")
        if not merged:
            if default is not None:
                message = "names a default_mode, but has no modes"
                self._fault("default-mode", message, own, "default_mode")
            return {"default": {group: 1.0 / len(groups) for group in groups}}, "default"
        for mode, (weights, layer) in merged.items():
            self._check_mode(mode, weights, groups, layer)
        used = {g for weights, _ in merged.values() for g, w in weights.items() if w > 0}
        for criterion in criteria:
            if criterion.group not in used:
                message = f"{criterion.id!r} has no weight in any mode, so it is never asked"
                self._fault("unreachable-criterion", message, own, "criteria", criterion.id)
        if default is None and len(merged) > 1:
            message = "has several modes; say which is the default_mode"
            self._fault("default-mode", message, own, "modes")
        default = default or next(iter(merged))
        if default not in merged:
            hint = suggest(default, list(merged))
            message = f"default_mode {default!r} is not among the modes{hint}"
            self._fault("default-mode", message, own, "default_mode")
        return {mode: weights for mode, (weights, _) in merged.items()}, default

    def _check_mode(
        self, mode: str, weights: dict[str, float], groups: list[str], layer: Layer
    ) -> None:
        for group, weight in weights.items():
            if group not in groups:
                hint = suggest(group, [name for name in groups if name])
                message = f"mode {mode!r} weighs group {group!r}, which has no criteria{hint}"
                self._fault("mode-group", message, layer, "modes", mode)
            if weight < 0:
                message = f"mode {mode!r}: the weight of group {group!r} is negative"
                self._fault("mode-sum", message, layer, "modes", mode)
        total = sum(weights.values())
        if abs(total - 1.0) > 1e-6:
            message = f"the weights of mode {mode!r} add up to {total:g}, not 1"
            self._fault("mode-sum", message, layer, "modes", mode)
