"""Which cases a run is about: conditions, ids, limits, shards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.datasets.selection import Condition, Selection
from judgekit.datasets.shard import Shard, Sharding


def case(id, **metadata):
    return Case(id=id, output="x", metadata=metadata)


CASES = [
    case("a", topic="refunds", user={"plan": "free"}, tags=["x", 3]),
    case("b", topic="returns", user={"plan": "pro"}, urgent=True),
    case("c", topic="refunds", score=3, **{"a.b": "dot"}),
]


def ids(*where, **options):
    chosen = Selection.parse(where=where, limit=options.pop("limit", None), **options)
    return [found.id for found in chosen.of(iter(CASES))]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (["topic=refunds"], ["a", "c"]),
        (["topic!=refunds"], ["b"]),
        (["user.plan=free"], ["a"]),
        (["user.plan!=free"], ["b", "c"]),
        (["topic=refunds", "user.plan!=free"], ["c"]),
        (["tags=3"], ["a"]),
        (["score=3"], ["c"]),
        (["urgent=true"], ["b"]),
        (["a.b=dot"], ["c"]),
        (["metadata.topic=refunds"], ["a", "c"]),
        (["metadata.user.plan!=free"], ["b", "c"]),
        (["id=b"], ["b"]),
        (["id!=b"], ["a", "c"]),
    ],
)
def test_conditions_choose_by_metadata(where, found):
    assert ids(*where) == found


def test_a_value_may_hold_signs():
    assert Condition.parse("q=a=b!=c") == Condition("q", "a=b!=c")


def test_a_limit_counts_what_was_found():
    assert ids("topic=refunds", limit=1) == ["a"]


def test_cases_may_be_named():
    assert ids(ids=frozenset({"c", "gone"})) == ["c"]


@pytest.mark.parametrize(
    ("where", "told"),
    [
        (["topic=refund"], "--where topic=refund: no case has this value; did you mean 'refunds'?"),
        (["topc!=x"], "--where topc!=x: no case has such a field; did you mean 'topic'?"),
        (["topc=x"], "--where topc=x: no case has such a field; did you mean 'topic'?"),
        (
            ["zzz=x"],
            "--where zzz=x: no case has such a field; known: a.b, id, score, tags, topic, urgent, "
            "user.plan",
        ),
        (
            ["topic=refunds", "user.plan=pro"],
            "--where: no case has topic=refunds and user.plan=pro",
        ),
        (["topic"], "--where topic: write it as FIELD=VALUE or FIELD!=VALUE"),
        (["=x"], "--where =x: write it as FIELD=VALUE or FIELD!=VALUE"),
        (["!=x"], "--where !=x: write it as FIELD=VALUE or FIELD!=VALUE"),
    ],
)
def test_what_nothing_meets_is_said_in_one_line(where, told):
    with pytest.raises(ConfigError) as caught:
        ids(*where)

    assert str(caught.value) == told


def test_names_that_are_nowhere_are_said():
    with pytest.raises(ConfigError, match="none of the cases asked for is among these cases"):
        ids(ids=frozenset({"gone"}))
    with pytest.raises(ConfigError, match="there are no cases to choose from"):
        list(Selection.parse(where=["a=b"], limit=None).of(iter([])))


def test_a_field_that_only_a_late_case_has_is_a_field():
    late = [case(str(n)) for n in range(1_500)] + [case("last", topic="a")]

    assert len(list(Selection.parse(where=["topic!=a"], limit=None).of(late))) == 1_500
    with pytest.raises(ConfigError, match="no case has such a field"):
        list(Selection.parse(where=["topic!=a"], limit=None).of(late[:900]))


def test_nothing_is_read_beyond_what_is_wanted():
    def rows():
        yield from CASES
        raise AssertionError("read too far")

    chosen = Selection.parse(where=["topic=refunds"], limit=2)
    assert [found.id for found in chosen.of(rows())] == ["a", "c"]


@pytest.mark.parametrize(
    "text", ["", "1", "1/", "/2", "0/2", "3/2", "a/b", "1/2/3", "-1/2", "1/99999"]
)
def test_a_wrong_shard_is_refused(text):
    with pytest.raises(ConfigError, match=r"^--shard .*: (write it as|number from 1)"):
        Shard.parse(text)


@given(st.lists(st.text(max_size=8), max_size=60, unique=True), st.integers(1, 7))
def test_shards_part_the_cases_by_their_ids_alone(names, of):
    cases = [case(f"c{name}") for name in names]
    parts = [Sharding(Shard(number, of)) for number in range(1, of + 1)]
    found = [[c.id for c in part.of(iter(cases))] for part in parts]
    backwards = [[c.id for c in Sharding(part.shard).of(reversed(cases))] for part in parts]

    assert sorted(id for ids in found for id in ids) == sorted(c.id for c in cases)
    assert [ids[::-1] for ids in backwards] == found
    assert {(part.ids, part.seen, part.finished) for part in parts} == {
        (parts[0].ids, len(cases), True)
    }


def test_shards_are_about_as_large_as_each_other():
    counts = [sum(Shard(n, 4).has(f"case-{i:06d}") for i in range(20_000)) for n in range(1, 5)]

    # Binomial with p = 1/4: the standard deviation is 61.
    assert all(abs(count - 5_000) < 5 * 61 for count in counts)


def test_a_shard_knows_where_its_cases_stood():
    cases = [case(str(n)) for n in range(50)]
    sharding = Sharding(Shard(2, 3))
    taken = [int(c.id) for c in sharding.of(iter(cases))]
    place, places = 0, []
    for gap in sharding.places:
        place += gap
        places.append(place)

    assert places == taken
