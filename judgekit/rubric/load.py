"""Rubric files, read strictly: whatever is wrong is said with file and line, before any call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import digest, digest_json
from judgekit.core.errors import AbstractRubric, InvalidReply, RubricError
from judgekit.core.judgment import read_answers
from judgekit.core.request import Form
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import Lines
from judgekit.rubric.chain import Layer, chain, description_of
from judgekit.rubric.complain import Complain, refuse
from judgekit.rubric.declared import check_used, declared_in
from judgekit.rubric.file import MAX_CRITERIA, CriterionFile, LabelledFile
from judgekit.rubric.fold import Combine
from judgekit.rubric.folders import Folders
from judgekit.rubric.rubric import Group, Rubric
from judgekit.rubric.shelf import builtin_folder, find_rubric
from judgekit.rubric.template import Template

if TYPE_CHECKING:
    from judgekit.rubric.criterion import Criterion
    from judgekit.rubric.labelled import Example
    from judgekit.rubric.parameter import Parameter
    from judgekit.rubric.rubric import Tested


def load_rubric(
    source: str | Path, *, base: Path | None = None, folders: Sequence[Path] = ()
) -> Rubric:
    """Load a rubric with everything it builds on.

    Args:
        source: a name or a path (see `find_rubric`).
        base: folder that names and paths are relative to.
        folders: where to look for names first.

    Raises:
        RubricError: with file and line, for anything wrong in any file involved.
    """
    path = find_rubric(source, base=base, folders=folders)
    folders = tuple(dict.fromkeys((path.parent, builtin_folder())))
    loader = Folders(folders)
    return build_rubric(chain(path, loader), path=path, loader=loader)


def build_rubric(layers: list[Layer], *, path: Path, loader: Folders) -> Rubric:
    """Return the rubric that layers make together.

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
    merged = _Merged(layers)
    criteria = merged.criteria()
    modes, default_mode = merged.modes(criteria)
    template = Template(own.name, loader=loader)
    _check_shown(template, [c.id for c in criteria], own)
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
    declared = declared_in(layers)
    check_used(
        layers,
        criteria=criteria,
        details=form.details,
        mentions=template.mentions,
        declared=declared,
    )
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
        examples=_examples(own, form) if labelled is None else labelled.chosen,
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


def _examples(layer: Layer, form: Form, complain: Complain = refuse) -> tuple[Example, ...]:
    examples = []
    for number, entry in enumerate(layer.file.inline_examples):
        where = layer.lines.where("examples", number)
        from judgekit.rubric.inlinecase import inline_case
        from judgekit.rubric.labelled import Example

        try:
            case = inline_case(entry.case, id=f"example-{number + 1}", where=where)
        except RubricError as exc:
            complain(exc)
            continue
        asked = tuple(q for q in form.questions if q.id in entry.answers)
        details = tuple(d for d in form.details if d.name in entry.answers)
        try:
            read_answers(entry.answers, form=Form(questions=asked, details=details))
        except InvalidReply as exc:
            error = RubricError(
                f"the example's answers do not fit the criteria: {exc}",
                where=where,
                rule="example-invalid",
            )
            error.__cause__ = exc
            complain(error)
            continue
        examples.append(Example(case=case, answers=entry.answers))
    return tuple(examples)


def _check_shown(template: Template, ids: list[str], own: Layer) -> None:
    """Refuse a template that leaves the judge without the criteria or without the case."""
    where = str(own.path)
    if "criteria" not in template.names and not all(id in template.text for id in ids):
        raise RubricError(
            "the template never shows the criteria: loop over `criteria`, or extend base",
            where=where,
            rule="hidden-criteria",
        )
    if "case" not in template.names:
        raise RubricError(
            'the template never shows the case: write {{ case.output | fence("answer") }}',
            where=where,
            rule="hidden-case",
        )


def _group_of(id: str) -> str:
    return id.partition(".")[0] if "." in id else ""


