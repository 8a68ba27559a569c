"""Calibration from labels: how good it is on simulated ones, and what is refused."""

from __future__ import annotations

import asyncio
import json

import pytest

from judgekit.authoring.persona.calibrate import CalibratePlan, calibrate
from judgekit.authoring.persona.steps import (
    best_weights,
    cross_fitted,
    fit_traits,
    grouped_split,
    stratified_split,
)
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.metrics.brand_voice.authenticity import Authenticity
from judgekit.metrics.brand_voice.calibration import load_calibration
from judgekit.stats.rates import roc_auc
from tests.authoring.persona.conftest import Simulated, labelled, written


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_the_held_out_figure_is_near_the_best_possible(tmp_path, seed):
    simulated = Simulated(tmp_path, count=1200, seed=seed)

    outcome = written(simulated)

    held = outcome.calibration.held_out
    labels = [each.label.label for each in outcome.scores]
    best = roc_auc([simulated.logit(each.label.text) for each in outcome.scores], labels)
    assert held.roc_auc > best - 0.02
    assert held.low <= best <= held.high
    assert held.roc_auc > held.uncalibrated + 0.1


def test_known_weights_of_the_parts_are_found(tmp_path):
    import random

    draw = random.Random(3)
    names = ("style", "traits", "lexicon")
    parts = [{name: draw.random() for name in names} for _ in range(3000)]
    score = [0.3 * p["style"] + 0.6 * p["traits"] + 0.1 * p["lexicon"] for p in parts]
    labels = [int(draw.random() < 1 / (1 + 2.718 ** (-30 * (s - 0.5)))) for s in score]

    weights = best_weights(parts, labels).weights

    assert weights.style == pytest.approx(0.3, abs=0.11)
    assert weights.traits == pytest.approx(0.6, abs=0.11)


RULED = """\
name: Acme
traits: {formality: business_casual, tone: [friendly], verbosity: concise}
lexicon: {preferred: [no worries, brew, beans], avoid: [kindly, policy]}
exemplars: [we send the bag today for you, the box is on friday, call the courier and check]
"""
FILLERS = [
    "we",
    "you",
    "the",
    "order",
    "box",
    "today",
    "friday",
    "bag",
    "photo",
    "label",
    "courier",
    "help",
    "ask",
    "send",
    "check",
]
EXTRAS = [
    "no worries",
    "brew",
    "beans",
    "kindly",
    "policy",
    "lol",
    "hey",
    "we'll",
    "you're",
    "regarding",
    "sincerely",
]


@pytest.mark.thorough
def test_labels_that_follow_rules_and_weights_are_told_apart_as_well_as_can_be(tmp_path):
    import random

    draw = random.Random(4)
    persona, labels = tmp_path / "acme.yaml", tmp_path / "labels.jsonl"
    persona.write_text(RULED, "utf-8")
    texts = [
        " ".join(
            draw.sample(FILLERS, draw.randint(4, 12)) + draw.sample(EXTRAS, draw.randint(0, 3))
        )
        for _ in range(700)
    ]
    weights = {"style": 0.2, "traits": 0.3, "lexicon": 0.5}
    metric = Authenticity(persona=str(persona), weights=weights)
    known = {text: asyncio.run(metric.score(Case(id="c", output=text))).value for text in texts}
    middle = sorted(known.values())[350]
    rows = [
        {"text": text, "label": int(draw.random() < 1 / (1 + 2.718 ** (15 * (middle - value))))}
        for text, value in known.items()
    ]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    outcome = calibrate(CalibratePlan(persona, labels))

    held = [each.label.label for each in outcome.scores]
    best = roc_auc([known[each.label.text] for each in outcome.scores], held)
    assert outcome.calibration.held_out.roc_auc > best - 0.02
    assert outcome.calibration.traits is None
    assert outcome.notes == ["traits: left out; the rules tell these labels apart better"]


def test_the_same_labels_give_the_same_bytes(simulated, made):
    written(simulated)

    assert simulated.file.read_bytes() == made[1]


