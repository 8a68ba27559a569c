"""`persona calibrate` as its user sees it, and the run after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SUITE = """\
cases: cases.jsonl
judge: none
metrics:
  authenticity: {persona: acme.yaml}
"""


def test_the_command_says_what_it_learned_and_how_good_it_is(simulated, judgekit):
    done = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl")

    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("Acme: ")
    assert lines[1].startswith("bounds: style from ")
    best = max(simulated.weights, key=simulated.weights.get)
    assert best in lines[2].partition("; off: ")[0]
    assert any(line.startswith("held-out ROC-AUC 0.") for line in lines)
    assert lines[-1] == "written to acme.calibration.yaml"
    assert max(map(len, lines)) <= 88


def test_json_is_the_content_of_the_file(simulated, judgekit):
    from judgekit.metrics.brand_voice.calibration import load_calibration

    simulated.write(simulated.rows[:60])
    done = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl", "--json")

    assert json.loads(done.out) == {
        "judgekit": "calibration",
        "version": 1,
        **load_calibration(Path("acme.calibration.yaml")).model_dump(),
    }


def test_a_run_shows_the_calibration_and_doctor_its_age(calibrated, judgekit):
    row = {"id": "c", "input": "q", "output": calibrated.texts[0]}
    Path("cases.jsonl").write_text(json.dumps(row) + "\n")
    Path("suite.yaml").write_text(SUITE)

    judgekit("run", "suite.yaml", "--out", "fresh")
    fresh, doctor = Path("fresh/report.html").read_text("utf-8"), judgekit("doctor", "suite.yaml")
    persona = calibrated.persona.read_text("utf-8")
    calibrated.persona.write_text(persona.replace("word3", "word4"), "utf-8")
    judgekit("run", "suite.yaml", "--out", "stale")
    stale, worried = Path("stale/report.html").read_text("utf-8"), judgekit("doctor", "suite.yaml")

    assert "Calibration of authenticity" in fresh
    assert "held-out ROC-AUC 0." in fresh
    older = "its calibration is older than the persona"
    assert older not in fresh
    assert older in stale
    assert older not in doctor.out
    assert older in " ".join(worried.out.split())


def test_too_few_labels_are_refused_by_step(simulated, judgekit):
    simulated.write(simulated.rows[:24])
    done = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl")
    alone = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl", "--step", "bounds")

    assert done.code == 2
    assert done.err == "judgekit: labels.jsonl: 24 labels; the step traits needs 25\n"
    assert alone.code == 0
    assert "not validated: no figure says how good it is" in alone.out


def test_labels_of_one_kind_are_refused(simulated, judgekit):
    simulated.write([{**row, "label": 1} for row in simulated.rows])

    done = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl")

    assert done.err == (
        "judgekit: labels.jsonl: all labels are on brand (1); traits needs both kinds\n"
    )


@pytest.mark.parametrize("steps", [[], ["bounds"], ["traits"], ["bounds", "validate"]])
def test_labels_of_one_session_are_refused(simulated, judgekit, steps):
    simulated.write([{**row, "session_id": "s"} for row in simulated.rows[:60]])
    flags = [flag for step in steps for flag in ("--step", step)]

    done = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl", *flags)

    assert done.code == 2
    assert done.err == (
        "judgekit: labels.jsonl: too few sessions: none is left to calibrate with\n"
    )
    assert not simulated.file.exists()


def test_wrong_flags_are_named(simulated, judgekit):
    def said(*flags):
        done = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl", *flags)
        assert done.code == 2
        return done.err

    assert "--step trait: unknown step; did you mean 'traits'?" in said("--step", "trait")
    assert "--split 1: must be from 0 to below 1" in said("--split", "1")
    assert "--split 0 leaves no labels to calibrate with" in said("--split", "0")
    assert "no such calibration" in said("--step", "validate")
    assert "embedder" in said("--option", "embedder=lexcal")
    assert "--option embeder: unknown option; did you mean 'embedder'?" in said(
        "--option", "embeder=lexical"
    )


def test_files_that_are_not_there_are_named(simulated, judgekit):
    persona = judgekit("persona", "calibrate", "acmee.yaml", "labels.jsonl")
    labels = judgekit("persona", "calibrate", "acme.yaml", "label.jsonl")

    assert "acmee.yaml: no such persona file; did you mean 'acme.yaml'?" in persona.err
    assert "label.jsonl: no such file of labels; did you mean 'labels.jsonl'?" in labels.err


def test_labels_of_another_persona_are_named(simulated, judgekit):
    simulated.write([{**row, "persona_id": "acme_v2"} for row in simulated.rows])

    done = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl")

    assert "all labels are about persona_id 'acme_v2'; did you mean 'acme_v1'?" in done.err


def test_figures_out_of_range_are_refused(simulated, judgekit):
    simulated.write(simulated.rows[:60])

    def said(*flags):
        done = judgekit("persona", "calibrate", "acme.yaml", "labels.jsonl", *flags)
        return done.code, done.err

    assert said("--seed", "-1")[0] == 2
    assert said("--l2", "nan") == (2, "judgekit: --l2 nan: must be a number of at least 0\n")
    assert said("--split", "nan")[0] == 2
    assert said("--l2", "0")[0] == 0
