"""Stratified samples: proportions, minima, and the same sample for any order of the file."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.datasets.stratified import allocate, sample_cases

CASES = [
    Case(id=f"c{n}", output="x", metadata={"topic": "abbcccc"[n % 7]}, labels={"good": n % 2})
    for n in range(70)
]


def test_shares_are_in_proportion():
    drawn = sample_cases(CASES, 14, by="topic")

    assert Counter(case.metadata["topic"] for case in drawn) == {"a": 2, "b": 4, "c": 8}
    assert [int(case.id[1:]) for case in drawn] == sorted(int(case.id[1:]) for case in drawn)


def test_the_order_of_the_file_does_not_matter():
    drawn = {case.id for case in sample_cases(CASES, 9, by="topic", seed=3)}

    assert {case.id for case in sample_cases(CASES[::-1], 9, by="topic", seed=3)} == drawn
    assert {case.id for case in sample_cases(CASES, 9, by="topic", seed=4)} != drawn


def test_labels_lists_and_missing_fields_are_strata():
    cases = [Case(id="a", output="", metadata={"t": ["x", 1]}), Case(id="b", output="")]

    assert [case.id for case in sample_cases(cases, 2, by="t")] == ["a", "b"]
    halves = Counter(case.labels["good"] for case in sample_cases(CASES, 10, by="labels.good"))
    assert halves == {0: 5, 1: 5}


def test_a_sample_of_more_than_all_is_all():
    assert sample_cases(CASES, 1000) == CASES


@pytest.mark.parametrize(
    ("count", "by", "message"),
    [
        (0, None, "must be at least 1"),
        (3, "topik", "did you mean 'topic'"),
        (3, "labels.god", "good"),
    ],
)
def test_wrong_settings_are_explained(count, by, message):
    with pytest.raises(ConfigError, match=message):
        sample_cases(CASES, count, by=by)


def test_a_field_with_too_many_values_is_refused(monkeypatch):
    monkeypatch.setattr("judgekit.datasets.stratified.MOST_STRATA", 10)

    with pytest.raises(ConfigError, match="more than 10 values"):
        sample_cases(CASES, 3, by="id")


@given(
    st.dictionaries(st.text("abc", min_size=1), st.integers(1, 50), min_size=1), st.integers(1, 200)
)
def test_an_allocation_adds_up_and_stays_near_the_exact_shares(sizes, count):
    shares = allocate(sizes, count)
    total, wanted = sum(sizes.values()), min(count, sum(sizes.values()))

    assert sum(shares.values()) == wanted
    assert all(0 <= shares[name] <= size for name, size in sizes.items())
    if wanted >= len(sizes):
        assert min(shares.values()) >= 1
    assert all(shares[name] <= wanted * size / total + 1 for name, size in sizes.items())
