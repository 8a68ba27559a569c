"""What is said about labels is the same however a suite is run: alone, in shards, on Ray."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import judgekit
from judgekit.ray import run as driver
from judgekit.ray.run import run_on_ray
from judgekit.report.display import summary_text
from judgekit.suite.merge import merge_shards
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite
from tests.labelled import write_lines
from tests.ray.inline import InlineRay

RECORD = Overrides(record="new_episodes")
COUNT = 100


def write_suite(folder: Path) -> Path:
    """Write cases whose labels are no random sample, and a metric with one answer.

    The judge says yes to `right` for even numbers, and labels are of these alone; to `calm` it says
    yes for every case; of `short`, the labels are of cases in which the judge has a verdict.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cases = [{"id": f"c{n}", "output": f"answer {n}"} for n in range(COUNT)]
    verdicts = [
        {"case": f"c{n}", "rubric": rubric, "answers": {"ok": answer}}
        for n in range(COUNT)
        for rubric, answer in (("right", n % 2 == 0), ("calm", True),
                               ("short", None if n % 3 == 0 else n % 4 < 2))
    ]  # fmt: skip
    labels = [
        {"case": f"c{n}", "metric": metric, "labeller": "ann", "values": {"ok": n % 7 > 0}}
        for metric, chosen in (("right", n_even()), ("calm", range(60)), ("short", n_told()))
        for n in chosen
    ]
    for name, rows in (("cases", cases), ("v", verdicts), ("labels", labels)):
        write_lines(folder / f"{name}.jsonl", rows)
    criteria = {"ok": {"text": "Is it?", "kind": "boolean", "nullable": True}}
    gates = {
        "right": {"mean": 0.5, "corrected": True},
        "calm": [{"mean": 0.5}, {"mean": 0.5, "constant": "fail"}],
        "short": {"mean": 0.1, "corrected": True},
    }
    metrics = {name: {"criteria": criteria, "gate": gate} for name, gate in gates.items()}
    path = folder / "suite.yaml"
    data = {"cases": "cases.jsonl", "judge": {"recorded": "v.jsonl"}, "labels": "labels.jsonl",
            "metrics": metrics}  # fmt: skip
    path.write_text(json.dumps(data), "utf-8")
    return path


def n_even() -> range:
    return range(0, COUNT, 2)


def n_told() -> list[int]:
    return [n for n in range(COUNT) if n % 3][:55]


def alone(suite: Path, out: Path) -> judgekit.Report:
    return run_suite_sync(load_suite(suite, RECORD), out=out)


def merged(suite: Path, out: Path) -> judgekit.Report:
    shards = [out.with_name(f"shard{n}") for n in (1, 2)]
    for n, shard in enumerate(shards, start=1):
        run_suite_sync(load_suite(suite, Overrides(record="new_episodes", shard=f"{n}/2")),
                       out=shard)  # fmt: skip
    return merge_shards(suite, shards, out=out)


def on_ray(suite: Path, out: Path) -> judgekit.Report:
    return run_on_ray(suite, RECORD, out=out, workers=2)


Way = Callable[[Path, Path], judgekit.Report]
WAYS: dict[str, Way] = {"alone": alone, "merged": merged, "on_ray": on_ray}

SAID = {
    "labels of one verdict": "right: corrected mean 0.840 [0.710, 0.919] over 50 labels does not "
    "pass: the labelled cases do not look like a random sample of the run: the judge's mean is "
    "1.00 on them, 0.00 on the rest (p < 0.001, adjusted for 3 tests)",
    "labels where the judge can tell": "the judge has no value in 0% of them, 76% of the rest",
    "one answer": "the judge answered yes in 100 of 100 cases",
    "a gate on the judge alone": "calm: mean 1.000 [0.963, 1.000] over 100 (the judge alone, not "
    "corrected) meets at least 0.5",
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[judgekit.Report, Path]]:
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "connected", InlineRay().connected)
        for name, run in WAYS.items():
            folder = tmp_path_factory.mktemp(name)
            found[name] = run(write_suite(folder), folder / "out"), folder
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", SAID)
def test_every_way_to_run_says_it(way, what, reports):
    report, folder = reports[way]

    text = " ".join(summary_text(report).split())
    page = (folder / "out" / "report.json").read_text("utf-8")

    assert SAID[what] in text
    assert report.exit_code == 1
    assert '"comparability"' in page


@pytest.mark.parametrize("way", ["merged", "on_ray"])
def test_every_way_to_run_writes_the_same_figures(way, reports):
    report, folder = reports[way]
    whole, first = reports["alone"]

    assert report.figures.gates == whole.figures.gates
    assert report.metrics == whole.metrics
    for name in ("report.json", "results.jsonl"):
        assert (folder / "out" / name).read_bytes() == (first / "out" / name).read_bytes()
