"""A loaded rubric: criteria, weights, and a template that renders cases into messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.canonical import digest_json
from judgekit.core.case import Case, Message, is_given
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.request import ChatMessage, Detail
from judgekit.core.suggest import suggest
from judgekit.core.value import Displayed, Value
from judgekit.rubric.case_text import case_text, uses_case
from judgekit.rubric.criterion import WRITTEN, Arrangement, Criterion, arranged, ordered
from judgekit.rubric.fold import Combine
from judgekit.rubric.parameter import Parameter, Setting, filled, filled_criterion, filled_parts
from judgekit.rubric.steps import with_steps
from judgekit.rubric.template import Template, with_criteria_last
from judgekit.rubric.variant import Variant

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart
    from judgekit.rubric.labelled import Example, Labelled
    from judgekit.rubric.testfile import Ordering, RubricTest

    Tested = tuple[tuple[RubricTest, ...], tuple[Ordering, ...]]


class Group(Value):
    """Criteria that belong together, and the fields that they need in a case."""

    name: str
    requires: tuple[str, ...] = ()
    text: str = ""


class _Prepared(NamedTuple):
    """A variant with what all cases share that it applies to."""

    variant: Variant
    variables: dict[str, Any]
    """The variables of the template, except the case."""
    key: tuple[Any, ...]
    """Identifies the variables."""


@dataclass(kw_only=True, eq=False, repr=False)
class Rubric(Displayed):
    """A loaded rubric; `load_rubric` creates it."""

    name: str
    version: int
    digest: str
    description: str
    criteria: tuple[Criterion, ...]
    groups: dict[str, Group]
    modes: dict[str, dict[str, float]]
    default_mode: str
    combine: Combine
    requires: tuple[str, ...]
    details: tuple[Detail, ...]
    examples: tuple[Example, ...]
    labelled: Labelled | None
    tested: Callable[[], Tested]
    """Reads the tests and orderings on first use."""
    declared: dict[str, Parameter]
    """The declared parameters."""
    parameters: dict[str, Setting] = field(default_factory=dict)
    """The values of the parameters."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Criterion of an earlier version -> its name in this one."""
    template: Template
    path: Path
    remade: Callable[[Path], Rubric]
    """Makes this rubric again from another file, or from its own if bare names of built-in rubrics
    mean other versions now. Parameters get their defaults."""

    def __post_init__(self) -> None:
        self._written = (self.description, self.criteria, self.details)
        self._variants: dict[tuple[str, tuple[bool, ...], bool], _Prepared] = {}
        self._arrangements: dict[tuple[str, tuple[str, ...], Arrangement], Variant] = {}

    @cached_property
    def _optional(self) -> dict[str, list[str]]:
        """Mode -> the fields that decide which of its groups apply to a case, sorted."""
        needs = self._needs.items()
        return {mode: sorted(frozenset().union(*fields.values())) for mode, fields in needs}

    @cached_property
    def _needs(self) -> dict[str, dict[str, frozenset[str]]]:
        """Mode -> each of its groups with weight -> the fields that the group needs."""
        needs = {name: frozenset(group.requires) for name, group in self.groups.items()}
        return {
            mode: {name: needs.get(name, frozenset()) for name, w in weights.items() if w > 0}
            for mode, weights in self.modes.items()
        }

    def __repr__(self) -> str:
        return f"Rubric({self.name!r}, version={self.version}, digest={self.digest[:12]!r})"

    def _parts_shown(self) -> Iterable[DisplayPart]:
        from judgekit.rubric.display import rubric_parts

        return rubric_parts(self)

    @property
    def tests(self) -> tuple[RubricTest, ...]:
        """Cases with a known verdict; a judge never sees the verdict."""
        return self.tested()[0]

    @property
    def orderings(self) -> tuple[Ordering, ...]:
        """Pairs of test cases of which one must score higher."""
        return self.tested()[1]

    @property
    def files(self) -> tuple[Path, ...]:
        """The file and all files it extends or includes."""
        return tuple(self.template.files.values())

    def manifest_entry(self) -> dict[str, Any]:
        """Return the questions and the values of their answers, as JSON for manifests."""
        names = ("name", "version", "digest", "description", "combine", "modes", "default_mode")
        data: dict[str, Any] = {name: getattr(self, name) for name in names}
        data |= {"digest": self.digest[:16], "criteria": []}
        if self.details:
            data["details"] = _plain(self.details)
        if self.renamed:
            data["renamed"] = self.renamed
        for criterion in self.criteria:
            (question,) = _plain([criterion.question])
            question["weight"] = criterion.weight
            if criterion.reverse:
                question["reverse"] = True
            if criterion.levels:
                question["levels"] = _plain(criterion.levels)
            data["criteria"].append(question)
        return data

    def parameter(self, name: str) -> Parameter:
        """Return a declared parameter.

        Raises:
            ConfigError: there is no parameter of that name.
        """
        if name not in self.declared:
            known = suggest(name, list(self.declared)) if self.declared else "; it declares none"
            raise ConfigError(f"rubric {self.name!r} has no parameter {name!r}{known}")
        return self.declared[name]

    def with_parameters(self, settings: Mapping[str, Any]) -> Rubric:
        """Return this rubric with some parameters set; the others keep their values.

        Raises:
            ConfigError: a parameter is unknown, invalid, or has neither a default nor a value.
        """
        new = {name: self.parameter(name).check(value) for name, value in settings.items()}
        bound = self._set({**self.parameters, **new}) if new else self
        for name in self.declared:
            if name not in bound.parameters:
                advice = f"set parameters: {{{name}: ...}}, or --set"
                needs = f"rubric {self.name!r} needs its parameter {name!r} to be set"
                raise ConfigError(f"{needs}: {advice}")
        return bound

    def with_criteria(self, texts: Mapping[str, str]) -> Rubric:
        """Return this rubric with further criteria: copies of the first one with other texts.

        Args:
            texts: id to text, as the judge reads it.

        Raises:
            ConfigError: an id is taken or invalid, or a text is blank.
        """
        description, criteria, details = self._written
        model = criteria[0]
        taken = {criterion.id for criterion in criteria} | {detail.name for detail in details}
        for id, text in texts.items():
            if id in taken or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", id):
                what = (
                    "is taken"
                    if id in taken
                    else "is not a valid name: use letters, digits, _ and -"
                )
                raise ConfigError(f"rubric {self.name!r} takes no criterion {id!r}: it {what}")
            if not isinstance(text, str) or not text.strip():
                raise ConfigError(f"rubric {self.name!r}: criterion {id!r} needs a text")
        further = [
            model.changed(levels=model.levels, id=id, text=" ".join(text.split()))
            for id, text in texts.items()
        ]
        other = copy(self)
        other._written = (description, (*criteria, *further), details)
        other.digest = digest_json([self.digest, dict(texts)])
        other.remade = lambda path: self.remade(path).with_criteria(texts)
        return other._set(self.parameters)

    def with_items(self, items: Mapping[str, tuple[str, ...]]) -> Rubric:
        """Return this rubric with the items of some checklists given.

        Args:
            items: criterion to the names of its items; without items, the criterion is left out.
        """
        criteria = [
            c.changed(levels=c.levels, items=items[c.id]) if c.id in items else c
            for c in self.criteria
            if items.get(c.id) != ()
        ]
        other = self.again()
        other.criteria = tuple(criteria)
        return other

    def with_defaults(self) -> Rubric:
        """Return this rubric with every parameter at its default, if it has one."""
        defaults = {p.name: p.default for p in self.declared.values() if p.default is not None}
        return self._set(defaults) if self.declared else self

    def again(self) -> Rubric:
        """Return a copy without the caches; a change of one rubric does not affect the other."""
        other = copy(self)
        other.groups, other.declared = dict(self.groups), dict(self.declared)
        other.modes = {name: dict(weights) for name, weights in self.modes.items()}
        other.parameters = dict(self.parameters)
        other.template = self.template.again()
        other._variants, other._arrangements = {}, {}
        return other

    def _set(self, settings: dict[str, Setting]) -> Rubric:
        other = self.again()
        description, criteria, details = self._written
        other.parameters = {name: settings[name] for name in self.declared if name in settings}
        other.description = filled(description, settings)
        other.criteria = tuple(filled_criterion(criterion, settings) for criterion in criteria)
        other.details = filled_parts(details, settings)
        return other

    def criteria_of(self, mode: str) -> list[Criterion]:
        """Return the criteria of the groups that have weight in a mode."""
        return [criterion for criterion in self.criteria if criterion.group in self._needs[mode]]

    def check_mode(self, mode: str | None) -> str:
        """Return the mode to use.

        Raises:
            ConfigError: the rubric has no such mode.
        """
        mode = self.default_mode if mode is None else mode
        if not isinstance(mode, str) or mode not in self.modes:
            hint = suggest(str(mode), self.modes)
            raise ConfigError(f"rubric {self.name!r} has no mode {mode!r}{hint}")
        return mode

    def variant(
        self, case: Case, *, mode: str, own_form: bool = False
    ) -> tuple[Variant, dict[str, Any]]:
        """Return the variant for the applicable groups of a mode, and its variables for a case.

        Raises:
            CaseError: a field the rubric requires is missing, or no group applies.
        """
        return self._prepared(case, mode=mode, own_form=own_form)[:2]

    def _prepared(self, case: Case, *, mode: str, own_form: bool) -> _Prepared:
        """Return the variant for the applicable groups of a mode, with its variables and its key.

        Raises:
            CaseError: a field the rubric requires is missing, or no group applies.
        """
        for name in self.requires:
            if not _present(case, name):
                empty = getattr(case, name) is not None and name not in (
                    "history",
                    "steps",
                    "metadata",
                )
                what = f"{name!r} is empty" if empty else f"the case has no {name!r}"
                raise CaseError(f"{what}, which rubric {self.name!r} needs")
        present = tuple([_present(case, name) for name in self._optional[mode]])
        key = (mode, present, own_form)
        prepared = self._variants.get(key)
        if prepared is None:
            prepared = self._variants[key] = self._prepare(mode, present, own_form=own_form)
        return prepared

    def _prepare(self, mode: str, present: Sequence[bool], *, own_form: bool) -> _Prepared:
        fields = set(compress(self._optional[mode], present))
        live = tuple(group for group, needed in self._needs[mode].items() if needed <= fields)
        if not live:
            either = " or ".join(map(repr, self._optional[mode]))
            where = f"rubric {self.name!r} in mode {mode!r}"
            raise CaseError(f"{where} needs the case to have {either}")
        variant = Variant(self, {group: self.modes[mode][group] for group in live})
        variables = variant.variables(self, mode, own_form=own_form)
        return _Prepared(variant, variables, (mode, live, own_form))

    def _arranged(self, variant: Variant, mode: str, how: Arrangement) -> Variant:
        """Return a variant as one request shows it."""
        key = (mode, tuple(variant.groups), how)
        if key not in self._arrangements:
            chosen = [c for c in variant.criteria if how.criteria is None or c.id in how.criteria]
            criteria = [arranged(c, how.place) for c in ordered(chosen, how.place)]
            details = variant.details if how.details else ()
            shown = Variant(self, variant.groups, criteria=criteria, details=details)
            self._arrangements[key] = shown
        return self._arrangements[key]

    def _about(self, variant: Variant, case: Case, history: tuple[Message, ...]) -> Variant:
        """Return a variant whose criteria name the fields of a case that their texts use.

        Raises:
            CaseError: the case lacks a field that a text uses.
        """
        criteria = []
        for criterion in variant.criteria:
            text = criterion.question.text
            if uses_case(text):
                try:
                    text = case_text(text).render(case, history)
                except CaseError as exc:
                    message = f"rubric {self.name!r}: criterion {criterion.id!r}: {exc}"
                    raise CaseError(message) from exc
                criterion = criterion.changed(levels=criterion.levels, text=text)  # noqa: PLW2901
            criteria.append(criterion)
        return Variant(
            self, variant.groups, criteria=criteria, details=variant.details, origin=variant.origin
        )

    def render(
        self,
        case: Case,
        *,
        mode: str,
        history: tuple[Message, ...] | None = None,
        own_form: bool = False,
        how: Arrangement = WRITTEN,
    ) -> tuple[Variant, tuple[ChatMessage, ...]]:
        """Return the variant for a case as a request shows it, and the messages to a judge.

        Args:
            case: the case.
            mode: one of the rubric's modes.
            history: earlier messages to show; all of the case's by default.
            own_form: whether the messages leave out the criteria, because the metric asks with its
                own form, or the form alone has the questions.
            how: the criteria to show, and their order.

        Raises:
            CaseError: the case lacks a field that the rubric needs.
            RubricError: the template failed.
        """
        last = how.criteria is not None and not own_form
        variant, variables, key = self._prepared(case, mode=mode, own_form=own_form or last)
        if how != WRITTEN:
            variant = self._arranged(variant, mode, how)
            if not last:
                variables = variant.variables(self, mode, own_form=own_form)
                key = (*key, how)
        if self.labelled is not None:
            out, examples = self.labelled.shown_to(case)
            if out:
                key = (*key, out)
                variables = {**variables, "examples": variant.shown(examples)}
        history = case.__dict__["history"] if history is None else history
        template = self.template
        if any(uses_case(criterion.question.text) for criterion in variant.criteria):
            variant = self._about(variant, case, history)
            # The texts differ from case to case, so nothing is kept for the next one.
            template = template.again()
            if not (own_form or last):
                variables = {**variables, "criteria": variant.views}
        messages = template.render(variables=variables, case=case, history=history, variant=key)
        if case.__dict__["steps"]:
            messages = with_steps(messages, case, reads=self.template.reads)
        if last:
            messages = with_criteria_last(
                messages,
                criteria=variant.views,
                details=variant.details,
                frozen=self.template.loader.frozen,
            )
        return variant, messages


def _plain(values: Iterable[Value]) -> list[dict[str, Any]]:
    return [value.model_dump(mode="json", exclude_defaults=True) for value in values]


def _present(case: Case, field: str) -> bool:
    value = getattr(case, field)
    return is_given(field, value) if value is None or isinstance(value, str) else bool(value)
