from __future__ import annotations

import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case, Message
from judgekit.datasets import IdSet, derive_id


@given(st.lists(st.text(max_size=20), max_size=200))
def test_add_answers_as_a_plain_set_would(ids):
    plain: set[str] = set()
    seen = IdSet()

    for text in ids:
        assert (text in seen) == (text in plain)
        assert seen.add(text) == (text not in plain)
        plain.add(text)

    assert len(seen) == len(plain)
    assert all(text in seen for text in plain)


def test_ids_with_surrogates_are_taken():
    seen = IdSet()

    assert seen.add("\ud800")
    assert not seen.add("\ud800")


@pytest.mark.thorough
def test_a_hundred_thousand_ids_take_at_most_13_bytes_each():
    IdSet().add("warm-up")
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        seen = IdSet()
        empty = tracemalloc.get_traced_memory()[0] - before
        for number in range(100_000):
            seen.add(f"case-{number}")
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()

    assert len(seen) == 100_000
    assert empty < 1_000
    # What 4,096 shards take, full or not, is not counted.
    assert (peak - 600_000) / 100_000 <= 13
    assert sys.getsizeof(seen) < 100


def test_a_derived_id_depends_on_the_content_only():
    case = Case(id="a", input="2+2?", reference="4", metadata={"n": 1})

    assert derive_id(case) == derive_id(
        Case(id="b", metadata={"n": 1}, input="2+2?", reference=["4"])
    )
    assert derive_id(case) != derive_id(Case(id="a", input="2+2?", metadata={"n": 1}))


def test_a_derived_id_is_the_same_on_every_machine():
    case = Case(id="-", input="2+2?", output="4", history=[Message(role="user", content="é")])

    assert derive_id(case) == "652255a62a2d"


def test_labels_do_not_rename_a_case():
    case = Case(id="a", input="2+2?")

    assert derive_id(case) == derive_id(Case(id="a", input="2+2?", labels={"quality": 1}))
