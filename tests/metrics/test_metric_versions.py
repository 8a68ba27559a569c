"""METRIC@V: the version of a metric with rubrics of other names."""

from __future__ import annotations

import json

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.generation import last_with_metric, metric_version
from judgekit.core.protocols import with_children
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.cards import card_of
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.registry import create_metric, find
from tests.agreement.scratch import first_generation, with_quality_2, with_version_2

WITH_RUBRIC = [name for name, entry in BUILTIN.items() if entry.judged and find(name).rubrics]


@pytest.mark.parametrize("name", WITH_RUBRIC)
def test_a_metric_knows_its_rubrics_before_it_is_created(name):
    options = card_of(name).example.options
    metric = create_metric(name, judge=FakeJudge(), **options)

    used = {rubric.name for part in with_children(metric) for rubric in part.rubrics}

    assert find(name).rubrics == used
    pinned = create_metric(f"{name}@1", judge=FakeJudge(), **options)
    assert [(one.name, one.version) for one in pinned.rubrics] == [
        (one.name, 1)
        for one in metric.rubrics
        if one.name != "prompt_requirements"  # a step that version 2 added
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "faithfulness@9",
            "metric 'faithfulness' has no version 9, only faithfulness@1",
        ),
        ("faithfulness@x", "a version is a whole number from 1; write faithfulness@1"),
        ("length@1", "'length@1': 'length' has no rubric, so no versions; write length"),
        ("faithfull@1", "no metric named 'faithfull@1'"),
    ],
)
def test_a_version_that_a_metric_does_not_have(name, message):
    with pytest.raises(ConfigError) as raised:
        create_metric(name, judge=FakeJudge())
    assert message in str(raised.value)
    if "@9" in name:
        assert str(raised.value).endswith("; its rubrics are claim_support and statements")


def test_every_combination_of_versions_has_a_number(monkeypatch):
    table = {1: {}, 2: {"a": 2}, 3: {"c": 2}, 4: {"b": 2, "a": 3}, 5: {"d": 2}}
    monkeypatch.setattr("judgekit.core.generation.generations", lambda: table)

    assert [metric_version(("a", "b"), number) for number in table] == [1, 2, 2, 3, 3]
    assert [last_with_metric(("a", "b"), version) for version in range(5)] == [None, 1, 3, 5, None]
    assert [metric_version("a", number) for number in table] == [1, 2, 2, 3, 3]


SUITE = """
    cases: [{id: a, input: Which day?, output: Monday is the day., context: [It is Monday.]}]
    judge: {model: fake/judge}
    cassette: tape.jsonl
    metrics:
      faithfulness:
      old: {metric: faithfulness@1}
      hallucination@1:
      faithfulness@2: {threshold: 0.5}
      named: {metric: quality@1}
"""
VERSIONS = """
    import json
    from judgekit import create_metric
    from judgekit.suite.suite import load_suite
    suite = load_suite("suite.yaml")
    for m in [*suite.metrics, create_metric("faithfulness@1", judge="fake/judge")]:
        print(json.dumps([m.name, [r.version for r in m.rubrics]]))
"""


def test_a_suite_pins_a_version_in_the_newest_and_in_an_older_generation(tmp_path):
    scratch = with_version_2(with_quality_2(first_generation(tmp_path)), "statements")
    scratch.write("suite.yaml", SUITE)
    new = [json.loads(line) for line in scratch.python(VERSIONS).out.splitlines()]
    (scratch.work / "tape.jsonl").write_text('{"judgekit":"cassette","version":1}\n')
    old = [json.loads(line) for line in scratch.python(VERSIONS).out.splitlines()]

    assert new == [
        ["faithfulness", [2, 1]],
        ["old", [1, 1]],
        ["hallucination@1", [1, 1]],
        ["faithfulness@2", [2, 1]],
        ["named", [1]],
        ["faithfulness", [1, 1]],
    ]
    assert old[0] == ["faithfulness", [1, 1]]
    assert old[1:] == new[1:]
