"""The model of a rubric's front matter."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from judgekit.core.case_field import FIELD_OF, JUDGED
from judgekit.core.file_model import FileModel, Fraction, Number, none_yet, short_for
from judgekit.core.lookalike import lookalike
from judgekit.core.reply_schema import MAX_ITEMS
from judgekit.core.request import Detail, Question
from judgekit.core.suggest import suggest
from judgekit.rubric.criterion import Criterion, Level
from judgekit.rubric.fold import Combine
from judgekit.rubric.parameter import MAX_PARAMETERS, ParameterKind

MAX_CRITERIA = 200
"""Maximum number of criteria in a rubric."""
MAX_EXAMPLES = 20
"""Maximum number of rows of a labelled file that a judge sees."""
MAX_WORDS = 50
"""Maximum number of levels, options or details of a criterion."""

ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z][A-Za-z0-9_-]*)?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# For the schema that editors read; the validators below check the same.
ONE_OF_THE_FIELDS: dict[str, Any] = {"items": {"enum": list(JUDGED)}}

_NAMED_BY_IDS: dict[str, Any] = {"propertyNames": {"pattern": f"^{ID.pattern}$"}}


def _check_fields(fields: list[str] | None) -> list[str] | None:
    for field in fields or ():
        if field not in JUDGED:
            meant = FIELD_OF.get(field)
            hint = f"; did you mean {meant!r}?" if meant in JUDGED else suggest(field, JUDGED)
            raise ValueError(f"{field!r} is not a field of a case{hint}")
    return fields


def _worth(value: Any) -> Any:
    """Convert `good: 0.75` to `good: {value: 0.75}`."""
    return {"value": value} if isinstance(value, (int, float)) or value is None else value


class LevelFile(FileModel):
    """A word that a judge can answer with."""

    value: Fraction | None = None
    """The value of the word, 0 to 1; with `null` (for an option), the criterion is not
    applicable."""
    text: str = ""
    """The meaning of the word, shown to the judge."""


class DetailFile(FileModel):
    """A detail that the judge reports in addition to the verdict."""

    kind: Literal["text", "boolean", "list"] = "text"
    """The form of the detail: a text, a yes or no, or a list of texts."""
    text: str = ""
    """The instruction for the judge."""

    def value(self, name: str) -> Detail:
        """Return the detail as the judge sees it."""
        return Detail(name=name, kind=self.kind, text=self.text)


_Share = Annotated[float, Field(ge=0, le=1)]
_Level = Annotated[
    LevelFile, BeforeValidator(_worth, json_schema_input_type=_Share | LevelFile | None)
]
_Detail = Annotated[
    DetailFile, BeforeValidator(short_for("text"), json_schema_input_type=str | DetailFile)
]
Levels = Annotated[dict[str, _Level], Field(max_length=MAX_WORDS)]
Details = Annotated[dict[str, _Detail], Field(max_length=MAX_WORDS)]

Silences = Annotated[dict[str, str | None], Field(max_length=MAX_WORDS)]
"""Rules of `judgekit rubric lint` to silence -> the reason."""


class CriterionFile(FileModel):
    """One criterion."""

    text: str = Field(min_length=1)
    """The question, as the judge reads it; may contain `{{ parameters.NAME }}`."""
    kind: Literal["score", "levels", "number", "boolean", "choice", "checklist"] | None = None
    """The kind of answer. Levels imply a score, options a choice, items a checklist. `levels` and
    `number` are scores: by a word, or by a number."""
    weight: Number | None = None
    """Share of the weight of its group; negative for a penalty. In a group, either all criteria
    have a weight or none."""
    minimum: Number | None = None
    """The minimum of a score; 0 by default."""
    maximum: Number | None = None
    """The maximum of a score; 1 by default."""
    levels: Levels | None = None
    """Words of a score, best first, with their values on 0 to 1."""
    options: Levels | None = None
    """Words of a choice, with their values; `null` means not applicable."""
    items: list[str] | None = Field(default=None, max_length=MAX_ITEMS)
    """The items of a checklist; without them, the judge lists the items itself."""
    nullable: bool = False
    """Whether the judge may abstain."""
    quotes: bool = False
    """Whether the judge must quote the decisive words."""
    reverse: bool = False
    """Whether a high answer is bad."""
    details: Details = Field(default_factory=dict)
    """Further details to report in addition to the verdict; they are never scored."""
    lint: Silences = Field(default_factory=dict)
    """Lint rules to silence for this criterion -> the reason."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "CriterionFile":
        kind = self.chosen_kind
        only = {"levels": "score", "options": "choice", "items": "checklist"}
        only |= {"minimum": "score", "maximum": "score"}
        for name, needed in only.items():
            if getattr(self, name) is not None and kind != needed:
                raise ValueError(f"{name} belongs to kind {needed}, not {kind}")
        if self.kind == "levels" and not self.levels:
            raise ValueError("kind levels needs levels: {label: value, ...}")
        if self.kind == "number" and self.levels:
            raise ValueError("levels belongs to kind levels, not number")
        if kind == "choice" and not self.options:
            raise ValueError("a choice needs options: {label: value, ...}")
        return self

    @model_validator(mode="after")
    def _consistent(self) -> "CriterionFile":
        if self.levels is not None and self.minimum is not None:
            raise ValueError("give levels, or minimum and maximum, not both")
        if any(words is not None and len(words) < 2 for words in (self.levels, self.options)):
            raise ValueError("needs at least two words to choose from")
        words = self.levels or self.options
        if words is not None and all(level.value is None for level in words.values()):
            raise ValueError("none of its words has a value, so it could never be scored")
        if self.levels and any(level.value is None for level in self.levels.values()):
            advice = "use options for a word that makes the criterion not applicable"
            raise ValueError(f"a level needs a value; {advice}")
        low, high = self.bounds
        if low >= high:
            raise ValueError(f"minimum {low:g} is not below maximum {high:g}")
        if self.items is not None and len(set(self.items)) != len(self.items):
            raise ValueError("names an item twice")
        if self.nullable and self.chosen_kind == "checklist":
            raise ValueError("a checklist cannot abstain; an empty list is not applicable")
        if taken := sorted({"reason", "value", "quotes", "items"} & self.details.keys()):
            raise ValueError(f"a detail cannot be named {taken[0]!r}")
        return self

    @property
    def chosen_kind(self) -> str:
        """The given kind, or the kind that follows from the other keys."""
        if self.kind:
            return "score" if self.kind in ("levels", "number") else self.kind
        return "choice" if self.options else "checklist" if self.items else "score"

    @property
    def bounds(self) -> tuple[float, float]:
        """Minimum and maximum, by default 0 and 1."""
        low = 0.0 if self.minimum is None else self.minimum
        return low, 1.0 if self.maximum is None else self.maximum

    def value(self, id: str, *, default_weight: float) -> Criterion:
        """Return the criterion as a value."""
        words = self.levels or self.options or {}
        low, high = self.bounds
        question = Question(
            id=id,
            kind=self.chosen_kind,
            text=" ".join(self.text.split()),
            minimum=low,
            maximum=high,
            labels=tuple(words),
            items=tuple(self.items or ()),
            nullable=self.nullable,
            quotes=self.quotes,
            details=tuple(detail.value(name) for name, detail in self.details.items()),
        )
        return Criterion(
            question=question,
            weight=default_weight if self.weight is None else self.weight,
            levels=tuple(Level(label=w, value=v.value, text=v.text) for w, v in words.items()),
            reverse=self.reverse,
        )


