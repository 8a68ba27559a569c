from __future__ import annotations

import os
import re
from pathlib import Path

import yaml

from judgekit.authoring.lint.reference import rule_list, rule_tables
from judgekit.authoring.lint.registry import FAMILIES, RULES
from judgekit.rubric.load import load_rubric

PAGE = Path(__file__).parents[3] / "docs" / "lint.md"
MARK = (
    "<!-- rules: written by `JUDGEKIT_UPDATE_GOLDEN=1 pytest"
    " tests/authoring/lint/test_reference.py` -->\n"
)


def test_the_page_has_the_rules_as_they_are():
    before, mark, _ = PAGE.read_text("utf-8").partition(MARK)
    page = f"{before}{mark}\n{rule_tables()}"
    if os.environ.get("JUDGEKIT_UPDATE_GOLDEN"):
        PAGE.write_text(page, "utf-8")

    assert mark
    assert PAGE.read_text("utf-8") == page


def test_every_rule_is_named_once_and_says_why_and_how_to_mend():
    ids = [rule.id for rules in FAMILIES.values() for rule in rules]

    assert len(set(ids)) == len(ids) == len(RULES)
    for rule in RULES.values():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.id)
        assert rule.why.endswith(".")
        assert rule.mend.endswith((".", "`."))
        assert f"{rule.id} ({rule.severity})\n    why: {rule.why}\n" in rule_list()


def test_what_cannot_be_checked_here_is_found_by_loading():
    unchecked = {rule.id for rule in RULES.values() if rule.check is None}
    loading = {rule.id for rule in FAMILIES["Loading"]} | {rule.id for rule in FAMILIES["Silences"]}

    assert unchecked == loading
    assert all(not rule.silenceable for id, rule in RULES.items() if id in unchecked)


def test_the_silences_of_the_page_are_read(tmp_path):
    (shown,) = re.findall(r"```yaml\n(lint:.*?)```", PAGE.read_text("utf-8"), re.S)
    path = tmp_path / "mine.jinja"
    path.write_text(f"---\nname: mine\nextends: base\n{shown}---\n", "utf-8")

    assert load_rubric(path).criteria[0].id == "tone"
    assert set(yaml.safe_load(shown)["lint"]) <= set(RULES)
