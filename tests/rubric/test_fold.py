from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgekit.rubric.fold import WAYS, Fold, Outcome, WeightedCriterion, way_of
from tests.each import each

GROUPS = {"user": 0.7, "system": 0.3}


class Answered(NamedTuple):
    id: str
    group: str
    weight: float
    outcome: Outcome

    @property
    def status(self):
        return self.outcome[0]

    @property
    def value(self):
        return self.outcome[1]

    def with_value(self, value):
        return self._replace(outcome=("scored", value))


def fold(criteria, *, groups, combine="weighted_mean"):
    weighted = [WeightedCriterion(*criterion[:3]) for criterion in criteria]
    return Fold(weighted, groups)([c.outcome for c in criteria], combine=combine)


def answered(id, value=1.0, weight=1.0, status="scored"):
    head, dot, _ = id.partition(".")
    outcome = (status, value if status == "scored" else None)
    return Answered(id, head if dot else "", weight, outcome)


def abstained(id, weight=1.0):
    return answered(id, weight=weight, status="abstained")


def not_applicable(id, weight=1.0):
    return answered(id, weight=weight, status="not_applicable")


values = st.floats(min_value=0, max_value=1)
weights = st.floats(min_value=0.01, max_value=100)
statuses = st.sampled_from(["scored", "scored", "scored", "abstained", "not_applicable"])


@st.composite
def criteria(draw, penalties=False):
    count = draw(st.integers(min_value=1, max_value=8))
    made = []
    for number in range(count):
        group = draw(st.sampled_from(sorted(GROUPS)))
        weight = draw(weights)
        if penalties and draw(st.booleans()):
            weight = -weight
        made.append(answered(f"{group}.c{number}", draw(values), weight, draw(statuses)))
    return made


def by_the_book(rated, groups, combine):
    """Fold group by group, the way the documentation puts it; `None` when nothing counts."""
    value_of, weight_of = {}, {}
    for group, weight in groups.items():
        mine = [w for w in rated if w.group == group and w.status == "scored" and weight > 0]
        whole = sum(w.weight for w in mine if w.weight > 0)
        if whole:
            value_of[group] = sum(w.weight * w.value for w in mine) / whole
            weight_of[group] = weight
    values = [w.value for w in rated if w.group in value_of and w.status == "scored"]
    if not values:
        return None
    if combine == "weighted_mean":
        total = sum(weight_of[group] * value_of[group] for group in value_of)
        return total / sum(weight_of.values()), value_of
    if combine == "all":
        return float(all(value == 1.0 for value in values)), value_of
    if combine == "mean":
        return sum(values) / len(values), value_of
    return {"min": min, "max": max}[combine](values), value_of


# -- properties -------------------------------------------------------------------


@given(
    criteria(penalties=True),
    st.sampled_from([GROUPS, {"user": 1.0}, {"system": 0.2, "user": 0.0}, {"other": 1.0}]),
    st.sampled_from(list(WAYS)),
)
def test_a_fold_goes_by_the_book(rated, groups, combine):
    folded = fold(rated, groups=groups, combine=combine)

    expected = by_the_book(rated, groups, combine)
    if expected is None:
        asked = [w for w in rated if groups.get(w.group, 0) > 0]
        abstained = any(w.status == "abstained" for w in asked)
        assert folded == fold([], groups={})._replace(
            status="abstained" if abstained else "not_applicable"
        )
        return
    raw, value_of = expected
    assert folded.status == "scored"
    assert folded.raw == pytest.approx(raw, abs=1e-9)
    assert folded.value == min(1.0, max(0.0, folded.raw))
    assert folded.groups == pytest.approx(value_of)
    assert list(folded.groups) == list(value_of)


@given(criteria())
def test_positive_shares_sum_to_one_and_the_value_stays_within_0_and_1(rated):
    folded = fold(rated, groups=GROUPS)

    if folded.status == "scored":
        assert sum(folded.shares.values()) == pytest.approx(1, abs=1e-12)
        assert 0 <= folded.value <= 1
        assert 0 < folded.covered <= 1 + 1e-12
    else:
        assert (folded.value, folded.raw, folded.shares) == (None, None, {})