class GroupFile(FileModel):
    """The fields that a group of criteria needs in a case."""

    requires: list[str] = Field(default_factory=none_yet, json_schema_extra=ONE_OF_THE_FIELDS)
    """Fields that a case must have; otherwise the group is not applicable."""
    text: str = ""
    """A description of the group for readers of the file."""

    _fields = field_validator("requires")(_check_fields)


class ParameterFile(FileModel):
    """A setting that the author leaves open; a suite sets it."""

    kind: ParameterKind | None = None
    """The type of the value; by default, it follows from the choices or the default value."""
    description: str | None = None
    """The effect of the parameter, for users."""
    default: Any = None
    """The default value; a parameter without one must be set."""
    minimum: Number | None = None
    """The minimum of a number."""
    maximum: Number | None = None
    """The maximum of a number."""
    choices: list[str] | None = Field(default=None, min_length=1, max_length=MAX_WORDS)
    """The allowed words of a choice, or of each item of a list."""


class ExampleFile(FileModel):
    """A judged case that is shown to the judge."""

    case: dict[str, Any]
    """The case, by its fields."""
    answers: dict[str, Any]
    """The right answers: criterion -> the answer of an ideal judge."""


class LabelledFile(FileModel):
    """Examples from a file of labelled rows, in which people judged cases."""

    file: str = Field(min_length=1)
    """JSON Lines of `{case, answers}`, in the rubric's folder or a subfolder."""
    cases: str | None = None
    """JSON Lines of cases; needed if the rows contain only the ids of their cases."""
    metric: str | None = None
    """Use the rows of this metric or rubric; by default, those of this rubric."""
    count: int = Field(default=4, ge=1, le=MAX_EXAMPLES)
    """Number of rows that a judge sees."""
    choose: Literal["spread", "first"] = "spread"
    """`spread`: from the lowest value to the highest; `first`: in the order of the file."""


