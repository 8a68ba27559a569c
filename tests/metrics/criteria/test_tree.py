"""The value of criteria with points, levels and subtrees, against other implementations."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.metrics.criteria.item import items_of, leaves_of
from judgekit.metrics.criteria.tree import passed, tag_values, tree_value

KNOWN = json.loads((Path(__file__).parents[1] / "data" / "criteria_values.json").read_text("utf-8"))


def of_source(name):
    return [entry for entry in KNOWN["values"] if entry["source"] == name]


def as_item(tree):
    weight, inner = tree
    below = [as_item(child) for child in inner] if isinstance(inner, list) else []
    return {"requirements": "does it", "weight": weight, "sub_tasks": below}


def shares_in(tree):
    inner = tree[1]
    return [s for child in inner for s in shares_in(child)] if isinstance(inner, list) else [inner]


def test_there_are_three_hundred_values_of_four_sources():
    assert Counter(entry["source"] for entry in KNOWN["values"]) == dict.fromkeys(
        KNOWN["sources"], 75
    )


def test_points_are_those_of_healthbench():
    for entry in of_source("healthbench"):
        items = items_of([{"criterion": "c", "points": p} for p in entry["points"]])
        shares = {item.number: float(met) for item, met in zip(items, entry["met"], strict=True)}

        assert tree_value(items, shares).value == entry["value"]


def test_trees_are_those_of_paperbench():
    for entry in of_source("paperbench"):
        items = items_of(as_item(entry["tree"]))
        numbers = [leaf.number for leaf in leaves_of(items)]
        shares = dict(zip(numbers, shares_in(entry["tree"]), strict=True))

        assert tree_value(items, shares).value == pytest.approx(entry["value"], abs=1e-12)


def test_ways_to_pass_are_those_of_reward_kit():
    for entry in of_source("rewardkit"):
        columns = zip(entry["weights"], entry["optional"], strict=True)
        items = items_of(
            [{"description": "c", "weight": w, "optional": bool(o)} for w, o in columns]
        )
        shares = {item.number: v for item, v in zip(items, entry["values"], strict=True)}
        whole = tree_value(items, shares)
        rules = {"all-pass": "all", "any-pass": "any", "threshold": entry["threshold"]}

        assert whole.value == pytest.approx(entry["value"]["weighted-mean"], abs=1e-12)
        for name, rule in rules.items():
            assert passed(items, shares, rule, whole) is bool(entry["value"][name])
        required = passed(items, shares, "required", whole)
        if all(entry["optional"]):  # nothing is required: there, the value is 0 with a warning
            assert required is None
        else:
            assert required is bool(entry["value"]["required-pass"])


def test_lists_of_words_are_those_of_verifiers():
    for entry in of_source("verifiers"):
        for field in ("choices", "levels"):
            (item,) = items_of([{"text": "c", "weight": 1, field: entry["choices"]}])
            (value,) = (level.value for level in item.levels if level.label == entry["choice"])

            assert value == entry["value"]


# -- what the others do not have ------------------------------------------------------

TREE = items_of(
    [
        {"criterion": "a", "points": 6},
        {
            "criterion": "b",
            "points": 4,
            "of": [{"criterion": "b1", "points": 1}, {"criterion": "b2", "points": 3}],
        },
        {"criterion": "c", "points": -5},
    ]
)


def test_an_open_criterion_is_in_neither_sum():
    whole = tree_value(TREE, {"1": 1.0, "2.1": None, "2.2": 0.5, "3": 0.2})

    assert whole.value == (6 + 4 * 0.5 - 5 * 0.2) / 10
    assert whole.nodes == {"2": 0.5}
    assert whole.covered == (6 + 4 * 0.75 + 5) / 15


def test_everything_open_has_no_value():
    whole = tree_value(TREE, dict.fromkeys(["1", "2.1", "2.2", "3"]))

    assert (whole.value, whole.covered) == (None, 0.0)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_weights_explain_the_value(given_shares):
    shares = dict(zip(["1", "2.1", "2.2", "3"], given_shares, strict=True))
    whole = tree_value(TREE, shares)

    assert sum(whole.weights[n] * share for n, share in shares.items()) == pytest.approx(
        whole.value, abs=1e-12
    )


@pytest.mark.parametrize(
    ("rule", "shares", "expected"),
    [
        ("all", {"1": 1.0, "2": 0.0}, True),  # a penalty is met if it is not there
        ("all", {"1": 1.0, "2": 0.5}, False),
        ("all", {"1": None, "2": 0.5}, False),
        ("all", {"1": None, "2": 0.0}, None),
        ("any", {"1": None, "2": 0.0}, True),
        ("any", {"1": None, "2": 1.0}, None),
        ("required", {"1": 0.0, "2": 0.0}, True),
        ("required", {"1": 1.0, "2": None}, None),
        (0.5, {"1": 0.5, "2": 0.0}, True),
        (0.5, {"1": 0.5, "2": 0.1}, False),
        (0.5, {"1": None, "2": 0.0}, None),
    ],
)
def test_passing_with_penalties_and_open_criteria(rule, shares, expected):
    items = items_of(
        [
            {"criterion": "names it", "points": 2},
            {"criterion": "harms", "points": -2, "required": True},
        ]
    )

    assert passed(items, shares, rule, tree_value(items, shares)) is expected


def test_a_required_node_needs_everything_below_it():
    items = items_of(
        [
            {"criterion": "extra", "points": 1},
            {
                "criterion": "core",
                "points": 1,
                "required": True,
                "of": [{"criterion": "x", "points": 1}, {"criterion": "y", "points": 0}],
            },
        ]
    )

    for share, expected in ((1.0, True), (0.0, False)):
        shares = {"1": 0.0, "2.1": 1.0, "2.2": share}
        assert passed(items, shares, "required", tree_value(items, shares)) is expected


def test_tags_have_the_value_of_their_criteria_and_come_from_above():
    items = items_of(
        [
            {"criterion": "a", "points": 2, "tags": ["axis:tone", "long"]},
            {"criterion": "b", "points": -1, "tags": ["axis:safety", "axis:tone"]},
            {
                "criterion": "c",
                "points": 1,
                "tags": ["axis:method"],
                "of": [{"criterion": "d", "points": 3}],
            },
        ]
    )
    shares = {"1": 1.0, "2": 1.0, "3.1": 0.5}

    assert tag_values(items, shares, ["axis"]) == {
        "axis:method": 0.5,
        "axis:safety": None,
        "axis:tone": 0.5,
    }
    assert tag_values(items, shares, ["long", "axis:method"]) == {"axis:method": 0.5, "long": 1.0}


@pytest.mark.parametrize(
    ("points", "shares"),
    [((1, 3), (None, None)), ((0, 0), (1.0, 1.0)), ((-1, -2), (1.0, 0.0))],
)
def test_a_node_without_a_value_counts_for_nothing(points, shares):
    below = [{"criterion": f"leaf {n}", "points": p} for n, p in enumerate(points)]
    node = {"criterion": "node", "points": 5, "of": below}
    outer = {"criterion": "outer", "points": 2, "of": [node]}
    items = items_of([outer, {"criterion": "b", "points": 4}])
    whole = tree_value(items, {"1.1.1": shares[0], "1.1.2": shares[1], "2": 0.5})

    assert (whole.value, whole.possible) == (0.5, 4.0)
    assert whole.nodes == {"1": None, "1.1": None}
    assert whole.weights == {"1.1.1": 0.0, "1.1.2": 0.0, "2": 1.0}
