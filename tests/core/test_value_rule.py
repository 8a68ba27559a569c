"""pydantic's errors in our words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from judgekit.core.value_rule import value_rule


@pytest.mark.parametrize(
    ("kind", "value", "rule"),
    [
        (int, "x", "must be a whole number"),
        (int, 1.5, "must be a whole number"),
        (float, "x", "must be a number"),
        (Annotated[float, Field(le=1)], 2, "must be at most 1"),
        (Annotated[float, Field(ge=0.5)], 0, "must be at least 0.5"),
        (Annotated[int, Field(lt=1_000_000)], 1_000_000, "must be less than 1000000"),
        (bool, "x", "must be true or false"),
        (str, 1, "must be text"),
        (list[int], 1, "must be a list"),
        (dict[str, int], 1, "must be keys and values"),
        (Literal["a", "b"], "c", "must be 'a' or 'b'"),
        (Annotated[list[int], Field(min_length=1)], [], "must not be empty"),
        (Annotated[list[int], Field(min_length=2)], [1], "must have at least 2 entries"),
        (Annotated[str, Field(max_length=1)], "ab", "must have at most 1 character"),
        (None, 1, "must be null"),
        (Annotated[float, Field(allow_inf_nan=False)], float("inf"), "must be a finite number"),
    ],
)
def test_a_rule_is_in_our_words(kind: Any, value: Any, rule: str):
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)

    assert value_rule(caught.value.errors()[0]) == rule
