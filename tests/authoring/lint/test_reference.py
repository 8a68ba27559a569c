from __future__ import annotations

import os
import re
from pathlib import Path

import yaml

from judgekit.authoring.lint import results, scales, templates, whole, wording
from judgekit.authoring.lint.lint import lint_rules, rule_families
from judgekit.authoring.lint.scales import GAP, MANY_LEVELS
from judgekit.authoring.lint.text import rules_text
from judgekit.rubric.load import load_rubric
from tests.each import each

PAGE = Path(__file__).parents[3] / "docs" / "lint.md"
MARK = (
    "<!-- rules: written by `JUDGEKIT_UPDATE_GOLDEN=1 pytest"
    " tests/authoring/lint/test_reference.py` -->\n"
)


def rule_tables():
    """Return the rules as Markdown, a table for each family."""
    lines: list[str] = []
    for heading, rules in rule_families().items():
        lines += [f"### {heading}", "", "| rule | severity | why | fix | checks |"]
        lines.append("| --- | --- | --- | --- | --- |")
        for rule in rules:
            cells = (f"`{rule.id}`", rule.severity, rule.why, rule.fix, rule.languages)
            lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)


def test_the_page_has_the_rules_as_they_are():
    before, mark, _ = PAGE.read_text("utf-8").partition(MARK)
    page = f"{before}{mark}\n{rule_tables()}"
    if os.environ.get("JUDGEKIT_UPDATE_GOLDEN"):
        PAGE.write_text(page, "utf-8")

    assert mark
    assert PAGE.read_text("utf-8") == page


def test_every_rule_is_named_once_and_says_why_and_how_to_fix_it():
    ids = [rule.id for rules in rule_families().values() for rule in rules]

    assert len(set(ids)) == len(ids) == len(lint_rules())
    for rule in lint_rules().values():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.id)
        assert rule.why.endswith(".")
        # Without a fix, each message of the rule says what to do.
        assert not rule.fix or rule.fix.endswith((".", "`."))
        assert f"{rule.id} ({rule.severity})\n    why: {rule.why}\n" in rules_text(lint_rules())


def test_what_cannot_be_checked_here_is_found_by_loading():
    unchecked = {rule.id for rule in lint_rules().values() if rule.check is None}
    loading = {rule.id for rule in rule_families()["Loading"]} | {
        rule.id for rule in rule_families()["Silences"]
    }

    assert unchecked == loading
    assert all(not rule.silenceable for id, rule in lint_rules().items() if id in unchecked)


def test_the_silences_of_the_page_are_read(tmp_path):
    (shown,) = re.findall(r"```yaml\n(lint:.*?)```", PAGE.read_text("utf-8"), re.S)
    path = tmp_path / "mine.jinja"
    path.write_text(f"---\nname: mine\nextends: base\n{shown}---\n", "utf-8")

    assert load_rubric(path).criteria[0].id == "tone"
    assert set(yaml.safe_load(shown)["lint"]) <= set(lint_rules())


@each(
    ("rule", "figure"),
    [
        ("long-criterion", f" {wording.LONG} words"),
        ("wide-scale", f" {scales.WIDE} steps"),
        ("level-gap", f" {GAP:g} apart"),
        ("many-levels", f" {MANY_LEVELS}."),
        ("dominant-criterion", f" {whole.DOMINANT:.0%} "),
        ("negligible-weight", f" {whole.NEGLIGIBLE:.0%} "),
        ("many-criteria", f" {whole.MANY} "),
        ("prompt-size", f" {templates.LARGE:,} tokens"),
        ("at-ceiling", f" {results.EDGE:.0%} "),
        ("at-floor", f" {results.EDGE:.0%} "),
        ("redundant", f" {results.SAME:.0%} "),
        ("abstaining", f" {results.ABSTAINING:.0%} "),
        ("inapplicable", f" {results.INAPPLICABLE:.0%} "),
        ("contradicted", f" {results.CONTRADICTING:.0%} of cases (and at least {results.FEW})"),
        ("unfound-quotes", f" {results.UNFOUND:.0%} "),
        ("against-checklist", f" {results.AGAINST:.0%} "),
        ("unreadable-replies", f" {results.UNREADABLE:.0%} "),
    ],
)
def test_a_rule_explains_the_figure_it_checks(rule, figure):
    assert figure in f" {lint_rules()[rule].why}"
