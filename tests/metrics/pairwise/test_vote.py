"""Rules of votes about two answers: they treat both answers alike, whatever the ballots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.judgment import Answer, Judgment
from judgekit.core.request import Question
from judgekit.metrics.opinions.vote import Ballot
from judgekit.metrics.pairwise.orders import AnswerExchange, rule_of
from judgekit.rubric.criterion import Criterion, Level
from judgekit.rubric.load import load_rubric

LEVELS = {"aa": 1.0, "a": 0.75, "tie": 0.5, "other tie": 0.5, "b": 0.25, "bb": 0.0}
MIRROR = {"aa": "bb", "a": "b", "b": "a", "bb": "aa"}
CRITERION = Criterion(
    question=Question(id="c", kind="choice", text="?", labels=tuple(LEVELS), nullable=True),
    weight=1.0,
    levels=tuple(Level(label=label, value=value) for label, value in LEVELS.items()),
)
ANSWERS = st.sampled_from([*LEVELS, None])
WEIGHTS = st.sampled_from([0.5, 1.0, 2.0])


def ballots_of(labels, weights=None):
    answers = [Answer(value=label) for label in labels]
    weights = weights or [1.0] * len(answers)
    return [
        Ballot(a, CRITERION.outcome(a.value, a.items), w)
        for a, w in zip(answers, weights, strict=True)
    ]


def opposite(outcome):
    status, value = outcome
    return status, None if value is None else pytest.approx(1 - value)


@pytest.mark.parametrize("rule", ["strict", "vote", "mean"])
@given(pairs=st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1, max_size=5))
def test_exchanged_answers_give_the_opposite_outcome(rule, pairs):
    labels = [label for pair in pairs for label in pair]
    mirrored = [MIRROR.get(label, label) for label in labels]
    decide = rule_of(rule)

    found = decide(CRITERION, ballots_of(labels)).outcome

    assert decide(CRITERION, ballots_of(mirrored)).outcome == opposite(found)
    assert found[1] is None or 0 <= found[1] <= 1


@pytest.mark.parametrize("rule", ["strict", "vote", "mean"])
@pytest.mark.parametrize("vote", ["majority", "mean"])
@given(members=st.lists(st.tuples(ANSWERS, WEIGHTS), min_size=1, max_size=5))
def test_judges_treat_both_answers_alike(rule, vote, members):
    labels, weights = zip(*members, strict=True)
    mirrored = [MIRROR.get(label, label) for label in labels]
    options = {"vote": vote, "voters": "judges"}
    decide = rule_of(rule)

    found = decide(CRITERION, ballots_of(labels, weights), **options).outcome

    assert decide(CRITERION, ballots_of(mirrored, weights), **options).outcome == opposite(found)


@given(pairs=st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1, max_size=4))
def test_a_strict_win_is_a_win_by_vote(pairs):
    ballots = ballots_of([label for pair in pairs for label in pair])

    strict = rule_of("strict")(CRITERION, ballots[:2]).outcome[1]
    vote = rule_of("vote")(CRITERION, ballots[:2]).outcome[1]

    if strict not in (None, 0.5):
        assert vote == strict


@pytest.mark.parametrize(
    ("labels", "status"),
    [
        ((None, None), "abstained"),
        (("aa", None), "abstained"),
        (("aa", None, "aa", "aa", "aa", "aa"), "scored"),
    ],
)
def test_an_open_order_is_no_tie(labels, status):
    assert rule_of("strict")(CRITERION, ballots_of(labels)).outcome[0] == status


def test_judges_without_weight_are_divided_or_agree():
    """The judges with a weight may be those that failed."""
    strict = rule_of("strict")

    divided = strict(CRITERION, ballots_of(("aa", "b"), (0.0, 0.0)), voters="judges")
    agreed = strict(CRITERION, ballots_of(("aa", "aa"), (0.0, 0.0)), voters="judges")

    assert divided.outcome == ("scored", 0.5)
    assert agreed.outcome == CRITERION.outcome("aa", ())


@given(label=st.sampled_from(["A", "tie", "B", None]))
def test_an_exchange_undoes_itself(label):
    exchange = AnswerExchange(load_rubric("preference"), first="baseline")
    judgment = Judgment(request_key="k", answers={"preference": Answer(value=label)})

    assert exchange(exchange(judgment)).answers["preference"].value == label
