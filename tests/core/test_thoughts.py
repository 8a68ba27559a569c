"""Thoughts that models write into their texts, by the forms of the data file."""

from __future__ import annotations

import json

import pytest

from judgekit.core import thoughts
from judgekit.core.thoughts import leading_thought, thought_marks

DATA = json.loads(thoughts._DATA.read_text("utf-8"))
PAIRS = [(f"<{row['name']}>", f"</{row['name']}>") for row in DATA["tags"]] + [
    (row["open"], row["close"]) for row in DATA["marks"] if len(row) == 3
]


@pytest.mark.parametrize(("begin", "end"), PAIRS)
def test_a_leading_thought_is_split_from_the_rest(begin, end):
    assert leading_thought(f" {begin}Is {{it}}?{end}\n\nIt is.\n") == ("Is {it}?", "It is.")


@pytest.mark.parametrize(("begin", "end"), PAIRS)
def test_a_thought_inside_an_answer_is_part_of_the_answer(begin, end):
    assert leading_thought(f"It is. {begin}Is it?{end}") is None


def test_every_form_has_a_source():
    rows = [row for name in ("tags", "marks", "frames") for row in DATA[name]]

    assert all(row["source"].strip() for row in rows)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("<think>on and on", ("on and on", "")),
        ("<think>a</think>b</think>c", ("a", "b</think>c")),
        ("<Think >a</THINK>b", ("a", "b")),
        ("<think:fast>a</think:fast>b", ("a", "b")),
        (
            "<|start|>assistant<|channel|>analysis<|message|>a<|end|><|start|>assistant"
            "<|channel|>final<|message|>b<|return|>",
            ("a", "b"),
        ),
    ],
)
def test_where_a_thought_ends(text, split):
    assert leading_thought(text) == split


@pytest.mark.parametrize("text", ["", "plain", "a < b and c > d", "</think>b", "<thinker>a"])
def test_other_texts_have_no_leading_thought(text):
    assert leading_thought(text) is None


def test_many_marks_take_linear_time():
    assert len(thought_marks("<think>" * 100_000)) == 100_000
    assert thought_marks("<" * 1_000_000) == []
