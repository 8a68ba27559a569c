from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.errors import InvalidReply
from judgekit.core.replies.logprobs import logprobs_text, read_logprobs
from judgekit.core.request import Reply, Try


def reply(logprobs, offsets):
    return Reply(tries=(Try(text=json.dumps({"logprobs": logprobs, "offsets": offsets})),))


def read(logprobs, offsets, prompt, continuation):
    return read_logprobs(reply(logprobs, offsets), prompt=prompt, continuation=continuation)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=30), st.data())
def test_the_figures_of_the_continuation_are_those_that_reach_into_it(lengths, data):
    offsets = [sum(lengths[:place]) for place in range(len(lengths))]
    whole = "x" * sum(lengths)
    figures = [None, *(-float(n) for n in range(1, len(lengths)))]
    cut = data.draw(st.integers(0, len(whole) - 1))

    found = read(figures, offsets, whole[:cut], whole[cut:])

    ends = [*offsets[1:], len(whole)]
    expected = [f for f, end in zip(figures, ends, strict=True) if end > cut]
    assert found.shared == (cut not in offsets)
    assert found.unknown == (expected[0] is None)
    assert list(found.logprobs) == [f for f in expected if f is not None]


def test_what_is_kept_is_what_belongs_to_the_text():
    text = logprobs_text([None, -1.0, -2.0], [0, 3, 7], length=7)

    assert text == '{"logprobs":[null,-1.0],"offsets":[0,3]}'


def test_pieces_of_one_character_go_together():
    assert read([None, -1.0, -2.0, -3.0], [0, 3, 3, 4], "abc", "é!").logprobs == (-1.0, -2.0, -3.0)
    assert read([None, -1.0, -2.0, -3.0], [0, 3, 3, 6], "abcd", "ef!").logprobs == (-1, -2, -3)


def test_rounding_above_nought_is_nought():
    assert read([None, 1e-6], [0, 1], "a", "b").logprobs == (0.0,)


@pytest.mark.parametrize(
    ("logprobs", "offsets"),
    [
        ([None, -1.0], [0]),
        ([], []),
        ([None, None], [0, 1]),
        ([None, "-1"], [0, 1]),
        ([None, True], [0, 1]),
        ([None, math.nan], [0, 1]),
        ([None, -math.inf], [0, 1]),
        ([None, 0.1], [0, 1]),
        ([None, -1.0], [0, 1.0]),
        ([None, -1.0], [1, 2]),
        ([-1.0, -1.0, -1.0], [0, 2, 1]),
        ([-1.0], [-1]),
        ("x", "y"),
    ],
)
def test_what_cannot_be_is_refused(logprobs, offsets):
    with pytest.raises(InvalidReply):
        read(logprobs, offsets, "a", "b")


@given(st.text())
def test_any_text_is_refused(text):
    with pytest.raises(InvalidReply):
        read_logprobs(Reply(tries=(Try(text=text),)), prompt="a", continuation="b")
