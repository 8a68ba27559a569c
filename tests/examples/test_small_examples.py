"""The small examples: they run as their READMEs say, on recordings of exactly their verdicts."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import judgekit
from judgekit.authoring.rubric_test.run import run_tests
from judgekit.cassette.tape import Tape
from judgekit.rubric.load import load_rubric
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite
from tests.examples.new_tape import new_tape

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CASSETTES = ROOT / "cassettes"
PROGRAMS = sorted((EXAMPLES / "python_api").glob("*.py"))


def verdicts(example):
    lines = (EXAMPLES / example / "verdicts.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_custom_rubric_has_twenty_lines():
    text = (EXAMPLES / "custom_rubric/rubrics/release_note.jinja").read_text("utf-8")

    above_the_tests, _, tests = text.partition("tests:\n")
    template = tests.partition("\n---\n")[2]
    assert len(above_the_tests.splitlines()) + len(template.splitlines()) + 1 <= 21


def test_the_custom_rubric_passes_its_tests_and_is_clean():
    rubric = EXAMPLES / "custom_rubric/rubrics/release_note.jinja"

    tested = run_tests(load_rubric(rubric))

    assert [outcome.verdict for outcome in tested.outcomes] == ["passed"] * 5
    assert (tested.exit_code, tested.unused) == (0, ())
    assert not [f for f in judgekit.lint_rubrics([rubric]).findings if f.severity != "note"]


def test_the_custom_rubric_replays_and_uses_every_record():
    suite = load_suite(EXAMPLES / "custom_rubric/suite.yaml")

    report = asyncio.run(run_suite(suite))

    assert report.figures.incomplete == ()
    assert all(gate.passed for gate in report.figures.gates)
    assert suite.cassette is not None
    assert suite.cassette.unused == 0
    assert report.metrics["release_note"].worst[0].case == "injected"


def test_the_custom_rubric_s_cassette_is_what_its_verdicts_say(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "store"))
    suite = load_suite(EXAMPLES / "custom_rubric/suite.yaml", Overrides(record="all"))
    again = new_tape(tmp_path / "again.jsonl", like=CASSETTES / "custom_rubric.jsonl")
    assert suite.cassette is not None
    suite.cassette.path = again

    asyncio.run(run_suite(suite))

    assert again.read_bytes() == (CASSETTES / "custom_rubric.jsonl").read_bytes()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_says(program):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert not done.stderr
    expected = {
        "score_one": "soft-egg: 1.0 by judge\n  right: yes_safely (weight 0.7)",
        "compare_prompts": "v1 0.70, v2 0.87\ndifference +0.17 (standard error 0.09) over 8 cases",
        "compare_assistants": "thyme: 5 of 8\ntie: 1 of 8\nsaffron: 1 of 8\nundecided: 1 of 8",
    }
    assert expected[program.stem] in done.stdout


def test_every_verdict_of_the_programs_is_on_their_tape_and_no_other():
    said = {
        json.dumps(v["answers"], sort_keys=True, ensure_ascii=False) for v in verdicts("python_api")
    }

    recorded = [
        json.dumps(
            json.loads(record.reply.tries[-1].text or ""), sort_keys=True, ensure_ascii=False
        )
        for record in Tape(CASSETTES / "python_api.jsonl").records()
    ]

    assert sorted(recorded) == sorted(said)


@pytest.mark.parametrize("example", ["custom_rubric", "python_api"])
def test_no_reason_is_stamped_from_a_template(example):
    reasons = [
        re.sub(r"\d+", "#", answer["reason"].lower())
        for verdict in verdicts(example)
        for answer in verdict["answers"].values()
    ]

    assert len(set(reasons)) == len(reasons)


@pytest.mark.parametrize("example", ["custom_rubric", "python_api"])
def test_the_reader_is_told_who_judged(example):
    text = " ".join((EXAMPLES / example / "README.md").read_text("utf-8").split())

    assert "authored to illustrate" in text
    assert "no model judged" in text


# -- the local judge --------------------------------------------------------------

LOCAL = EXAMPLES / "local_judge"


@pytest.fixture
def toy():
    """The toy server, as a reader would start it, on a free port; its address."""
    with subprocess.Popen(
        [sys.executable, str(LOCAL / "toy_server.py"), "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.terminate()


TOY_SUITE = """\
cases: cases.jsonl
judge: {model: openai/toy-judge, api_base: "http://127.0.0.1:8642/v1"}
cassette: toy.jsonl
metrics: {quality: {}}
"""


@pytest.mark.loopback
def test_the_toy_server_is_asked_the_way_it_can_answer(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "store"))
    cases = (LOCAL / "cases.jsonl").read_text("utf-8").splitlines()[:4]
    (tmp_path / "cases.jsonl").write_text("\n".join(cases), "utf-8")
    (tmp_path / "suite.yaml").write_text(TOY_SUITE, "utf-8")
    suite = load_suite(tmp_path / "suite.yaml", Overrides(record="all", api_base=toy))

    report = asyncio.run(run_suite(suite))

    assert report.figures.incomplete == ()
    (found,) = report.run["judges"].values()
    assert found["mode"] == "json_object"
    assert len(found["steps"]) == 3


def test_the_local_judge_s_recording_replays_without_it():
    suite = load_suite(LOCAL / "suite.yaml")

    report = asyncio.run(run_suite(suite))

    assert report.figures.incomplete == ()
    assert report.run["origins"] == {"tape": 80}
    assert suite.cassette is not None
    assert suite.cassette.unused == 0


def test_the_local_judge_is_named_as_one_that_sees_no_difference():
    suite = load_suite(LOCAL / "suite.yaml", Overrides(where=["half=second"]))

    report = asyncio.run(run_suite(suite))

    (criterion,) = report.metrics["right"].criteria
    constant = criterion.constant
    assert (constant.answer, constant.count, constant.cases) == ("yes", 39, 40)


def test_the_labels_of_the_local_judge_are_what_was_authored():
    labels = [json.loads(line) for line in (LOCAL / "labels.jsonl").read_text("utf-8").splitlines()]

    assert len({label["case"] for label in labels}) == 60
    for label in labels:
        assert label["values"]["right"] == label["case"].endswith("-right")


def test_the_weights_are_named_alike_wherever_they_are():
    (digest,) = set(re.findall(r"\b[0-9a-f]{64}\b", (LOCAL / "README.md").read_text("utf-8")))
    text = (CASSETTES / "local_judge.jsonl").read_text("utf-8")

    assert f"identity: sha256:{digest} " in (LOCAL / "suite.yaml").read_text("utf-8")
    assert text.count(f'"identity":"sha256:{digest}"') == 80


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("README.md", "The toy holds no model"),
        ("toy_server.py", "A judge server without a model"),
    ],
)
def test_the_reader_is_told_that_the_toy_holds_no_model(file, words):
    assert words in (LOCAL / file).read_text("utf-8")