def test_the_metric_reads_the_calibration_beside_its_persona(calibrated):
    simulated, outcome = calibrated, calibrated.outcome
    case = Case(id="c", output=simulated.texts[0])

    score = asyncio.run(Authenticity(persona=str(simulated.persona)).score(case))
    plain = asyncio.run(Authenticity(persona=str(simulated.persona), calibration=False).score(case))

    parts = {part.id: part for part in score.parts}
    made = outcome.calibration
    turn = score.details["turns"][0]
    assert parts["traits"].value == pytest.approx(made.traits.probability(case.output), abs=1e-4)
    assert turn["style"] == made.bounds.rescaled(turn["style_raw"])
    assert turn["style_raw"] == plain.details["turns"][0]["style"]
    assert score.meta["calibration"]["older_than_persona"] is False
    assert score.meta["calibration"]["held_out"] == made.held_out.text
    assert "calibration" not in plain.meta


def test_no_session_is_on_both_sides(simulated):
    groups = [row["session_id"] for row in simulated.rows]
    labels = [row["label"] for row in simulated.rows]

    split = grouped_split(labelled([""] * len(labels), labels, groups), 0.8, 42)

    assert not {groups[at] for at in split.train} & {groups[at] for at in split.held_out}
    assert sorted(split.train + split.held_out) == list(range(len(labels)))


def test_the_split_is_that_of_scikit_learn():
    # Recorded from train_test_split of scikit-learn 1.9.1: train_size .7, random_state 7.
    labels = [1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1]

    split = stratified_split(labels, 0.7, 7)

    assert split.held_out == [0, 2, 3, 8]


def test_cross_fitting_sees_no_reply_of_its_group():
    texts = ["yes"] * 20 + ["no"] * 20
    groups = [f"g{n % 5}" for n in range(40)]

    noise = cross_fitted(labelled(texts, [n % 2 for n in range(40)], groups))
    signal = cross_fitted(labelled(texts, [1] * 20 + [0] * 20, groups))

    assert all(abs(value - 0.5) < 0.2 for value in noise)
    assert min(signal[:20]) > max(signal[20:])


def test_a_model_of_words_has_the_greatest_penalised_likelihood():
    scipy = pytest.importorskip("scipy.optimize")
    import numpy as np

    texts = ["a b", "a c", "b c", "a", "b", "c", "a b c", "a b"] * 3
    labels = [1, 1, 0, 1, 0, 0, 1, 0] * 3
    model = fit_traits(labelled(texts, labels))

    matrix = np.array([[*(word in text.split() for word in "abc"), 1] for text in texts], float)

    def loss(weights):
        logits = matrix @ weights
        likelihood = np.logaddexp(0, logits) - np.array(labels) * logits
        return likelihood.sum() + (weights[:3] ** 2).sum() / 2

    best = scipy.minimize(loss, np.zeros(4), tol=1e-12).x
    found = [model.tokens[word] for word in "abc"] + [model.bias]
    assert found == pytest.approx(best, abs=1e-4)


def test_rare_words_and_words_without_effect_have_no_weight():
    model = fit_traits(labelled(["same once", "same", "same", "same"], [1, 0, 1, 0]))

    assert "once" not in model.tokens


def test_steps_alone_keep_what_the_others_made(calibrated):
    simulated = calibrated
    before = load_calibration(simulated.file)

    written(simulated, steps=["bounds"])
    after = load_calibration(simulated.file)
    written(simulated, steps=["validate"])

    assert after.traits == before.traits
    assert after.held_out is None
    assert load_calibration(simulated.file).held_out == before.held_out


def test_validation_alone_refuses_labels_that_may_have_been_seen(calibrated):
    simulated = calibrated

    with pytest.raises(ConfigError, match="leave out --split"):
        written(simulated, steps=["validate"], split=0.0)
    simulated.write(simulated.rows[:100])
    with pytest.raises(ConfigError, match="add --split 0"):
        written(simulated, steps=["validate"])
    outcome = written(simulated, steps=["validate"], split=0.0)

    held = outcome.calibration.held_out
    assert held.on_brand + held.off_brand == 100


@pytest.mark.thorough
def test_labels_of_a_session_count_once_in_the_interval(simulated, made):
    apart = made[0].calibration.held_out
    simulated.write([{**row, "session_id": f"s{n // 20}"} for n, row in enumerate(simulated.rows)])
    together = written(simulated).calibration.held_out

    assert together.high - together.low > apart.high - apart.low


