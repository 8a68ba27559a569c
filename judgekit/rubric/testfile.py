"""The model of a rubric's tests in the front matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from judgekit.core.case import Case
from judgekit.core.case_field import EVIDENCE
from judgekit.core.errors import ConfigError, RubricError
from judgekit.core.file_model import FileModel, Fraction, none_yet, validate_file
from judgekit.core.suggest import suggest
from judgekit.core.value import Json, Value
from judgekit.core.yaml_file import Lines, parse_yaml
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.file import RubricFile
from judgekit.rubric.folders import read_file
from judgekit.rubric.labelled import inline_case
from judgekit.rubric.parameter import Parameter
from judgekit.rubric.versions import frozen_name

WHOLE = "value"
"""Refers to the folded value of a rubric instead of a criterion."""

Expected = Literal["scored", "abstained", "not_applicable", "invalid_case"]
"""The status that a test expects; `invalid_case` means that the rubric refuses the case without a
call."""

_NAME = re.compile(r"[\w.+-]+")


def _texts(value: Any) -> Any:
    return {"contain": value} if isinstance(value, (str, list)) else value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _answered(value: Any) -> Any:
    """Convert `harm: none` to `harm: {answer: none}`."""
    if isinstance(value, (bool, str)):
        return {"answer": value}
    if isinstance(value, (int, float)):
        raise ValueError("give a band, {min: 0.4, max: 0.6}: judges do not repeat numbers exactly")
    return value


Texts = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])]


class QuotesFile(FileModel):
    """The quotes that the judge must give."""

    contain: Texts = Field(default_factory=none_yet)
    """Texts that must occur in the quotes."""
    source: str | None = Field(default=None, alias="from")
    """The field of the case that must contain the quote."""

    @model_validator(mode="after")
    def _something(self) -> QuotesFile:
        if not self.contain and self.source is None:
            raise ValueError("give the text that a quote must contain, or its field")
        if not all(text.strip() for text in self.contain):
            raise ValueError("a text to find in a quote must not be empty")
        if self.source is not None and self.source not in EVIDENCE:
            raise ValueError(f"no text field {self.source!r}{suggest(self.source, EVIDENCE)}")
        return self


class ExpectFile(FileModel):
    """The expectation about a criterion or the whole value."""

    min: Fraction | None = None
    """The minimum value, 0 to 1."""
    max: Fraction | None = None
    """The maximum value, 0 to 1."""
    status: Expected | None = None
    """scored (the default), abstained, not_applicable or invalid_case."""
    answer: bool | str | None = None
    """The expected word, or the expected yes or no."""
    quotes: Annotated[
        QuotesFile | None,
        BeforeValidator(_texts, json_schema_input_type=str | list[str] | QuotesFile | None),
    ] = None
    """The quotes that the judge must give."""

    @model_validator(mode="after")
    def _consistent(self) -> ExpectFile:
        if not self.model_fields_set:
            raise ValueError("expects nothing; give min, max, answer, status or quotes")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is above max {self.max:g}")
        bounds = [n for n in ("min", "max", "answer") if getattr(self, n) is not None]
        if self.status not in (None, "scored") and bounds:
            raise ValueError(f"{self.status} has no value, so it cannot have {bounds[0]}")
        return self


_Expected = Annotated[
    ExpectFile, BeforeValidator(_answered, json_schema_input_type=bool | str | ExpectFile)
]


class TestFile(FileModel):
    """A case with a known verdict."""

    __test__ = False

    name: str | None = None
    """The name in orderings and messages."""
    case: dict[str, Any]
    """The case, by its fields."""
    mode: str | None = None
    """The mode to test; by default the rubric's default mode."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Values for the rubric's parameters in this test."""
    expect: dict[str, _Expected] = Field(min_length=1)
    """Criterion, or `value` for the whole -> the expectation."""

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str | None) -> str | None:
        if name is not None and not _NAME.fullmatch(name):
            raise ValueError(f"{name!r}: a test's name is letters, digits, _ - + and dots")
        return name


class OrderingFile(FileModel):
    """A pair of tests of which one must score higher than the other."""

    better: str
    """The test that must score higher."""
    worse: str
    """The test that must score lower."""
    criterion: str = WHOLE
    """The criterion to compare; by default the whole value."""
    by: Fraction = 0.0
    """The minimum difference, 0 to 1."""


class TestedFile(RubricFile):
    """Front matter with its tests."""

    __test__ = False
    model_config = ConfigDict(title="RubricFile")

    tests: list[TestFile] = Field(default_factory=none_yet)
    """Cases with a known verdict; a judge never sees the verdict."""
    orderings: list[OrderingFile] = Field(default_factory=none_yet)
    """Pairs of tests of which one must score higher than the other."""


class LaterTests(FileModel):
    """A file of tests beside a frozen rubric, whose bytes never change."""

    tests: list[TestFile] = Field(min_length=1)
    orderings: list[OrderingFile] = Field(default_factory=none_yet)


def later_tests(rubric: Path) -> tuple[LaterTests, Lines] | None:
    """Return the tests in `versions/NAME@V.tests.yaml`, beside a frozen rubric; else `None`.

    Raises:
        RubricError: the file cannot be read, or a test is malformed.
    """
    path = rubric.with_suffix(".tests.yaml")
    if frozen_name(rubric) is None or not path.is_file():
        return None
    try:
        data, lines = parse_yaml(read_file(path), file=str(path))
    except ConfigError as exc:
        error = RubricError(str(exc), rule="yaml")
        error.where = exc.where
        raise error from exc
    return validate_file(LaterTests, data, lines=lines, error=RubricError), lines


class RubricTest(Value):
    """A case with a known verdict; never shown to a judge."""

    __test__ = False

    name: str
    case: Case
    mode: str | None = None
    """Mode of the rubric; its default mode if `None`."""
    parameters: dict[str, Json] = Field(default_factory=dict)
    """Values for the rubric's parameters; the others have their defaults."""
    expect: dict[str, ExpectFile]
    """Criterion, or `value` for the whole -> the expectation."""
    where: str = ""
    """`file:line` of the test."""

    @property
    def own_criteria(self) -> bool:
        """Whether the case has criteria itself; the expectations are about those."""
        return "criteria" in self.case.expected


