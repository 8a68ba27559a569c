"""The template of a rubric: checks its files and renders cases into messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

from judgekit.core.case import Case, Message
from judgekit.core.errors import RubricError, place
from judgekit.core.request import ChatMessage
from judgekit.core.suggest import suggest
from judgekit.rubric.budget import MAX_CHARACTERS, Rendering, Unplanned, current, printed
from judgekit.rubric.folders import Folders
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.plan import MAX_PLANS, Outline, Plan, Shape, shape_of
from judgekit.rubric.sandbox import RubricEnvironment
from judgekit.rubric.template_file import MAX_BODIES, TOO_LONG, ParsedTemplate
from judgekit.rubric.translated import translated
from judgekit.rubric.variant import CaseView

_SEEN = object()
"""Marker instead of a plan: one case of this shape was rendered."""


class Template:
    """The template of a rubric, with every file that it extends or includes."""

    def __init__(self, name: str, *, loader: Folders) -> None:
        self.name = name
        self.loader = loader
        self.files: dict[str, Path] = {}
        """Its files by name."""
        parsed = self._parsed()
        self._check_blocks(parsed)
        self._check_imports(parsed)
        self.names = frozenset().union(*(file.names for file in parsed.values()))
        """Every name that its files read or set."""
        self.reads = frozenset().union(*(file.reads for file in parsed.values()))
        """Every name and attribute that its files read; no other field of a case is printed."""
        self.text = "".join(file.text for file in parsed.values())
        """The literal text of its files."""
        self.mentions = [mention for file in parsed.values() for mention in file.mentions]
        """Every parameter that its files name, with `file:line`."""
        with translated(loader.folders, file=str(self.files[name])):
            self._compiled = RubricEnvironment(loader).get_template(name)
        self._cached: dict[Any, dict[int, str]] = {}
        self._plans: dict[Any, dict[Shape, Plan | object | None]] = {}

    def again(self) -> Template:
        """Return a copy of the template without its caches, for other settings."""
        other = copy(self)
        other._cached = {}
        other._plans = {}
        return other

    def _parsed(self) -> dict[str, ParsedTemplate]:
        """Find every file of this template; return the parsed files by name."""
        waiting: list[tuple[str, str | None]] = [(self.name, None)]
        parsed: dict[str, ParsedTemplate] = {}
        length = 0
        while waiting:
            name, where = waiting.pop()
            if name in parsed:
                continue
            with translated(self.loader.folders, where=where):
                self.files[name] = self.loader.find(name)
                parsed[name] = self.loader.template_file(name)
            length += parsed[name].length
            if length > MAX_BODIES:
                raise RubricError(TOO_LONG, where=str(self.files[name]), rule="prompt-size")
            waiting += parsed[name].built_from
        return parsed

    def _check_blocks(self, parsed: Mapping[str, ParsedTemplate]) -> None:
        """Refuse a block that no parent template has: Jinja would leave it out silently."""
        names = [self.name]
        while (parent := self.loader.parents.get(names[-1])) is not None:
            names.append(parent)
        for place_above, name in enumerate(names[:-1], start=1):
            known = [block for above in names[place_above:] for block in parsed[above].blocks]
            for block, where in parsed[name].blocks.items():
                if block not in known and block not in parsed[name].inner:
                    message = (
                        f"block {block!r} is not in the extended rubric{suggest(block, known)}"
                    )
                    raise RubricError(message, where=where, rule="unknown-block")

    def _check_imports(self, parsed: Mapping[str, ParsedTemplate]) -> None:
        """Refuse `{% from "file" import name %}` of a name that the file does not define."""
        for importer, own in parsed.items():
            for file, name, line in own.imports:
                exports = parsed[file].exports
                if name not in exports:
                    message = f"{file!r} defines no {name!r}{suggest(name, sorted(exports))}"
                    where = place(self.files[importer], line)
                    raise RubricError(message, where=where, rule="unknown-variable")

    def render(
        self,
        *,
        variables: Mapping[str, Any],
        case: Case,
        history: tuple[Message, ...],
        variant: Any,
    ) -> tuple[ChatMessage, ...]:
        """Render into messages.

        Args:
            variables: everything but the case; the same for the same `variant`.
            case: the case.
            history: the earlier messages to show.
            variant: identifies the variables. Messages that read nothing of the case are
                rendered once per variant; without this cache, a template without a plan takes
                1.6 times as long.

        Raises:
            RubricError: the template failed or exceeded its budget.
        """
        plan = self._plan(variables, case, history, variant)
        filled = None if plan is None else plan.fill(case, history)
        if filled is not None:
            return filled
        rendering = self._run(variables, CaseView(case, history), variant)
        return tuple(
            ChatMessage(role=role, content=text) for role, text in rendering.messages if text
        )

    def has_plan(self, shape: Shape | None) -> bool:
        """Return whether a plan renders cases of a shape: it prints a text whole, or not at all."""
        plans = [known[shape] for known in self._plans.values() if shape in known]
        return bool(plans) and all(isinstance(plan, Plan) for plan in plans)

    def _plan(
        self, variables: Mapping[str, Any], case: Case, history: tuple[Message, ...], variant: Any
    ) -> Plan | None:
        """Return the plan for cases of this shape; the second such case creates it."""
        shape = shape_of(case, history)
        if shape is None:
            return None
        plans = self._plans.setdefault(variant, {})
        if shape not in plans:
            if len(plans) < MAX_PLANS:
                plans[shape] = _SEEN
            return None
        plan = plans[shape]
        if plan is _SEEN:
            try:
                rendering = self._run(variables, Outline(case, history), variant)
                # Far below the limits, so that filling the placeholders cannot exceed them.
                cheap = rendering.characters < MAX_CHARACTERS // 2
                plan = Plan(rendering.messages, rendering.placeholders) if cheap else None
            except (RubricError, Unplanned):
                plan = None
            plans[shape] = plan
        return plan if isinstance(plan, Plan) else None

    def _run(self, variables: Mapping[str, Any], case: CaseView, variant: Any) -> Rendering:
        """Run the template once, and return its messages."""
        cached = self._cached.setdefault(variant, {})
        rendering = Rendering(cached=cached, read=case._was_read)
        token = current.set(rendering)
        try:
            with translated(self.loader.folders):
                outside = printed(self._compiled.render(case=case, **variables))
        finally:
            current.reset(token)
        if not rendering.messages:
            rendering.messages.append(("user", outside.strip()))
        elif outside.strip():
            words = " ".join(outside.split())[:60]
            where = str(self.files[self.name])
            message = f"text outside {{% role %}}: {words!r}"
            raise RubricError(message, where=where, rule="text-never-shown")
        return rendering


@cache
def _partial(name: str, *, frozen: bool) -> Template:
    builtin = builtin_folder()
    loader = Folders((builtin,), builtin=builtin)
    loader.frozen = frozen
    return Template(name, loader=loader)


def with_criteria_last(
    messages: tuple[ChatMessage, ...],
    *,
    criteria: Sequence[Any],
    details: Sequence[Any],
    frozen: bool = False,
) -> tuple[ChatMessage, ...]:
    """Return messages with criteria after the last one.

    All calls about a case then begin with the same text, which providers cache.

    Args:
        messages: the messages without criteria.
        criteria: the criteria, as templates see them.
        details: the details of the whole verdict.
        frozen: whether the rubric is built from frozen files.
    """
    variables = {"criteria": criteria, "details": details}
    return _with_last(messages, _partial("_criteria_last.jinja", frozen=frozen), variables)


def with_case_criteria(
    messages: tuple[ChatMessage, ...], *, criteria: Sequence[Any]
) -> tuple[ChatMessage, ...]:
    """Return messages with criteria that were written for one case after the last one.

    Args:
        messages: the messages without criteria.
        criteria: the criteria, as templates see them; their texts are fenced.
    """
    template = _partial("_case_criteria.jinja", frozen=False)
    return _with_last(messages, template, {"criteria": criteria})


def with_requirements(
    messages: tuple[ChatMessage, ...],
    *,
    requirements: Sequence[tuple[str, Sequence[tuple[str, str]]]],
) -> tuple[ChatMessage, ...]:
    """Return messages with requirements after the last one.

    Args:
        messages: the messages about an answer.
        requirements: a title, and the names and texts of requirements; the texts are fenced.
    """
    template = _partial("_requirements.jinja", frozen=False)
    return _with_last(messages, template, {"requirements": requirements})


def _with_last(
    messages: tuple[ChatMessage, ...], template: Template, variables: Mapping[str, Any]
) -> tuple[ChatMessage, ...]:
    case = Case(id="criteria", output="")
    rendered = template.again().render(variables=variables, case=case, history=(), variant=None)
    *first, last = messages
    text = f"{last.content}\n\n{rendered[0].content}"
    shared = len(last.content) + 2
    return (*first, last.model_copy(update={"content": text, "shared": shared}))
