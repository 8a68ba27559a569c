"""The helper `each`: every row is tried, and a row that fails is named."""

from __future__ import annotations

import pytest

from tests.each import each


def test_every_row_that_fails_is_named():
    tried = []

    @each(("number", "word"), [(1, "a"), (2, "b"), pytest.param(3, "c", id="third")])
    def check(number, word, fixture):
        tried.append((number, word, fixture))
        if number == 2:
            with pytest.raises(ValueError, match="never"):
                pass
        assert number != 3

    with pytest.raises(ExceptionGroup, match="2 of 3 rows") as caught:
        check(fixture="f")

    assert tried == [(1, "a", "f"), (2, "b", "f"), (3, "c", "f")]
    notes = [fault.__notes__ for fault in caught.value.exceptions]
    assert notes == [["row 2: (2, 'b')"], ["row 3: 'third'"]]
    assert "DID NOT RAISE" in str(caught.value.exceptions[0])


def test_a_table_without_rows_and_a_name_that_is_none_are_refused():
    with pytest.raises(AssertionError, match="there is no row"):
        each("a", [])
    with pytest.raises(AssertionError):
        each("a", [1])(lambda b: None)


@each("number", [1, 2])
def test_fixtures_come_from_pytest(number, tmp_path):
    assert tmp_path.is_dir()
    assert number in (1, 2)
