"""docs/cases.md names every field, every known name, every shape and every kind of file."""

from __future__ import annotations

from typing import get_args

import pytest

from judgekit.core.case import Case
from judgekit.datasets.case_builder import Shape
from judgekit.datasets.field_names import ALIASES
from judgekit.datasets.load import ENDINGS, load_cases
from tests.docs.page import PAGES

TEXT = PAGES["docs/cases.md"].read_text("utf-8")


@pytest.mark.parametrize("name", Case.model_fields)
def test_every_field_is_on_the_page(name):
    assert f"| `{name}` | " in TEXT


def test_every_known_name_is_on_the_page_beside_its_field():
    for name, field in ALIASES.items():
        (row,) = [line for line in TEXT.splitlines() if f"`{name}`" in line and line.startswith("|")
                  and line.endswith(f"| `{field}` |")]  # fmt: skip
        assert row


def test_every_shape_and_kind_of_file_is_on_the_page():
    for name in (*get_args(Shape), *ENDINGS):
        assert name == "auto" or f"`{name}`" in TEXT, name


def test_where_to_ask_is_no_business_of_a_row():
    with pytest.raises(Exception, match="api_base"):
        list(load_cases([{"id": "a", "input": "Hi", "api_base": "http://elsewhere"}]))
