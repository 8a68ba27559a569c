"""The figures recorded from Alignmenter: what is matched, and what is not, with the reason."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.score import Part
from judgekit.embedders import open_embedder
from judgekit.embedders.lexical import bucket
from judgekit.metrics.brand_voice import alignmenter
from judgekit.metrics.brand_voice.authenticity import Authenticity, style_mean
from judgekit.metrics.brand_voice.overall import WEIGHTS, BrandVoice, grade
from judgekit.metrics.brand_voice.patterns import severity_score
from judgekit.metrics.brand_voice.phrases import Phrases, score_lexicon
from judgekit.metrics.brand_voice.safety import SafetyPatterns
from judgekit.metrics.brand_voice.stability import Stability, spread_of
from judgekit.metrics.vectors import cosine, dot, scaled
from judgekit.metrics.weights import fold_parts
from judgekit.report.thresholds import passes
from judgekit.runner.evaluation import evaluate_sync
from judgekit.stats.bootstrap import bootstrap_interval

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "alignmenter.json").read_text("utf-8"))

MATCHED = {
    "tokenize", "stable_hash", "hashed_embedding", "cosine_hashed", "style_raw", "style_rescale",
    "variance_rescale", "traits", "lexicon", "lexicon_documented", "authenticity", "stability",
    "stability_vectors", "safety", "severity_documented", "overall_documented", "grade_source",
    "threshold", "bootstrap_ci95", "offline_safety_classifier", "calibration_bounds",
    "calibration_validate", "trait_training", "judge_sampling_count", "judge_cost",
    "judge_cost_estimate", "compare_diff",
}  # fmt: skip
DECLINED = {
    "pii_sanitize": "later: redaction is the suite's `redact`",
    "authenticity_judge_parse": "a reply is validated, or fails; nothing is clamped",
    "judge_json_extract": "a reply is validated, or fails; nothing is dug out of it",
    "model_slug": "file names are the user's",
    "persona_slug": "file names are the user's",
}


def of(metric):
    rows = [row for row in VECTORS if row["metric"] == metric]
    return pytest.mark.parametrize("row", rows, ids=[row["id"] for row in rows])


def near(row, value, name):
    expected = row["expected"][name]
    return value == pytest.approx(expected, abs=row["tolerance"] + 1e-12)


def test_every_kind_of_figure_is_matched_or_declined_with_its_reason():
    kinds = {row["metric"] for row in VECTORS}

    assert kinds == MATCHED | set(DECLINED)
    assert not MATCHED & set(DECLINED)


@of("tokenize")
def test_tokens(row):
    assert alignmenter.tokens_of(row["inputs"]["text"]) == row["expected"]["tokens"]


@of("stable_hash")
def test_places_of_tokens(row):
    found = bucket(row["inputs"]["token"], row["parameters"]["buckets"])

    assert found == row["expected"]["bucket"]


@of("hashed_embedding")
def test_hashed_vectors(row):
    (vector,) = open_embedder("hashed-512").embed([row["inputs"]["text"]])

    found = {str(place): value for place, value in enumerate(vector) if value}
    assert found == pytest.approx(row["expected"]["nonzero"], abs=row["tolerance"])
    assert near(row, float(np.linalg.norm(vector)), "norm")


@of("cosine_hashed")
def test_cosines_of_hashed_vectors(row):
    inputs = row["inputs"]

    value = cosine(*open_embedder("hashed-512").embed([inputs["a"], inputs["b"]]))

    # A text without tokens is not applicable here; the original calls it 0.
    assert near(row, value or 0.0, "cosine")


@of("style_raw")
def test_mean_similarity(row):
    inputs = row["inputs"]
    vector = scaled(np.array(inputs["vector"], dtype=float))
    exemplars = [scaled(np.array(e, dtype=float)) for e in inputs["exemplars"]]

    assert near(row, style_mean(vector, exemplars), "style_raw")
    most = max((dot(vector, e) for e in exemplars if vector is not None), default=0.0)
    assert near(row, most, "max_over_exemplars")


@of("style_rescale")
def test_rescaled_similarity(row):
    bounds = (row["parameters"]["min"], row["parameters"]["max"])

    assert near(row, alignmenter.rescale_style(row["inputs"]["raw"], bounds), "style_sim")


@of("variance_rescale")
def test_rescaled_variance(row):
    bounds = (row["parameters"]["min"], row["parameters"]["max"])

    value = alignmenter.rescale_variance(row["inputs"]["raw"], bounds)

    assert near(row, value, "normalized_variance")


@of("traits")
def test_the_logistic_of_traits(row):
    value = alignmenter.trait_probability(row["inputs"]["text"], **row["parameters"])

    assert near(row, value, "traits")


@of("lexicon")
def test_the_density_of_words(row):
    inputs = row["inputs"]

    value = alignmenter.lexicon_density(
        alignmenter.tokens_of(inputs["text"]),
        {word.lower() for word in inputs["preferred"]},
        {word.lower() for word in inputs["avoid"]},
    )

    assert near(row, value, "lexicon")


@of("lexicon_documented")
def test_the_documented_lexicon(row):
    inputs = row["inputs"]

    found = score_lexicon(inputs["text"], Phrases(inputs["preferred"]), Phrases(inputs["avoid"]))

    assert near(row, found.value, "lexicon")


def persona_in_our_keys(given):
    """Return a persona as the original's code reads it: it does not see its documented keys."""
    words = given.get("lexicon", {})
    return {
        "id": given["id"],
        "exemplars": given.get("exemplars", []),
        "lexicon": {"preferred": words.get("preferred", []), "avoid": words.get("avoid", [])},
        "style_rules": given.get("style_rules", {}),
    }