@given(criteria(penalties=True))
def test_penalties_leave_the_positive_shares_at_one_and_are_clamped(rated):
    folded = fold(rated, groups=GROUPS)

    if folded.status == "scored":
        positive = [share for share in folded.shares.values() if share > 0]
        assert sum(positive) == pytest.approx(1, abs=1e-12)
        assert folded.value == min(1.0, max(0.0, folded.raw))


@given(criteria(), st.data())
def test_a_better_answer_never_lowers_the_value(rated, data):
    scored = [n for n, w in enumerate(rated) if w.status == "scored"]
    assume(scored)
    at = data.draw(st.sampled_from(scored))
    better = data.draw(st.floats(min_value=rated[at].value, max_value=1))
    improved = [w.with_value(better) if n == at else w for n, w in enumerate(rated)]

    for combine in WAYS:
        before = fold(rated, groups=GROUPS, combine=combine).value
        after = fold(improved, groups=GROUPS, combine=combine).value
        assert after >= before - 1e-12


@given(criteria(penalties=True), st.randoms(use_true_random=False))
def test_the_order_of_criteria_does_not_matter(rated, random):
    shuffled = list(rated)
    random.shuffle(shuffled)

    one, other = fold(rated, groups=GROUPS), fold(shuffled, groups=GROUPS)

    assert one.status == other.status
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.covered == pytest.approx(other.covered, abs=1e-12)


@given(criteria())
def test_what_is_not_scored_counts_as_if_it_had_never_been_asked(rated):
    rest = [w for w in rated if w.status == "scored"]
    assume(rest)

    whole, left = fold(rated, groups=GROUPS), fold(rest, groups=GROUPS)

    assert whole.value == pytest.approx(left.value, abs=1e-12)
    assert whole.shares == pytest.approx(left.shares, abs=1e-12)
    assert left.covered == pytest.approx(1)


@given(criteria(), st.floats(min_value=0.01, max_value=100))
def test_only_the_proportions_of_weights_matter(rated, factor):
    scaled = [w._replace(weight=w.weight * factor) for w in rated]

    one, other = fold(rated, groups=GROUPS), fold(scaled, groups=GROUPS)

    assert one.value == pytest.approx(other.value, abs=1e-9)


@given(criteria(), values)
def test_equal_answers_fold_to_that_answer(rated, value):
    same = [w.with_value(value) if w.status == "scored" else w for w in rated]

    folded = fold(same, groups=GROUPS)

    if folded.status == "scored":
        assert folded.value == pytest.approx(value, abs=1e-12)


# -- worked out by hand -----------------------------------------------------------


def test_a_scored_criterion_without_a_value_counts_as_0():
    rated = [Answered("a", "", 1.0, ("scored", None)), answered("b")]

    assert fold(rated, groups={"": 1.0}).value == 0.5
    assert fold(rated, groups={"": 1.0}, combine="min").value == 0.0


def test_groups_and_criteria_are_two_levels_of_weights():
    rated = [
        answered("user.a", 1.0, 0.4),
        answered("user.b", 0.5, 0.6),
        answered("system.c", 0.0, 1.0),
    ]

    folded = fold(rated, groups=GROUPS)

    assert folded.value == pytest.approx(0.7 * (0.4 + 0.3))
    assert folded.shares == pytest.approx({"user.a": 0.28, "user.b": 0.42, "system.c": 0.3})
    assert folded.groups == pytest.approx({"user": 0.7, "system": 0.0})


def test_an_abstention_shares_its_weight_inside_its_group():
    rated = [answered("user.a", 1.0, 0.5), abstained("user.b", 0.5), answered("system.c", 0.0)]

    folded = fold(rated, groups=GROUPS)

    assert folded.shares == pytest.approx({"user.a": 0.7, "system.c": 0.3})
    assert folded.value == pytest.approx(0.7)
    assert folded.covered == pytest.approx(0.35 + 0.3)


def test_a_group_without_answers_leaves_its_weight_to_the_others():
    rated = [answered("user.a", 0.8), abstained("system.c")]

    folded = fold(rated, groups=GROUPS)

    assert folded.value == pytest.approx(0.8)
    assert folded.covered == pytest.approx(0.7)
    assert "system" not in folded.groups


