"""A rubric for one request: its criteria, their order, its form, and the template's variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judgekit.core.case import Case, Message
from judgekit.core.case_field import ANSWERS, JUDGED
from judgekit.core.decisions import DECISION_APIS, MOST_LEVELS
from judgekit.core.judgment import Judgment
from judgekit.core.request import Api, Detail, Form, Question
from judgekit.rubric.budget import Placeholder
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Fold, Outcome
from judgekit.rubric.message_text import shown_text
from judgekit.rubric.parameter import ParameterView
from judgekit.rubric.sandbox import View

if TYPE_CHECKING:
    from judgekit.rubric.labelled import Example
    from judgekit.rubric.rubric import Rubric


TEMPLATE_FIELDS = tuple(sorted(JUDGED))
"""The fields of a case that a template may read; labels are not among them."""


class CaseView(View):
    """A case for templates; it records whether a field was read."""

    __slots__ = ("_fields", "_history", "_read", "_steps")

    def __init__(self, case: Case, history: tuple[Message, ...]) -> None:
        self._fields = case
        self._history: Sequence[MessageView] | None = None
        self._steps: Sequence[MessageView] | None = None
        self._read = False
        if history != case.__dict__["history"]:
            self._fields = case.model_copy(update={"history": history})

    def __getattr__(self, name: str) -> Any:
        if name not in TEMPLATE_FIELDS:
            raise AttributeError(name)
        self._read = True
        value = getattr(self._fields, name)
        if name == "history":
            if self._history is None:
                self._history = [MessageView(message) for message in value]
            return self._history
        if name == "steps":
            if self._steps is None:
                self._steps = [MessageView(message) for message in value]
            return self._steps
        if isinstance(value, str) and name not in ANSWERS and not value.strip():
            return None
        return value

    def __dir__(self) -> tuple[str, ...]:
        return TEMPLATE_FIELDS

    def __str__(self) -> str:
        raise TypeError("print a field of the case, such as case.output")

    def _was_read(self) -> bool:
        """Return whether a field of the case was read."""
        return self._read


class MessageView(View):
    """An earlier message for templates."""

    __slots__ = ("content", "role", "text", "tool_calls")

    def __init__(self, message: Message) -> None:
        self.role = message.role
        self.content: str | Placeholder = message.content
        self.tool_calls = message.tool_calls
        self.text: str | Placeholder = shown_text(message)


class CriterionView(View):
    """A criterion for templates."""

    def __init__(self, criterion: Criterion) -> None:
        question = criterion.question
        fields = ("details", "id", "items", "kind", "nullable", "quotes", "text")
        self.__dict__.update(
            {name: getattr(question, name) for name in fields},
            levels=criterion.levels,
            minimum=_plain_number(question.minimum),
            maximum=_plain_number(question.maximum),
        )


def _plain_number(value: float) -> float | int:
    return int(value) if value == int(value) else value


class RubricView(View):
    """Name, version and description for templates."""

    __slots__ = ("description", "name", "version")

    def __init__(self, rubric: Rubric) -> None:
        self.name, self.version = rubric.name, rubric.version
        self.description = rubric.description


class Variant:
    """A rubric in one mode for the groups that apply: its form and its weights.

    Args:
        rubric: the rubric.
        weights: group -> weight, of the groups that apply.
        criteria: the criteria to ask for, in this order; all in their written order by default.
        details: details to ask for; those of the rubric by default.
        origin: the variant of which this one has the criteria in the words for one case.
    """

    def __init__(
        self,
        rubric: Rubric,
        weights: Mapping[str, float],
        *,
        criteria: Sequence[Criterion] | None = None,
        details: tuple[Detail, ...] | None = None,
        origin: Variant | None = None,
    ) -> None:
        self.origin = self if origin is None else origin
        """The variant that all its cases share."""
        self.groups = dict(weights)
        if criteria is None:
            criteria = [c for c in rubric.criteria if weights.get(c.group, 0.0) > 0]
        self.criteria = tuple(criteria)
        self.details = rubric.details if details is None else details
        self.form = Form(questions=tuple(c.question for c in self.criteria), details=self.details)
        self.ids = tuple(criterion.id for criterion in self.criteria)
        self._outcomes = [criterion.outcome for criterion in self.criteria]
        self.views = [CriterionView(criterion) for criterion in self.criteria]
        self.fold = Fold([c.weighted for c in self.criteria], self.groups)

    def form_for(self, api: Api | None) -> Form:
        """Return the form of the questions for an API.

        For a decision endpoint, levels go from low to high, with their descriptions; quotes and
        details are omitted. Levels without a scale become a choice.
        """
        return self._decision_form if api in DECISION_APIS else self.form

    @cached_property
    def _decision_form(self) -> Form:
        return Form(questions=tuple(map(decision_question, self.criteria)))

    def outcomes(self, judgment: Judgment) -> list[Outcome]:
        """Return the values of a judgment's answers, in the order of the criteria."""
        answers = judgment.answers.values()
        return [
            outcome(answer.value, answer.items)
            for outcome, answer in zip(self._outcomes, answers, strict=True)
        ]

    def shown(self, examples: Iterable[Example]) -> list[dict[str, Any]]:
        """Return examples for templates, with the answers to this form only."""
        names = {*(c.id for c in self.criteria), *(d.name for d in self.form.details)}
        return [
            {
                "case": CaseView(example.case, example.case.history),
                "answers": {k: v for k, v in example.answers.items() if k in names},
            }
            for example in examples
        ]

    def variables(self, rubric: Rubric, mode: str, *, own_form: bool) -> dict[str, Any]:
        """Return the variables except the case; no criteria if the metric has its own form."""
        return {
            "criteria": [] if own_form else self.views,
            "details": () if own_form else self.details,
            "examples": self.shown(rubric.examples),
            "groups": list(self.groups),
            "mode": mode,
            "parameters": ParameterView(rubric.parameters),
            "rubric": RubricView(rubric),
        }  # fmt: skip


def decision_question(criterion: Criterion) -> Question:
    """Return the question of a criterion for a decision endpoint (see `Variant.form_for`)."""
    question = criterion.question
    changes: dict[str, Any] = {"quotes": False, "details": ()}
    levels = list(criterion.levels)
    if question.kind == "score" and levels:
        unranked = any(level.value is None for level in levels)
        if question.nullable or len(levels) > MOST_LEVELS or unranked:
            changes["kind"] = "choice"
        else:
            levels = sorted(levels, key=lambda level: level.value or 0.0)
    if question.labels:
        changes["labels"] = tuple(level.label for level in levels)
        texts = tuple(level.text for level in levels)
        changes["descriptions"] = texts if any(texts) else ()
    return question.model_copy(update=changes)
