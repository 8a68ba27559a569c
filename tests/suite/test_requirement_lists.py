"""Lists of requirements in runs: budgets, redaction, shards, Ray, retries, juries, sessions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import JudgeUnavailable
from judgekit.core.jury import Jury
from judgekit.judges.budget import LocalBudget
from judgekit.judges.limits import LimitedJudge
from judgekit.metrics.prompt_alignment.prompt_alignment import PromptAlignment
from judgekit.metrics.prompt_alignment.requirement_lists import RUBRIC
from judgekit.ray import run as ray_driver
from judgekit.ray.run import run_on_ray
from judgekit.report.display import summary_text
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.estimate import plan_run
from judgekit.suite.merge import merge_shards
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.run import failed_keys, run_suite_sync
from judgekit.suite.suite import load_suite
from tests.metrics.prompt_alignment.test_requirement_lists import Careful
from tests.ray.inline import InlineRay

CASES = [
    {
        "id": f"c{n}",
        "input": f"Three rivers {n // 2}? Ask ann.bird@aviary-of-ann.io.",
        "system": "Say good day.",
        "output": f"Po {n}.",
        "metadata": {"user": n % 2},
    }
    for n in range(4)
]
SUITE: dict[str, Any] = {
    "cases": "cases.jsonl",
    "judge": "fake/careful",
    "cassette": "tape.jsonl",
    "redact": ["email"],
    "cluster": "user",
    "metrics": {"prompt_alignment": {"threshold": 0.5}},
}
CALLS = 3 + 4
"""Two messages and a system prompt have a list each, and each case has a verdict."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, CASES)) + "\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE), "utf-8")
    return tmp_path


def run(folder, out, judge=None, **overrides):
    suite = load_suite(folder / "suite.yaml", Overrides(**overrides), judge=judge)
    return run_suite_sync(suite, out=folder / out)


def outcomes(report):
    results = [row.result for scored in report.results for row in scored.rows]
    return [getattr(result, "kind", None) or result.value for result in results]


class Waiting(Careful):
    """Replies later, so that cases are scored at the same time."""

    synchronous = False

    async def ask(self, request):
        await asyncio.sleep(0)
        return (await super().ask(request)).model_copy(update={"cost": 0.5})


@pytest.mark.parametrize(
    ("most", "asked", "scored"), [(0.4, 1, 0), (0.9, 2, 1), (1.4, 3, 2), (9.0, 5, 4)]
)
def test_a_budget_ends_between_list_and_verdict(most, asked, scored):
    judge = Waiting()
    cases = [Case(id=str(n), input="Three rivers?", output=f"Po {n}.") for n in range(4)]
    limited = LimitedJudge(judge, budget=LocalBudget(most))

    report = evaluate_sync(cases, [PromptAlignment(judge=limited)])

    # Without a cassette, too, cases that are scored at once share one list.
    assert (judge.count(), len(judge.asked)) == (1, asked)
    assert outcomes(report) == [1.0] * scored + ["not_run"] * (4 - scored)


@pytest.mark.parametrize("failures", [1, 9])
def test_cases_that_wait_for_a_list_share_its_failure(failures):
    class Down(Waiting):
        async def ask(self, request):
            await asyncio.sleep(0)
            if len(self.asked) < failures:
                self.asked.append(request)
                raise JudgeUnavailable("down")
            return await super().ask(request)

    judge = Down()
    cases = [Case(id=str(n), input="Three rivers?", output=f"Po {n}.") for n in range(3)]

    report = evaluate_sync(cases, [PromptAlignment(judge=judge)])

    assert judge.count() == 1
    assert outcomes(report) == ["unavailable"] * 3


def test_a_case_that_is_cancelled_leaves_its_list_to_the_others():
    judge = Waiting()
    metric = PromptAlignment(judge=judge)
    cases = [Case(id=str(n), input="Three rivers?", output=f"Po {n}.") for n in range(3)]

    async def scored():
        first, *others = (asyncio.ensure_future(metric.score(case)) for case in cases)
        await asyncio.sleep(0)
        first.cancel()
        return [score.value for score in await asyncio.gather(*others)]

    assert asyncio.run(scored()) == [1.0, 1.0]
    assert judge.count() <= 2