def test_a_group_without_weight_is_left_out():
    rated = [answered("user.a", 1.0), answered("system.c", 0.0)]

    assert fold(rated, groups={"user": 1.0, "system": 0.0}).value == 1.0
    assert fold(rated, groups={"user": 1.0}).value == 1.0


def test_a_penalty_takes_away_what_it_weighs():
    rated = [answered("a", 1.0, 1.0), answered("p", 0.5, -0.4)]

    folded = fold(rated, groups={"": 1.0})

    assert folded.value == pytest.approx(0.8)
    assert folded.shares == pytest.approx({"a": 1.0, "p": -0.4})


def test_penalties_cannot_push_a_value_below_zero_but_the_raw_value_is_kept():
    rated = [answered("a", 0.2), answered("p", 1.0, -1.0)]

    folded = fold(rated, groups={"": 1.0})

    assert folded.value == 0.0
    assert folded.raw == pytest.approx(-0.8)


def test_a_penalty_alone_scores_nothing():
    rated = [abstained("a"), answered("p", 1.0, -1.0)]

    folded = fold(rated, groups={"": 1.0})

    assert folded.status == "abstained"
    assert folded.value is None


@pytest.mark.parametrize(
    ("combine", "value", "shares"),
    [
        ("min", 0.25, {}),
        ("max", 1.0, {}),
        ("all", 0.0, {}),
        ("mean", 0.625, {"a": 0.5, "b": 0.5}),
        ("weighted_mean", 0.4375, {"a": 0.25, "b": 0.75}),
    ],
)
def test_the_ways_to_combine(combine, value, shares):
    rated = [answered("a", 1.0), answered("b", 0.25, 3.0), abstained("c"), not_applicable("d")]

    folded = fold(rated, groups={"": 1.0}, combine=combine)

    assert folded.value == pytest.approx(value)
    # Only values that are added up have shares.
    assert folded.shares == shares


@pytest.mark.parametrize(("value", "expected"), [(1.0, 1.0), (0.999, 0.0)])
def test_all_wants_every_criterion_fully_met(value, expected):
    rated = [answered("a"), answered("b", value)]

    assert fold(rated, groups={"": 1.0}, combine="all").value == expected


@each(
    ("rated", "status"),
    [
        ([], "not_applicable"),
        ([not_applicable("a")], "not_applicable"),
        ([abstained("a")], "abstained"),
        ([not_applicable("a"), abstained("b")], "abstained"),
    ],
)
@each("combine", list(WAYS))
def test_nothing_scored_has_no_value(rated, status, combine):
    folded = fold(rated, groups={"": 1.0}, combine=combine)

    assert folded.status == status
    assert folded.value is None


@each("combine", list(WAYS))
@given(st.lists(values, min_size=1, max_size=6))
def test_a_way_is_as_its_row_says(combine, outcomes):
    way = WAYS[combine]
    weights = [1.0 / len(outcomes)] * len(outcomes)
    value = way.value(outcomes, weights)

    assert way.value([1.0] * len(outcomes), weights) == pytest.approx(1)
    assert way.value([0.0] * len(outcomes), weights) == 0
    opposite = way.value([1 - outcome for outcome in outcomes], weights)
    if way.linear:
        assert opposite == pytest.approx(1 - value, abs=1e-9)
    if not way.shared:
        assert value == outcomes[way.pick(outcomes)] or way.exact
    if way.exact:
        assert value in (0, 1)


@each(("combine", "weighted"), [("weighted_mean", True), ("all", False)])
def test_a_way_is_read_from_a_foreign_manifest(combine, weighted):
    assert way_of(combine).weighted == weighted


@each("combine", [None, 7, ["min"], {}, "average"])
def test_a_foreign_way_is_none(combine):
    assert way_of(combine) is None


def test_the_page_of_rubrics_lists_every_way():
    page = Path(__file__).parents[2] / "docs" / "rubrics.md"
    (row,) = re.findall(r"^\| `combine` \| (.+) \|$", page.read_text("utf-8"), re.M)

    assert re.findall(r"`(\w+)`", row) == list(WAYS)
