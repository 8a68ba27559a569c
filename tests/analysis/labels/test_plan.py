"""Sampling plans: exact probabilities, strata, and what people need to label."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.analysis.labels.plan import plan_labels
from judgekit.core.errors import ConfigError
from judgekit.report.report import Report
from judgekit.stats.power import allocate_power, rank_groups
from tests.analysis.labels.made import made_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = [
        {"values": {"polite": float(n % 4 > 0)}, "opinions": [0.0, n % 5 / 4]} for n in range(60)
    ]
    rows += [{"fails": True}, {"fails": True}, {"fails": True}]
    return Report.read(made_run(tmp_path_factory.mktemp("plan") / "run", rows))


@pytest.mark.thorough
@given(
    st.lists(st.tuples(st.integers(1, 60), st.sampled_from([1.0, 2.0])), min_size=1, max_size=9),
    st.data(),
)
def test_every_stratum_has_two_and_none_has_more_than_it_holds(strata, data):
    sizes, factors = map(list, zip(*strata, strict=True))
    count = data.draw(st.integers(len(sizes), sum(sizes)))
    drawn = allocate_power(sizes, factors, count)

    assert sum(drawn) == count
    assert all(1 <= n <= size for n, size in zip(drawn, sizes, strict=True))
    if sum(min(2, size) for size in sizes) <= count:
        assert all(n >= min(2, size) for n, size in zip(drawn, sizes, strict=True))


def test_sizes_follow_the_root_of_the_stratum():
    drawn = allocate_power([10_000, 2_500, 400], [1.0, 1.0, 2.0], 190)

    assert drawn == pytest.approx([100, 50, 40], abs=1)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=50), st.integers(1, 5))
def test_groups_keep_the_order_and_equal_values_together(values, most):
    groups = rank_groups(values, most)

    assert all(0 <= group < most for group in groups)
    pairs = sorted(zip(values, groups, strict=True))
    assert [group for _, group in pairs] == sorted(groups)
    assert len(set(pairs)) == len(set(values))


@pytest.mark.parametrize("count", [1, 2, 5, 9, 20, 63])
def test_probabilities_are_the_rates_of_the_strata(run, count):
    plan = plan_labels(run, count)
    lines = list(plan.lines())

    assert len(lines) == count == sum(stratum.drawn for stratum in plan.strata)
    assert sum(stratum.size for stratum in plan.strata) == 63
    assert all(stratum.drawn >= 1 for stratum in plan.strata)
    drawn = Counter(line["stratum"] for line in lines)
    for number, stratum in enumerate(plan.strata, start=1):
        assert drawn[number] == stratum.drawn
        rates = {line["probability"] for line in lines if line["stratum"] == number}
        assert rates == {stratum.drawn / stratum.size}
    assert math.fsum(1 / line["probability"] for line in lines) == pytest.approx(63)


def test_strata_are_by_score_and_disagreement_and_failed_replies_can_be_drawn(run):
    plan = plan_labels(run, 20)

    assert [stratum.name for stratum in plan.strata] == [
        "score 0, low spread", "score 0, high spread",
        "score 1, low spread", "score 1, high spread", "no score",
    ]  # fmt: skip
    rates = {stratum.name: stratum.probability for stratum in plan.strata}
    assert rates["score 1, high spread"] > 1.3 * rates["score 1, low spread"]
    assert sum(not case.metadata.get("values") for case, _ in plan.cases) >= 2


def test_few_cases_have_fewer_strata(run):
    assert [stratum.name for stratum in plan_labels(run, 6).strata] == [
        "score 0", "score 1", "no score",
    ]  # fmt: skip
    assert [stratum.name for stratum in plan_labels(run, 1).strata] == ["score 0 to 1"]


def test_without_opinions_criteria_disagree(tmp_path):
    rows = [{"values": {"polite": n % 2, "level": (n // 2) % 2}} for n in range(40)]
    plan = plan_labels(made_run(tmp_path / "run", rows), 12)

    assert [(s.name, s.size) for s in plan.strata] == [
        ("score 0, low spread", 10), ("score 0.5, high spread", 20), ("score 1, low spread", 10),
    ]  # fmt: skip


def test_the_seed_decides_and_every_case_comes_up_at_its_rate(run):
    probabilities = {}

    def drawn(seed):
        lines = list(plan_labels(run, 12, seed=seed).lines())
        probabilities.update((line["case"], line["probability"]) for line in lines)
        return {line["case"] for line in lines}

    assert drawn(1) == drawn(1)
    draws = [drawn(seed) for seed in range(150)]
    assert set().union(*draws) == {f"c{n}" for n in range(63)}
    # Each case is drawn as often as its probability says: within 4 standard errors.
    for line in plan_labels(run, 63).lines():
        share = sum(line["case"] in one for one in draws) / 150
        rate = probabilities[line["case"]]
        assert abs(share - rate) < 4 * math.sqrt(rate * (1 - rate) / 150)


def test_a_line_has_what_a_person_needs_and_not_the_score(run):
    line = next(iter(plan_labels(run, 5, labellers=["ann", "bob"]).lines()))

    assert list(line) == ["case", "metric", "rubric", "output_digest", "probability", "stratum",
                          "labellers", "criteria", "input", "output"]  # fmt: skip
    assert line["criteria"]["level"] == {
        "kind": "score", "text": "How good is it?", "labels": ["bad", "fair", "good"],
    }  # fmt: skip
    assert "score" not in json.dumps({**line, "criteria": ""})


def test_the_page_has_the_chosen_cases_only(run, tmp_path):
    plan = plan_labels(run, 5)
    page = plan.write_page(tmp_path / "label.html").read_text("utf-8")

    chosen = {case.id for case, _ in plan.cases}
    outputs = {f"c{n}" for n in range(63) if f"Because {n}." in page}
    assert outputs == chosen
    assert plan.write_page(tmp_path / "again.html").read_text("utf-8") == page


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (0, "-n 0: must be at least 1"),
        (-3, "-n -3: must be at least 1"),
        (64, "-n 64: the run has 63 cases of tone to label; choose at most that many"),
    ],
)
def test_a_wrong_number_is_named(run, count, message):
    with pytest.raises(ConfigError) as caught:
        plan_labels(run, count)
    assert str(caught.value) == message


def test_an_unknown_metric_is_named(run):
    with pytest.raises(ConfigError, match="no such metric in the run; did you mean 'tone'"):
        plan_labels(run, 5, metric="tones")