def test_a_plan_counts_the_lists_and_a_run_redacts_them(folder):
    plan = plan_run(resolve(folder / "suite.yaml"))
    judge = Careful()
    live = run(folder, "live", judge, record="new_episodes")
    after = plan_run(resolve(folder / "suite.yaml"))

    assert [model.requests for model in plan.models] == [(3, CALLS)]
    assert live.run["origins"] == {"live": CALLS}
    assert [(model.recorded, model.requests) for model in after.models] == [(CALLS, (0, 0))]
    assert "EMAIL-" in json.dumps([r.messages[-1].content for r in judge.asked])
    for path in [p for p in folder.rglob("*") if p.is_file() and p.name != "cases.jsonl"]:
        assert b"aviary" not in path.read_bytes(), path
    assert live.metrics["prompt_alignment"].clusters == 2


@pytest.mark.parametrize("lists", ["equal", "different"])
def test_shards_that_list_other_requirements_are_named(folder, lists):
    """Each shard of a live run asks for the list of the system prompt itself."""
    for n in (1, 2):
        system = (f"Says good day {n}.",) if lists == "different" else ("Says good day.",)
        run(folder, f"s{n}", Careful(system=system), shard=f"{n}/2", record="all")
        (folder / "tape.jsonl").unlink()
    merged = merge_shards(
        folder / "suite.yaml", [folder / "s1", folder / "s2"], out=folder / "merged"
    )
    (folder / "merged/tape.jsonl").rename(folder / "tape.jsonl")

    replayed = outcomes(run(folder, "replay"))
    noted = "1 request has another reply in another shard" in summary_text(merged)
    assert outcomes(merged) == [1.0] * 4
    assert noted == ("cassette_miss" in replayed) == (lists == "different")

    again = run(folder, "again", Careful(), record="new_episodes")
    assert outcomes(again) == [1.0] * 4


def test_workers_of_ray_replay_lists_and_verdicts(folder, monkeypatch):
    run(folder, "whole", Careful(), record="new_episodes")
    monkeypatch.setattr(ray_driver, "connected", InlineRay().connected)

    report = run_on_ray(folder / "suite.yaml", Overrides(), out=folder / "ray", workers=2)

    assert [*report.run["origins"]] == ["tape"]
    for name in ("results.jsonl", "report.json", "tape.jsonl"):
        assert (folder / "ray" / name).read_bytes() == (folder / "whole" / name).read_bytes()


@pytest.mark.parametrize("step", ["list", "verdict"])
def test_failed_rows_are_tried_again_with_the_lists_of_the_others(folder, step):
    class Broken(Careful):
        def _say(self, request):
            listing = request.about.rubric == RUBRIC
            if request.about.case.startswith("c2") and listing == (step == "list"):
                return "no idea"
            return super()._say(request)

    first = run(folder, "first", Broken(), record="new_episodes")
    judge = Careful()
    failed = failed_keys(folder / "first")
    settings = Overrides(record="new_episodes", again=failed)
    suite = load_suite(folder / "suite.yaml", settings, judge=judge)
    again = run_suite_sync(suite, out=folder / "again", retry_failed=folder / "first")

    assert outcomes(first).count("invalid_reply") == (2 if step == "list" else 1)
    assert outcomes(again) == [1.0] * 4
    assert judge.count() == (1 if step == "list" else 0)
    assert outcomes(run(folder, "replay")) == [1.0] * 4


def test_a_member_whose_list_fails_gives_no_opinion_in_a_run():
    class Mute(Careful):
        def _say(self, request):
            return "no idea" if request.about.rubric == RUBRIC else super()._say(request)

    jury = Jury([Careful(), Mute(model="fake/mute")], samples=2, quorum=1)
    cases = [Case(**case) for case in CASES]

    report = evaluate_sync(cases, [PromptAlignment(judge=jury)])

    assert outcomes(report) == [1.0] * 4
    opinions = [row.result.opinions for scored in report.results for row in scored.rows]
    assert {o.failure for row in opinions for o in row if o.member == "fake/mute"} == {
        "invalid_reply"
    }