class _Merged:
    """The layers of a rubric taken together: what comes later in the chain gives way."""

    def __init__(self, layers: list[Layer], *, complain: Complain = refuse) -> None:
        self.layers = layers
        self.complain = complain

    def first(self, name: str) -> Any:
        return next(
            (v for layer in self.layers if (v := getattr(layer.file, name)) is not None), None
        )

    def requires(self) -> tuple[str, ...]:
        return tuple(self.first("requires") or ("output",))

    def details(self, criteria: tuple[Any, ...]) -> Any:
        merged: dict[str, Any] = {}
        ids = [criterion.id for criterion in criteria]
        for layer in reversed(self.layers):
            merged.update(layer.file.details)
            for name in layer.file.details:
                if name in ids:
                    where = layer.lines.where("details", name)
                    message = f"{name!r} is a criterion and a detail"
                    self.complain(RubricError(message, where=where, rule="bad-value"))
        return tuple(detail.value(name) for name, detail in merged.items())

    def groups(self, criteria: tuple[Any, ...]) -> tuple[Group, ...]:
        """Return the groups of all layers; the rubric's own must have criteria."""
        own = self.layers[0]
        known = list(dict.fromkeys(c.group for c in criteria if c.group))
        for name in own.file.groups:
            if name not in known:
                where = own.lines.where("groups", name)
                message = f"group {name!r} has no criteria{suggest(name, known)}"
                self.complain(RubricError(message, where=where, rule="empty-group"))
        merged: dict[str, Group] = {}
        for layer in reversed(self.layers):
            for name, group in layer.file.groups.items():
                merged[name] = Group(name=name, requires=tuple(group.requires), text=group.text)
        return tuple(merged.values())

    def criteria(self) -> tuple[Any, ...]:
        """Return the criteria of all layers, by id; a later layer may replace or remove one."""
        merged: dict[str, tuple[CriterionFile, Layer]] = {}
        for layer in reversed(self.layers):
            for id, criterion in layer.file.criteria.items():
                if criterion is not None:
                    merged[id] = (criterion, layer)
                elif merged.pop(id, None) is None:
                    where = layer.lines.where("criteria", id)
                    message = f"removes {id!r}, which it does not inherit"
                    self.complain(RubricError(message, where=where, rule="removes-nothing"))
        own = self.layers[0]
        if not merged:
            where = own.lines.where("criteria")
            self.complain(
                RubricError(
                    'has no criteria; add criteria: {kind: {text: "Is the answer kind?"}}',
                    where=where,
                    rule="no-criteria",
                )
            )
        if len(merged) > MAX_CRITERIA:
            where = own.lines.where("criteria")
            message = f"has {len(merged)} criteria, of {MAX_CRITERIA} at most"
            self.complain(RubricError(message, where=where, rule="bad-value"))
        self._check_weights(merged)
        values = []
        for id, (c, layer) in merged.items():
            share = self._share(id, merged)
            try:
                values.append(c.value(id, lines=layer.lines, default_weight=share))
            except RubricError as exc:
                self.complain(exc)
        return tuple(values)

    def _share(self, id: str, merged: dict[str, tuple[CriterionFile, Layer]]) -> float:
        return 1.0 / sum(_group_of(other) == _group_of(id) for other in merged)

    def _check_weights(self, merged: dict[str, tuple[CriterionFile, Layer]]) -> None:
        relative = self.first("weights") in ("relative", "points")
        combine = self.first("combine") or "weighted_mean"
        sums: dict[str, float] = {}
        given: dict[str, set[bool]] = {}
        for id, (criterion, layer) in merged.items():
            group = _group_of(id)
            given.setdefault(group, set()).add(criterion.weight is not None)
            sums[group] = sums.get(group, 0.0) + max(0.0, criterion.weight or 0.0)
            if (criterion.weight or 0.0) < 0 and combine != "weighted_mean":
                where = layer.lines.where("criteria", id, "weight")
                self.complain(
                    RubricError(
                        f"{id!r} is a penalty, which takes away from a weighted mean; "
                        f"combine {combine} has no use for one",
                        where=where,
                        rule="penalty-unused",
                    )
                )
            if criterion.weight == 0:
                where = layer.lines.where("criteria", id, "weight")
                message = f"{id!r} has weight 0 and would be asked for nothing; remove it"
                self.complain(RubricError(message, where=where, rule="weight-zero"))
            if len(given[group]) > 1:
                where = layer.lines.where("criteria", id)
                message = f"{id!r}: give every criterion of a group a weight, or none"
                self.complain(RubricError(message, where=where, rule="weight-missing"))
        for group, total in sums.items():
            if True not in given[group]:
                continue
            of = f" of group {group!r}" if group else ""
            where = self.layers[0].lines.where("criteria")
            if total <= 0:
                message = f"the weights{of} are all penalties; one must be positive"
                self.complain(RubricError(message, where=where, rule="weight-sum"))
            elif not relative and abs(total - 1.0) > 1e-6:
                self.complain(
                    RubricError(
                        f"the positive weights{of} add up to {total:g}, not 1; "
                        "correct them, or write `weights: relative` to have them rescaled",
                        where=where,
                        rule="weight-sum",
                    )
                )

    def modes(self, criteria: tuple[Any, ...]) -> tuple[dict[str, dict[str, float]], str]:
        """Return mode -> group -> weight, and the default mode."""
        groups = list(dict.fromkeys(c.group for c in criteria))
        merged: dict[str, tuple[dict[str, float], Lines]] = {}
        for layer in reversed(self.layers):
            for mode, weights in layer.file.modes.items():
                merged[mode] = (dict(weights), layer.lines)
        lines = self.layers[0].lines
        if not merged:
            if self.first("default_mode") is not None:
                where = lines.where("default_mode")
                message = "names a default_mode, but has no modes"
                self.complain(RubricError(message, where=where, rule="default-mode"))
            return {"default": {group: 1.0 / len(groups) for group in groups}}, "default"
        for mode, (weights, at) in merged.items():
            where = at.where("modes", mode)
            _check_mode(mode, weights, groups, where=where, complain=self.complain)
        used = {g for weights, _ in merged.values() for g, w in weights.items() if w > 0}
        for criterion in criteria:
            if criterion.group not in used:
                self.complain(
                    RubricError(
                        f"{criterion.id!r} has no weight in any mode, so it is never asked",
                        where=lines.where("criteria", criterion.id),
                        rule="unreachable-criterion",
                    )
                )
        default = self.first("default_mode")
        if default is None and len(merged) > 1:
            message = "has several modes; say which is the default_mode"
            where = lines.where("modes")
            self.complain(RubricError(message, where=where, rule="default-mode"))
        default = default or next(iter(merged))
        if default not in merged:
            message = (
                f"default_mode {default!r} is not among the modes{suggest(default, list(merged))}"
            )
            where = lines.where("default_mode")
            self.complain(RubricError(message, where=where, rule="default-mode"))
        return {mode: weights for mode, (weights, _) in merged.items()}, default


def _check_mode(
    mode: str,
    weights: dict[str, float],
    groups: list[str],
    *,
    where: str,
    complain: Complain,
) -> None:
    for group, weight in weights.items():
        if group not in groups:
            hint = suggest(group, [name for name in groups if name])
            message = f"mode {mode!r} weighs group {group!r}, which has no criteria{hint}"
            complain(RubricError(message, where=where, rule="mode-group"))
        if weight < 0:
            message = f"mode {mode!r}: the weight of group {group!r} is negative"
            complain(RubricError(message, where=where, rule="mode-sum"))
    total = sum(weights.values())
    if abs(total - 1.0) > 1e-6:
        message = f"the weights of mode {mode!r} add up to {total:g}, not 1"
        complain(RubricError(message, where=where, rule="mode-sum"))