def _how_given(value: Any) -> str:
    return "[file]" if isinstance(value, (dict, LabelledFile)) else "[list]"


Examples = Annotated[
    Annotated[LabelledFile, Tag("[file]")] | Annotated[list[ExampleFile], Tag("[list]")],
    Discriminator(_how_given),
]


def _default(value: Any) -> Any:
    """Convert `audience: adults` to `audience: {default: adults}`."""
    return value if isinstance(value, dict) or value is None else {"default": value}


_Parameter = Annotated[
    ParameterFile,
    BeforeValidator(
        _default, json_schema_input_type=ParameterFile | str | bool | int | float | list[str]
    ),
]


class RubricFile(FileModel):
    """Front matter without its tests, which a run does not need."""

    schema_: str | None = Field(default=None, alias="$schema")
    """The schema of this file, for editors; the judge does not see it."""
    name: str = Field(json_schema_extra={"pattern": f"^{_NAME.pattern}$"})
    """The name in suites and results: letters, digits, _ and -."""
    version: int = Field(default=1, ge=1)
    """The version; increase it with each relevant change."""
    extends: str | None = None
    """The rubric that it extends, `NAME` or `NAME@V`: in the same folder, or built-in."""
    abstract: bool = False
    """Whether the rubric exists only to be extended."""
    description: str | None = None
    """The purpose of the rubric, in a sentence; the judge reads it as the task."""
    requires: list[str] | None = Field(default=None, json_schema_extra=ONE_OF_THE_FIELDS)
    """Fields that every case must have; `output` by default."""
    groups: dict[str, GroupFile] = Field(default_factory=dict)
    """The fields that each group of criteria (`group.name`) needs in a case."""
    modes: dict[str, dict[str, Number]] = Field(default_factory=dict)
    """Mode -> group -> weight; the weights of a mode add up to 1."""
    default_mode: str | None = None
    """The mode that applies if none is selected."""
    weights: Literal["fractions", "relative", "points"] | None = None
    """`fractions`: the weights of a group add up to 1. `relative`: any positive numbers, which are
    rescaled to add up to 1. `points` is an older word for `relative`."""
    combine: Combine | None = None
    """How criteria are combined into one value; weighted_mean by default."""
    criteria: dict[str, CriterionFile | None] = Field(
        default_factory=dict,
        max_length=MAX_CRITERIA,
        json_schema_extra=_NAMED_BY_IDS,
    )
    """The criteria by id; `null` removes an inherited one."""
    renamed: dict[str, str] = Field(default_factory=dict, max_length=MAX_CRITERIA)
    """Name of a criterion in an earlier version -> its name now."""
    details: Details = Field(default_factory=dict)
    """Questions about the whole verdict, after the criteria; they are never scored."""
    parameters: dict[str, _Parameter | None] = Field(
        default_factory=dict, max_length=MAX_PARAMETERS
    )
    """Settings for suites; templates read them as `parameters.NAME`. A rubric that extends this one
    writes only the differences."""
    examples: Examples = Field(default_factory=none_yet)
    """Judged cases that are shown to the judge: written here, or from a labelled file."""
    tests: list[Any] = Field(default_factory=none_yet)
    """Cases with a known verdict (see `TestedFile`)."""
    orderings: list[Any] = Field(default_factory=none_yet)
    """Pairs of tests of which one must score higher than the other."""
    lint: Silences = Field(default_factory=dict)
    """Lint rules to silence in this file -> the reason."""

    @property
    def inline_examples(self) -> list[ExampleFile]:
        """The examples in the front matter."""
        return self.examples if isinstance(self.examples, list) else []

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r}: a name is letters, digits, _ and -{lookalike(name)}")
        return name

    _fields = field_validator("requires")(_check_fields)


_Text = Annotated[str, Field(min_length=1)]
_Inline = Annotated[
    CriterionFile, BeforeValidator(short_for("text"), json_schema_input_type=_Text | CriterionFile)
]
InlineCriteria = Annotated[dict[str, _Inline], Field(min_length=1, json_schema_extra=_NAMED_BY_IDS)]
"""Criteria that are written in a suite or in Python; a text alone is the question."""


class InlineRubricFile(FileModel):
    """Criteria that are written in Python, with the keys of a metric in a suite."""

    criteria: InlineCriteria
    description: str | None = None
    requires: list[str] | None = None
