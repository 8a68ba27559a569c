"""The pages of a run and of a comparison print a new text field of the case, in a browser."""

from __future__ import annotations

import json

import pytest

from tests.agreement.scratch import ScratchPackage, with_draft
from tests.browsing import skip_without_a_browser, unfold, until

skip_without_a_browser("a new field on the pages")

pytestmark = pytest.mark.loopback


@pytest.mark.thorough
def test_pages_print_it(tmp_path, tab):
    scratch = with_draft(ScratchPackage(tmp_path))
    scratch.write("suite.yaml", "cases: cases.jsonl\nmetrics: {length: {maximum: 3}}\n")
    for folder, draft in (("base", "The first words."), ("new", "Other words.")):
        row = {"id": "a", "input": "Hi", "output": "Hello."}
        rows = [{**row, "draft": draft}, {**row, "id": "b", "draft": "Equal."}]
        scratch.write("cases.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        scratch.judgekit("run", "suite.yaml", "--out", folder)
    scratch.judgekit("report", "base")
    scratch.judgekit("compare", "base", "new", "--allow-same", "--out", "compared.html")

    tab.goto(f"file://{scratch.work}/base/report.html#case=a")
    tab.wait_for_selector("html[data-whole]")
    headings = tab.locator("#drawer .talk h3").all_inner_texts()
    assert headings == ["Input", "Output", "First draft"]
    assert "The first words." in tab.locator("#drawer .talk").inner_text()
    tab.goto(f"file://{scratch.work}/base/report.html#q=first+words")
    tab.wait_for_selector("html[data-whole]")
    assert tab.locator("table.list tbody th").all_inner_texts() == ["a"]

    tab.goto(f"file://{scratch.work}/compared.html#case=a")
    tab.wait_for_selector("html[data-whole]")
    until(tab, "document.querySelectorAll('.asked-of summary').length === 2")
    unfold(tab, ".asked-of")
    texts = tab.locator(".asked-of .columns > section").all_inner_texts()
    assert ["The first words." in texts[0], "Other words." in texts[1]] == [True, True]
