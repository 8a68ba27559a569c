"""The contract of a metric: what `info` and `children` tell, and the one adapter."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import MappingProxyType

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric, MetricInfo, with_children
from judgekit.core.score import Score
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.adapter import AdaptedMetric, as_metric
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.combine import Combined
from judgekit.metrics.fallback import WithFallback
from judgekit.metrics.registry import create_metric, find
from judgekit.metrics.text.length import Length
from judgekit.report.manifest import full_manifest
from judgekit.runner.evaluation import evaluate_sync, score_sync

CASE = Case(id="a", output="We leverage synergies.")

TYPES = """
prompt_alignment PromptAlignment, alignment_rules AlignmentFallback,
requirement_coverage RequirementCoverage, exact_match ExactMatch, token_f1 TokenF1,
contains Contains, regex Regex, length Length, rouge RougeMetric, bleu Bleu, chrf Chrf,
similarity Similarity, semantic_accuracy SemanticAccuracy, lexical_accuracy LexicalAccuracy,
facts_covered FactsCovered, tone_compliance ToneCompliance,
contrastive_alignment ContrastiveAlignment, tone_consistency ToneConsistency,
authenticity Authenticity, authenticity_judge AuthenticityJudge, safety_patterns SafetyPatterns,
brand_safety BrandSafety, stability Stability, brand_voice BrandVoice, brand_voice_rules BrandVoice,
faithfulness Faithfulness, hallucination Hallucination, answer_relevancy AnswerRelevancy,
completeness Completeness, facts_covered_judge FactsCoveredJudge,
context_precision ContextPrecision, context_recall ContextRecall, toxicity Toxicity, bias Bias,
quality Quality, refusal Refusal, accuracy Accuracy, coherence Coherence, interactive Interactive,
tone_compliance_judge ToneComplianceJudge, points Points, refusal_rules RefusalRules,
coherence_rules CoherenceRules, difference Difference, personalization Personalization,
personalization_rules Personalization, generation Generation, log_likelihoods LogLikelihoods,
perplexity Perplexity, task Task, math Math, code Code,
adversarial_robustness AdversarialRobustness, robustness_continuous ContinuousRobustness,
tool_call_correctness ToolCallCorrectness, trajectory_match TrajectoryMatch,
role_adherence RoleAdherence, preference PairwiseMetric
"""
"""What manifests call each metric since its first version; run folders are recognised by it."""


def test_manifests_call_every_metric_what_they_always_did():
    types = dict(entry.split() for entry in TYPES.split(","))

    assert {name: find(name).factory.type_name for name in BUILTIN} == types


def test_a_class_with_a_name_and_a_score_is_a_metric():
    class Small:
        name = "small"

        async def score(self, case):
            return Score(value=0.5)

    report = evaluate_sync([CASE], [Small()])

    assert report.metrics["small"].mean == 0.5
    described = full_manifest([as_metric(Small())], {})["metrics"]
    assert described == [{"name": "small", "type": "Small", "options": {}}]


@dataclass(frozen=True)
class Jargon:
    words: tuple[str, ...]
    name: str = "jargon"
    range = (0.0, 100.0)
    higher_is_better = False
    figures = MappingProxyType({"most": False})

    async def score(self, case):
        return Score(value=float(sum(word in case.output for word in self.words)))

    def aggregates(self):
        return [Most()]


class Most:
    most = 0.0

    def add(self, row):
        self.most = max(self.most, row.result.value)

    def finish(self):
        return {"most": self.most}


def test_the_adapter_takes_over_what_a_class_tells():
    given = Jargon(words=("leverage", "synergies"))
    metric = as_metric(given)

    assert metric.info() == MetricInfo(
        name="jargon",
        type="Jargon",
        range=(0.0, 100.0),
        higher_is_better=False,
        figures={"most": False},
        options={"words": ("leverage", "synergies")},
    )
    assert metric.words == given.words
    assert evaluate_sync([CASE], [given]).metrics["jargon"].figures == {"most": 2.0}


def test_a_function_is_a_metric_by_its_own_name():
    def brief(case):
        return len(case.output) < 30

    assert score_sync(CASE, brief).value == 1.0
    assert as_metric(brief).info().name == "brief"


@pytest.mark.parametrize("given", ["length", Length, 3, None, lambda case: 1])
def test_what_is_no_metric_is_refused(given):
    with pytest.raises(ConfigError, match="is not a metric"):
        evaluate_sync([CASE], [given])


def test_a_wrong_value_of_a_simple_class_costs_its_row():
    class Wrong:
        name = "wrong"

        async def score(self, case):
            return Score(value=2.0)

    failure = score_sync(CASE, Wrong())

    assert (failure.type, failure.kind) == ("failure", "metric_error")


def test_children_are_the_metrics_within_in_order():
    judged = create_metric("brand_safety", judge=FakeJudge())
    whole = Combined(
        name="all", of=(WithFallback(judged, Length(maximum=3, name="l")), Jargon(words=()))
    )

    names = [type(metric).__name__ for metric in with_children(whole)]

    assert names == [
        "Combined", "WithFallback", "BrandSafety", "SafetyPatterns", "RubricMetric", "Length",
        "AdaptedMetric",
    ]  # fmt: skip
    assert isinstance(whole.of[1], AdaptedMetric)


def test_a_metric_within_itself_is_walked_once():
    class Round(Metric):
        name = "round"

        def children(self):
            return (self,)

        async def score(self, case):
            return Score(value=1.0)

    assert len(list(with_children(Round()))) == 1
    assert asyncio.run(Round().score(CASE)).value == 1.0
