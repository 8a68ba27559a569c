from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.errors import ConfigError
from judgekit.datasets.field_path import FieldPath, PathMissing

ROW = {"a": {"b": [{"c": 1}, {"c": 2}]}, "x.y": 3, "what?": 4, "0": 5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b.0.c", 1),
        ("a.b.-1.c", 2),
        (r"x\.y", 3),
        (r"what\?", 4),
        ("0", 5),
        ("a.b.7?", None),
        ("nothing.here?", None),
    ],
)
def test_a_path_leads_to_its_value(text, value):
    assert FieldPath.parse(text).find(ROW) == value


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("z", "the row is an object with the keys 'a', 'x.y', 'what?', '0'"),
        ("a.z", "at 'a' there is an object with the keys 'b'"),
        ("a.b.2", "at 'a.b' there is a list of 2"),
        ("a.b.first", "at 'a.b' there is a list of 2"),
        ("a.b.0.c.d", "at 'a.b.0.c' there is a number"),
    ],
)
def test_a_missing_path_says_what_was_there(text, instead):
    with pytest.raises(PathMissing, match="nothing at") as caught:
        FieldPath.parse(text).find(ROW)

    assert str(caught.value).endswith(instead)


@pytest.mark.parametrize("text", ["", ".", "a..b", "a.", "?", ".a"])
def test_a_path_with_an_empty_key_is_refused(text):
    with pytest.raises(ConfigError, match="empty key"):
        FieldPath.parse(text)


def test_json_in_a_cell_is_looked_into_only_when_asked():
    path = FieldPath.parse("reply.text")
    row = {"reply": '{"text": "Hi"}'}

    assert path.find(row, cells=True) == "Hi"
    with pytest.raises(PathMissing):
        path.find(row)


def test_a_cell_that_is_not_json_is_text():
    with pytest.raises(PathMissing, match="there is text"):
        FieldPath.parse("reply.text").find({"reply": "Hi"}, cells=True)


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4))
def test_escaped_keys_lead_to_their_value(keys):
    row: object = "found"
    for key in reversed(keys):
        row = {key: row}
    text = ".".join(
        key.replace("\\", "\\\\").replace(".", "\\.").replace("?", "\\?") for key in keys
    )

    assert FieldPath.parse(text).find(row) == "found"
