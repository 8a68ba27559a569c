"""The built-in metrics by family, and the class of each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A built-in metric, without importing it."""

    name: str
    path: str
    """`MODULE:CLASS` below `judgekit.metrics`."""
    summary: str
    """What it measures, as a phrase."""
    judged: bool = False
    """Whether it takes `judge`."""
    preset: Mapping[str, Any] = MappingProxyType({})
    """Options that differ from the defaults of the class."""
    stand_in: str | None = None
    """The computed metric that replaces it in a suite without a judge."""

    @property
    def module(self) -> str:
        """The full name of the module."""
        return f"judgekit.metrics.{self.path.partition(':')[0]}"

    @property
    def attribute(self) -> str:
        """The name of the class in the module."""
        return self.path.partition(":")[2]


FAMILIES: dict[str, tuple[Entry, ...]] = {
    "prompt alignment": (
        Entry("prompt_alignment", "prompt_alignment.prompt_alignment:PromptAlignment",
              "follows the user and the system prompt", judged=True, stand_in="alignment_rules"),
        Entry("alignment_rules", "prompt_alignment.alignment_rules:AlignmentFallback",
              "prompt_alignment by rules, without a judge"),
        Entry("requirement_coverage", "prompt_alignment.requirements:RequirementCoverage",
              "share of requirements met, of those that rules can check"),
    ),
    "text": (
        Entry("exact_match", "text.exact_match:ExactMatch",
              "equality with an accepted answer, after normalisation"),
        Entry("token_f1", "text.token_f1:TokenF1", "word overlap with an accepted answer (F1)"),
        Entry("contains", "text.contains:Contains", "contains given words, and not others"),
        Entry("regex", "text.regex:Regex", "match of a regular expression"),
        Entry("length", "text.length:Length", "length within limits"),
    ),
    "overlap": (
        Entry("rouge", "overlap.rouge:RougeMetric",
              "overlap of words or sequences with a reference (ROUGE)"),
        Entry("bleu", "overlap.sacre:Bleu", "overlap of word n-grams with a reference (BLEU)"),
        Entry("chrf", "overlap.sacre:Chrf", "overlap of character n-grams with a reference (chrF)"),
    ),
    "embedding": (
        Entry("similarity", "embedding.similarity:Similarity",
              "similarity to the reference, input, context or baseline"),
        Entry("semantic_accuracy", "embedding.semantic_accuracy:SemanticAccuracy",
              "similarity in meaning to an accepted answer"),
        Entry("lexical_accuracy", "embedding.semantic_accuracy:LexicalAccuracy",
              "similarity in words to an accepted answer"),
        Entry("facts_covered", "embedding.facts:FactsCovered",
              "share of known facts that the answer states"),
        Entry("tone_compliance", "embedding.tone_compliance:ToneCompliance",
              "similarity to exemplars of a tone"),
        Entry("contrastive_alignment", "embedding.contrastive_alignment:ContrastiveAlignment",
              "more similar to examples of a trait than to others"),
    ),
    "tone": (
        Entry("tone_consistency", "tone.consistency:ToneConsistency",
              "same tone as another text, or within the text"),
    ),
    "brand voice": (
        Entry("authenticity", "brand_voice.authenticity:Authenticity",
              "sounds like a persona: style, traits, words"),
        Entry("authenticity_judge", "brand_voice.judge_metrics:AuthenticityJudge",
              "sounds like a persona, by a judge", judged=True, stand_in="authenticity"),
        Entry("safety_patterns", "brand_voice.safety:SafetyPatterns",
              "free of forbidden phrases, by category and severity"),
        Entry("brand_safety", "brand_voice.judge_metrics:BrandSafety",
              "safe for the brand: minimum of patterns and judge", judged=True,
              stand_in="safety_patterns"),
        Entry("stability", "brand_voice.stability:Stability", "same voice in all turns"),
        Entry("brand_voice", "brand_voice.overall:BrandVoice",
              "authentic, safe and stable, with a grade", judged=True,
              preset={"rubric": "brand_safety"}, stand_in="brand_voice_rules"),
        Entry("brand_voice_rules", "brand_voice.overall:BrandVoice", "brand_voice without a judge",
              preset={"name": "brand_voice_rules"}),
    ),
    "grounding": (
        Entry("faithfulness", "grounding.faithfulness:Faithfulness",
              "share of claims that the context supports", judged=True,
              preset={"rubric": "claim_support"}),
        Entry("hallucination", "grounding.hallucination:Hallucination",
              "share of claims that are not in the context", judged=True,
              preset={"rubric": "claim_support"}),
        Entry("answer_relevancy", "grounding.answer_relevancy:AnswerRelevancy",
              "share of statements that address the question", judged=True,
              preset={"rubric": "statement_relevance"}),
        Entry("completeness", "grounding.completeness:Completeness",
              "share of required elements that the answer covers", judged=True,
              preset={"rubric": "element_covered"}),
        Entry("facts_covered_judge", "grounding.facts:FactsCoveredJudge",
              "share of known facts that the answer states, in any words", judged=True,
              preset={"rubric": "fact_stated"}, stand_in="facts_covered"),
        Entry("context_precision", "grounding.context_precision:ContextPrecision",
              "relevant passages come first in the context", judged=True,
              preset={"rubric": "passage_relevance"}),
        Entry("context_recall", "grounding.context_recall:ContextRecall",
              "share of reference claims that the context contains", judged=True,
              preset={"rubric": "claim_support"}),
    ),
    "safety and quality": (
        Entry("toxicity", "safety_and_quality.toxicity:Toxicity",
              "maximum probability of hate, harassment, violence and others", judged=True),
        Entry("bias", "safety_and_quality.bias:Bias", "share of opinions that are biased",
              judged=True),
        Entry("quality", "safety_and_quality.quality:Quality",
              "helpful, correct, clear, complete and concise", judged=True,
              stand_in="coherence_rules"),
        Entry("refusal", "safety_and_quality.refusal:Refusal", "refuses the request (1) or not (0)",
              judged=True, stand_in="refusal_rules"),
        Entry("accuracy", "safety_and_quality.accuracy:Accuracy",
              "same meaning as an accepted answer", judged=True, stand_in="semantic_accuracy"),
        Entry("coherence", "safety_and_quality.coherence:Coherence",
              "coherent, without contradiction or repetition", judged=True,
              stand_in="coherence_rules"),
        Entry("interactive", "safety_and_quality.interactive:Interactive",
              "quality in a conversation of several turns", judged=True),
        Entry("tone_compliance_judge", "safety_and_quality.tone_compliance:ToneComplianceJudge",
              "in the requested tone", judged=True, preset={"rubric": "target_tone"}),
        Entry("points", "safety_and_quality.points:Points",
              "points of the criteria in the case that it meets", judged=True,
              preset={"rubric": "criterion_met"}),
        Entry("refusal_rules", "safety_and_quality.refusal_rules:RefusalRules",
              "refusal, detected by phrases (English)"),
        Entry("coherence_rules", "safety_and_quality.coherence_rules:CoherenceRules",
              "not repetitive, garbled, cut off or too short"),
    ),
    "personalization": (
        Entry("difference", "personalization.difference:Difference",
              "difference from the baseline, by words or by an embedder"),
        Entry("personalization", "personalization.personalization:Personalization",
              "steered towards a trait, and still a good answer", judged=True,
              preset={"rubric": "quality"}, stand_in="personalization_rules"),
        Entry("personalization_rules", "personalization.personalization:Personalization",
              "personalization without a judge", preset={"name": "personalization_rules"}),
    ),
    "benchmarks": (
        Entry("generation", "benchmarks.generation:Generation",
              "accepted answer found in a free text"),
        Entry("log_likelihoods", "benchmarks.log_likelihoods:LogLikelihoods",
              "the choice that a model finds most likely", judged=True),
        Entry("perplexity", "benchmarks.perplexity:Perplexity", "perplexity of the text to a model",
              judged=True),
        Entry("task", "benchmarks.task:Task", "solution of a task of MMLU, GSM8K or HumanEval"),
        Entry("math", "benchmarks.math:Math", "expression equal to the reference"),
        Entry("code", "benchmarks.code:Code", "program that passes its tests, run in a sandbox"),
    ),
    "robustness": (
        Entry("adversarial_robustness", "robustness.robustness:AdversarialRobustness",
              "same answer for a perturbed input"),
        Entry("robustness_continuous", "robustness.robustness:ContinuousRobustness",
              "change of the answer, relative to the change of the input"),
    ),
    "agents": (
        Entry("tool_call_correctness", "agents.tool_calls:ToolCallCorrectness",
              "expected tools called with the expected arguments"),
        Entry("trajectory_match", "agents.trajectory:TrajectoryMatch",
              "tools called in the expected order"),
        Entry("role_adherence", "agents.role_adherence:RoleAdherence", "in its role in every turn",
              judged=True),
    ),
}  # fmt: skip

BUILTIN: dict[str, Entry] = {entry.name: entry for group in FAMILIES.values() for entry in group}

STAND_INS: dict[str, str] = {
    entry.name: entry.stand_in for entry in BUILTIN.values() if entry.stand_in is not None
}
"""Judged metric -> the computed metric that replaces it in a suite without a judge."""
