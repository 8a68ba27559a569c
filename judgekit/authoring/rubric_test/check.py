"""Compare a verdict with the expectations in a rubric."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

from judgekit.core.case import Case
from judgekit.core.score import Failure, Part, Result, Score
from judgekit.core.value import Value
from judgekit.metrics.quote import find_quote
from judgekit.rubric.testfile import WHOLE, ExpectFile, Ordering, RubricTest

TOLERANCE = 1e-9
"""Tolerance for bounds, because sums of weights are not exact."""

Verdict = Literal["passed", "failed", "missed", "unjudged"]
"""`missed`: not recorded; `unjudged`: the judge cannot be called."""

_VERDICTS: Mapping[str, Verdict] = {
    "cassette_miss": "missed",
    "unavailable": "unjudged",
    "not_run": "unjudged",
    "pending": "unjudged",
}
"""Kind of a failure -> verdict; other failures are `failed`."""


class Shortfall(Value):
    """One expectation that is not met."""

    criterion: str
    """The criterion, or `value` for the rubric."""
    expected: str
    said: str
    """The judge's answer and its value."""
    reason: str = ""
    """The judge's reason."""


class TestOutcome(Value):
    """The outcome of one test or ordering."""

    name: str
    where: str = ""
    verdict: Verdict
    value: float | None = None
    """Value of the rubric, if the case has a score."""
    message: str = ""
    """The reason why there is no verdict."""
    shortfalls: tuple[Shortfall, ...] = ()
    key: str | None = None
    """Key of the request that has no reply."""


def check_test(test: RubricTest, result: Result) -> TestOutcome:
    """Return the outcome of a test."""
    if isinstance(result, Failure):
        if result.kind != "invalid_case":
            return _unscored(test, result, result.message)
        refused = test.expect.get(WHOLE)
        if refused and refused.status == "invalid_case":
            return _outcome(test, "passed")
        return _unscored(test, result, f"the rubric refuses this case: {result.message}")
    compared = (_compare(n, e, _part(n, result), test.case) for n, e in test.expect.items())
    shortfalls = tuple(filter(None, compared))
    verdict: Verdict = "failed" if shortfalls else "passed"
    return _outcome(test, verdict, value=result.value, shortfalls=shortfalls)


def _unscored(test: RubricTest | Ordering, failure: Failure, message: str) -> TestOutcome:
    verdict = _VERDICTS.get(failure.kind, "failed")
    return _outcome(test, verdict, message=message, key=failure.key)


def _outcome(test: RubricTest | Ordering, verdict: Verdict, **fields: Any) -> TestOutcome:
    return TestOutcome(name=test.name, where=test.where, verdict=verdict, **fields)


def _part(name: str, score: Score) -> Part | None:
    """Return the part of a verdict that belongs to an expectation."""
    if name == WHOLE:
        return Part(id=WHOLE, status=score.status, value=score.value, reason=score.reason)
    return next((part for part in score.parts if part.id == name), None)


def _answer_text(part: Part) -> str:
    if part.value is None:
        answer = "" if part.answer is None else f"{spoken(part.answer)}, "
        return f"{answer}{part.status.replace('_', ' ')}"
    if part.id == WHOLE:
        return f"{part.value:.4g}"
    answer = spoken(part.answer)
    if part.items:
        answer = f"{sum(1 for item in part.items if item['met'])} of {len(part.items)} met"
    return f"{answer}, worth {part.value:.4g}"


def _reason(part: Part) -> str:
    if part.reason or not part.items:
        return part.reason
    unmet = [f"{item['item']}: {item['reason']}" for item in part.items if not item["met"]]
    return "; ".join(unmet) or "every item is met"


def _compare(name: str, expected: ExpectFile, actual: Part | None, case: Case) -> Shortfall | None:
    parts = list(_parts(expected, case))
    if actual is None:
        words = ", ".join(words for words, _ in parts)
        nothing = "nothing: this case or mode does not ask for it"
        return Shortfall(criterion=name, expected=words, said=nothing)
    missing = [words for words, is_met in parts if not is_met(actual)]
    if not missing:
        return None
    text, reason = _answer_text(actual), _reason(actual)
    if expected.quotes:
        text = f"{text}, quoting {', '.join(map(repr, _quoted(actual))) or 'nothing from the case'}"
    return Shortfall(criterion=name, expected=", ".join(missing), said=text, reason=reason)


def _quoted(part: Part) -> list[str]:
    """Return the quotes that are in the case."""
    return [quote.text for quote in part.quotes if quote.field is not None]


def _parts(expected: ExpectFile, case: Case) -> Iterator[tuple[str, Callable[[Part], bool]]]:
    """Yield the parts of an expectation: its text, and a function that checks a verdict."""
    low, high, status, answer = expected.min, expected.max, expected.status, expected.answer
    if low is not None or high is not None:
        band = f"at least {low:g}" if high is None else f"at most {high:g}"
        if low is not None and high is not None:
            band = f"{low:g} to {high:g}"
        least = (low or 0.0) - TOLERANCE
        most = (1.0 if high is None else high) + TOLERANCE
        yield band, lambda a: a.value is not None and least <= a.value <= most
    if answer is not None:
        yield spoken(answer), lambda a: type(a.answer) is type(answer) and a.answer == answer
    quotes = expected.quotes
    for text in quotes.contain if quotes else ():
        yield f"a quote that contains {text!r}", partial(_quotes, " ".join(text.split()))
    if quotes and (field := quotes.source) is not None:
        alone = Case.model_validate({"id": case.id, field: getattr(case, field)})
        yield (
            f"quotes from {field}",
            lambda a: bool(_quoted(a)) and all(find_quote(text, alone) for text in _quoted(a)),
        )
    if status not in (None, "scored") or all(part is None for part in (low, high, answer, quotes)):
        yield (status or "scored").replace("_", " "), lambda a: a.status == (status or "scored")


def _quotes(words: str, part: Part) -> bool:
    return any(words in " ".join(text.split()) for text in _quoted(part))


def spoken(answer: object) -> str:
    """Return an answer as text."""
    if answer is None or isinstance(answer, bool):
        return json.dumps(answer)
    return f"{answer:g}" if isinstance(answer, float) else str(answer)


def check_ordering(ordering: Ordering, results: Mapping[str, Result]) -> TestOutcome:
    """Return the outcome of an ordering, given the results of its two tests."""
    sides: dict[str, Part] = {}
    for name in (ordering.better, ordering.worse):
        result = results[name]
        if isinstance(result, Failure):
            return _unscored(ordering, result, f"{name}: {result.message}")
        actual = _part(ordering.criterion, result)
        if actual is None or actual.value is None:
            text = "not asked" if actual is None else _answer_text(actual)
            return _outcome(ordering, "failed", message=f"{name}: {ordering.criterion} is {text}")
        sides[name] = actual
    better, worse = (side.value or 0.0 for side in sides.values())
    apart = better - worse
    if apart > TOLERANCE and apart >= ordering.by - TOLERANCE:
        return _outcome(ordering, "passed")
    margin = f" by at least {ordering.by:g}" if ordering.by else ""
    shortfall = Shortfall(
        criterion=ordering.criterion,
        expected=f"{ordering.better} above {ordering.worse}{margin}",
        said=f"{better:.4g} against {worse:.4g}",
        reason=" / ".join(f"{name}: {_reason(side)}" for name, side in sides.items()),
    )
    return _outcome(ordering, "failed", shortfalls=(shortfall,))
