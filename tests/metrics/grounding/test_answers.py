"""Answer relevancy, completeness, facts covered by a judge."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.comparing import above
from judgekit.core.errors import CaseError, ConfigError
from judgekit.metrics.grounding.coverage import AnswerRelevancy, Completeness, FactsCoveredJudge
from tests.metrics.scripted import Scripted, shown, statements

CASE = Case(
    id="knife",
    input="How do I sharpen a bread knife, and how often?",
    output="With a ceramic rod. We also sell rods! Knives are made of steel.",
    reference=("With a ceramic rod, twice a year.",),
)


def scored(metric, case=CASE):
    return asyncio.run(metric.score(case))


def addressing(**by_statement):
    words = {name.replace("_", " "): word for name, word in by_statement.items()}
    return Scripted(
        statements=statements(*words, not_met=list(words)[1:2]),
        statement_relevance=lambda request: {
            "addresses": {"reason": "so", "value": words[shown(request, "statement")[0]]}
        },
    )


def looked_for(values, *, listing=None, criterion="covered"):
    def judged(request):
        (element,) = shown(request, "fact" if criterion == "stated" else "element")
        quotes = ["ceramic rod"] if values[element] > 0.5 else []
        return {criterion: {"reason": element, "quotes": quotes, "value": values[element]}}

    rubric = {"covered": "element_covered", "stated": "fact_stated"}[criterion]
    return Scripted(**{rubric: judged}, **(listing or {}))


# -- relevancy -----------------------------------------------------------------------


def test_relevancy_is_yes_and_a_part_of_unsure_over_statements():
    judge = addressing(a_rod="yes", rods_are_sold="no", knives_are_steel="unsure")

    score = scored(AnswerRelevancy(judge=judge))

    assert score.value == pytest.approx((1 + 0.3) / 3)
    assert [p.answer for p in score.parts] == ["yes", "no", "unsure"]
    assert score.reason == (
        "1 of 3 statements addresses the question, 1 may; not: “rods are sold”."
    )
    assert scored(AnswerRelevancy(judge=judge, unsure=0)).value == pytest.approx(1 / 3)


def test_relevancy_judges_statements_that_are_no_claims_too():
    judge = addressing(a_rod="yes", hello="no")

    assert scored(AnswerRelevancy(judge=judge)).value == 0.5
    assert judge.count("statement_relevance") == 2


def test_an_answer_that_states_nothing_is_not_applicable():
    score = scored(AnswerRelevancy(judge=Scripted(statements=statements())))

    assert (score.status, score.reason) == ("not_applicable", "The answer states nothing.")


def test_statements_beyond_the_limit_are_left_out_and_it_is_said():
    score = scored(AnswerRelevancy(judge=addressing(a="yes", b="no"), max_statements=1))

    assert (score.value, score.details["statements_left_out"]) == (1.0, 1)


@given(st.lists(st.sampled_from(["yes", "no", "unsure"]), min_size=1, max_size=6), st.floats(0, 1))
def test_relevancy_is_on_its_range_and_rises_with_what_unsure_is_worth(words, unsure):
    judge = addressing(**{f"statement_{n}": word for n, word in enumerate(words)})

    value = scored(AnswerRelevancy(judge=judge, unsure=unsure)).value

    assert 0 <= value <= 1
    assert scored(AnswerRelevancy(judge=judge, unsure=0)).value <= value


# -- completeness --------------------------------------------------------------------


def given_elements(*elements):
    return CASE.model_copy(update={"expected": {"required": list(elements)}})


def test_completeness_is_covered_over_required_elements_that_were_given():
    judge = looked_for({"the tool": 0.9, "how often": 0.5})

    score = scored(Completeness(judge=judge), given_elements("the tool", "how often", "The tool."))

    assert score.value == 0.5
    assert score.reason == (
        "The answer covers 1 of 2 elements given with the case; missing: “how often”."
    )
    assert score.details["elements_from"] == "given"
    assert [q.field for q in score.parts[0].quotes] == ["output"]
    assert score.ground_truth == ["the tool", "how often"]


@pytest.mark.parametrize(
    ("update", "source", "tag"),
    [({}, "reference", "reference"), ({"reference": ()}, "question", "question")],
)
def test_elements_that_are_not_given_are_listed_and_the_result_says_from_what(update, source, tag):
    listed = {
        "elements": {
            "items": [
                {"item": "the tool", "reason": "r", "met": True},
                {"item": "a greeting", "reason": "r", "met": False},
            ]
        }
    }
    judge = looked_for({"the tool": 1.0}, listing={"required_elements": listed})

    score = scored(Completeness(judge=judge), CASE.model_copy(update=update))

    assert score.value == 1.0
    assert score.details["elements_from"] == source
    assert f"taken from the {source}" in score.reason
    assert shown(judge.asked[0], tag) == [CASE.reference[0] if not update else CASE.input]
    assert judge.asked[0].about.case == "knife/required"


def test_nothing_required_is_not_applicable_and_costs_nothing():
    judge = Scripted()

    score = scored(Completeness(judge=judge), given_elements())

    assert score.status == "not_applicable"
    assert judge.asked == []


@pytest.mark.parametrize(
    "update",
    [
        {"output": None},
        {"reference": (), "input": None},
        {"expected": {"required": ["x", ""]}},
        {"expected": {"required": {"a": 1}}},
    ],
)
def test_a_case_that_lacks_something_costs_no_call(update):
    judge = Scripted()

    with pytest.raises(CaseError):
        scored(Completeness(judge=judge), CASE.model_copy(update=update))
    assert judge.asked == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1))
def test_completeness_is_on_its_range_and_falls_with_tau(values, tau):
    elements = {f"element number {n}": v for n, v in enumerate(values)}
    judge = looked_for(elements)
    case = given_elements(*elements)

    value = scored(Completeness(judge=judge, tau=tau), case).value

    assert value == sum(above(v, tau) for v in values) / len(values)
    assert scored(Completeness(judge=judge, tau=min(1, tau + 0.1)), case).value <= value


def test_a_wrong_option_is_refused():
    with pytest.raises(ConfigError, match="max_elements must be a whole number"):
        Completeness(judge=Scripted(), max_elements=0)


# -- facts ---------------------------------------------------------------------------


def test_facts_are_those_given_or_the_claims_of_the_reference():
    facts = {"A ceramic rod is used.": 0.9, "It is done twice a year.": 0.1}
    listed = {"statements": statements(*facts, "Good luck!", not_met=("Good luck!",))}
    judge = looked_for(facts, listing=listed, criterion="stated")
    given_facts = CASE.model_copy(update={"expected": {"facts": "A ceramic rod is used."}})

    taken = scored(FactsCoveredJudge(judge=judge))
    told = scored(FactsCoveredJudge(judge=judge), given_facts)

    assert (taken.value, taken.details["facts_from"]) == (0.5, "reference")
    assert (told.value, told.details["facts_from"]) == (1.0, "given")
    assert [part.id for part in taken.parts] == ["fact 1", "fact 2"]
