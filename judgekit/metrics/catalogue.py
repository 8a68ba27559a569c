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
              "does what the user asked and the system prompt demands",
              judged=True, stand_in="alignment_rules"),
        Entry("alignment_rules", "judgekit.metrics.prompt_alignment.alignment_rules",
              "AlignmentFallback",
              "stand-in for prompt_alignment without a judge"),
        Entry("requirement_coverage", "judgekit.metrics.prompt_alignment.requirements",
              "RequirementCoverage",
              "meets the requirements that can be checked by rule"),
    ),
    "text": (
        Entry("exact_match", "judgekit.metrics.text.exact_match", "ExactMatch",
              "equals an accepted answer, after normalisation"),
        Entry("token_f1", "judgekit.metrics.text.token_f1", "TokenF1",
              "words shared with an accepted answer"),
        Entry("contains", "judgekit.metrics.text.contains", "Contains",
              "holds given words, and not others"),
        Entry("regex", "judgekit.metrics.text.regex", "Regex",
              "matches a regular expression"),
        Entry("length", "judgekit.metrics.text.length", "Length",
              "is as long as asked for"),
    ),
    "overlap": (
        Entry("rouge", "judgekit.metrics.overlap.rouge", "RougeMetric",
              "shares words or sequences with a reference (ROUGE)"),
        Entry("bleu", "judgekit.metrics.overlap.sacre", "Bleu",
              "shares runs of words with a reference (BLEU)"),
        Entry("chrf", "judgekit.metrics.overlap.sacre", "Chrf",
              "shares runs of characters with a reference (chrF)"),
    ),
    "embedding": (
        Entry("similarity", "judgekit.metrics.embedding.similarity", "Similarity",
              "is near to its reference, input, context or baseline"),
        Entry("semantic_accuracy", "judgekit.metrics.embedding.semantic_accuracy",
              "SemanticAccuracy", "means nearly what an accepted answer means, by a model"),
        Entry("lexical_accuracy", "judgekit.metrics.embedding.semantic_accuracy",
              "LexicalAccuracy", "shares enough words with an accepted answer"),
        Entry("facts_covered", "judgekit.metrics.embedding.facts", "FactsCovered",
              "states the known facts, word for word or nearly"),
        Entry("tone_compliance", "judgekit.metrics.embedding.tone_compliance", "ToneCompliance",
              "is near to exemplars of a tone"),
        Entry("contrastive_alignment", "judgekit.metrics.embedding.contrastive_alignment",
              "ContrastiveAlignment", "is nearer to examples of a trait than to others"),
    ),
    "tone": (
        Entry("tone_consistency", "judgekit.metrics.tone.consistency", "ToneConsistency",
              "keeps the tone of another text, or its own throughout"),
    ),
    "brand voice": (
        Entry("authenticity", "judgekit.metrics.brand_voice.authenticity", "Authenticity",
              "sounds like a persona: style, traits, words"),
        Entry("authenticity_judge", "judgekit.metrics.brand_voice.judged", "AuthenticityJudge",
              "sounds like a persona, as a judge hears it",
              judged=True, stand_in="authenticity"),
        Entry("safety_patterns", "judgekit.metrics.brand_voice.safety", "SafetyPatterns",
              "keeps off forbidden words, by category and severity"),
        Entry("brand_safety", "judgekit.metrics.brand_voice.judged", "BrandSafety",
              "is safe for the brand: the least of patterns and judge",
              judged=True, stand_in="safety_patterns"),
        Entry("stability", "judgekit.metrics.brand_voice.stability", "Stability",
              "keeps its voice from turn to turn"),
        Entry("brand_voice", "judgekit.metrics.brand_voice.overall", "BrandVoice",
              "is authentic, safe and stable, with a grade",
              judged=True, preset={"rubric": "brand_safety"}, stand_in="brand_voice_rules"),
        Entry("brand_voice_rules", "judgekit.metrics.brand_voice.overall", "BrandVoice",
              "brand_voice with nobody to judge safety",
              preset={"name": "brand_voice_rules"}),
    ),
    "grounding": (
        Entry("faithfulness", "judgekit.metrics.grounding.faithfulness", "Faithfulness",
              "claims nothing that its context does not support",
              judged=True, preset={"rubric": "claim_support"}),
        Entry("hallucination", "judgekit.metrics.grounding.hallucination", "Hallucination",
              "share of its claims that are not in its context",
              judged=True, preset={"rubric": "claim_support"}),
        Entry("answer_relevancy", "judgekit.metrics.grounding.answer_relevancy",
              "AnswerRelevancy", "states what addresses the question",
              judged=True, preset={"rubric": "statement_relevance"}),
        Entry("completeness", "judgekit.metrics.grounding.completeness", "Completeness",
              "covers what is required of it",
              judged=True, preset={"rubric": "element_covered"}),
        Entry("facts_covered_judge", "judgekit.metrics.grounding.facts", "FactsCoveredJudge",
              "states the known facts, in any words",
              judged=True, preset={"rubric": "fact_stated"}, stand_in="facts_covered"),
        Entry("context_precision", "judgekit.metrics.grounding.context_precision",
              "ContextPrecision", "relevant passages stand first in its context",
              judged=True, preset={"rubric": "passage_relevance"}),
        Entry("context_recall", "judgekit.metrics.grounding.context_recall", "ContextRecall",
              "its context holds what the reference claims",
              judged=True, preset={"rubric": "claim_support"}),
    ),
    "safety and quality": (
        Entry("toxicity", "judgekit.metrics.safety_and_quality.toxicity", "Toxicity",
              "hate, harassment, violence and the like: the most probable", judged=True),
        Entry("bias", "judgekit.metrics.safety_and_quality.bias", "Bias",
              "share of its opinions that are biased", judged=True),
        Entry("quality", "judgekit.metrics.safety_and_quality.quality", "Quality",
              "is a good answer: helpful, right, clear, whole, brief",
              judged=True, stand_in="coherence_rules"),
        Entry("refusal", "judgekit.metrics.safety_and_quality.refusal", "Refusal",
              "declines what it was asked (1) or does it (0)",
              judged=True, stand_in="refusal_rules"),
        Entry("accuracy", "judgekit.metrics.safety_and_quality.accuracy", "Accuracy",
              "says what an accepted answer says",
              judged=True, stand_in="semantic_accuracy"),
        Entry("coherence", "judgekit.metrics.safety_and_quality.coherence", "Coherence",
              "hangs together, with no contradiction or repetition",
              judged=True, stand_in="coherence_rules"),
        Entry("interactive", "judgekit.metrics.safety_and_quality.interactive", "Interactive",
              "holds its own in a conversation of several turns", judged=True),
        Entry("tone_compliance_judge", "judgekit.metrics.safety_and_quality.tone_compliance",
              "ToneComplianceJudge", "is in the tone that is wanted",
              judged=True, preset={"rubric": "target_tone"}),
        Entry("points", "judgekit.metrics.safety_and_quality.points", "Points",
              "points of the criteria it meets, given with the case",
              judged=True, preset={"rubric": "criterion_met"}),
        Entry("refusal_rules", "judgekit.metrics.safety_and_quality.refusal_rules", "RefusalRules",
              "declines what it was asked, by its phrases (English)"),
        Entry("coherence_rules", "judgekit.metrics.safety_and_quality.coherence_rules",
              "CoherenceRules",
              "is an answer in form: not repeated, garbled, cut off, too short"),
    ),
    "personalization": (
        Entry("difference", "judgekit.metrics.personalization.difference", "Difference",
              "differs from the baseline, by words or by an embedder"),
        Entry("personalization", "judgekit.metrics.personalization.personalization",
              "Personalization", "is steered towards a trait, and still a good answer",
              judged=True, preset={"rubric": "quality"}, stand_in="personalization_rules"),
        Entry("personalization_rules", "judgekit.metrics.personalization.personalization",
              "Personalization", "personalization with nobody to judge quality",
              preset={"name": "personalization_rules"}),
    ),
    "benchmarks": (
        Entry("generation", "judgekit.metrics.benchmarks.generation", "Generation",
              "states an accepted answer somewhere in a free text"),
        Entry("log_likelihoods", "judgekit.metrics.benchmarks.log_likelihoods", "LogLikelihoods",
              "is the choice a model finds most likely", judged=True),
        Entry("perplexity", "judgekit.metrics.benchmarks.perplexity", "Perplexity",
              "is a text a model foresees", judged=True),
        Entry("task", "judgekit.metrics.benchmarks.task", "Task",
              "solves a task of MMLU, GSM8K or HumanEval"),
        Entry("math", "judgekit.metrics.benchmarks.math", "Math",
              "arrives at an expression equal to the reference"),
        Entry("code", "judgekit.metrics.benchmarks.code", "Code",
              "is a program that passes its tests, run in a sandbox"),
    ),
    "robustness": (
        Entry("adversarial_robustness", "judgekit.metrics.robustness.robustness",
              "AdversarialRobustness",
              "gives the same answer when its input is perturbed"),
        Entry("robustness_continuous", "judgekit.metrics.robustness.robustness",
              "ContinuousRobustness",
              "moves no further than its input was moved"),
    ),
    "agents": (
        Entry("tool_call_correctness", "judgekit.metrics.agents.tool_calls", "ToolCallCorrectness",
              "calls the expected tools with the expected arguments"),
        Entry("trajectory_match", "judgekit.metrics.agents.trajectory", "TrajectoryMatch",
              "calls its tools in the expected way"),
        Entry("role_adherence", "judgekit.metrics.agents.role_adherence", "RoleAdherence",
              "keeps to its role in every turn", judged=True),
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
