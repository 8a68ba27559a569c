"""Rules about examples and tests: cases with a verdict by the author."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgekit.authoring.lint.rule import Problem, check
from judgekit.authoring.lint.subject import LintSubject
from judgekit.authoring.lint.words import contradiction
from judgekit.core.canonical import canonical_json
from judgekit.core.case import CASE_TEXTS

EDGE = 1e-9


_Shown = tuple[int, Mapping[str, Any], str, dict[str, Any], str]
"""An answer of an example: index and case of the example, criterion, answer, and place."""


def _answers(subject: LintSubject) -> Iterator[_Shown]:
    """Yield the answers of the examples, from the front matter or from a labelled file."""
    inline = subject.file.inline_examples
    shown = [(example.case, example.answers) for example in inline]
    if not inline and subject.rubric is not None:
        shown = [
            (e.case.model_dump(mode="json", exclude_defaults=True, exclude={"id"}), e.answers)
            for e in subject.rubric.examples
        ]
    for number, (case, answers) in enumerate(shown):
        for id, answer in answers.items():
            if isinstance(answer, dict):
                at = subject.at("examples", *((number, "answers", id) if inline else ()))
                yield number, case, id, answer, at


@check("example-contradiction")
def _contradicting(subject: LintSubject) -> Iterator[Problem]:
    for _, _, id, answer, where in _answers(subject):
        if id not in subject.by_id:
            continue
        question, reason = subject.by_id[id].question, str(answer.get("reason", ""))
        items = [item for item in answer.get("items") or () if isinstance(item, dict)]
        text = contradiction(question, value=answer.get("value"), reason=reason, items=items)
        if text is not None:
            yield Problem(where, f"the example's {id!r}: {text}", id)


@check("example-quote")
def _quoting(subject: LintSubject) -> Iterator[Problem]:
    for _, case, id, answer, where in _answers(subject):
        texts = " ".join(" ".join(_texts(case)).split())
        for quote in answer.get("quotes") or ():
            if isinstance(quote, str) and " ".join(quote.split()) not in texts:
                message = f"the example quotes text that its case does not have: {quote!r}"
                yield Problem(where, message, id)


def _texts(case: Mapping[str, Any]) -> Iterator[str]:
    for field in CASE_TEXTS:
        value = case.get(field)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (text for text in value if isinstance(text, str))
    for message in case.get("history") or ():
        if isinstance(message, dict):
            yield str(message.get("content", ""))


@check("examples-disagree")
def _disagreeing(subject: LintSubject) -> Iterator[Problem]:
    seen: dict[tuple[str, str], tuple[int, str]] = {}
    for number, case, id, answer, where in _answers(subject):
        value = _key(answer.get("value", answer.get("items")))
        first, other = seen.setdefault((_key(case), id), (number, value))
        if other != value:
            message = f"examples {first + 1} and {number + 1} give the same case different {id!r}"
            yield Problem(where, message, id)


@check("examples-one-sided")
def _one_sided(subject: LintSubject) -> Iterator[Problem]:
    values: dict[str, list[str]] = {}
    for _, _, id, answer, _ in _answers(subject):
        if "value" in answer:
            values.setdefault(id, []).append(_key(answer["value"]))
    for id, answers in values.items():
        if len(answers) >= 2 and len(set(answers)) == 1:
            message = f"all {len(answers)} examples answer {id!r} with {answers[0]}"
            yield Problem(subject.at("examples"), message, id)


@check("example-incomplete")
def _incomplete(subject: LintSubject) -> Iterator[Problem]:
    for number, example in enumerate(subject.file.inline_examples):
        left = [id for id in subject.by_id if id not in example.answers]
        if left and len(left) < len(subject.by_id):
            where = subject.at("examples", number)
            yield Problem(where, f"the example does not answer {', '.join(map(repr, left[:3]))}")


@check("example-in-tests")
def _shown_in_tests(subject: LintSubject) -> Iterator[Problem]:
    shown = {_key(example.case): n for n, example in enumerate(subject.file.inline_examples)}
    for number, test in enumerate(subject.file.tests):
        if (example := shown.get(_key(test.case))) is not None:
            message = f"the case of this test is example {example + 1}, which the judge sees"
            yield Problem(subject.at("tests", number), message)


def _key(value: Any) -> str:
    try:
        return canonical_json(value)
    except (TypeError, ValueError):
        return repr(value)


@check("test-impossible")
def _impossible(subject: LintSubject) -> Iterator[Problem]:
    """Find ranges that no answer can reach."""
    for number, test in enumerate(subject.file.tests):
        for id, expected in test.expect.items():
            criterion = subject.by_id.get(id)
            if criterion is None or (expected.min is None and expected.max is None):
                continue
            low = 0.0 if expected.min is None else expected.min
            high = 1.0 if expected.max is None else expected.max
            if criterion.levels:
                worths = [level.value for level in criterion.levels if level.value is not None]
            elif criterion.question.kind == "boolean":
                worths = [0.0, 1.0]
            else:
                continue
            worths = [1.0 - worth for worth in worths] if criterion.reverse else worths
            if not any(low - EDGE <= worth <= high + EDGE for worth in worths):
                shown = ", ".join(f"{worth:g}" for worth in sorted(set(worths)))
                where = subject.at("tests", number, "expect", id)
                message = f"no answer to {id!r} has a value from {low:g} to {high:g}, only {shown}"
                yield Problem(where, message, id)


@check("tests-one-sided")
def _same_side(subject: LintSubject) -> Iterator[Problem]:
    tests = subject.file.tests
    expected = [e for test in tests for e in test.expect.values()]
    bands = [e for e in expected if (e.min, e.max) != (None, None)]
    if len(tests) < 3 or not bands or len(bands) < len(expected):
        return
    side = "low" if all(e.max is None for e in bands) else "high"
    if side == "low" or not any(e.min for e in bands):
        yield Problem(subject.at("tests"), f"none of the {len(tests)} tests expects a {side} value")