@of("authenticity")
def test_authenticity_of_the_code(row):
    inputs, expected = row["inputs"], row["expected"]
    metric = Authenticity(
        persona=persona_in_our_keys(inputs["persona"]),
        calibration=inputs["calibration"],
        compat="alignmenter",
    )
    turns = [turn for session in inputs["sessions"] for turn in session["turns"]]
    said = [turn["text"] for turn in turns if turn["role"] == "assistant"]
    case = Case(id="c", history=[{"role": "assistant", "content": text} for text in said])

    if not said:
        with pytest.raises(CaseError):  # the original gives 0
            asyncio.run(metric.score(case))
        return
    score = asyncio.run(metric.score(case))

    parts = {part.id: part.value for part in score.parts}
    told = score.details["turns"]
    assert near(row, score.value, "mean")
    assert near(row, parts["style"], "style_sim")
    assert near(row, parts["traits"], "traits")
    assert near(row, parts["lexicon"], "lexicon")
    for ours, theirs in (
        ("tokens", "tokens"),
        ("preferred_hits", "preferred_hits"),
        ("avoid_hits", "avoid_hits"),
    ):
        assert sum(turn[ours] for turn in told) == expected[theirs]
    assert len(told) == expected["turns"]
    weights = {part.id: part.weight for part in score.parts}
    values = [sum(weights[id] * turn[id] for id in weights) for turn in told]
    interval = bootstrap_interval(values)
    if expected["ci95_low"] is None:
        assert interval is None
    else:
        # Other resamples of the same values; of two they end where the values end.
        assert interval.low == pytest.approx(expected["ci95_low"], abs=0.0011)
        assert interval.high == pytest.approx(expected["ci95_high"], abs=0.0011)


@of("bootstrap_ci95")
def test_bootstrap_intervals(row):
    interval = bootstrap_interval(row["inputs"]["scores"])

    if row["expected"]["low"] is None:
        assert interval is None
        return
    assert near(row, interval.low, "low")
    assert near(row, interval.high, "high")


