from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.authoring.lint.lint import lint_rubrics, lint_rules
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.load import load_rubric
from tests.authoring.lint.corpus import read_corpus

EXAMPLES = Path(__file__).parents[3] / "examples"
GOOD = read_corpus("good.txt")
BAD = read_corpus("bad.txt")


def found_in(path):
    return [(Path(f.file).name, f.line, f.rule) for f in lint_rubrics([path]).open]


@pytest.mark.parametrize("entry", [pytest.param(e, id=e.title) for e in GOOD])
def test_no_rule_fires_on_a_good_rubric(entry, tmp_path):
    path = entry.write(tmp_path)

    load_rubric(path)
    assert found_in(tmp_path) == []


@pytest.mark.parametrize("entry", [pytest.param(e, id=e.title) for e in BAD])
def test_a_bad_rubric_is_named_by_the_right_rule_at_the_right_line(entry, tmp_path):
    entry.write(tmp_path)

    found = found_in(tmp_path)
    if "missing-tests" not in [rule for *_, rule in entry.expected]:
        found = [f for f in found if f[2] != "missing-tests"]
    assert sorted(found) == sorted(entry.expected)


def test_the_corpora_are_of_the_size_promised():
    assert len({e.title for e in BAD}) == len(BAD) >= 60
    assert len({e.title for e in GOOD}) == len(GOOD) >= 30
    assert all(e.expected for e in BAD)


def test_every_static_rule_is_shown_by_a_bad_rubric():
    shown = {rule for entry in BAD for *_, rule in entry.expected}
    static = {rule.id for rule in lint_rules().values() if rule.needs not in ("results", "api")}

    # The one is no text; the other is for what nobody thought of.
    assert static - shown == {"unreadable", "bad-rubric"}


def test_the_built_in_rubrics_are_clean():
    linted = lint_rubrics([builtin_folder()])

    # A new version may have better scales.
    assert [one for one in linted.open if one.rule != "changed-scale"] == []


def test_the_examples_are_clean():
    folders = sorted({path.parent for path in EXAMPLES.glob("*/rubrics/*.jinja")})

    assert folders
    assert [f for f in lint_rubrics(folders).open if f.rule != "missing-tests"] == []


def test_decision_endpoints_are_checked_on_demand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.jinja").write_text(
        "---\nname: mine\nextends: base\ndescription: d\ncriteria:\n"
        "  free: {text: How good is the answer?, weight: 0.5, quotes: true}\n"
        "  plain: {kind: boolean, text: Is it polite?, weight: 0.5}\n---\n"
    )

    plain, on_demand = (lint_rubrics(["mine.jinja"], api=api).open for api in (None, "decisions"))

    new = [one for one in on_demand if one not in plain]
    assert [(one.rule, one.severity, one.line, one.criterion) for one in new] == [
        ("not-answered", "note", 6, "free"),
        ("not-askable", "note", 6, "free"),
    ]
    assert "its answer is a free number; give it levels" in new[1].message
