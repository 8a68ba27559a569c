"""Every group of recorded figures is matched by a test, or declined by name with its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.each import each

TESTS = Path(__file__).parent
DATA = TESTS / "data"

CASES = "privacy/test_sanitize.py"
VOICE = "metrics/brand_voice/test_vectors.py"
PERSONA = "authoring/persona/test_vectors.py"
STEERING = "metrics/personalization/test_vectors.py"
SHARES = "metrics/test_shares.py"
EMBEDDING = "metrics/embedding/test_embedding.py"
ROBUSTNESS = "metrics/robustness/test_robustness.py"
TONE = "metrics/tone/test_tone_consistency.py"
ALIGNMENT = "metrics/prompt_alignment/test_prompt_alignment.py"
TEXT = "metrics/text/test_text.py"
ANSWER = "metrics/benchmarks/test_answer.py"

MATCHED = {
    "alignmenter": {
        VOICE: "safety severity_documented overall_documented lexicon_documented grade_source"
        " stability_vectors threshold bootstrap_ci95 tokenize stable_hash hashed_embedding"
        " cosine_hashed style_raw style_rescale variance_rescale traits lexicon authenticity"
        " stability offline_safety_classifier",
        PERSONA: "calibration_bounds calibration_validate trait_training judge_sampling_count"
        " judge_cost judge_cost_estimate compare_diff",
        CASES: "pii_sanitize",
    },
    "wisent": {
        STEERING: "jaccard difference contrastive_alignment contrastive_alignment_batch"
        " contrastive_alignment_error personalization_overall personalization_overall_documented",
        ANSWER: "choice_extraction",
        TEXT: "exact_match token_f1 token_f1_choices",
        ROBUSTNESS: "binary_verdict_parse",
    },
    "quality_definitions": {
        SHARES: "faithfulness toxicity bias answer_relevancy rubric_all_required"
        " faithfulness_ratio completeness_ratio toxicity_max safety_rate answer_similarity"
        " adversarial_robustness_judge",
        EMBEDDING: "facts_covered facts_covered_semantic semantic_accuracy",
        ROBUSTNESS: "adversarial_robustness robustness_continuous",
    },
    "mastra_tone": {TONE: "tone_consistency sentiment_comparative"},
    "mastra_prompt_alignment": {
        ALIGNMENT: "prompt_alignment prompt_alignment_input_validation round_two_decimals",
        "datasets/messages/test_mastra.py": "message_extraction",
    },
}
"""File -> test module -> the groups it holds to their figures."""

DECLINED = {
    "alignmenter": {
        "authenticity_judge_parse judge_json_extract": "a reply is validated, or a failure",
        "model_slug persona_slug": "names of files are not ours to match",
    },
    "wisent": {
        "quality coherence_gate refusal_score_regex refusal_keyword": "as numbers; our detectors"
        " are compared with them on direction",
        "judge_number_parse": "never the first number in the text",
        "normalize_text user_label factory_selection diversity fnv1a64": "not metrics",
    },
}
"""File -> groups -> why their figures are not matched."""


def groups(name):
    files = [DATA / f"{name}.json"]
    if name == "mastra_prompt_alignment":  # kept beside the reader they are about
        files.append(TESTS / "datasets" / "data" / "mastra_message_extraction.json")
    read = [json.loads(file.read_text("utf-8")) for file in files]
    rows = [row for found in read for row in (found if isinstance(found, list) else found["cases"])]
    return {row["metric"] for row in rows}


@pytest.mark.parametrize("name", sorted(MATCHED))
def test_every_group_is_matched_or_declined_by_name(name):
    matched = [g for listed in MATCHED[name].values() for g in listed.split()]
    declined = [g for listed in DECLINED.get(name, {}) for g in listed.split()]

    assert sorted(matched + declined) == sorted(groups(name))


@each(
    ("module", "group"),
    sorted((m, g) for of in MATCHED.values() for m, listed in of.items() for g in listed.split()),
)
def test_the_test_that_matches_a_group_speaks_of_it(module, group):
    text = (TESTS / module).read_text("utf-8")
    assert f'"{group}' in text or f"mastra_{group}.json" in text
