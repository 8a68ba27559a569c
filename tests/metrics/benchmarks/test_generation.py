from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.metrics.benchmarks.generation import CONFIDENCE, Generation
from judgekit.metrics.benchmarks.task import Task
from judgekit.runner.evaluation import evaluate_sync
from tests.growth import LINEAR, growth, repeated


def score(output, reference, choices=(), **options):
    case = Case(id="1", output=output, reference=reference, choices=choices)
    return asyncio.run(Generation(**options).score(case))


@pytest.mark.parametrize(
    ("output", "reference", "choices", "kind", "value"),
    [
        ("So the answer is (b).", "B", (), "choice", 1),
        ("It is Rome.", "Rome", ("Paris", "Rome"), "choice", 1),
        ("B", "Rome", ("Paris", "Rome"), "choice", 1),
        ("A", "Rome", ("Paris", "Rome"), "choice", 0),
        ("That makes $1,000.00 in all.", "1000", (), "number", 1),
        ("That makes 1001.", "1000", (), "number", 0),
        ("Yes, surely.", "yes", (), "yes_no", 1),
        ("The answer is true.", "no", (), "yes_no", 0),
        ("The answer is the Eiffel Tower.", ["Louvre", "Eiffel Tower"], (), "text", 1),
        ("The Louvre.", "Eiffel Tower", (), "text", 0),
    ],
)
def test_the_kind_is_found_from_the_case(output, reference, choices, kind, value):
    found = score(output, reference, choices)

    assert (found.details["kind"], found.value) == (kind, value)
    assert (
        found.confidence
        == CONFIDENCE["marked" if found.details["rule"] == "marked" else "unmarked"]
    )
    assert found.details["outcome"] == ("matched" if value else "differs")


@pytest.mark.parametrize("metric", [Generation(kind="choice"), Task(benchmark="mmlu")])
def test_a_rejected_letter_is_not_the_answer(metric):
    case = Case(id="1", output="Not C. D.", reference="D", choices=("x", "y", "z", "w"))

    assert asyncio.run(metric.score(case)).value == 1


def test_what_was_found_and_by_which_rule_is_told():
    found = score("6 + 1. The answer is 8.", "7")

    assert found.details["answer"] == "8"
    assert found.details["rule"] == "marked"
    assert found.details["said"] == "answer is 8."
    assert found.ground_truth == "7"
    assert found.reason == 'The output answers "8" (rule: marked), which is not the reference.'
    assert len(found.meta["wording"]) == 64


def test_no_answer_is_wrong_and_told_apart():
    found = score("I cannot say.", "7")

    assert (found.value, found.details["outcome"], found.details["answer"]) == (
        0,
        "no_answer",
        None,
    )
    assert found.reason == "No answer was found in the output, which counts as wrong."


def test_the_share_of_answers_is_a_figure_of_the_run():
    outputs = ["7", "8", "who knows", " "]
    cases = [Case(id=str(n), output=o, reference="7") for n, o in enumerate(outputs)]

    report = evaluate_sync(cases, [Generation()], gates={"generation": {"answered": 0.5}})

    assert report.figures.metrics[0].figures == {"answered": pytest.approx(2 / 4)}


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        ({"reference": "7"}, {}, "needs an output"),
        ({"output": "7"}, {}, "needs a reference"),
        ({"output": "7", "reference": "seven"}, {"kind": "number"}, "'seven' is not a number"),
        ({"output": "7", "reference": "maybe"}, {"kind": "yes_no"}, "'maybe' is not a yes or no"),
        ({"output": "A", "reference": "Z", "choices": ["x", "y"]}, {}, "'Z' is not one of the 2"),
        ({"output": "A", "reference": "Rome"}, {"kind": "choice"}, "'Rome' is not a letter"),
    ],
)
def test_a_case_it_cannot_score_is_said(fields, options, message):
    with pytest.raises(CaseError, match=message):
        asyncio.run(Generation(**options).score(Case(id="1", **fields)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "letter"}, "kind must be one of auto, choice, number, text, yes_no"),
        ({"tolerance": -1}, "tolerance must be a number of at least 0"),
        ({"tolerance": float("nan")}, "tolerance must be"),
        ({"tolerance": True}, "tolerance must be"),
    ],
)
def test_wrong_options_are_said(options, message):
    with pytest.raises(ConfigError, match=message):
        Generation(**options)


def test_numbers_may_be_apart_by_the_tolerance():
    assert score("0.33", "1/3").value == 0
    assert score("0.33", "1/3", tolerance=0.01).value == 1
    assert score("0.32", "1/3", tolerance=0.01).value == 0


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_any_text_scores_in_range_and_twice_the_same(output, reference):
    found = score(output, reference)

    assert found.value in (0, 1)
    assert found == score(output, reference)
    assert (found.value == 1) == (found.details["outcome"] == "matched")


@given(st.text(min_size=1).filter(str.strip))
def test_more_references_never_lower_the_value(output):
    assert (
        score(output, ["x", output.strip()], kind="text").value
        >= score(output, ["x"], kind="text").value
    )


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["choice", "number", "text", "yes_no"])
@pytest.mark.parametrize(
    "piece", ["\\boxed{", "the answer is ", "*", "1.\n", "(A) ", "yes, ", "1/", "答えは", "\x00"]
)  # fmt: skip
def test_a_long_output_takes_linear_time(kind, piece):
    reference = "7" if kind == "number" else "A" if kind == "choice" else "no"

    def check(text):
        score(f"{text}.", reference, kind=kind)

    assert growth(check, repeated(piece), 20_000) < LINEAR


def test_answers_in_other_languages_are_found_by_form():
    assert score("Also ergibt sich 42.", "42").value == 1
    assert score("答えは B です", "B", kind="choice").value == 1
    assert score("因此 \\boxed{7}", "7").value == 1
