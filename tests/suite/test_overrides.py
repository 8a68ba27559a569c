"""The flags that override a suite, and what each declares."""

from __future__ import annotations

import json
from typing import Annotated

import pytest

from judgekit.core.errors import DatasetError
from judgekit.core.file_model import FileModel
from judgekit.suite.overrides import EFFECTS, Affects, FlagEffect, Overrides, effects_of
from judgekit.suite.resolved import resolve
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite


def test_a_field_without_an_effect_is_refused():
    class Forgotten(FileModel):
        judge: Annotated[str | None, FlagEffect(Affects.NUMBERS)] = None
        max_rows: int | None = None

    with pytest.raises(TypeError, match=r"Forgotten\.max_rows: declare one FlagEffect"):
        effects_of(Forgotten)


def test_only_given_flags_count():
    nothing, some = Overrides(), Overrides(only=["a"], limit=3, max_failures=0, record="none")

    assert nothing.given() == {}
    assert some.given(Affects.NUMBERS) == {"only": ["a"]}
    assert some.given(Affects.EXIT_CODE, Affects.CASES) == {"limit": 3, "max_failures": 0}


@pytest.mark.parametrize(
    "flags",
    [{"only": ["a"]}, {"where": ["a=b"]}, {"ids": frozenset()}, {"limit": 1}, {"shard": "1/2"}],
)
def test_a_selection_is_partial(flags):
    assert Overrides.model_validate(flags).partial


def test_no_other_flag_is_partial():
    rest = {name for name, effect in EFFECTS.items() if not effect.selects}

    assert not Overrides(cases="other.jsonl", judge="fake/a", max_failures=1).partial
    assert {"cases", "format", "against", "baseline"} < rest


RUBRIC = """\
---
name: tone
extends: base
description: Tone.
parameters: {audience: adults}
criteria:
  fit: {text: "For {{ parameters.audience }}?"}
---
"""
FALLBACK = {"use": "length", "maximum": 9}
SUITE = {
    "cases": "cases.jsonl",
    "judges": {"judge": "openai/gpt-5-mini", "second": "fake/b", "third": "openai/gpt-5"},
    "cassette": "tape.jsonl",
    "metrics": {
        "tone": {"fallback": {"use": "length", "maximum": 9}},
        "better": {
            "pairwise": "preference",
            "judge": "second",
            "fallback": {"use": "length", "maximum": 9},
        },
        "exact_match": {"gate": {"mean": 0.5}},
    },
}
ROWS = [
    {"id": f"c{n}", "input": f"q{n}", "output": "x", "reference": "x", "metadata": {"topic": t}}
    for n, t in enumerate("aab")
]
SAMPLES = {
    "judge": "fake/other",
    "judges": {"second": "fake/other"},
    "api_base": "http://localhost:1",
    "cache": "auto",
    "tier": "flex",
    "params": {"temperature": 1},
    "settings": {"tone": {"audience": "children"}},
    "record": "new_episodes",
    "no_judge": True,
    "only": ["exact_match"],
    "cases": "other.jsonl",
    "format": "turns",
    "where": ["topic=a"],
    "ids": frozenset({"c1"}),
    "limit": 1,
    "shard": "1/2",
    "baseline": "base",
    "max_failures": 3,
    "against": "base",
    "again": frozenset({"0" * 64}),
}
"""A value of every field that must make a difference."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "tone.jinja").write_text(RUBRIC, "utf-8")
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    (folder / "other.jsonl").write_text(json.dumps({**ROWS[0], "id": "other"}), "utf-8")
    (folder / "suite.yaml").write_text(json.dumps(SUITE), "utf-8")
    run_suite_sync(load_suite(folder / "suite.yaml", Overrides(no_judge=True)), out=folder / "base")
    return folder


def differences(one, other):
    """Return what differs between two resolved suites, as the effects that it would have."""
    parts = {
        Affects.NUMBERS: lambda suite: suite.full_manifest(),
        Affects.EXIT_CODE: lambda suite: (
            suite.limits._replace(may_be_empty=False),
            suite.gates,
            suite.rules._replace(baseline=None),
            suite.rules.baseline and suite.rules.baseline.folder,
        ),
        Affects.CASES: case_ids,
        Affects.OCCASION: lambda suite: (
            suite.record,
            suite.again,
            {
                role: (judge.api_base, judge.cache, judge.tier)
                for role, judge in suite.roles.items()
            },
        ),
    }
    return {effect for effect, part in parts.items() if part(one) != part(other)}


def case_ids(suite):
    try:
        return [case.id for case in suite.cases().cases()]
    except DatasetError as exc:
        return str(exc)


ALLOWED = {
    Affects.NUMBERS: {Affects.NUMBERS, Affects.EXIT_CODE, Affects.OCCASION},
    Affects.EXIT_CODE: {Affects.EXIT_CODE},
    Affects.CASES: {Affects.CASES},
    Affects.OCCASION: {Affects.OCCASION},
}
"""What a flag with an effect may change: other metrics have other gates, another judge is asked."""


def test_every_field_has_a_sample():
    assert set(SAMPLES) == set(EFFECTS)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_flag_has_the_effect_that_it_declares(project, monkeypatch, name):
    """A field that nothing reads makes no difference; a wrong effect makes another one."""
    monkeypatch.chdir(project)
    plain = resolve("suite.yaml", Overrides())
    changed = resolve("suite.yaml", Overrides(**{name: SAMPLES[name]}))

    found, declared = differences(plain, changed), EFFECTS[name].affects

    assert declared in found
    assert found <= ALLOWED[declared]