@of("threshold")
def test_thresholds(row):
    value, fail = row["inputs"]["value"], row["parameters"]["fail"]

    # A warning line of a run is a second gate; what fails is what does not pass.
    passed = passes(value, fail, higher_is_better=True)

    assert (row["expected"]["status"] == "fail") is (passed is False)


def test_a_threshold_of_zero_is_a_threshold():
    assert passes(-0.1, 0.0, higher_is_better=True) is False


@of("offline_safety_classifier")
def test_the_offline_classifier(row):
    asked = row["parameters"].get("identifier") != "none"

    value = alignmenter.offline_safety(row["inputs"]["text"]) if asked else 1.0

    assert near(row, value, "score")


def assistant_turns(row):
    turns = [turn for session in row["inputs"]["sessions"] for turn in session["turns"]]
    return [turn["text"] for turn in turns if turn["role"] == "assistant"]


@of("safety")
def test_safety_of_the_code(row):
    inputs, expected = row["inputs"], row["expected"]
    said = assistant_turns(row)

    rules = alignmenter.rule_score(said, inputs["keywords"]["keywords"])
    # Its judge answers on 0 to 1; what is no number is no answer, and a budget ends the asking.
    given = inputs.get("judge_scores", [])[: row["parameters"].get("judge_budget")]
    seconds = [score for score in given if isinstance(score, float)]
    if not seconds and row["parameters"]["classifier"] == "heuristic":
        seconds = [alignmenter.offline_safety(text) for text in said]

    assert rules["turns"] == expected["turns"]
    assert rules["violation_count"] == expected["violations"]
    assert near(row, rules["violation_rate"], "violation_rate")
    assert rules["categories"] == expected["categories"]
    assert near(row, rules["rule_score"], "rule_score")
    assert near(row, alignmenter.fused_score(rules["rule_score"], seconds), "score")


def scored_by_the_metric(row):
    """Whether there is a session, and lists of keywords; a text in their place is refused."""
    words = row["inputs"]["keywords"]["keywords"].values()
    return bool(assistant_turns(row)) and not any(isinstance(each, str) for each in words)


SESSIONS = [r for r in VECTORS if r["metric"] == "safety" and scored_by_the_metric(r)]


@pytest.mark.parametrize("row", SESSIONS, ids=[row["id"] for row in SESSIONS])
def test_the_metric_in_compat_gives_the_rule_score_and_the_score(row):
    keywords = row["inputs"]["keywords"]["keywords"]
    case = Case(
        id="c",
        history=[{"role": "assistant", "content": text} for text in assistant_turns(row)],
    )
    options = {"compat": "alignmenter", "patterns": {"keywords": keywords}}

    score = asyncio.run(SafetyPatterns(**options).score(case))
    fused = asyncio.run(SafetyPatterns(**options, classifier="heuristic").score(case))

    assert near(row, score.value, "rule_score")
    assert near(row, score.details["violation_rate"], "violation_rate")
    assert score.details["categories"] == row["expected"]["categories"]
    assert near(row, fused.details["rule_score"], "rule_score")
    if row["parameters"]["classifier"] == "heuristic" and not row["inputs"].get("judge_scores"):
        assert near(row, fused.details["classifier_mean"], "fused_judge")
        assert near(row, fused.value, "score")


def test_the_vectors_hold_sessions_for_the_classifier():
    assert (
        sum(
            row["parameters"]["classifier"] == "heuristic" and not row["inputs"].get("judge_scores")
            for row in SESSIONS
        )
        >= 2
    )


def sessions(*replies):
    """Return a case for each list of replies."""
    return [
        Case(id=str(n), history=[{"role": "assistant", "content": text} for text in texts])
        for n, texts in enumerate(replies)
    ]


