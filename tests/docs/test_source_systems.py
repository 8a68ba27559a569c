"""Each row of the page about the source systems names something that the documentation runs."""

from __future__ import annotations

import re

from tests.docs.page import PAGES, blocks

NAME = "docs/source-systems.md"
ROW = re.compile(r"^\| (?P<there>.+?) \| (?P<here>.+?) \| (?P<difference>.+?) \|$", re.MULTILINE)
SPAN = re.compile(r"`([^`]+)`")


def commands(*names, run_only):
    """Return the text of all blocks of pages."""
    return "\n".join(
        block.text
        for name in names
        for block in blocks(PAGES[name].read_text("utf-8"))
        if block.not_run is None or not run_only
    )


ROWS = [
    match.groupdict()
    for match in ROW.finditer(PAGES[NAME].read_text("utf-8"))
    if match["there"] not in ("there", "---")
]


def test_a_row_says_where_it_is_here_and_why_it_differs():
    here = commands(NAME, run_only=True)
    everywhere = commands(*PAGES, run_only=False)

    for row in ROWS:
        spans = SPAN.findall(row["here"])
        assert row["difference"].strip(), row
        assert "](" in row["here"] or any(span in here for span in spans), row
        # A command without a placeholder is on some page as it is written.
        for span in spans:
            if span.startswith("judgekit ") and not re.search(r"\b[A-Z]{2,}\b", span):
                assert span in everywhere, row


def test_every_system_has_a_table():
    assert len(re.findall(r"^\| there \|", PAGES[NAME].read_text("utf-8"), re.MULTILINE)) == 5
    assert len(ROWS) >= 80