@pytest.mark.thorough
def test_compat_trains_on_all_labels_and_says_so(simulated):
    outcome = written(simulated, options={"compat": "alignmenter"})

    assert outcome.calibration.labels.split == 1.0
    assert "that it was made with" in outcome.calibration.held_out.text
    metric = Authenticity(persona=str(simulated.persona), compat="alignmenter")
    score = asyncio.run(metric.score(Case(id="c", output=simulated.texts[0])))
    assert 0 < score.value < 1
    assert metric.weights == outcome.calibration.weights.model_dump()


def test_a_metric_with_other_settings_refuses_the_calibration(calibrated):
    with pytest.raises(ConfigError, match="made with embedder lexical-1/4096, reduce max"):
        Authenticity(persona=str(calibrated.persona), reduce="mean")


def test_a_change_of_the_persona_is_seen_by_its_digest(calibrated):
    simulated, made = calibrated, calibrated.outcome.calibration
    text = simulated.persona.read_text()

    simulated.persona.write_text(text + "# a comment\n")
    same = Authenticity(persona=str(simulated.persona))
    simulated.persona.write_text(text.replace("word3", "word4"))
    changed = Authenticity(persona=str(simulated.persona))

    assert same.made_with["calibration"]["older_than_persona"] is False
    assert changed.made_with["calibration"]["older_than_persona"] is True
    assert made.persona_digest == same.persona.digest[:16]


def test_labels_of_other_personas_and_undecided_ones_are_left_out(simulated):
    rows = [{**row, "persona_id": "acme_v1"} for row in simulated.rows[:40]]
    others = [{"text": "x", "label": 1, "persona_id": "other"}, {"text": "y", "label": None}]
    simulated.write(rows + others)

    outcome = written(simulated)

    assert (outcome.labels.undecided, outcome.labels.others) == (1, 1)
    assert len(outcome.labels.labels) == 40


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "x", "label": 2}', "labels.jsonl:2: label: must be 1 (on brand) or 0"),
        ('{"text": "x", "label": "yes"}', "labels.jsonl:2: label: must be 1 (on brand) or 0"),
        ('{"text": "x", "lable": 1}', "labels.jsonl:2: unknown key 'lable'; did you mean 'label'?"),
        ('{"label": 1}', "labels.jsonl:2: 'text' is missing"),
        ('{"text": " ", "label": 1}', "labels.jsonl:2: text: must not be blank"),
        ("[1]", 'labels.jsonl:2: not a label; write {"text": "...", "label": 1}'),
        ("{", "labels.jsonl:2: not JSON: it ends too early"),
        ('{"text": "x", "label": NaN}', "labels.jsonl:2: not JSON"),
    ],
)
def test_a_line_that_is_no_label_is_named(simulated, line, message):
    simulated.labels.write_text('{"text": "a", "label": 1}\n' + line + "\n")

    with pytest.raises(ConfigError) as caught:
        written(simulated)

    assert message in str(caught.value)


def test_unknown_keys_are_passed_over(simulated):
    simulated.write([{**row, "model": "m", "timestamp": "t"} for row in simulated.rows[:60]])

    assert written(simulated).calibration.held_out


def test_a_foreign_file_is_not_replaced(simulated):
    simulated.file.write_text("mine\n")
    simulated.write(simulated.rows[:60])

    with pytest.raises(ConfigError, match="is not a calibration"):
        written(simulated)
    assert simulated.file.read_text() == "mine\n"


def test_the_calibration_of_a_file_reads_back_as_written(calibrated):
    assert load_calibration(calibrated.file) == calibrated.outcome.calibration
    assert (
        json.loads(calibrated.outcome.calibration.model_dump_json())["format"]
        == "judgekit-calibration/1"
    )


def test_a_persona_without_exemplars_has_no_bounds(simulated):
    text = simulated.persona.read_text().splitlines()
    simulated.persona.write_text("\n".join(line for line in text if "exemplars" not in line))

    outcome = written(simulated)

    assert outcome.calibration.bounds is None
    assert outcome.calibration.weights.style == 0
    assert outcome.notes == ["bounds: left out; every style similarity is 0"]
