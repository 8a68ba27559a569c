"""The example plugin, built and installed as a package would be, then used by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests import forks

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the plugin installed."""
    folder = tmp_path_factory.mktemp("plugin")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT / "examples/plugin", check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:  # what installing a pure wheel does, without pip
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def server(site):
    """A process that has the plugin on its path, for forks."""
    server = forks.Server({**os.environ, "PYTHONPATH": str(site)})
    yield server
    server.close()


@pytest.fixture
def judgekit(server, tmp_path):
    def run(*words):
        done = subprocess.run(
            [server.programs / "judgekit", *words],
            cwd=tmp_path,
            env={**os.environ, **forks.in_shell(server)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done

    return run


def test_its_metrics_are_listed_and_explained(judgekit):
    listed = judgekit("metrics").stdout

    for name in ("shouting", "polite", "calming", "calm"):
        assert f"\n{name} " in listed
    shown = judgekit("metrics", "show", "shouting").stdout
    assert "lower is better" in shown
    assert "shortest: 3" in shown
    assert "please or thank you" in judgekit("metrics", "show", "polite").stdout
    assert "a judge" in judgekit("metrics", "show", "calming").stdout


def test_a_class_and_a_function_score(judgekit):
    words = ("--output", "CALM DOWN please", "--json")

    shouting = json.loads(judgekit("score", "--metric", "shouting", *words).stdout)
    polite = json.loads(judgekit("score", "--metric", "polite", *words).stdout)

    assert shouting["rows"][0]["result"]["value"] == pytest.approx(2 / 3)
    assert polite["rows"][0]["result"]["value"] == 1.0


def test_a_suite_names_them_and_may_call_them_otherwise(judgekit, tmp_path):
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "PLEASE WAIT"}\n', "utf-8")
    (tmp_path / "suite.yaml").write_text(
        "cases: cases.jsonl\nmetrics:\n"
        "  loud: {metric: shouting, shortest: 5, threshold: 0.2}\n"
        "  manners: {metric: polite}\n"
        "  polite:\n",
        "utf-8",
    )

    done = judgekit("run", "suite.yaml", "--json")

    means = {m["metric"]: m["mean"] for m in json.loads(done.stdout)["metrics"]}
    assert means == {"loud": 1.0, "manners": 1.0, "polite": 1.0}


def test_a_judged_one_is_asked_through_the_suite_s_judge(judgekit, tmp_path):
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "I see."}\n', "utf-8")
    (tmp_path / "suite.yaml").write_text(
        "cases: cases.jsonl\njudge: fake/judge\ncassette: tape.jsonl\nmetrics: {calming: }\n",
        "utf-8",
    )

    done = judgekit("run", "suite.yaml", "--record", "new_episodes", "--json")

    (calming,) = json.loads(done.stdout)["metrics"]
    assert (calming["judged"], calming["criteria"][0]["id"]) == (1, "calm")
    assert judgekit("run", "suite.yaml").returncode == 0
    assert "calm" in judgekit("rubric", "list").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "shoutin"), "no metric named 'shoutin'; did you mean 'shouting'?"),
        (("--metric", "calming"), "no judge is given: add --judge MODEL"),
    ],
)
def test_mistakes_are_one_line(judgekit, words, message):
    done = judgekit("score", *words, "--output", "x")

    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
