"""Rules about examples and tests: cases whose verdict the author gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from judgekit.authoring.lint.contradiction import contradiction
from judgekit.authoring.lint.finding import Said
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.subject import Subject
from judgekit.core.canonical import canonical_json
from judgekit.core.case import CASE_TEXTS

EDGE = 1e-9


class Shown(NamedTuple):
    """An example the judge is shown, written in the front matter or taken from a labelled file."""

    case: Mapping[str, Any]
    answers: Mapping[str, Any]
    number: int | None
    """Its place in the front matter."""


def _shown(subject: Subject) -> list[Shown]:
    inline = [Shown(e.case, e.answers, n) for n, e in enumerate(subject.file.inline_examples)]
    if inline or subject.rubric is None:
        return inline
    return [
        Shown(
            e.case.model_dump(mode="json", exclude_defaults=True, exclude={"id"}), e.answers, None
        )
        for e in subject.rubric.examples
    ]


def _at(subject: Subject, example: Shown, *steps: str) -> str:
    if example.number is None:
        return subject.at("examples")
    return subject.at("examples", example.number, *steps)


def _answers(subject: Subject) -> Iterator[tuple[Shown, int, str, dict[str, Any]]]:
    """Yield the answers of the examples: example, its number, criterion, answer."""
    for number, example in enumerate(_shown(subject)):
        for id, answer in example.answers.items():
            if isinstance(answer, dict):
                yield example, number, id, answer


def _contradicting(subject: Subject) -> Iterator[Said]:
    by_id = {criterion.id: criterion for criterion in subject.criteria}
    for example, _, id, answer in _answers(subject):
        if id not in by_id:
            continue
        found = contradiction(
            by_id[id].question,
            value=answer.get("value"),
            reason=str(answer.get("reason", "")),
            items=tuple(i for i in answer.get("items") or () if isinstance(i, dict)),
        )
        if found is not None:
            where = _at(subject, example, "answers", id)
            yield Said(where, f"the example's {id!r}: {found}", id)


def _quoting(subject: Subject) -> Iterator[Said]:
    for example, _, id, answer in _answers(subject):
        texts = " ".join(" ".join(_texts(example.case)).split())
        for quote in answer.get("quotes") or ():
            if isinstance(quote, str) and " ".join(quote.split()) not in texts:
                where = _at(subject, example, "answers", id)
                yield Said(where, f"the example quotes what its case does not say: {quote!r}", id)


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


def _disagreeing(subject: Subject) -> Iterator[Said]:
    seen: dict[tuple[str, str], tuple[int, str]] = {}
    for example, number, id, answer in _answers(subject):
        value = _key(answer.get("value", answer.get("items")))
        first, said = seen.setdefault((_key(example.case), id), (number, value))
        if said != value:
            where = _at(subject, example, "answers", id)
            message = f"examples {first + 1} and {number + 1} judge the same case, {id!r} otherwise"
            yield Said(where, message, id)


def _one_sided(subject: Subject) -> Iterator[Said]:
    values: dict[str, list[str]] = {}
    for *_, id, answer in _answers(subject):
        if "value" in answer:
            values.setdefault(id, []).append(_key(answer["value"]))
    for id, given in values.items():
        if len(given) >= 2 and len(set(given)) == 1:
            message = f"all {len(given)} examples answer {id!r} with {given[0]}"
            yield Said(subject.at("examples"), message, id)


def _incomplete(subject: Subject) -> Iterator[Said]:
    ids = [criterion.id for criterion in subject.criteria]
    for number, example in enumerate(subject.file.inline_examples):
        left = [id for id in ids if id not in example.answers]
        if left and len(left) < len(ids):
            where = subject.at("examples", number)
            yield Said(where, f"the example does not answer {', '.join(map(repr, left[:3]))}")


def _given_away(subject: Subject) -> Iterator[Said]:
    shown = {_key(example.case): n for n, example in enumerate(subject.file.inline_examples)}
    for number, test in enumerate(subject.file.tests):
        example = shown.get(_key(test.case))
        if example is not None:
            where = subject.at("tests", number)
            yield Said(where, f"the case of this test is example {example + 1}, shown to the judge")


def _key(value: Any) -> str:
    try:
        return canonical_json(value)
    except (TypeError, ValueError):
        return repr(value)


def _impossible(subject: Subject) -> Iterator[Said]:
    """Find bands that no answer can fall into."""
    by_id = {criterion.id: criterion for criterion in subject.criteria}
    for number, test in enumerate(subject.file.tests):
        for id, expected in test.expect.items():
            criterion = by_id.get(id)
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
                message = f"no answer to {id!r} is worth {low:g} to {high:g}; there are {shown}"
                yield Said(where, message, id)


def _same_side(subject: Subject) -> Iterator[Said]:
    tests = subject.file.tests
    if len(tests) < 3:
        return
    bands = [e for test in tests for e in test.expect.values() if (e.min, e.max) != (None, None)]
    told = [e for test in tests for e in test.expect.values() if (e.min, e.max) == (None, None)]
    if not told and bands and all(e.max is None for e in bands):
        yield Said(subject.at("tests"), f"none of the {len(tests)} tests expects a low value")
    elif not told and bands and all(not e.min for e in bands):
        yield Said(subject.at("tests"), f"none of the {len(tests)} tests expects a high value")


RULES: tuple[Rule, ...] = (
    Rule(
        "example-contradiction",
        "warning",
        "An example whose reason says one thing and whose value another teaches the judge that "
        "reasons do not matter.",
        "Mend the value, or the reason.",
        _contradicting,
        "values and levels in any language, sentences in English",
        needs="rubric",
    ),
    Rule(
        "example-quote",
        "warning",
        "An example that quotes what is not there teaches the judge to invent evidence.",
        "Copy the words from the case.",
        _quoting,
        needs="rubric",
    ),
    Rule(
        "examples-disagree",
        "warning",
        "Two verdicts on one case leave the judge to choose.",
        "Keep one, or make the cases differ in what decided.",
        _disagreeing,
        needs="rubric",
    ),
    Rule(
        "examples-one-sided",
        "warning",
        "Judges repeat what examples show; if all show one value, that is the value.",
        "Show a case of each kind.",
        _one_sided,
        needs="rubric",
    ),
    Rule(
        "example-incomplete",
        "note",
        "An example shows the form of the answer; one without some criteria shows another form.",
        "Answer every criterion.",
        _incomplete,
        needs="rubric",
    ),
    Rule(
        "example-in-tests",
        "warning",
        "A test whose verdict the judge has just read proves nothing.",
        "Test with another case.",
        _given_away,
        needs="rubric",
    ),
    Rule(
        "test-impossible",
        "warning",
        "A band that no answer falls into fails whatever the judge says.",
        "Widen the band, or expect the answer itself.",
        _impossible,
        needs="rubric",
    ),
    Rule(
        "tests-one-sided",
        "note",
        "A rubric that gives everything a high value passes tests that expect nothing low.",
        "Add a case that must come out at the other end.",
        _same_side,
        needs="rubric",
    ),
)
