"""docs/ci.md names everything that there is."""

from __future__ import annotations

import re

import pytest

from judgekit.report.export.export import FORMATS
from judgekit.report.table import EXPORTED
from tests.docs.page import DOCS

PAGE = (DOCS / "ci.md").read_text("utf-8")


def test_every_column_stands_in_the_table_once():
    _, _, table = PAGE.partition("| column | what it holds |\n| --- | --- |\n")
    rows = table.partition("\n\n")[0].splitlines()

    named = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]

    assert named == sorted(named, key=list(EXPORTED).index)
    assert sorted(named) == sorted(EXPORTED)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_written_on_the_page(format):
    assert f"--export {format}=" in PAGE
