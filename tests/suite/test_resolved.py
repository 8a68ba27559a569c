"""A resolved suite: everything that is known before the first request, and no effects."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError, JudgeUnavailable
from judgekit.report.manifest import full_manifest
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite, open_suite

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/suite.yaml"))
CASES = [
    {"id": "a", "input": "q", "output": "x", "baseline": "y", "reference": "x"},
    {"id": "b", "input": "p", "output": "z", "baseline": "y", "reference": "x"},
]
EVERYTHING = {
    "cases": CASES,
    "judges": {
        "judge": {"model": "openai/gpt-none", "price": {"input": 1, "output": 1}},
        "person": "manual/anna",
        "vectors": {"model": "openai/vectors", "price": {"input": 1, "output": 0}},
        "unused": {"model": "openai/other", "api_key_env": "NOT_SET_ANYWHERE"},
    },
    "cassette": "tape.jsonl",
    "record": "new_episodes",
    "redact": [{"find": "email"}],
    "gate": {"cost": 1.0},
    "limits": {"max_cost": 1.0, "rpm": 10},
    "metrics": {
        "safety": {"threshold": 0.5, "gate": [{"mean": 0.5}, {"not_worse": 0.1}]},
        "tone": {"criteria": {"kind": "Is it kind?"}, "judge": "person", "samples": 2},
        "better": {"pairwise": "preference", "jury": ["judge", "person"]},
        "near": {"metric": "similarity", "embedder": {"role": "vectors"}},
        "exact_match": {"threshold": 1.0},
        "both": {"combine": "mean", "of": ["safety", "exact_match"]},
    },
}
"""A suite that opens everything there is: hosted models, a person, a tape, a store."""


def write(folder: Path, **keys: object) -> Path:
    path = folder / "suite.yaml"
    path.write_text(json.dumps({**EVERYTHING, **keys}), "utf-8")
    return path


@pytest.fixture
def everything(tmp_path):
    """The suite with everything, its baseline, and the flags that it needs."""
    plain = tmp_path / "plain"
    plain.mkdir()
    run_suite_sync(
        load_suite(
            write(plain, judges={}, judge=None, metrics={"exact_match": {}}),
            Overrides(record="none"),
        ),
        out=tmp_path / "base",
    )
    folder = tmp_path / "suite"
    folder.mkdir()
    flags = {"baseline": str(tmp_path / "base"), "against": str(tmp_path / "base")}
    return write(folder), flags


def events(how, *suites, **flags):
    """Return what `resolve` or `open_suite` writes, locks and connects to, by suite."""
    command = [sys.executable, "-B", "-m", "tests.suite.watchdog", how, json.dumps(flags), *suites]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUDGEKIT", "OPENAI"))}
    done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def tree(folder):
    """Return path -> digest of all files in a folder, and the folders."""
    return {
        str(path.relative_to(folder)): path.is_file() and hashlib.sha256(path.read_bytes()).digest()
        for path in sorted(folder.rglob("*"))
    }


def test_resolving_the_examples_has_no_effects(tmp_path):
    for folder in ("examples", "cassettes"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    before = tree(tmp_path)
    suites = [tmp_path / "examples" / name / "suite.yaml" for name in EXAMPLES]

    noted = events("resolve", *suites, record="all")

    assert noted == {str(suite): [] for suite in suites}
    assert tree(tmp_path) == before


def test_resolving_a_suite_with_everything_has_no_effects(everything):
    suite, flags = everything
    before = tree(suite.parent.parent)

    assert events("resolve", suite, **flags) == {str(suite): []}
    assert tree(suite.parent.parent) == before


def test_opening_has_the_effects_that_resolving_must_not_have(tmp_path):
    """The watchdog notices them."""
    suite = write(tmp_path, judges={}, judge="fake/a", metrics={"safety": {}}, limits={}, gate={})

    (noted,) = events("open", suite).values()

    assert any(event.startswith("sqlite3.connect") for event in noted)
    assert any(event.startswith("os.mkdir") for event in noted)
    assert any(event.startswith("open ") for event in noted)


def test_a_key_is_needed_only_to_open(everything, monkeypatch):
    suite, flags = everything
    monkeypatch.setenv("JUDGEKIT_HOME", str(suite.parent / "home"))
    data = json.loads(suite.read_text("utf-8"))
    data["judges"]["judge"]["api_key_env"] = "NOT_SET_ANYWHERE"
    write(suite.parent, judges=data["judges"])

    resolved = resolve(suite, Overrides(**flags))

    assert set(resolved.asked) == {"judge", "person"}
    assert set(resolved.hosted) == {"openai/vectors"}
    with pytest.raises(ConfigError, match="NOT_SET_ANYWHERE is not set"):
        open_suite(resolved)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_opened_suite_has_the_manifest_of_the_resolved_one(name):
    resolved = resolve(ROOT / "examples" / name / "suite.yaml").replaying()
    suite = open_suite(resolved)

    assert full_manifest(suite.metrics, suite.manifest()) == resolved.full_manifest()
    assert [m.range for m in suite.metrics] == [m.range for m in resolved.metrics]
    suite.close()


def test_a_metric_that_asks_nothing_is_built_once(everything):
    suite, flags = everything
    resolved = resolve(suite, Overrides(**flags)).replaying()
    opened = open_suite(resolved)

    same = [a.name for a, b in zip(opened.metrics, resolved.metrics, strict=True) if a is b]

    assert same == ["exact_match"]


def test_a_resolved_metric_cannot_ask(everything):
    suite, flags = everything
    resolved = resolve(suite, Overrides(baseline=flags["baseline"], only=["safety"]))
    (case, _) = resolved.cases().cases()

    with pytest.raises(JudgeUnavailable, match="not there to be asked"):
        asyncio.run(resolved.metrics[0].score(case))


def test_one_resolved_suite_opens_several_times(everything):
    suite, flags = everything
    resolved = resolve(suite, Overrides(**flags)).replaying()

    first, second = open_suite(resolved), open_suite(resolved)
    first.use_answers([], model="openai/a")

    assert first.answered_by == "openai/a"
    assert second.answered_by is resolved.answered_by is None
    assert first.data is not second.data
    assert first.cassette is not second.cassette
