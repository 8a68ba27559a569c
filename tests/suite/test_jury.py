"""Juries, orders, parts and readouts as keys of a suite."""

from __future__ import annotations

import asyncio
import json

import pytest
import yaml

from judgekit.core.errors import ConfigError
from judgekit.suite.estimate import plan_run
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve_data
from judgekit.suite.run import run_suite
from judgekit.suite.suite import build_suite, load_suite

SUITE = {
    "cases": [{"id": f"c{n}", "input": "Hi?", "output": f"Hello, number {n}."} for n in range(4)],
    "judges": {"small": "fake/small", "other": "fake/other", "local": "fake/local"},
    "cassette": "tape.jsonl",
    "metrics": {
        "safety": {"jury": ["small", "other", "local"], "threshold": 0.5},
        "heavy": {"rubric": "safety", "jury": {"small": 2.0, "other": 0.5}, "vote": "weighted"},
        "quality": {"judge": "small", "samples": 4, "order": "balanced", "readout": "expected"},
        "thorough": {"rubric": "quality", "judge": "other", "calls": "each"},
        "faithfulness": {"judge": "local", "samples": 2, "order": "balanced"},
    },
}
SUITE["cases"] = [{**case, "context": ["Some text."]} for case in SUITE["cases"]]


def built(folder, *, flags=None, **changes):
    return build_suite({**SUITE, **changes}, base=folder, overrides=Overrides(**flags or {}))


def wrong(folder, **entry):
    path = folder / "suite.yaml"
    suite = {**SUITE, "metrics": {"safety": {"judge": "small"}, **entry}}
    path.write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_suite(path)
    return str(caught.value).removeprefix(str(folder) + "/")


def test_all_opinions_are_recorded_and_replay_with_the_same_bytes(tmp_path):
    live = asyncio.run(
        run_suite(built(tmp_path, flags={"record": "new_episodes"}), out=tmp_path / "live")
    )
    again = asyncio.run(run_suite(built(tmp_path), out=tmp_path / "again"))

    assert live.figures.incomplete == ()
    assert again.run["origins"].keys() == {"tape"}
    for name in ("results.jsonl", "report.json"):
        first, second = ((tmp_path / run / name).read_bytes() for run in ("live", "again"))
        assert first == second
    manifest = json.loads((tmp_path / "again" / "report.json").read_text())["manifest"]
    options = {entry["name"]: entry["options"] for entry in manifest["metrics"]}
    assert options["safety"]["jury"] == {
        "small": "fake/small",
        "other": "fake/other",
        "local": "fake/local",
    }
    assert options["heavy"]["weights"] == {"small": 2.0, "other": 0.5}
    assert options["quality"]["order"] == "balanced"
    assert options["faithfulness"]["samples"] == 2


def test_the_estimate_counts_every_opinion(tmp_path):
    metrics = {name: SUITE["metrics"][name] for name in ("safety", "quality", "thorough")}

    plan = plan_run(resolve_data({**SUITE, "metrics": metrics}, base=tmp_path))

    # Four cases: one call of each member; four samples; five criteria.
    asked = {calls.model: calls.requests for calls in plan.models}
    assert asked == {
        "fake/small": (4 + 16, 4 + 16),
        "fake/other": (4 + 20, 4 + 20),
        "fake/local": (4, 4),
    }


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"jury": ["small"]}, "suite.yaml:"),
        ({"jury": ["small", "smal"]}, "no judge has the role 'smal'; did you mean 'small'?"),
        ({"jury": ["small", "openai/x"]}, "`judges: {second: openai/x}`, and write second here"),
        ({"jury": ["small", "small"]}, "jury names a role twice; name each once"),
        ({"jury": ["small", "other"], "judge": "local"}, "`judge` and `jury` are both given"),
        ({"judge": "small", "vote": "mean"}, "vote needs a jury; add jury: [role, role]"),
        ({"judge": "small", "quorum": 2}, "quorum needs a jury"),
        ({"jury": ["small", "other"], "quorum": 3}, "quorum must be a whole number from 1 to 2"),
        ({"jury": ["small", "other"], "vote": "weighted"}, "vote weighted needs weights"),
        ({"jury": {"small": 1, "other": 1}}, "weights need vote weighted"),
        ({"jury": {"small": 1e308, "other": 1}, "vote": "weighted"}, "0 or from 1e-06 to 1e+06"),
        ({"jury": {"small": 1, "other": 1e-12}, "vote": "weighted"}, "0 or from 1e-06 to 1e+06"),
        ({"judge": "small", "order": "balancd"}, "balanced"),
        ({"judge": "small", "calls": 0}, "calls"),
        ({"metric": "length", "maximum": 9, "order": "balanced"}, "takes no order; remove it"),
        ({"metric": "length", "maximum": 9, "jury": ["small", "other"]}, "takes no jury"),
        ({"metric": "perplexity", "likelihood": "small", "readout": "mode"}, "takes no readout"),
    ],
)
def test_a_mistake_names_its_line(tmp_path, entry, message):
    text = wrong(tmp_path, mine={"rubric": "safety", **entry} if "metric" not in entry else entry)

    assert text.startswith("suite.yaml:")
    assert message in text
    assert "\n" not in text


def forms(suite):
    """Return the bounds of reasons in the requests of a suite, by metric."""
    return {
        metric.name: {r.form.max_reason for case in suite.cases() for r in metric.requests(case)[1]}
        for metric in suite.metrics
    }


def test_bounds_of_reasons_of_judges_and_metrics(tmp_path):
    judges = {"small": "openai/small", "brief": {"model": "openai/brief", "max_reason": 160}}
    judges["person"] = {"model": "manual/ann", "answers": "ann.jsonl"}
    metrics = {
        "quality": {"judge": "small"},
        "safety": {"judge": "brief"},
        "coherence": {"judge": "brief", "max_reason": 300, "calls": "each", "samples": 2},
        "heavy": {"rubric": "safety", "jury": ["small", "person"], "max_reason": 100},
    }
    (tmp_path / "ann.jsonl").write_text("", "utf-8")
    suite = built(tmp_path, judges=judges, metrics=metrics)

    assert forms(suite) == {
        "quality": {None},
        "safety": {160},
        "coherence": {300},
        "heavy": {100, None},
    }
    described = suite.resolved.full_manifest()
    assert described["judges"]["brief"]["max_reason"] == 160
    assert "max_reason" not in described["judges"]["small"]
    options = {entry["name"]: entry["options"] for entry in described["metrics"]}
    assert options["coherence"]["max_reason"] == 300
    assert "max_reason" not in options["quality"]


def test_a_bound_on_the_wrong_judge_or_metric_is_refused_at_its_line(tmp_path):
    message = wrong(tmp_path, overlap={"metric": "exact_match", "max_reason": 160})
    assert message.startswith("suite.yaml:")
    assert "max_reason" in message
    message = wrong(tmp_path, quality={"judge": "small", "max_reason": 5})
    assert "20" in message
    assert "max_reason" in message
    with pytest.raises(ConfigError, match="max_reason is for chats"):
        built(
            tmp_path, judges={"small": {"model": "openai/d", "api": "decisions", "max_reason": 160}}
        )
