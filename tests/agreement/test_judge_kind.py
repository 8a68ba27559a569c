"""A kind of judge that is added in one place: the whole package treats it as the table says."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.agreement.scratch import ScratchPackage

JUDGE = """
from judgekit.core.judge_settings import JudgeSettings
from judgekit.judges.fake import FakeJudge


def open_crowd(setup):
    judge = FakeJudge(model=setup.model)
    judge.settings = JudgeSettings(**setup.given("identity"))
    return judge
"""
KIND = """
CROWD = JudgeKind(
    name="crowd",
    about="people on a web page",
    person=PERSON,
    terminal=False,
    server=False,
    metered=METERED,
    in_replay=False,
    keys=frozenset({"identity"}),
    ignores=frozenset(),
    open="OPENER",
)
"""
SUITE = {
    "name": "s",
    "judge": {"model": "crowd/ann", "identity": "v2"},
    "cassette": "tape.jsonl",
    "cases": [{"id": "a", "input": "Where?", "output": "On its way, thank you."}],
    "metrics": {"kind": {"criteria": {"polite": "Is the answer polite?"}}},
}
RUBRIC = """---
name: tone
extends: base
description: Is the answer polite?
requires: [output]
criteria:
  polite: {kind: boolean, text: Is the answer polite?}
---
{% block task %}
Judge the tone.
{% endblock %}
"""
BEFORE = "KINDS: Mapping[str, JudgeKind] = {"


@pytest.fixture
def scratch(tmp_path):
    return ScratchPackage(tmp_path)


def kind(opener, *, person=True, without=None):
    text = KIND.replace("PERSON", str(person)).replace("METERED", str(not person))
    lines = text.replace("OPENER", opener).splitlines(keepends=True)
    return "".join(line for line in lines if without is None or f"    {without}=" not in line)


def build_in(scratch, **decisions):
    """Add the kind to the copy, as docs/architecture.md says; return the file of its judge."""
    scratch.add("judges/crowd.py", JUDGE)
    text = kind("judgekit.judges.crowd:open_crowd", **decisions)
    scratch.replace("judges/kinds.py", BEFORE, f"{text.strip()}\n{BEFORE}")
    return scratch.root / "judgekit" / "judges" / "crowd.py"


def install(scratch, **decisions):
    """Add the kind with an installed package, as docs/extending.md says."""
    info = "acme-1.0.dist-info"
    scratch.write(f"{info}/METADATA", "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    points = "[judgekit.judge_kinds]\ncrowd = acme_kinds:CROWD\n"
    scratch.write(f"{info}/entry_points.txt", points)
    text = kind("acme_judges:open_crowd", **decisions)
    imports = "from judgekit.judges.kinds import JudgeKind\n"
    scratch.write("acme_kinds.py", imports + text)
    return scratch.write("acme_judges.py", JUDGE)


def write_suite(scratch, **changes):
    scratch.write("suite.yaml", json.dumps({**SUITE, **changes}))


def model_row(text):
    return next(line for line in text.splitlines() if line.startswith("crowd/ann"))


@pytest.mark.parametrize("add", [build_in, pytest.param(install, marks=pytest.mark.thorough)])
def test_a_person_is_a_person_everywhere(scratch, add):
    judge = add(scratch)
    write_suite(scratch)

    assert model_row(scratch.judgekit("run", "suite.yaml", "--plan").out).split()[-3:] == [
        "a", "person", "-",
    ]  # fmt: skip
    doctor = scratch.judgekit("doctor", "suite.yaml", exits=None).out
    assert "crowd/ann, answered by a person" in doctor
    assert "--ask sends" not in doctor  # only kinds that are metered are asked
    missed = scratch.judgekit("run", "suite.yaml", "--no-out", exits=3)
    assert "crowd/ann is a person" in missed.out + missed.err
    scratch.judgekit("run", "suite.yaml", "--record", "new_episodes", "--out", "first")
    # A replay opens no judge of this kind, so it does not need the module.
    judge.write_text("raise ImportError('not in a replay')\n", "utf-8")
    scratch.judgekit("run", "suite.yaml", "--out", "second")

    first, second = (scratch.work / name for name in ("first", "second"))
    assert (first / "results.jsonl").read_text() == (second / "results.jsonl").read_text()
    for file in ("report.json", "report.html"):
        assert "crowd/ann" in (second / file).read_text("utf-8")


@pytest.mark.thorough
def test_schema_and_lint_take_the_kind(scratch):
    install(scratch)
    scratch.write("tone.jinja", RUBRIC)
    write_suite(scratch, metrics={"tone": {"rubric": "tone.jinja"}})
    schema = json.loads(scratch.judgekit("schema", "suite").out)

    jsonschema.validate(json.loads((scratch.work / "suite.yaml").read_text("utf-8")), schema)
    scratch.judgekit("rubric", "lint", "tone.jinja")
    scratch.judgekit("run", "suite.yaml", "--record", "new_episodes", "--no-out")


@pytest.mark.thorough
def test_a_kind_that_costs_money_needs_a_price(scratch):
    build_in(scratch, person=False)
    write_suite(scratch, limits={"max_cost": 1.0})

    assert "unknown" in model_row(scratch.judgekit("run", "suite.yaml", "--plan").out)
    run = ("run", "suite.yaml", "--record", "new_episodes", "--no-out")
    assert "max_cost needs the price of crowd/ann" in scratch.judgekit(*run, exits=2).err
    price = {"input": 1.0, "output": 2.0}
    write_suite(scratch, limits={"max_cost": 1.0}, judge={**SUITE["judge"], "price": price})
    assert "<0.01" in model_row(scratch.judgekit("run", "suite.yaml", "--plan").out)
    scratch.judgekit(*run)


@pytest.mark.thorough
def test_settings_without_effect_are_errors_with_their_line(scratch):
    install(scratch)
    write_suite(scratch, judge={"model": "crowd/ann", "params": {"seed": 1}})
    run = ("run", "suite.yaml", "--record", "new_episodes", "--no-out")

    assert "suite.yaml:1: crowd/ann takes no params; remove them" in (
        scratch.judgekit(*run, exits=2).err
    )
    write_suite(scratch, judge={"model": "crowd/ann", "api": "decisions"})
    assert "crowd/ann is behind no server" in scratch.judgekit(*run, exits=2).err


@pytest.mark.thorough
@pytest.mark.parametrize("decision", ["person", "metered", "in_replay", "keys"])
def test_a_forgotten_decision_stops_the_start(scratch, decision):
    build_in(scratch, without=decision)

    failed = scratch.judgekit("doctor", exits=1)

    assert f"required keyword-only argument: '{decision}'" in failed.err


@pytest.mark.thorough
def test_a_judge_with_other_keys_than_its_kind_is_an_error(scratch):
    judge = build_in(scratch)
    judge.write_text(JUDGE.replace('setup.given("identity")', '{"mode": "text"}'), "utf-8")
    write_suite(scratch)

    failed = scratch.judgekit("run", "suite.yaml", "--record", "new_episodes", "--no-out", exits=2)

    assert "its judge has other settings than identity, so a replay would have" in failed.err
