"""Rules about a rubric as a whole: its file, weights, modes, examples, tests and judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgekit.authoring.lint.rule import Problem, check, check_each, repeated
from judgekit.authoring.lint.subject import LintSubject, OwnCriterion
from judgekit.authoring.lint.words import contradiction, pattern
from judgekit.core.canonical import canonical_json
from judgekit.core.case_field import CASE_TEXTS
from judgekit.core.decisions import left_out_of, refusal_of
from judgekit.rubric.fold import DEFAULT, WAYS, Way
from judgekit.rubric.versions import SUFFIX


@check("missing-description")
def _undescribed(subject: LintSubject) -> Iterator[Problem]:
    inherited = (layer.file for layer in subject.parents if not layer.file.abstract)
    if not any((file.description or "").strip() for file in (subject.file, *inherited)):
        yield Problem(subject.at("name"), "has no description")


@check("name-mismatch")
def _misnamed(subject: LintSubject) -> Iterator[Problem]:
    stem = subject.path.name.removesuffix(SUFFIX)
    if subject.file.name != stem:
        message = f"is named {subject.file.name!r}, but its file is named {stem!r}"
        yield Problem(subject.at("name"), message)


@check("missing-tests")
def _untested(subject: LintSubject) -> Iterator[Problem]:
    if not subject.file.tests and not subject.file.abstract:
        yield Problem(subject.at("name"), "has no tests")


DOMINANT = 0.6
"""Weight above which one of three or more criteria dominates the value."""
NEGLIGIBLE = 0.02
"""Weight below which an answer hardly changes the second decimal."""
MANY = 20
"""Maximum number of criteria in a request that judges do not confuse."""


def _way(subject: LintSubject) -> Way:
    return WAYS[subject.inherited("combine") or DEFAULT]


@check("dominant-criterion")
def _dominant(subject: LintSubject) -> Iterator[Problem]:
    own = {one.id: one for one in subject.own} if _way(subject).weighted else {}
    modes = subject.shares()
    for mode, all_shares in modes.items():
        shares = {id: share for id, share in all_shares.items() if share > 0}
        for id, share in shares.items():
            if len(shares) >= 3 and share > DOMINANT and id in own:
                of = f" of mode {mode!r}" if len(modes) > 1 else ""
                others = f"the other {len(shares) - 1} criteria hardly count"
                yield own.pop(id).problem(f" is {share:.0%} of the value{of}; {others}", "weight")


@check("negligible-weight")
def _negligible(subject: LintSubject) -> Iterator[Problem]:
    shares = subject.shares() if _way(subject).weighted else {}
    for own in subject.own:
        most = max((abs(s[own.id]) for s in shares.values() if own.id in s), default=1.0)
        if most < NEGLIGIBLE:
            yield own.problem(f" is at most {most:.1%} of the value", "weight")


@check_each("weight-ignored")
def _ignored(own: OwnCriterion) -> Iterator[Problem]:
    if own.file.weight is not None and not _way(own.subject).weighted:
        combine = own.subject.inherited("combine")
        yield own.problem(f" has a weight, which combine {combine} ignores", "weight")


@check("mode-idle-group")
def _idle_group(subject: LintSubject) -> Iterator[Problem]:
    for mode, weights in subject.file.modes.items():
        for group, weight in weights.items():
            if weight == 0:
                where = subject.at("modes", mode, group)
                yield Problem(where, f"mode {mode!r} gives group {group!r} the weight 0")


@check("mode-duplicate")
def _same_modes(subject: LintSubject) -> Iterator[Problem]:
    modes = subject.file.modes
    weighted = ((frozenset((g, w) for g, w in modes[mode].items() if w), mode) for mode in modes)
    for mode, first in repeated(weighted):
        yield Problem(subject.at("modes", mode), f"mode {mode!r} has the same weights as {first!r}")


@check_each("penalty-unsaid")
def _penalty_without_fault(own: OwnCriterion) -> Iterator[Problem]:
    text = f"{own.id.replace('_', ' ').replace('-', ' ')} {own.file.text}"
    names_fault = not own.subject.english(text) or pattern("faults").search(text)
    if own.criterion.weight < 0 and not names_fault:
        yield own.problem(" has a negative weight, but its text names no fault", "weight")


@check_each("penalty-reversed")
def _reversed_penalty(own: OwnCriterion) -> Iterator[Problem]:
    if own.criterion.weight < 0 and own.file.reverse:
        yield own.problem(" is reversed twice: by a negative weight and by reverse", "reverse")


@check_each("reversed-levels")
def _reversed_levels(own: OwnCriterion) -> Iterator[Problem]:
    if own.file.reverse and own.words[1]:
        yield own.problem(" gives its words values and then reverses them", "reverse")


@check_each("all-wants-exact")
def _exact(own: OwnCriterion) -> Iterator[Problem]:
    if own.free_number and _way(own.subject).exact:
        most, combine = own.criterion.question.maximum, own.subject.inherited("combine")
        yield own.problem(f" is a free number, but combine {combine} needs exactly {most:g}")


@check("many-criteria")
def _many(subject: LintSubject) -> Iterator[Problem]:
    modes = subject.shares() if subject.own else {}
    if many := next((mode for mode, shares in modes.items() if len(shares) > MANY), None):
        asks = f"mode {many!r} asks" if len(modes) > 1 else "asks"
        message = f"{asks} for {len(modes[many])} criteria at once; the limit is {MANY}"
        yield Problem(subject.at("criteria"), message)


@check("not-askable")
def _not_askable(subject: LintSubject) -> Iterator[Problem]:
    for criterion in subject.loaded.criteria:
        if (why := refusal_of(criterion.question)) is not None:
            message = f"{criterion.id!r} cannot be asked at a decision endpoint: {why}"
            yield Problem(subject.at("criteria", criterion.id), message, criterion.id)


@check("not-answered")
def _not_answered(subject: LintSubject) -> Iterator[Problem]:
    for criterion in subject.loaded.criteria:
        if left_out := left_out_of(criterion.question):
            message = f"{criterion.id!r}: a decision endpoint gives no {', '.join(left_out)}"
            yield Problem(subject.at("criteria", criterion.id), message, criterion.id)
    for detail in subject.loaded.details:
        message = f"a decision endpoint gives no detail {detail.name}"
        yield Problem(subject.at("details", detail.name), message)


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
                numbers = [level.value for level in criterion.levels if level.value is not None]
            elif criterion.question.kind == "boolean":
                numbers = [0.0, 1.0]
            else:
                continue
            numbers = [1.0 - number for number in numbers] if criterion.reverse else numbers
            if not any(low - EDGE <= number <= high + EDGE for number in numbers):
                shown = ", ".join(f"{number:g}" for number in sorted(set(numbers)))
                message = f"no answer to {id!r} has a value from {low:g} to {high:g}, only {shown}"
                yield Problem(subject.at("tests", number, "expect", id), message, id)


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
