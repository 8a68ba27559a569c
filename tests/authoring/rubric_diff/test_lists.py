"""`rubric diff --results` with prompt_alignment@2, which asks for lists of requirements first."""

from __future__ import annotations

import json

import pytest

from judgekit.authoring.rubric_diff.effects import effects_on
from judgekit.rubric.load import load_rubric
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite
from tests.metrics.prompt_alignment.test_requirement_lists import Careful

HALF = """\
---
name: prompt_alignment
version: 3
extends: prompt_alignment@2
modes:
  both: {user: 0.5, system: 0.5}
---
"""


@pytest.fixture
def folder(tmp_path):
    cases = [
        {"id": f"c{n}", "input": f"Rivers {n // 2}?", "system": "Be brief.", "output": f"Po {n}."}
        for n in range(4)
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)) + "\n", "utf-8")
    (tmp_path / "half.jinja").write_text(HALF, "utf-8")
    return tmp_path


def recorded(folder, version, judge, *, samples=1):
    suite = {
        "cases": "cases.jsonl",
        "judge": "fake/careful",
        "cassette": "tape.jsonl",
        "metrics": {
            "prompt_alignment": {"rubric": f"prompt_alignment@{version}", "samples": samples}
        },
    }
    (folder / "suite.yaml").write_text(json.dumps(suite), "utf-8")
    loaded = load_suite(folder / "suite.yaml", Overrides(record="new_episodes"), judge=judge)
    return run_suite_sync(loaded, out=folder / "out")


def effects(folder, old, new):
    (found,) = effects_on(folder / "out", old=load_rubric(old), new=load_rubric(new))
    return found


@pytest.mark.parametrize("samples", [1, 2])
def test_lists_are_counted_once_for_each_prompt(folder, samples):
    recorded(folder, 1, None, samples=samples)

    found = effects(folder, "prompt_alignment@1", "prompt_alignment@2")

    # Two messages and one system prompt, and then the verdicts on four answers.
    assert (found.calls, found.foreign) == (3 + 4 * samples, 0)


@pytest.mark.parametrize("system", [("Is brief.",), ()])
@pytest.mark.parametrize("samples", [1, 2])
def test_recorded_verdicts_on_lists_are_known_again(folder, samples, system):
    judge = Careful(system=system, unmet=("U2", "S1"))
    run = recorded(folder, 2, judge, samples=samples)

    same = effects(folder, "prompt_alignment@2", "prompt_alignment@2")
    other = effects(folder, "prompt_alignment@2", folder / "half.jinja")
    back = effects(folder, "prompt_alignment@2", "prompt_alignment@1")

    user, whole = 1 - 0.3 / 2, 1 - 0.35 if system else 1.0
    assert run.metrics["prompt_alignment"].mean == pytest.approx(0.7 * user + 0.3 * whole)
    assert ([e.fate for e in same.effects], same.foreign) == (["same"] * 4, 0)
    assert other.mean_new == pytest.approx((user + whole) / 2)
    assert (back.calls, {e.fate for e in back.effects}) == (4 * samples, {"ask"})
