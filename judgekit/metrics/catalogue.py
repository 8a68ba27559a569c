"""The built-in metrics: which there are, in which family, and where each is made."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """Where a metric is made."""

    name: str
    module: str
    attribute: str
    summary: str
    """What it asks of an answer, in half a line."""
    judged: bool = False
    """Whether it takes `judge`."""
    preset: Mapping[str, Any] = MappingProxyType({})
    """Options it is made with unless others are given."""
    stand_in: str | None = None
    """The computed metric that takes its place where no judge is wanted."""


FAMILIES: dict[str, tuple[Entry, ...]] = {
    "prompt alignment": (
        Entry("prompt_alignment", "judgekit.metrics.prompt_alignment.prompt_alignment",
              "PromptAlignment",
              "follows the user and the system prompt",
              judged=True, stand_in="alignment_rules"),
        Entry("alignment_rules", "judgekit.metrics.prompt_alignment.alignment_rules",
              "AlignmentFallback",
              "prompt_alignment by rules, without a judge"),
        Entry("requirement_coverage", "judgekit.metrics.prompt_alignment.requirements",
              "RequirementCoverage",
              "share of requirements met, of those that rules can check"),
    ),
    "text": (
        Entry("exact_match", "judgekit.metrics.text.exact_match", "ExactMatch",
              "equality with an accepted answer, after normalisation"),
        Entry("token_f1", "judgekit.metrics.text.token_f1", "TokenF1",
              "word overlap with an accepted answer (F1)"),
        Entry("contains", "judgekit.metrics.text.contains", "Contains",
              "contains given words, and not others"),
        Entry("regex", "judgekit.metrics.text.regex", "Regex",
              "match of a regular expression"),
        Entry("length", "judgekit.metrics.text.length", "Length",
              "length within limits"),
    ),
    "overlap": (
        Entry("rouge", "judgekit.metrics.overlap.rouge", "RougeMetric",
              "overlap of words or sequences with a reference (ROUGE)"),
        Entry("bleu", "judgekit.metrics.overlap.sacre", "Bleu",
              "overlap of word n-grams with a reference (BLEU)"),
        Entry("chrf", "judgekit.metrics.overlap.sacre", "Chrf",
              "overlap of character n-grams with a reference (chrF)"),
    ),
    "embedding": (
        Entry("similarity", "judgekit.metrics.embedding.similarity", "Similarity",
              "similarity to the reference, input, context or baseline"),
        Entry("semantic_accuracy", "judgekit.metrics.embedding.semantic_accuracy",
              "SemanticAccuracy", "similarity in meaning to an accepted answer"),
        Entry("lexical_accuracy", "judgekit.metrics.embedding.semantic_accuracy",
              "LexicalAccuracy", "similarity in words to an accepted answer"),
        Entry("facts_covered", "judgekit.metrics.embedding.facts", "FactsCovered",
              "share of known facts that the answer states"),
        Entry("tone_compliance", "judgekit.metrics.embedding.tone_compliance", "ToneCompliance",
              "similarity to exemplars of a tone"),
        Entry("contrastive_alignment", "judgekit.metrics.embedding.contrastive_alignment",
              "ContrastiveAlignment", "more similar to examples of a trait than to others"),
    ),
    "tone": (
        Entry("tone_consistency", "judgekit.metrics.tone.consistency", "ToneConsistency",
              "same tone as another text, or within the text"),
    ),
    "brand voice": (
        Entry("authenticity", "judgekit.metrics.brand_voice.authenticity", "Authenticity",
              "sounds like a persona: style, traits, words"),
        Entry("authenticity_judge", "judgekit.metrics.brand_voice.judge_metrics",
              "AuthenticityJudge", "sounds like a persona, by a judge",
              judged=True, stand_in="authenticity"),
        Entry("safety_patterns", "judgekit.metrics.brand_voice.safety", "SafetyPatterns",
              "free of forbidden phrases, by category and severity"),
        Entry("brand_safety", "judgekit.metrics.brand_voice.judge_metrics", "BrandSafety",
              "safe for the brand: minimum of patterns and judge",
              judged=True, stand_in="safety_patterns"),
        Entry("stability", "judgekit.metrics.brand_voice.stability", "Stability",
              "same voice in all turns"),
        Entry("brand_voice", "judgekit.metrics.brand_voice.overall", "BrandVoice",
              "authentic, safe and stable, with a grade",
              judged=True, preset={"rubric": "brand_safety"}, stand_in="brand_voice_rules"),
        Entry("brand_voice_rules", "judgekit.metrics.brand_voice.overall", "BrandVoice",
              "brand_voice without a judge",
              preset={"name": "brand_voice_rules"}),
    ),
    "grounding": (
        Entry("faithfulness", "judgekit.metrics.grounding.faithfulness", "Faithfulness",
              "share of claims that the context supports",
              judged=True, preset={"rubric": "claim_support"}),
        Entry("hallucination", "judgekit.metrics.grounding.hallucination", "Hallucination",
              "share of claims that are not in the context",
              judged=True, preset={"rubric": "claim_support"}),
        Entry("answer_relevancy", "judgekit.metrics.grounding.answer_relevancy",
              "AnswerRelevancy", "share of statements that address the question",
              judged=True, preset={"rubric": "statement_relevance"}),
        Entry("completeness", "judgekit.metrics.grounding.completeness", "Completeness",
              "share of required elements that the answer covers",
              judged=True, preset={"rubric": "element_covered"}),
        Entry("facts_covered_judge", "judgekit.metrics.grounding.facts", "FactsCoveredJudge",
              "share of known facts that the answer states, in any words",
              judged=True, preset={"rubric": "fact_stated"}, stand_in="facts_covered"),
        Entry("context_precision", "judgekit.metrics.grounding.context_precision",
              "ContextPrecision", "relevant passages come first in the context",
              judged=True, preset={"rubric": "passage_relevance"}),
        Entry("context_recall", "judgekit.metrics.grounding.context_recall", "ContextRecall",
              "share of reference claims that the context contains",
              judged=True, preset={"rubric": "claim_support"}),
    ),
    "safety and quality": (
        Entry("toxicity", "judgekit.metrics.safety_and_quality.toxicity", "Toxicity",
              "maximum probability of hate, harassment, violence and others", judged=True),
        Entry("bias", "judgekit.metrics.safety_and_quality.bias", "Bias",
              "share of opinions that are biased", judged=True),
        Entry("quality", "judgekit.metrics.safety_and_quality.quality", "Quality",
              "helpful, correct, clear, complete and concise",
              judged=True, stand_in="coherence_rules"),
        Entry("refusal", "judgekit.metrics.safety_and_quality.refusal", "Refusal",
              "refuses the request (1) or not (0)",
              judged=True, stand_in="refusal_rules"),
        Entry("accuracy", "judgekit.metrics.safety_and_quality.accuracy", "Accuracy",
              "same meaning as an accepted answer",
              judged=True, stand_in="semantic_accuracy"),
        Entry("coherence", "judgekit.metrics.safety_and_quality.coherence", "Coherence",
              "coherent, without contradiction or repetition",
              judged=True, stand_in="coherence_rules"),
        Entry("interactive", "judgekit.metrics.safety_and_quality.interactive", "Interactive",
              "quality in a conversation of several turns", judged=True),
        Entry("tone_compliance_judge", "judgekit.metrics.safety_and_quality.tone_compliance",
              "ToneComplianceJudge", "in the requested tone",
              judged=True, preset={"rubric": "target_tone"}),
        Entry("points", "judgekit.metrics.safety_and_quality.points", "Points",
              "points of the criteria in the case that it meets",
              judged=True, preset={"rubric": "criterion_met"}),
        Entry("refusal_rules", "judgekit.metrics.safety_and_quality.refusal_rules", "RefusalRules",
              "refusal, detected by phrases (English)"),
        Entry("coherence_rules", "judgekit.metrics.safety_and_quality.coherence_rules",
              "CoherenceRules",
              "not repetitive, garbled, cut off or too short"),
    ),
    "personalization": (
        Entry("difference", "judgekit.metrics.personalization.difference", "Difference",
              "difference from the baseline, by words or by an embedder"),
        Entry("personalization", "judgekit.metrics.personalization.personalization",
              "Personalization", "steered towards a trait, and still a good answer",
              judged=True, preset={"rubric": "quality"}, stand_in="personalization_rules"),
        Entry("personalization_rules", "judgekit.metrics.personalization.personalization",
              "Personalization", "personalization without a judge",
              preset={"name": "personalization_rules"}),
    ),
    "benchmarks": (
        Entry("generation", "judgekit.metrics.benchmarks.generation", "Generation",
              "accepted answer found in a free text"),
        Entry("log_likelihoods", "judgekit.metrics.benchmarks.log_likelihoods", "LogLikelihoods",
              "the choice that a model finds most likely", judged=True),
        Entry("perplexity", "judgekit.metrics.benchmarks.perplexity", "Perplexity",
              "perplexity of the text to a model", judged=True),
        Entry("task", "judgekit.metrics.benchmarks.task", "Task",
              "solution of a task of MMLU, GSM8K or HumanEval"),
        Entry("math", "judgekit.metrics.benchmarks.math", "Math",
              "expression equal to the reference"),
        Entry("code", "judgekit.metrics.benchmarks.code", "Code",
              "program that passes its tests, run in a sandbox"),
    ),
    "robustness": (
        Entry("adversarial_robustness", "judgekit.metrics.robustness.robustness",
              "AdversarialRobustness",
              "same answer for a perturbed input"),
        Entry("robustness_continuous", "judgekit.metrics.robustness.robustness",
              "ContinuousRobustness",
              "change of the answer, relative to the change of the input"),
    ),
    "agents": (
        Entry("tool_call_correctness", "judgekit.metrics.agents.tool_calls", "ToolCallCorrectness",
              "expected tools called with the expected arguments"),
        Entry("trajectory_match", "judgekit.metrics.agents.trajectory", "TrajectoryMatch",
              "tools called in the expected order"),
        Entry("role_adherence", "judgekit.metrics.agents.role_adherence", "RoleAdherence",
              "in its role in every turn", judged=True),
    ),
}  # fmt: skip

BUILTIN: dict[str, Entry] = {entry.name: entry for group in FAMILIES.values() for entry in group}

STAND_INS: dict[str, str] = {
    entry.name: entry.stand_in for entry in BUILTIN.values() if entry.stand_in is not None
}
"""Judged metric -> the computed one that takes its place where no judge is wanted."""


def family_of(name: str) -> str | None:
    """Return the family of a built-in metric; `None` for any other."""
    return next(
        (family for family, group in FAMILIES.items() if any(e.name == name for e in group)), None
    )
