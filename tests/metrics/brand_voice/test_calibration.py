"""Calibration files: what they change in a score, and what is refused."""

from __future__ import annotations

import asyncio

import pytest

from judgekit.authoring.lint.persona import lint_personas
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.metrics.brand_voice.authenticity import Authenticity
from judgekit.metrics.brand_voice.calibration import calibration_path
from judgekit.metrics.brand_voice.overall import BrandVoice
from judgekit.metrics.brand_voice.persona import load_persona

PERSONA = """\
name: Acme
traits: {verbosity: concise}
lexicon: {preferred: [next step], avoid: [kindly]}
exemplars: ["Happy to help with that.", "The next step is a photo.", "Thanks for waiting!"]
"""


def calibration(persona, **changes):
    lines = {
        "format": "judgekit-calibration/1",
        "persona": "Acme",
        "persona_digest": load_persona(persona).digest[:16],
        "measured_with": {"embedder": "lexical-1/4096", "reduce": "max"},
        "labels": {"digest": "0", "on_brand": 20, "off_brand": 20, "split": 0.8},
        "bounds": {"low": 0.2, "high": 0.6},
        "traits": {"bias": -1.0, "tokens": {"happy": 3.0, "it's": 2.0}},
        "weights": {"style": 0.5, "traits": 0.5, "lexicon": 0.0},
    }
    return {**lines, **changes}


@pytest.fixture
def acme(tmp_path):
    path = tmp_path / "acme.yaml"
    path.write_text(PERSONA, "utf-8")
    return path


def written(persona, **changes):
    from judgekit.core.yaml_file import to_yaml

    calibration_path(persona).write_text(to_yaml(calibration(persona, **changes)), "utf-8")


def score(metric, text="Happy to help with that."):
    return asyncio.run(metric.score(Case(id="c", output=text)))


def test_each_part_is_replaced_as_the_file_says(acme):
    written(acme)

    found = score(Authenticity(persona=str(acme)))

    parts = {part.id: part for part in found.parts}
    assert parts["style"].value == 1.0  # a similarity of 1 is above the bounds
    assert parts["traits"].value == pytest.approx(1 / (1 + 2.718281828 ** (1 - 3)), abs=1e-4)
    assert found.value == pytest.approx((1.0 + parts["traits"].value) / 2)
    assert "happy +3.00" in parts["traits"].reason
    assert "of the calibrated range" in parts["style"].reason


def test_a_typographic_apostrophe_is_a_plain_one(acme):
    written(acme)
    metric = Authenticity(persona=str(acme))

    straight, curly = score(metric, "It's here."), score(metric, "It’s here.")

    assert straight.parts[1].value == curly.parts[1].value > 0.7


def test_weights_of_the_suite_come_first(acme):
    written(acme)
    weights = {"style": 1.0, "traits": 0.0, "lexicon": 0.0}

    assert Authenticity(persona=str(acme), weights=weights).weights == weights


def test_a_step_that_is_missing_changes_nothing(acme):
    written(acme, bounds=None, traits=None)

    found = score(Authenticity(persona=str(acme)))
    plain = score(Authenticity(persona=str(acme), calibration=False))

    assert [part.value for part in found.parts] == [part.value for part in plain.parts]


def test_a_calibration_may_be_named_or_given(acme, tmp_path):
    other = tmp_path / "other.yaml"
    written(acme)
    calibration_path(acme).rename(other)

    by_file = Authenticity(persona=str(acme), calibration=str(other))
    by_content = Authenticity(persona=str(acme), calibration=calibration(acme))

    assert score(by_file).value == score(by_content).value
    assert Authenticity(persona=str(acme)).learned is None


def test_brand_voice_uses_the_calibration_of_its_persona(acme):
    written(acme)

    metric = BrandVoice(persona=str(acme))

    assert metric.authenticity.learned is not None
    assert metric.made_with["calibration"]["held_out"] is None
    assert BrandVoice(persona=str(acme), calibration=False).authenticity.learned is None


def test_an_old_file_still_belongs_to_compat(acme):
    old = {"style_sim_min": 0.1, "style_sim_max": 0.2, "variance_max": 0.25}

    metric = BrandVoice(persona=str(acme), compat="alignmenter", calibration=old)

    assert metric.stability.calibration.variance == (0.01, 0.25)
    with pytest.raises(ConfigError, match="belongs to compat: alignmenter"):
        Authenticity(persona=str(acme), calibration=old)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "judgekit-calibration/2"}, "is not a calibration: its first key"),
        ({"bounds": {"low": 0.5, "high": 0.5}}, "high must be above low"),
        ({"weights": {"style": 1, "traits": 1, "lexicon": 0}}, "weights must add up to 1, not 2"),
        ({"wieghts": {}}, "unknown key 'wieghts'; did you mean 'weights'?"),
        ({"traits": {"bias": float("nan")}}, "acme.calibration.yaml:"),
        ({"traits": {"tokens": {"happy": 1e308}}}, "traits.tokens.happy: must be"),
        ({"measured_with": {"embedder": "hashed-512"}}, "made with embedder hashed-512"),
    ],
)
def test_a_wrong_file_stops_before_the_first_case(acme, changes, message):
    written(acme, **changes)

    with pytest.raises(ConfigError) as caught:
        Authenticity(persona=str(acme))

    assert message in str(caught.value)
    assert "acme.calibration.yaml" in str(caught.value)


def rules(*paths):
    return {(finding.rule, finding.severity) for finding in lint_personas(paths).findings}


def test_lint_reads_the_calibration_beside_the_persona(acme):
    figures = dict.fromkeys(("roc_auc", "low", "high", "f1", "threshold", "f1_at_threshold"), 0.8)
    held_out = {"on_brand": 4, "off_brand": 4, **figures}
    written(acme, held_out=held_out)
    assert rules(acme, calibration_path(acme)) == set()

    written(acme, persona_digest="0" * 16)
    assert rules(acme) == {("stale-calibration", "warning"), ("unvalidated-calibration", "note")}
    calibration_path(acme).write_text("format: [")
    assert rules(acme) == {("bad-calibration", "error")}


def test_a_comment_in_the_persona_makes_no_calibration_stale(acme):
    written(acme)
    acme.write_text(PERSONA + "# more\n", "utf-8")

    assert ("stale-calibration", "warning") not in rules(acme)


def test_a_calibration_is_no_persona(acme):
    written(acme)

    with pytest.raises(ConfigError, match="is the calibration of a persona; name the persona"):
        load_persona(calibration_path(acme))