class Ordering(OrderingFile):
    """Expects the case of one test to score higher than that of another."""

    where: str
    """`file:line` of the ordering."""

    @property
    def name(self) -> str:
        """The name among the tests."""
        by = "" if self.criterion == WHOLE else f"-by-{self.criterion}"
        return f"{self.better}-over-{self.worse}{by}"


class Known(NamedTuple):
    """The criteria, modes and parameters that tests may name."""

    criteria: Mapping[str, Criterion]
    modes: Sequence[str]
    lines: Lines
    declared: Mapping[str, Parameter]

    def fault(self, message: str, *path: str | int) -> RubricError:
        """Return the error of a test at a path in the front matter."""
        return RubricError(message, where=self.lines.where(*path), rule="test-invalid")

    def check_name(self, name: str, *path: str | int) -> None:
        """Refuse a name that is neither a criterion nor `value`."""
        known = [WHOLE, *self.criteria]
        if name not in known:
            raise self.fault(
                f"the test has an expectation about {name!r}{suggest(name, known)}", *path
            )


def read_tests(
    tests: Sequence[TestFile], orderings: Sequence[OrderingFile], known: Known
) -> tuple[tuple[RubricTest, ...], tuple[Ordering, ...]]:
    """Return the tests and orderings of a rubric, checked against its criteria and modes.

    Raises:
        RubricError: with file and line.
    """
    read = tuple(_test(entry, number, known) for number, entry in enumerate(tests))
    ranked = tuple(_ordering(entry, n, read, known) for n, entry in enumerate(orderings))
    taken: set[str] = set()
    every: list[RubricTest | Ordering] = [*read, *ranked]
    for one in every:
        if one.name in taken:
            message = f"two tests are named {one.name!r}"
            raise RubricError(message, where=one.where, rule="test-invalid")
        taken.add(one.name)
    return read, ranked


