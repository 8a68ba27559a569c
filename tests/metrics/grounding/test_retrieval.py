"""What was retrieved: context recall and context precision."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.metrics.grounding.claims import ContextRecall
from judgekit.metrics.grounding.coverage import ContextPrecision
from tests.metrics.scripted import Scripted, shown, statements, support

CASE = Case(
    id="loan",
    input="How long may I keep a book?",
    reference=("28 days, and it can be renewed twice.", "Four weeks."),
    context=("Films: 7 days.", "Books are lent for 28 days.", "Cards cost 5 crowns."),
)


def scored(metric, case=CASE):
    return asyncio.run(metric.score(case))


def relevance(by_passage):
    def judged(request):
        (passage,) = shown(request, "passage")
        value = by_passage[passage]
        return {"relevant": {"reason": f"{value}", "quotes": [passage], "value": value}}

    return Scripted(passage_relevance=judged)


def ranked(*probabilities, **options):
    passages = {f"passage number {n}": p for n, p in enumerate(probabilities)}
    case = CASE.model_copy(update={"context": tuple(passages)})
    return scored(ContextPrecision(judge=relevance(passages), **options), case)


# -- recall ----------------------------------------------------------------------------


def test_recall_is_reference_claims_found_over_reference_claims():
    def check(request):
        return support(0.95 if "28" in shown(request, "claim")[0] else 0.1)

    judge = Scripted(
        statements=statements("A book is lent for 28 days.", "It can be renewed twice."),
        claim_support=check,
    )

    score = scored(ContextRecall(judge=judge))

    assert score.value == 0.5
    assert score.reason == (
        "The context supports 1 of 2 claims of the reference; not “It can be renewed twice.”."
    )
    assert score.ground_truth == CASE.reference[0]
    assert shown(judge.asked[0], "answer") == [CASE.reference[0]]
    assert [r.about.case for r in judge.asked] == [
        "loan/reference", "loan/reference/1", "loan/reference/2",
    ]  # fmt: skip


def test_a_reference_without_a_claim_is_not_applicable():
    judge = Scripted(statements=statements("Thanks!", not_met=("Thanks!",)))

    assert scored(ContextRecall(judge=judge)).status == "not_applicable"


@pytest.mark.parametrize("missing", [{"reference": ()}, {"context": ()}, {"reference": ("\n",)}])
def test_recall_without_reference_or_context_asks_nothing(missing):
    judge = Scripted()

    with pytest.raises(CaseError):
        scored(ContextRecall(judge=judge), CASE.model_copy(update=missing))
    assert judge.asked == []


# -- precision -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probabilities", "value"),
    [
        ((0.9, 0.8, 0.1), 1.0),
        ((0.1, 0.9, 0.9), (1 / 2 + 2 / 3) / 2),
        ((0.5, 0.51), 0.5),  # at tau a passage is not relevant
    ],
)
def test_precision_is_the_mean_of_that_at_each_relevant_rank(probabilities, value):
    assert ranked(*probabilities).value == pytest.approx(value)


def test_no_relevant_passage_is_not_applicable_unless_a_number_is_named():
    score = ranked(0.1, 0.2)

    assert (score.status, score.value) == ("not_applicable", None)
    assert score.reason == "None of 2 passages is relevant to the question."
    assert ranked(0.1, 0.2, none_relevant=0).value == 0.0


def test_each_passage_is_judged_by_itself_with_question_and_reference():
    judge = relevance(dict.fromkeys(CASE.context, 0.9))

    score = scored(ContextPrecision(judge=judge))

    assert [shown(r, "passage") for r in judge.asked] == [[p] for p in CASE.context]
    assert all(shown(r, "reference") == [CASE.reference[0]] for r in judge.asked)
    assert [q.field for part in score.parts for q in part.quotes] == ["context"] * 3
    assert score.details == {"passages": 3, "relevant_ranks": [1, 2, 3], "tau": 0.5}


@pytest.mark.parametrize("missing", [{"input": " "}, {"context": ("",)}])
def test_precision_without_question_or_context_asks_nothing(missing):
    judge = Scripted()

    with pytest.raises(CaseError):
        scored(ContextPrecision(judge=judge), CASE.model_copy(update=missing))
    assert judge.asked == []


@pytest.mark.parametrize("option", [{"tau": -0.1}, {"none_relevant": 2}, {"name": ""}])
def test_a_wrong_option_is_refused(option):
    with pytest.raises(ConfigError):
        ContextPrecision(judge=Scripted(), **option)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_precision_is_on_its_range_and_best_when_sorted(probabilities):
    value = ranked(*probabilities, none_relevant=0).value

    assert 0 <= value <= 1
    assert value <= ranked(*sorted(probabilities, reverse=True), none_relevant=0).value
