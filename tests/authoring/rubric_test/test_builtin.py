"""The tests of the built-in rubrics: enough of them, honest about who judged, passed offline.

JUDGEKIT_UPDATE_GOLDEN=1 records the cassettes again from the authored verdicts, after a rubric or
a verdict was changed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from judgekit.authoring.rubric_test.run import RubricTestSettings, run_tests, tape_of
from judgekit.cassette.mode import RecordMode
from judgekit.judges.manual import ManualJudge
from judgekit.metrics.quote import find_quote
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.chain import Layer
from judgekit.rubric.library import builtin_folder, rubric_names
from judgekit.rubric.load import load_rubric
from judgekit.rubric.versions import VERSIONS
from judgekit.suite.judge_file import JudgeFile
from tests.each import each

ROOT = Path(__file__).parents[3]
VERDICTS = ROOT / "tests" / "data" / "rubric_tests"
NAMES = [name for name in rubric_names() if name != "base"]
FROZEN = sorted(
    path.stem
    for path in (builtin_folder() / VERSIONS).glob("*@*.jinja")
    if not path.name.startswith(("_", "base@"))
)
TESTED = [*NAMES, *FROZEN]
"""Rubrics with tests; those of `criterion_met@2` are in a file beside it."""
UPDATE = bool(os.environ.get("JUDGEKIT_UPDATE_GOLDEN"))
ATTACKS = ("injected-verdict", "fluent-nonsense", "empty-answer")


def tape(name):
    return tape_of(load_rubric(name).path)


def records(tape):
    """Return the lines of a tape without the header, which has the generation of its first day."""
    return tape.read_bytes().splitlines()[1:]


def verdicts(name):
    lines = (VERDICTS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return {verdict["case"]: verdict for verdict in map(json.loads, lines)}


@pytest.mark.parametrize("name", TESTED)
def test_every_test_passes_offline_and_every_record_is_used(name):
    if UPDATE and not name.endswith("@1"):
        judge = JudgeFile(model="manual/seed", answers=str(VERDICTS / f"{name}.jsonl"))
        tape(name).unlink(missing_ok=True)
        run_tests(load_rubric(name), RubricTestSettings(judge=judge, record=RecordMode.ALL))

    tested = run_tests(load_rubric(name))

    assert {
        o.name: (o.message, o.shortfalls) for o in tested.outcomes if o.verdict != "passed"
    } == {}
    assert (tested.unused, tested.asked, tested.judge, tested.by_hand) == (
        (),
        0,
        "manual/seed",
        True,
    )


@each("name", NAMES)
def test_they_stand_at_the_end_where_a_run_does_not_read_them(name):
    path = builtin_folder() / f"{name}.jinja"
    layer = Layer(path)
    read = set(layer.data)

    whole = layer.tested()

    assert set(layer.data) - read == {"tests", "orderings"}
    assert whole.tests[0].case
    assert layer.lines.where("tests", 0) == load_rubric(path).tests[0].where


@each("name", TESTED)
def test_there_are_enough_and_some_attack_the_rubric(name):
    rubric = load_rubric(name)
    tests = {test.name: test for test in rubric.tests}

    assert len(tests) >= 4
    assert rubric.orderings
    assert set(ATTACKS) <= set(tests)
    injected = tests["injected-verdict"]
    assert re.search("evaluat|judge", injected.case.output.lower())
    assert injected.expect["value"].max < 0.5
    assert not tests["empty-answer"].case.output.strip()


@pytest.mark.parametrize("name", TESTED)
def test_the_cassette_is_what_the_verdicts_say(name, tmp_path):
    judge = JudgeFile(model="manual/seed", answers=str(VERDICTS / f"{name}.jsonl"))

    run_tests(
        load_rubric(name),
        RubricTestSettings(judge=judge, record=RecordMode.ALL, cassettes=tmp_path),
    )

    assert records(tmp_path / f"{name}.jsonl") == records(tape(name))


@each("name", NAMES)
def test_tests_are_never_shown_to_a_judge(name):
    rubric = load_rubric(name)
    judge = ManualJudge("seed")
    shown = [
        message.content
        for mode in rubric.modes
        for test in rubric.tests
        if test.name != "empty-answer" and (test.mode or rubric.default_mode) == mode
        for request in RubricMetric(rubric, judge=judge, mode=mode).requests(test.case)[1]
        for message in request.messages
    ]

    assert shown
    for test in rubric.tests:
        assert sum(f"name: {test.name}" in text for text in shown) == 0
    assert not any("expect:" in text or "orderings" in text for text in shown)


@pytest.mark.parametrize("name", TESTED)
def test_every_quote_of_a_verdict_stands_in_its_case(name):
    cases = {test.name: test.case for test in load_rubric(name).tests}

    for verdict in verdicts(name).values():
        for answer in verdict["answers"].values():
            for quote in answer.get("quotes", ()):
                case = cases[verdict["case"].partition("/")[0]]
                assert find_quote(quote, case), (verdict["case"], quote)


def reasons():
    for name in TESTED:
        for case, verdict in verdicts(name).items():
            for id, answer in verdict["answers"].items():
                said = [*(item["reason"] for item in answer.get("items", ()))]
                said += [answer["reason"]] if "reason" in answer else []
                yield from ((re.sub("-(user|system)$", "", case), id, reason) for reason in said)


def test_no_reason_serves_two_cases():
    used: dict[str, set[str]] = {}
    for case, _, reason in reasons():
        masked = re.sub(r"\d+|'[^']*'|\"[^\"]*\"", "#", reason.lower())
        used.setdefault(masked, set()).add(case)

    assert len(used) > 200
    assert {reason: cases for reason, cases in used.items() if len(cases) > 1} == {}


def test_the_cassettes_say_that_no_model_judged():
    notice = " ".join((ROOT / "cassettes" / "rubrics" / "README.md").read_text("utf-8").split())

    assert "authored to illustrate" in notice
    assert "No model judged any of these cases" in notice
    assert asyncio.run(_origin()) == {"manual/seed"}


async def _origin():
    from judgekit.cassette.tape import Tape

    return {record.reply.model for name in TESTED for record in Tape(tape(name)).records()}
