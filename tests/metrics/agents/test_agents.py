"""Tool calls: pairing, arguments, order."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case, Message, ToolCall
from judgekit.core.errors import CaseError, ConfigError
from judgekit.datasets import load_cases
from judgekit.metrics.agents.tool_calls import (
    ExpectedCall,
    ToolCallCorrectness,
    TrajectoryMatch,
    pair_up,
)
from tests.each import each

ROME = {"name": "weather", "arguments": {"city": "Rome"}}
OSLO = {"name": "weather", "arguments": {"city": "Oslo"}}
F = {"name": "f"}
BOOK = {"name": "book", "arguments": {"id": 7, "seats": [1, 2]}}


def case(made, expected):
    message = Message(role="assistant", tool_calls=tuple(ToolCall(**call) for call in made))
    return Case(id="c", output="Done.", history=(message,), expected={"tool_calls": expected})


def score(metric, subject):
    return asyncio.run(metric.score(subject))


@each(
    ("made", "expected", "options", "value"),
    [
        ([ROME], [ROME, OSLO], {}, 0.5),
        ([OSLO, ROME], [ROME, OSLO], {}, 1.0),
        ([ROME], [ROME, ROME], {}, 0.5),
        ([ROME, BOOK], [ROME], {}, 1.0),
        ([ROME, BOOK], [ROME], {"extra": "count"}, 0.5),
        ([ROME], ["weather"], {}, 1.0),
        ([ROME], [{"name": "weather", "arguments": {}}], {}, 0.0),
        ([ROME], [{"name": "weather", "arguments": {}}], {"arguments": "subset"}, 1.0),
        ([ROME], [OSLO], {"arguments": "ignore"}, 1.0),
        ([BOOK], [{"name": "book", "arguments": {"seats": [1]}}], {"arguments": "subset"}, 0.0),
        ([BOOK], [{"name": "book", "arguments": {"seats": [1, 2]}}], {"arguments": "subset"}, 1.0),
        ([BOOK], [{"name": "book", "arguments": {"seats": [1, 2], "id": 7}}], {}, 1.0),
        (
            [{"name": "f", "arguments": {"n": 1}}],
            [{"name": "f", "arguments": {"n": True}}],
            {},
            0.0,
        ),
        ([{"name": "f", "arguments": "not json"}], [{"name": "f", "arguments": {"n": 1}}], {}, 0.0),
        ([], [], {}, 1.0),
        ([ROME], [], {}, 0.0),
        ([ROME], [], {"extra": "count"}, 0.0),
        ([], [ROME], {}, 0.0),
    ],
)
def test_the_share_of_expected_calls(made, expected, options, value):
    assert score(ToolCallCorrectness(**options), case(made, expected)).value == value


def test_arguments_may_be_held_to_a_schema():
    schema = {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]}
    expected = [{"name": "weather", "schema": schema}]
    metric = ToolCallCorrectness(arguments="schema")

    assert score(metric, case([ROME], expected)).value == 1.0
    assert score(metric, case([OSLO], expected)).value == 0.0


def test_calls_of_a_chat_are_found_wherever_they_stand():
    row = {
        "messages": [
            {"role": "user", "content": "Rome and Oslo?"},
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {
                "name": "weather", "arguments": '{"city": "Rome"}'}}]},
            {"role": "tool", "tool_call_id": "1", "content": "20"},
            {"role": "assistant", "content": "One more look.", "tool_calls": [{"function": {
                "name": "weather", "arguments": '{"city": "Oslo"}'}}]},
        ],
        "expected": {"tool_calls": [ROME, OSLO]},
    }  # fmt: skip

    (found,) = load_cases([row])

    assert score(ToolCallCorrectness(), found).value == 1.0
    assert score(TrajectoryMatch(), found).value == 1.0


A, B = {"name": "a"}, {"name": "b"}


@pytest.mark.parametrize(
    ("made", "expected", "matches"),
    [
        ([A, B], ["a", "b"], {"strict", "unordered", "subset", "superset"}),
        ([B, A], ["a", "b"], {"unordered", "subset", "superset"}),
        ([A], ["a", "b"], {"subset"}),
        ([A, B], ["a"], {"superset"}),
        ([A, A], ["a"], {"superset"}),
        ([A], ["b"], set()),
        ([], [], {"strict", "unordered", "subset", "superset"}),
        ([], ["a"], {"subset"}),
        ([A], [], {"superset"}),
    ],
)
def test_the_four_senses_of_a_match(made, expected, matches):
    found = {
        sense
        for sense in ("strict", "unordered", "subset", "superset")
        if score(TrajectoryMatch(match=sense), case(made, expected)).value == 1.0
    }

    assert found == matches


def test_the_first_departure_is_named():
    found = score(TrajectoryMatch(), case([A, A], ["a", "b"]))

    assert found.reason == "Call 2 is a() where b() is expected."


calls = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


@given(calls, calls)
def test_unordered_is_subset_and_superset_together(made, expected):
    subject = case([{"name": name} for name in made], list(expected))

    values = {m: score(TrajectoryMatch(match=m), subject).value for m in
              ("strict", "unordered", "subset", "superset")}  # fmt: skip

    assert values["unordered"] == min(values["subset"], values["superset"])
    assert values["strict"] <= values["unordered"]
    assert values["unordered"] == float(sorted(made) == sorted(expected))


@given(st.lists(st.sets(st.integers(0, 4)), max_size=5))
def test_pairing_is_the_largest_there_is(fitting):
    wanted = [ExpectedCall(str(n)) for n in range(len(fitting))]
    made = [ToolCall(name=str(n)) for n in range(5)]

    pairs = pair_up(wanted, made, lambda w, m: int(m.name) in fitting[int(w.name)])

    def best(at, free):
        if at == len(fitting):
            return 0
        return max(
            [best(at + 1, free), *(1 + best(at + 1, free - {n}) for n in fitting[at] & free)]
        )

    assert len(pairs) == best(0, frozenset(range(5)))
    assert len(set(pairs.values())) == len(pairs)


@pytest.mark.parametrize("different", [True, False])
def test_five_hundred_calls_are_paired_in_a_moment(different):
    many = [{"name": "a", "arguments": {"n": n * different}} for n in range(500)]

    assert score(ToolCallCorrectness(), case(many[::-1], many)).value == 1.0


def test_the_longest_chain_of_exchanges_is_followed():
    # Call n fits the wanted ones n and n + 1, so that the last wanted one moves all the others.
    wanted = [ExpectedCall(str(n)) for n in range(500)]
    made = [ToolCall(name=str(n)) for n in range(500)]
    fitting = {str(n): {str(n), str((n or 500) - 1)} for n in range(500)}

    def fit(w, m):
        return m.name in fitting[w.name]

    assert len(pair_up(wanted, made, fit)) == 500


def test_more_calls_than_can_be_compared_are_refused():
    with pytest.raises(CaseError, match="501 tool calls are too many"):
        score(ToolCallCorrectness(), case([A] * 501, []))


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({}, "needs the expected calls"),
        ({"tool_calls": "weather"}, "not a list"),
        ({"tool_calls": [{"tool": "x"}]}, "expected.tool_calls.0: write a call as"),
        ({"tool_calls": [{"name": "x", "args": {}}]}, "unknown key 'args'"),
        ({"tool_calls": [{"name": "weather", "schema": {"type": 3}}]}, "invalid JSON Schema"),
        (
            {"tool_calls": [{"name": "weather", "schema": {"$ref": "http://example.test/s"}}]},
            r"has a \$ref that it does not define",
        ),
    ],
)
def test_wrong_expectations_are_one_line(expected, message):
    subject = case([ROME], []).model_copy(update={"expected": expected})

    with pytest.raises(CaseError, match=message):
        score(ToolCallCorrectness(arguments="schema"), subject)


@pytest.mark.parametrize("options", [{"match": "sorted"}, {"arguments": "same"}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ConfigError, match="must be one of"):
        TrajectoryMatch(**options)
