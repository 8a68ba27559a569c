"""Whether a verdict is what the author of a rubric expects, and how far it is from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from judgekit.core.case import Case
from judgekit.core.score import Failure, Part, Result, Score
from judgekit.core.value import Value
from judgekit.metrics.quote import find_quote
from judgekit.rubric.expectation import WHOLE, Expectation, Ordering, RubricTest, spoken

TOLERANCE = 1e-9
"""Sums of weights are not exact; this much past a bound still counts as on it."""

Verdict = Literal["passed", "failed", "missed", "unjudged"]
"""`missed`: not recorded; `unjudged`: the judge could not be asked."""

_UNJUDGED = ("unavailable", "not_run")


class Shortfall(Value):
    """One expectation that does not hold."""

    criterion: str
    """`value` for the whole."""
    expected: str
    said: str
    """What the judge answered, and what it is worth."""
    reason: str = ""
    """The judge's own."""


class TestOutcome(Value):
    """What came of one test or ordering."""

    name: str
    where: str = ""
    verdict: Verdict
    value: float | None = None
    """Of the whole, where the case was scored."""
    message: str = ""
    """Why there is no verdict, or none to compare."""
    shortfalls: tuple[Shortfall, ...] = ()
    key: str | None = None
    """The request, where it was not answered."""


class _Answers(NamedTuple):
    """What there is to compare with."""

    status: str
    value: float | None
    text: str
    reason: str
    answer: Any = None
    quotes: tuple[str, ...] = ()


def check_test(test: RubricTest, result: Result) -> TestOutcome:
    """Return what came of one test."""
    refused = test.expect.get(WHOLE)
    if isinstance(result, Failure):
        if result.kind == "invalid_case" and refused and refused.status == "invalid_case":
            return TestOutcome(name=test.name, where=test.where, verdict="passed")
        return _without_score(test, result)
    shortfalls = []
    for name, expected in test.expect.items():
        shortfalls += _compare(name, expected, _said(name, result), test.case)
    return TestOutcome(
        name=test.name,
        where=test.where,
        verdict="failed" if shortfalls else "passed",
        value=result.value,
        shortfalls=tuple(shortfalls),
    )


def _without_score(test: RubricTest, failure: Failure) -> TestOutcome:
    verdict: Verdict = "failed"
    message = failure.message
    if failure.kind == "cassette_miss":
        verdict = "missed"
    elif failure.kind in _UNJUDGED:
        verdict = "unjudged"
    elif failure.kind == "invalid_case":
        message = f"the rubric refuses this case: {message}"
    return TestOutcome(
        name=test.name, where=test.where, verdict=verdict, message=message, key=failure.key
    )


def _said(name: str, score: Score) -> _Answers | None:
    if name == WHOLE:
        text = score.status.replace("_", " ") if score.value is None else _number(score.value)
        return _Answers(score.status, score.value, text, score.reason)
    part = next((part for part in score.parts if part.id == name), None)
    if part is None:
        return None
    quotes = tuple(quote.text for quote in part.quotes if quote.field is not None)
    return _Answers(part.status, part.value, _told(part), _reason(part), part.answer, quotes)


def _told(part: Part) -> str:
    if part.value is None:
        answer = "" if part.answer is None else f"{spoken(part.answer)}, "
        return f"{answer}{part.status.replace('_', ' ')}"
    if part.items:
        met = sum(1 for item in part.items if item["met"])
        return f"{met} of {len(part.items)} met, worth {_number(part.value)}"
    return f"{spoken(part.answer)}, worth {_number(part.value)}"


def _reason(part: Part) -> str:
    if part.reason or not part.items:
        return part.reason
    unmet = [f"{item['item']}: {item['reason']}" for item in part.items if not item["met"]]
    return "; ".join(unmet) or "every item is met"


def _number(value: float) -> str:
    return f"{value:.4g}"


def _compare(
    name: str, expected: Expectation, said: _Answers | None, case: Case
) -> list[Shortfall]:
    if said is None:
        return [
            Shortfall(
                criterion=name,
                expected=expected.words(),
                said="nothing: it is not asked of this case in this mode",
            )
        ]
    missing = [part.words() for part in _single(expected) if not _holds(part, said, case)]
    if not missing:
        return []
    told = said.text
    if expected.quotes or expected.quoted_from:
        shown = ", ".join(repr(quote) for quote in said.quotes) or "nothing that is in the case"
        told = f"{told}, quoting {shown}"
    return [Shortfall(criterion=name, expected=", ".join(missing), said=told, reason=said.reason)]


def _single(expected: Expectation) -> list[Expectation]:
    """Return an expectation as several that hold or not each for itself."""
    parts = []
    if expected.minimum is not None or expected.maximum is not None:
        parts.append(Expectation(minimum=expected.minimum, maximum=expected.maximum))
    if expected.answer is not None:
        parts.append(Expectation(answer=expected.answer))
    parts += [Expectation(quotes=(text,)) for text in expected.quotes]
    if expected.quoted_from is not None:
        parts.append(Expectation(quoted_from=expected.quoted_from))
    if expected.status != "scored" or not parts:
        parts.append(Expectation(status=expected.status))
    return parts


def _holds(expected: Expectation, said: _Answers, case: Case) -> bool:
    if expected.quotes:
        wanted = " ".join(expected.quotes[0].split())
        return any(wanted in " ".join(quote.split()) for quote in said.quotes)
    if expected.quoted_from is not None:
        field = expected.quoted_from
        alone = Case.model_validate({"id": case.id, field: getattr(case, field)})
        return bool(said.quotes) and all(find_quote(quote, alone) for quote in said.quotes)
    if expected.answer is not None:
        return type(said.answer) is type(expected.answer) and said.answer == expected.answer
    if expected.minimum is None and expected.maximum is None:
        return said.status == expected.status
    if said.value is None:
        return False
    low = 0.0 if expected.minimum is None else expected.minimum
    high = 1.0 if expected.maximum is None else expected.maximum
    return low - TOLERANCE <= said.value <= high + TOLERANCE


def check_ordering(ordering: Ordering, results: Mapping[str, Result]) -> TestOutcome:
    """Return what came of an ordering, given the results of the tests it names."""
    sides: list[_Answers] = []
    for name in (ordering.better, ordering.worse):
        result = results[name]
        if isinstance(result, Failure):
            verdict: Verdict = "failed"
            if result.kind == "cassette_miss":
                verdict = "missed"
            elif result.kind in _UNJUDGED:
                verdict = "unjudged"
            return _ranked(ordering, verdict, message=f"{name}: {result.message}", key=result.key)
        said = _said(ordering.criterion, result)
        if said is None or said.value is None:
            told = "not asked" if said is None else said.text
            return _ranked(ordering, "failed", message=f"{name}: {ordering.criterion} is {told}")
        sides.append(said)
    better, worse = (side.value or 0.0 for side in sides)
    apart = better - worse
    if apart > TOLERANCE and apart >= ordering.by - TOLERANCE:
        return _ranked(ordering, "passed")
    margin = f" by at least {ordering.by:g}" if ordering.by else ""
    shortfall = Shortfall(
        criterion=ordering.criterion,
        expected=f"{ordering.better} above {ordering.worse}{margin}",
        said=f"{_number(better)} against {_number(worse)}",
        reason=f"{ordering.better}: {sides[0].reason} / {ordering.worse}: {sides[1].reason}",
    )
    return _ranked(ordering, "failed", shortfalls=(shortfall,))


def _ranked(ordering: Ordering, verdict: Verdict, **told: Any) -> TestOutcome:
    return TestOutcome(name=ordering.name, where=ordering.where, verdict=verdict, **told)
