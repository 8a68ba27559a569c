"""Merge the files of a rubric: a file overrides what it extends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from judgekit.core.errors import ConfigError, RubricError
from judgekit.core.lookalike import lookalike
from judgekit.core.request import Detail
from judgekit.core.suggest import suggest
from judgekit.rubric.case_text import case_text, uses_case
from judgekit.rubric.chain import Layer
from judgekit.rubric.criterion import Criterion, group_of
from judgekit.rubric.file import ID, MAX_CRITERIA, CriterionFile
from judgekit.rubric.fold import DEFAULT, WAYS, Combine
from judgekit.rubric.parameter import Parameter, filled, named_in, parameter, texts_of
from judgekit.rubric.rubric import Group

_ONLY_TEXT = (
    "only the text of a criterion may use fields of the case; move this there or into the template"
)
TASK = "Judge the answer by the criteria below."
"""The task of a rubric without a description."""


class MergedLayers:
    """The merged layers of a rubric.

    Args:
        layers: the rubric's own layer, then the layers that it extends.
        faults: list to which faults are added.
    """

    def __init__(self, layers: Sequence[Layer], *, faults: list[RubricError]) -> None:
        self.layers, self.own = layers, layers[0]
        self.faults = faults

    def _fault(self, rule: str, message: str, *path: str, layer: Layer | None = None) -> None:
        where = self.where_set(*path) if layer is None else layer.lines.where(*path)
        self.faults.append(RubricError(message, where=where, rule=rule))

    def where_set(self, *path: str) -> str:
        """Return `file:line` of a setting in the first file that has it."""
        for layer in self.layers:
            inside: Any = layer.data
            for step in path[:2]:
                inside = inside.get(step) if isinstance(inside, dict) else None
            if inside is not None:
                return layer.lines.where(*path)
        return self.own.lines.where(*path)

    def first(self, name: str) -> Any:
        """Return a setting from the first layer that has it."""
        values = (getattr(layer.file, name) for layer in self.layers)
        return next((value for value in values if value is not None), None)

    @property
    def combine(self) -> Combine:
        """The way to combine the criteria."""
        return self.first("combine") or DEFAULT

    def _merged(self, name: str, *, by_field: bool = False) -> dict[str, Any]:
        """Return the entries of a mapping of all layers; `null` removes an inherited one.

        Args:
            name: the key of the mapping.
            by_field: whether an entry keeps the inherited fields that it does not set.
        """
        merged: dict[str, Any] = {}
        for layer in reversed(self.layers):
            for key, value in getattr(layer.file, name).items():
                if value is None:
                    if merged.pop(key, None) is None:
                        message = f"removes {key!r}, which it does not inherit"
                        if name == "criteria":
                            message += f"; a criterion has a text: {key}: {{text: ...}}"
                        self._fault("removes-nothing", message, name, key, layer=layer)
                elif by_field and key in merged:
                    fields = {field: getattr(value, field) for field in value.model_fields_set}
                    merged[key] = merged[key].model_copy(update=fields)
                else:
                    merged[key] = value
        return merged

    def description(self) -> str:
        """Return the rubric's description, or else the inherited one of the closest layer.

        The description of an abstract file describes that file and is not inherited.
        """
        texts = [(layer.file.description, layer.file.abstract) for layer in self.layers]
        own = next((text for text, abstract in texts if text is not None and not abstract), None)
        if own is not None:
            return own
        return TASK if any(text for text, _ in texts) else ""

    def details(self, criteria: Sequence[Criterion]) -> tuple[Detail, ...]:
        """Return the details of all layers; none may have the name of a criterion."""
        details = self._merged("details")
        for criterion in criteria:
            if criterion.id in details:
                message = f"{criterion.id!r} is a criterion and a detail"
                self._fault("bad-value", message, "details", criterion.id)
        return tuple(detail.value(name) for name, detail in details.items())

    def groups(self, criteria: Sequence[Criterion]) -> dict[str, Group]:
        """Return the groups of all layers; the rubric's own must have criteria."""
        known = list(dict.fromkeys(c.group for c in criteria if c.group))
        for name in self.own.file.groups:
            if name not in known:
                message = f"group {name!r} has no criteria{suggest(name, known)}"
                self._fault("empty-group", message, "groups", name)
        return {
            name: Group(name=name, requires=tuple(group.requires), text=group.text)
            for name, group in self._merged("groups").items()
        }

    def criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria of all layers, by id; a layer may replace or remove others."""
        merged: dict[str, CriterionFile] = self._merged("criteria")
        if not merged:
            message = 'has no criteria; add criteria: {kind: {text: "Is the answer kind?"}}'
            self._fault("no-criteria", message, "criteria", layer=self.own)
        if len(merged) > MAX_CRITERIA:
            message = f"has {len(merged)} criteria, of {MAX_CRITERIA} at most"
            self._fault("bad-value", message, "criteria", layer=self.own)
        groups: dict[str, dict[str, float | None]] = {}
        for id, criterion in merged.items():
            groups.setdefault(group_of(id), {})[id] = criterion.weight
        lone = next((id for g, ids in groups.items() if g and len(ids) == 1 for id in ids), "")
        for group, weights in groups.items():
            self._check_weights(group, weights, "" if group and len(weights) > 1 else lone)
        criteria = []
        for id, criterion in merged.items():
            if ID.fullmatch(id):
                weight = 1.0 / len(groups[group_of(id)])
                criteria.append(criterion.value(id, default_weight=weight))
            else:
                rule = "letters, digits, _ and -, at most one dot"
                message = f"{id!r} is not a valid name for a criterion: {rule}{lookalike(id)}"
                self._fault("criterion-name", message, "criteria", id)
        return tuple(criteria)

    def _check_weights(self, group: str, weights: dict[str, float | None], alone: str) -> None:
        """Check the weights of the criteria of one group.

        `alone` is a criterion that is alone in its group, perhaps because of a dot in its name.
        """
        given = {id: weight for id, weight in weights.items() if weight is not None}
        for id, weight in given.items():
            if weight < 0 and not WAYS[self.combine].penalties:
                penalty = f"{id!r} is a penalty, which takes away from a weighted mean"
                message = f"{penalty}; combine {self.combine} has no use for one"
                self._fault("penalty-unused", message, "criteria", id, "weight")
            if weight == 0:
                message = f"{id!r} has weight 0 and would be asked for nothing; remove it"
                self._fault("weight-zero", message, "criteria", id, "weight")
        if not given:
            return
        for id, weight_or_none in weights.items():
            if weight_or_none is None:
                message = f"{id!r}: give every criterion of a group a weight, or none"
                self._fault("weight-missing", message, "criteria", id)
        total = sum(max(0.0, weight) for weight in given.values())
        of = f" of group {group!r}" if group else ""
        if total <= 0:
            message = f"the weights{of} are all penalties; one must be positive"
            self._fault("weight-sum", message, "criteria", layer=self.own)
        elif self.first("weights") in (None, "fractions") and abs(total - 1.0) > 1e-6:
            advice = "correct them, or write `weights: relative` to have them rescaled"
            if alone:
                advice = (
                    f"the dot makes {group_of(alone)!r} a group: write {alone.replace('.', '_')}, "
                    f"or {advice}"
                )
            message = f"the positive weights{of} add up to {total:g}, not 1; {advice}"
            self._fault("weight-sum", message, "criteria", layer=self.own)

    def modes(self, criteria: Sequence[Criterion]) -> tuple[dict[str, dict[str, float]], str]:
        """Return mode -> group -> weight, and the default mode."""
        groups = list(dict.fromkeys(c.group for c in criteria))
        modes: dict[str, dict[str, float]] = self._merged("modes")
        default = self.first("default_mode")
        if not modes:
            if default is not None:
                message = "names a default_mode, but has no modes"
                self._fault("default-mode", message, "default_mode", layer=self.own)
            return {"default": {group: 1.0 / len(groups) for group in groups}}, "default"
        used: set[str] = set()
        for mode, weights in modes.items():
            self._check_mode(mode, weights, groups)
            used |= {group for group, weight in weights.items() if weight > 0}
        for criterion in criteria:
            if criterion.group not in used:
                message = f"{criterion.id!r} has no weight in any mode, so it is never asked"
                self._fault(
                    "unreachable-criterion", message, "criteria", criterion.id, layer=self.own
                )
        if default is None and len(modes) > 1:
            message = "has several modes; set default_mode"
            self._fault("default-mode", message, "modes", layer=self.own)
        default = default or next(iter(modes))
        if default not in modes:
            message = f"default_mode {default!r} is not among the modes{suggest(default, modes)}"
            self._fault("default-mode", message, "default_mode", layer=self.own)
        return {mode: dict(weights) for mode, weights in modes.items()}, default

    def _check_mode(self, mode: str, weights: dict[str, float], groups: list[str]) -> None:
        for group, weight in weights.items():
            if group not in groups:
                hint = suggest(group, groups)
                message = f"mode {mode!r} weighs group {group!r}, which has no criteria{hint}"
                self._fault("mode-group", message, "modes", mode)
            if weight < 0:
                message = f"mode {mode!r}: the weight of group {group!r} is negative"
                self._fault("mode-sum", message, "modes", mode)
        total = sum(weights.values())
        if abs(total - 1.0) > 1e-6:
            message = f"the weights of mode {mode!r} add up to {total:g}, not 1"
            self._fault("mode-sum", message, "modes", mode)

    def renamed(self, criteria: Sequence[Criterion]) -> dict[str, str]:
        """Return the renamed criteria of this file; each new name must be a criterion."""
        known = [criterion.id for criterion in criteria]
        for old, new in self.own.file.renamed.items():
            if new not in known:
                message = f"renames {old!r} to {new!r}, which is no criterion{suggest(new, known)}"
                self._fault("bad-value", message, "renamed", old, layer=self.own)
            elif old in known:
                message = f"renames {old!r}, which is still a criterion; remove the line"
                self._fault("bad-value", message, "renamed", old, layer=self.own)
        return dict(self.own.file.renamed)

    def parameters(self) -> dict[str, Parameter]:
        """Return the declared parameters; a file writes only the differences from its parent."""
        parameters = {}
        for name, file in self._merged("parameters", by_field=True).items():
            try:
                parameters[name] = parameter(name, file.model_dump(exclude_unset=True))
            except ConfigError as exc:
                self._fault("bad-value", f"parameters.{name}: {exc}", "parameters", name)
        return parameters

    def check_used(
        self,
        declared: Collection[str],
        *,
        criteria: Sequence[Criterion],
        details: Sequence[Detail],
        mentions: Sequence[tuple[str, str]],
    ) -> None:
        """Refuse parameters that are used and not declared, or declared and not used."""
        named = list(mentions)
        texts: list[tuple[tuple[str, ...], str]] = [(("description",), self.description())]
        texts += [(("details", detail.name), detail.text) for detail in details]
        texts += [(("criteria", c.id), text) for c in criteria for text in texts_of(c)]
        for path, text in texts:
            try:
                named += [(name, self.where_set(*path)) for name in named_in(text)]
            except ConfigError as exc:
                self._fault("bad-value", str(exc), *path)
        self._check_case_texts(criteria, details)
        for criterion in criteria:
            if any("{{" in item and "parameters." in item for item in criterion.question.items):
                message = "an item is answered word for word; it takes no parameter"
                self._fault("bad-value", message, "criteria", criterion.id, "items")
        for name, where in named:
            if name not in declared:
                hint = suggest(name, declared) or "; declare it in the front matter: parameters:"
                message = f"unknown parameter {name!r}{hint}"
                self.faults.append(RubricError(message, where=where, rule="unknown-variable"))
        used = {name for name, _ in named}
        for name in declared:
            if name not in used:
                advice = f"write {{{{ parameters.{name} }}}} where it applies, or remove it"
                message = f"parameter {name!r} is never used; {advice}"
                self._fault("unused-parameter", message, "parameters", name)

    def _check_case_texts(self, criteria: Sequence[Criterion], details: Sequence[Detail]) -> None:
        """Check the texts that use fields of the case; only those of criteria may."""
        for criterion in criteria:
            path = ("criteria", criterion.id)
            text, *others = texts_of(criterion)
            if uses_case(text):
                try:
                    case_text(filled(text, dict.fromkeys(named_in(text), "")))
                except RubricError as exc:
                    self._fault(exc.rule, str(exc), *path, "text")
            if any(map(uses_case, (*others, *criterion.question.items))):
                self._fault("template-syntax", _ONLY_TEXT, *path)
        if uses_case(self.description()):
            self._fault("template-syntax", _ONLY_TEXT, "description")
        for detail in details:
            if uses_case(detail.text):
                self._fault("template-syntax", _ONLY_TEXT, "details", detail.name)
