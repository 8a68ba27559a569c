"""The card of a judged metric says which fields of a case its judge sees."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from judgekit.authoring.judged_fields import judged_fields
from judgekit.authoring.metric_cards import metric_text, sees_rows
from judgekit.core.case_field import JUDGED
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import CardExample
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.registry import create_metric
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.asked import shown_and_not

REFERENCE = Path(__file__).parents[2] / "docs" / "metrics" / "reference.md"
ROWS = re.compile(r"^\| (?:judge|model) sees \| (.*) \|\n\| never sees \| (.*) \|$", re.MULTILINE)


def test_the_reference_names_every_field_once_for_each_judged_metric():
    rows = ROWS.findall(REFERENCE.read_text("utf-8"))

    assert len(rows) == sum(entry.judged for entry in BUILTIN.values())
    for row in rows:
        assert sorted(", ".join(row).split(", ")) == sorted(JUDGED)


@pytest.mark.parametrize("name", ["quality", "preference"])
def test_a_metric_of_one_rubric_shows_what_the_rubric_shows(name):
    rubric = create_metric(name, judge=FakeJudge()).rubric

    seen, never = sees_rows(name).values()

    by_rubric = shown_and_not(rubric, mode=rubric.default_mode)
    assert (seen.split(", "), never.split(", ")) == by_rubric


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        # Its rubrics print what the metric never gives them.
        ("faithfulness", "history, input, steps, output, context"),
        # Without facts, it asks about the reference, and without that, about the question.
        ("completeness", "history, input, output, reference, expected"),
        ("context_precision", "history, input, reference, context"),
        ("log_likelihoods", "input, choices"),
        ("points", "history, input, steps, output, expected"),
    ],
)
def test_a_metric_of_steps_shows_what_it_gives_its_rubrics(name, seen):
    assert next(iter(sees_rows(name).values())) == seen


def test_a_metric_shows_what_its_own_rubric_shows(tmp_path):
    path = tmp_path / "mine.jinja"
    path.write_text(
        "---\nname: mine\nversion: 1\ndescription: Judge.\nrequires: [output]\n"
        "criteria: {good: {text: Good?, kind: boolean}}\n---\n"
        "{% role user %}{{ case.output }} {{ case.metadata.tone }}"
        "{% for c in criteria %}{{ c.text }}{% endfor %}{% endrole %}\n",
        "utf-8",
    )
    example = CardExample({"output": "Yes.", "metadata": {"tone": "kind", "x": "y"}}, None)

    seen, _ = judged_fields(partial(RubricMetric, path), example)

    assert seen == ["output", "metadata"]


def test_an_example_without_a_score_says_nothing():
    with pytest.raises(ConfigError, match="quality: the example on its card has no score"):
        judged_fields(partial(create_metric, "quality"), CardExample({"input": "What?"}, None))


def test_a_computed_metric_has_no_judge_that_sees_something():
    assert sees_rows("length") == {}
    assert " sees " not in metric_text("length")


def test_an_object_is_tried_text_by_text():
    # Other letters in the kind of a criterion make the case invalid.
    criteria = [{"criterion": "It greets.", "kind": "boolean", "points": 2}]
    example = CardExample({"output": "Hello.", "expected": {"criteria": criteria}}, None)

    seen, _ = judged_fields(partial(create_metric, "points"), example)

    assert "expected" in seen
