"""The example suites and recordings of an earlier version replay with the values they had then.

`tests/data/old_recordings.json` holds, for each suite of `examples/` as it was at that version, its
text and the value of every case, metric and criterion. A value that is not a number is the status
of a score without a value, or the kind of a failure. `tests/data/old_recordings/` holds cassettes,
and in folders cases, that have changed since then; the others are in `cassettes/` and `examples/`.

A difference here has to be in CHANGELOG.md, row by row and with a reason, and then in `CHANGED`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import judgekit

ROOT = Path(__file__).parents[2]
OLD = json.loads((ROOT / "tests/data/old_recordings.json").read_text("utf-8"))
OLD_CASSETTES = ROOT / "tests/data/old_recordings"
LATER = {"examples/case_criteria/suite.yaml"}
"""Suites that did not exist then."""
CHANGED: dict[tuple[str, str, str, str], float] = {}
"""New values by suite, case, metric and criterion (`""` for the metric)."""
TOLERANCE = 1e-12
"""The order of additions has changed since then: values may differ in the 16th digit."""


def values(suite, cases):
    """Yield the value of every metric and criterion with its place."""
    for case, metrics in cases.items():
        for metric, (value, criteria) in metrics.items():
            yield (suite, case, metric, ""), value
            for criterion, part in criteria.items():
                yield (suite, case, metric, criterion), part


def differ(old, new):
    if isinstance(old, float) and isinstance(new, float):
        return abs(old - new) > TOLERANCE
    return old != new


def summarised(result):
    """Return a result as the file has it."""
    if result.type == "failure":
        return [result.kind, {}]
    value = result.value if result.status == "scored" else result.status
    return [value, {part.id: part.value for part in result.parts}]


@pytest.fixture
def project(tmp_path):
    """A copy of the examples and of the recordings of that version."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "cassettes", tmp_path / "cassettes")
    for old in OLD_CASSETTES.iterdir():
        if old.is_dir():
            shutil.copytree(old, tmp_path / "examples" / old.name, dirs_exist_ok=True)
        else:
            shutil.copy(old, tmp_path / "cassettes")
    return tmp_path


@pytest.mark.parametrize("suite", OLD)
def test_an_old_suite_replays_with_its_old_values(suite, project):
    (project / suite).write_text(OLD[suite]["suite"], "utf-8")

    report = judgekit.run_suite_sync(project / suite)

    now = {
        case.id: {row.metric: summarised(row.result) for row in rows}
        for case, rows in report.results
    }
    old = dict(values(suite, OLD[suite]["cases"])) | {
        place: value for place, value in CHANGED.items() if place[0] == suite
    }
    new = dict(values(suite, now))
    assert new.keys() == old.keys()
    different = {at: (old[at], new[at]) for at in old if differ(old[at], new[at])}
    assert different == {}
    assert set(report.run["origins"]) <= {"tape"}
    assert report.run["unused"] == 0


def test_the_file_has_every_suite_of_the_examples():
    suites = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").glob("*/suite*.yaml")
    }

    assert suites - LATER == set(OLD)
    assert sum(len(metrics) for suite in OLD.values() for metrics in suite["cases"].values()) == 681
