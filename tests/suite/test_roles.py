"""Several judges in one suite, each under a role, behind one cassette."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgekit.cli.options import overrides
from judgekit.core.errors import BudgetExceeded, ConfigError
from judgekit.core.request import Reply, Request, Try
from judgekit.judges.budget import LocalBudget
from judgekit.judges.fake import FakeJudge
from judgekit.judges.limits import LimitedJudge
from judgekit.report.display import summary_text
from judgekit.report.report import Report
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import Suite, build_suite, load_suite

CASES = [{"id": f"c{n}", "input": "Hi?", "output": f"Hello, number {n}."} for n in range(3)]
SUITE: dict[str, Any] = {
    "cases": "cases.jsonl",
    "judges": {"judge": "fake/one", "second": {"model": "fake/two"}, "cheap": "fake/three"},
    "cassette": "tape.jsonl",
    "metrics": {
        "safety": {},
        "again": {"rubric": "safety", "judge": "second"},
        "worst": {"combine": "min", "of": ["safety", "again"]},
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = "".join(json.dumps(case) + "\n" for case in CASES)
    (tmp_path / "cases.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def built(folder: Path, *, flags: dict[str, Any] | None = None, **changes: Any) -> Suite:
    return build_suite({**SUITE, **changes}, base=folder, overrides=Overrides(**flags or {}))


def ran(suite: Suite, **options: Any) -> Report:
    return asyncio.run(run_suite(suite, **options))


def wrong(folder: Path, *, flags: dict[str, Any] | None = None, **changes: Any) -> str:
    """Return what is said of a suite file that is wrong."""
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump({**SUITE, **changes}, sort_keys=False), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_suite(path, Overrides(**flags or {}))
    return str(caught.value).removeprefix(str(folder) + "/")


def test_metrics_ask_the_judge_of_their_role_and_share_a_tape(folder: Path) -> None:
    suite = built(folder, flags={"record": "new_episodes"})

    report = ran(suite, out=folder / "out")

    records = [
        json.loads(line)
        for line in (folder / "tape.jsonl").read_text("utf-8").splitlines()
        if line.startswith('{"key"')
    ]
    asked = sorted(record["request"]["model"] for record in records)
    assert asked == ["fake/one"] * 3 + ["fake/two"] * 3
    assert report.run["origins"] == {"live": 6}
    assert ran(built(folder)).run["origins"] == {"tape": 6}
    manifest = report.figures.manifest
    assert manifest["judge"]["model"] == "fake/one"
    assert {role: judge["model"] for role, judge in manifest["judges"].items()} == {
        "judge": "fake/one",
        "second": "fake/two",
        "cheap": "fake/three",
    }
    assert manifest["roles"] == {"again": "second"}
    assert "judge fake/one, second fake/two, cheap fake/three" in summary_text(report, width=100)


def test_one_judge_is_written_as_before(folder: Path) -> None:
    suite = built(folder, judge="fake/one", judges={}, metrics={"safety": None})

    assert list(suite.judges) == ["judge"]
    assert "judges" not in suite.manifest()


def test_role_judge_may_stand_under_either_key(folder: Path) -> None:
    metrics = {"safety": None, "again": {"rubric": "safety", "judge": "second"}}
    suite = built(folder, judge="fake/one", judges={"second": "fake/two"}, metrics=metrics)

    assert {role: judge.model for role, judge in suite.judges.items()} == {
        "judge": "fake/one",
        "second": "fake/two",
    }


def test_role_nobody_asks_needs_no_key(folder: Path) -> None:
    judges = {**SUITE["judges"], "cheap": {"model": "openai/x", "api_key_env": "NOT_SET"}}

    suite = built(folder, judges=judges, flags={"record": "new_episodes"})

    assert set(suite.judges) == {"judge", "second"}
    metrics = {"safety": {"judge": "cheap"}}
    with pytest.raises(ConfigError, match="NOT_SET is not set"):
        built(folder, judges=judges, metrics=metrics, flags={"record": "new_episodes"})


def test_role_that_is_not_there_is_said_with_its_line(folder: Path) -> None:
    metrics = {"safety": {"judge": "secnd"}}

    assert wrong(folder, metrics=metrics) == (
        "suite.yaml:10: metric 'safety': no judge has the role 'secnd'; did you mean 'second'?"
    )


def test_role_of_a_flag_is_one_that_metrics_may_name(folder: Path) -> None:
    suite = built(
        folder,
        judges={"second": "fake/two"},
        metrics={"safety": {"judge": "judge"}},
        flags={"judge": "fake/flag"},
    )

    assert suite.judges["judge"].model == "fake/flag"


def test_role_is_checked_where_the_metric_does_not_run(folder: Path) -> None:
    metrics = {"safety": None, "again": {"rubric": "safety", "judge": "secnd"}}

    for flags in ({"only": ["safety"]}, {"judge": "none"}):
        assert "metric 'again': no judge has the role 'secnd'" in wrong(
            folder, metrics=metrics, flags=flags
        )


def test_embedder_names_a_role_like_a_metric(folder: Path) -> None:
    said = wrong(folder, embedder={"role": "secnd"})

    assert said.endswith("embedder: no judge has the role 'secnd'; did you mean 'second'?")


def test_metric_without_a_role_needs_the_role_judge(folder: Path) -> None:
    said = wrong(folder, judges={"second": "fake/two", "third": "fake/3"}, metrics={"safety": {}})

    assert said.endswith(
        "metric 'safety': no judge has the role 'judge'; known: second, third; add judge: second"
    )


def test_role_on_a_computed_metric_is_refused(folder: Path) -> None:
    assert "'length' is computed and needs no judge; remove `judge`" in wrong(
        folder, metrics={"length": {"maximum": 9, "judge": "second"}}
    )


def test_role_judge_is_written_once(folder: Path) -> None:
    assert "are one role; keep one" in wrong(folder, judge="fake/four")


def test_judges_that_a_recording_could_not_tell_apart_are_refused(folder: Path) -> None:
    judges = {"judge": "fake/one", "second": {"model": "fake/one", "timeout": 5}}

    assert "'judge' and 'second' are the same to every recording" in wrong(folder, judges=judges)
    judges["second"] = {"model": "fake/one", "identity": "the other server"}
    assert set(built(folder, judges=judges).judges) == {"judge", "second"}


def test_key_in_a_role_is_refused_unread(folder: Path) -> None:
    said = wrong(folder, judges={"judge": {"model": "x/y", "api_key": "sk-canary-123"}})

    assert "api_key_env: MY_KEY" in said
    assert "canary" not in said


def test_flags_name_judges_by_role(folder: Path) -> None:
    chosen = overrides(
        {"judge": ["fake/new", "second=fake/other"], "param": ["temperature=0"], "no_judge": False}
    )
    suite = build_suite(SUITE, base=folder, overrides=chosen)

    assert {role: judge.model for role, judge in suite.roles.items()} == {
        "judge": "fake/new",
        "second": "fake/other",
        "cheap": "fake/three",
    }
    assert suite.roles["judge"].params == {"temperature": 0}
    assert suite.roles["second"].params == {}
    assert suite.record.value == "new_episodes"


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        (
            ["secnd=fake/x"],
            "--judge secnd=...: no judge has the role 'secnd'; did you mean 'second'",
        ),
        (["fake/x", "fake/y"], "the role 'judge' is given twice"),
        (["second="], "write it as ROLE=MODEL"),
    ],
)
def test_flags_that_name_no_role_are_refused(folder: Path, judge: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_suite(
            SUITE,
            base=folder,
            overrides=overrides({"judge": judge, "record": None, "no_judge": False}),
        )


def test_nobody_judges_in_any_role(folder: Path) -> None:
    metrics = {"prompt_alignment": None, "again": {"metric": "prompt_alignment", "judge": "cheap"}}

    suite = built(folder, metrics=metrics, flags={"judge": "none"})

    assert (suite.no_judge, suite.judges) == (True, {})


def test_price_is_checked_for_every_role_that_may_be_asked(folder: Path) -> None:
    judges = {"judge": "fake/one", "second": {"model": "openai/x", "api_base": "http://h/v1"}}

    with pytest.raises(ConfigError, match=r"give judges\.second\.price"):
        built(folder, judges=judges, limits={"max_cost": 1}, flags={"record": "all"})


def test_judges_share_one_purse() -> None:
    def dear(request: Request) -> Reply:
        return Reply(tries=(Try(text="{}"),), cost=0.6)

    budget = LocalBudget(1.0)
    one, two = (LimitedJudge(FakeJudge(dear, model=f"fake/{n}"), budget=budget) for n in (1, 2))
    request = Request.model_validate({"messages": [], "form": {}, "model": "fake/1"})

    asyncio.run(one.ask(request))
    asyncio.run(two.ask(request))

    assert budget.spent == pytest.approx(1.2)
    with pytest.raises(BudgetExceeded, match=r"\$1\.2000 of \$1 is spent"):
        asyncio.run(one.ask(request))


def test_what_is_missing_is_said_model_by_model(folder: Path) -> None:
    from judgekit.cli.output import recording_advice

    suite = built(folder)
    ran(suite)

    said = recording_advice(suite) or ""

    assert "3 calls to fake/one, about" in said or "6 calls to fake/one" in said
    assert "calls to fake/two, about" in said