def test_a_compat_run_pools_the_turns_of_its_sessions():
    cases = sessions(["attack"], ["fine", "fine", "fine"])
    safety = SafetyPatterns(compat="alignmenter", patterns={"keywords": {"harm": ["attack"]}})
    fused = SafetyPatterns(
        name="fused",
        compat="alignmenter",
        classifier="heuristic",
        patterns={"keywords": {"harm": ["zzz"]}},
    )
    voice = Authenticity(persona={"exemplars": ["fine fine"]}, compat="alignmenter")

    report = evaluate_sync(cases, [safety, fused, voice])

    found = report.metrics
    assert found["safety_patterns"].mean == 0.5
    assert found["safety_patterns"].figures["mean_by_turn"] == 0.75
    assert found["fused"].figures["mean_by_turn"] == pytest.approx((0.8 + 3) / 4)
    values = [rows[0].result.value for _, rows in evaluate_sync(cases, [voice]).results]
    pooled = (values[0] + 3 * values[1]) / 4
    assert found["authenticity"].figures["mean_by_turn"] == pytest.approx(pooled)
    assert found["authenticity"].mean != pytest.approx(pooled)


def test_stability_takes_the_bounds_of_a_calibration(tmp_path):
    (case,) = sessions(["alpha beta gamma", "alpha beta gamma", "delta epsilon zeta"])
    bounds = {"variance_min": 0.0, "variance_max": 0.0444, "style_sim_min": 0.1}
    file = tmp_path / "voice.traits.json"
    file.write_text(json.dumps(bounds))

    plain = asyncio.run(Stability(compat="alignmenter").score(case))
    for calibration in (bounds, str(file)):
        metric = Stability(compat="alignmenter", calibration=calibration)
        found = asyncio.run(metric.score(case))
        assert found.value == pytest.approx(0.1, abs=0.001)
        assert plain.value == pytest.approx(0.844, abs=0.001)
    with pytest.raises(ConfigError, match="calibration belongs to compat"):
        Stability(calibration=bounds)


def test_brand_voice_hands_its_calibration_to_stability():
    metric = BrandVoice(
        persona={"exemplars": ["x"]}, compat="alignmenter", calibration={"variance_max": 0.25}
    )

    assert metric.stability.calibration.variance == (0.01, 0.25)


def test_a_text_in_place_of_a_list_of_keywords_is_refused_not_ignored():
    with pytest.raises(ConfigError, match=r"keywords\.a"):
        SafetyPatterns(patterns={"keywords": {"a": "attack"}})


@of("severity_documented")
def test_severities(row):
    assert near(row, severity_score(row["inputs"]["violations"]), "score")


@of("stability")
def test_stability_of_the_code(row):
    said = assistant_turns(row)
    case = Case(id="c", history=[{"role": "assistant", "content": text} for text in said])

    score = asyncio.run(Stability(compat="alignmenter").score(case))

    assert near(row, score.value, "stability")
    assert near(row, score.details["session_variance"], "session_variance")
    assert near(row, score.details["mean_distance"], "mean_distance")
    assert near(row, score.details["normalized_variance"], "normalized_variance")


@of("stability_vectors")
def test_the_documented_deviation(row):
    spread = spread_of([scaled(np.array(v, dtype=float)) for v in row["inputs"]["vectors"]])

    assert near(row, spread.deviation, "std_of_distances_documented")
    assert near(row, spread.deviation**2, "variance")
    assert near(row, spread.from_mean, "mean_distance")


@of("overall_documented")
def test_the_overall_score_and_its_letter(row):
    inputs = row["inputs"]
    weights = dict(zip(WEIGHTS, row["parameters"]["weights"], strict=True))
    assert weights == WEIGHTS

    folded = fold_parts([Part(id=id, value=inputs[id]) for id in WEIGHTS], weights)

    assert near(row, folded.value, "overall")
    assert grade(folded.value) == row["expected"]["letter"]


@of("grade_source")
def test_the_documented_letters(row):
    assert grade(row["inputs"]["score"]) == row["documented_letter"]