def _test(entry: TestFile, number: int, known: Known) -> RubricTest:
    at = ("tests", number)
    if entry.mode is not None and entry.mode not in known.modes:
        hint = suggest(entry.mode, known.modes)
        raise known.fault(f"the rubric has no mode {entry.mode!r}{hint}", *at, "mode")
    _check_parameters(entry, number, known)
    own = "criteria" in (entry.case.get("expected") or {})
    for name, expected in entry.expect.items():
        if own and name != WHOLE:
            continue  # checked when the criteria of the case are read
        known.check_name(name, *at, "expect", name)
        if fault := _fault(expected, known.criteria.get(name)):
            raise known.fault(f"{name}: {fault}", *at, "expect", name)
    refused = any(expected.status == "invalid_case" for expected in entry.expect.values())
    if refused and len(entry.expect) > 1:
        message = "a case that is refused is not judged, so nothing else can be expected of it"
        raise known.fault(message, *at, "expect")
    name = entry.name or f"test-{number + 1}"
    where = known.lines.where(*at)
    return RubricTest(
        name=name,
        case=inline_case(entry.case, id=name, where=where),
        mode=entry.mode,
        parameters=entry.parameters,
        expect=entry.expect,
        where=where,
    )


def _check_parameters(entry: TestFile, number: int, known: Known) -> None:
    """Refuse invalid parameters, and missing ones without a default."""
    declared = known.declared
    for name, value in entry.parameters.items():
        path = ("tests", number, "parameters", name)
        if name not in declared:
            hint = suggest(name, declared) if declared else "; it declares none"
            raise known.fault(f"the rubric has no parameter {name!r}{hint}", *path)
        try:
            declared[name].check(value)
        except ConfigError as exc:
            raise known.fault(str(exc), *path) from exc
    for name, parameter in declared.items():
        if parameter.default is None and name not in entry.parameters:
            setting = f"parameters: {{{name}: ...}}"
            message = f"{name!r} has no default, so the test must set it: {setting}"
            raise known.fault(message, "tests", number)


def _fault(expected: ExpectFile, criterion: Criterion | None) -> str | None:
    """Return the reason why an expectation can never be met; `None` if it can."""
    if criterion is None:
        if expected.answer is not None:
            return (
                "a whole rubric has a value, not an answer; give its limits: {min: 0.4, max: 0.6}"
            )
        return "quotes belong to a criterion" if expected.quotes else None
    question = criterion.question
    if expected.quotes and not question.quotes:
        return "the criterion has no quotes; write `quotes: true` in it"
    if expected.status == "invalid_case":
        return "invalid_case belongs to the whole: value: {status: invalid_case}"
    if expected.status == "abstained" and not question.nullable:
        return "can never abstain; write `nullable: true` in the criterion"
    empty_list = question.kind == "checklist" and not question.items
    drops_out = empty_list or any(level.value is None for level in criterion.levels)
    if expected.status == "not_applicable" and not drops_out:
        return "can never be not_applicable: every answer to it has a value"
    return _answer_fault(expected.answer, criterion)


def _answer_fault(answer: bool | str | None, criterion: Criterion) -> str | None:
    question = criterion.question
    if answer is None:
        return None
    if question.labels:
        if answer in question.labels:
            return None
        return f"no such answer: {answer!r}{suggest(str(answer), list(question.labels))}"
    if question.kind == "boolean":
        return None if isinstance(answer, bool) else f"answers true or false, not {answer!r}"
    return "has no words to answer with; give a band, {min: 0.4, max: 0.6}"


def _ordering(
    entry: OrderingFile, number: int, tests: Sequence[RubricTest], known: Known
) -> Ordering:
    names = [test.name for test in tests]
    at = ("orderings", number)
    for side, name in (("better", entry.better), ("worse", entry.worse)):
        if name not in names:
            raise known.fault(f"{side}: no test is named {name!r}{suggest(name, names)}", *at, side)
    if entry.better == entry.worse:
        raise known.fault(f"{entry.better!r} cannot be above itself", *at)
    if not all(test.own_criteria for test in tests if test.name in (entry.better, entry.worse)):
        known.check_name(entry.criterion, *at, "criterion")
    return Ordering(**entry.model_dump(), where=known.lines.where(*at))
