from __future__ import annotations

import base64
import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.errors import InvalidReply
from judgekit.core.replies.vector import MAX_DIMENSIONS, read_vector, vector_text
from judgekit.core.request import Reply, Try
from judgekit.privacy.detectors import DETECTORS, find_all

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def reply(text):
    return Reply(tries=(Try(text=text),))


def told(size, floats):
    raw = struct.pack(f"<{len(floats)}f", *floats)
    return json.dumps({"dimensions": size, "float32": base64.b64encode(raw).decode()})


@given(st.lists(FLOATS, min_size=1, max_size=50))
def test_what_is_kept_is_read_to_the_bit(numbers):
    assert list(read_vector(reply(vector_text(numbers)))) == numbers


def test_the_text_is_one_and_known():
    assert vector_text([1.0, -0.5]) == '{"dimensions":2,"float32":"AACAPwAAAL8="}'


@given(st.text())
def test_any_text_is_a_vector_or_refused(text):
    with pytest.raises(InvalidReply):
        read_vector(reply(text))


@pytest.mark.parametrize(
    "text",
    [
        told(3, [1.0, 2.0]),
        told(2, [1.0, math.nan]),
        told(2, [1.0, -math.inf]),
        told(0, []),
        told(True, [1.0]),
        told("1", [1.0]),
        told(MAX_DIMENSIONS + 1, [0.0]),
        '{"dimensions": 1, "float32": "????????"}',
        '{"dimensions": 1, "float32": [1.0]}',
        '{"dimensions": 1, "float32": "AACAPw =="}',
        "[" * 100_000,
        "[1.0, 2.0]",
        "x" * 1_000_000,
    ],
)
def test_what_is_damaged_is_refused(text):
    with pytest.raises(InvalidReply):
        read_vector(reply(text))


@pytest.mark.parametrize("numbers", [None, "1", [], ["1"], [True], [math.nan], [1e39], [1e400]])
def test_what_is_no_vector_is_not_kept(numbers):
    with pytest.raises(InvalidReply):
        vector_text(numbers)


@given(st.binary(min_size=1536, max_size=1536))
def test_a_vector_looks_like_nothing_private(raw):
    """Tapes are looked through for secrets before they are shared."""
    text = json.dumps({"dimensions": 384, "float32": base64.b64encode(raw).decode()})

    assert not list(find_all(text, DETECTORS))
