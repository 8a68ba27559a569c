"""Score LLM output with LLM judges and rubrics; replay every verdict offline.

Importing this loads nothing but itself; each name loads what it needs when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgekit.analysis.agreement.agree import agree
    from judgekit.analysis.comparison.compare import compare
    from judgekit.analysis.comparison.comparison import Comparison
    from judgekit.analysis.correction.correct import CorrectedRun, correct
    from judgekit.analysis.ranking.rank import rank
    from judgekit.analysis.ranking.ranking import ModelRanking
    from judgekit.analysis.rubric_stats.measure import rubric_stats
    from judgekit.authoring.lint.lint import lint_rubrics
    from judgekit.cassette.cassette import Cassette
    from judgekit.cassette.mode import RecordMode
    from judgekit.core.case import Case, Message, ToolCall
    from judgekit.core.distribution import Distribution
    from judgekit.core.errors import CaseError, ConfigError, JudgekitError
    from judgekit.core.judgment import Judgment
    from judgekit.core.jury import Jury
    from judgekit.core.protocols import Judge
    from judgekit.core.request import Reply, Request
    from judgekit.core.score import Failure, Row, Score
    from judgekit.datasets import load_cases
    from judgekit.datasets.conversion import (
        from_hf,
        from_pandas,
        from_polars,
        to_hf,
        to_pandas,
        to_polars,
    )
    from judgekit.embedders.hosted import HostedEmbedder
    from judgekit.judges.decisions import DecisionJudge
    from judgekit.judges.fake import FakeJudge
    from judgekit.judges.limits import LimitedJudge
    from judgekit.judges.litellm import LiteLLMJudge
    from judgekit.judges.manual import ManualJudge
    from judgekit.judges.recorded import RecordedJudge
    from judgekit.metrics.brand_voice.authenticity import Authenticity
    from judgekit.metrics.brand_voice.overall import BrandVoice
    from judgekit.metrics.brand_voice.persona import Persona, load_persona
    from judgekit.metrics.combine import Combined
    from judgekit.metrics.fallback import WithFallback
    from judgekit.metrics.pairwise.preference import PairwiseMetric
    from judgekit.metrics.prompt_alignment.prompt_alignment import (
        Analysis,
        PromptAlignment,
        fold_prompt_alignment,
    )
    from judgekit.metrics.registry import create, metric, metric_names
    from judgekit.metrics.rubric import RubricMetric
    from judgekit.report.report import Report
    from judgekit.rubric.load import load_rubric
    from judgekit.rubric.rubric import Rubric
    from judgekit.runner.evaluation import evaluate, evaluate_sync, score_sync
    from judgekit.suite.answering import Answers, answer, answer_sync
    from judgekit.suite.merge import merge_shards
    from judgekit.suite.run import run_suite, run_suite_sync
    from judgekit.suite.suite import Suite, load_suite

__version__ = "0.1.0"

_HOMES = {
    "Analysis": "judgekit.metrics.prompt_alignment.prompt_alignment",
    "Answers": "judgekit.suite.answering",
    "Authenticity": "judgekit.metrics.brand_voice.authenticity",
    "BrandVoice": "judgekit.metrics.brand_voice.overall",
    "Case": "judgekit.core.case",
    "CaseError": "judgekit.core.errors",
    "Cassette": "judgekit.cassette.cassette",
    "Comparison": "judgekit.analysis.comparison.comparison",
    "Combined": "judgekit.metrics.combine",
    "ConfigError": "judgekit.core.errors",
    "CorrectedRun": "judgekit.analysis.correction.correct",
    "DecisionJudge": "judgekit.judges.decisions",
    "Distribution": "judgekit.core.distribution",
    "Failure": "judgekit.core.score",
    "FakeJudge": "judgekit.judges.fake",
    "HostedEmbedder": "judgekit.embedders.hosted",
    "Judge": "judgekit.core.protocols",
    "JudgekitError": "judgekit.core.errors",
    "Judgment": "judgekit.core.judgment",
    "Jury": "judgekit.core.jury",
    "LimitedJudge": "judgekit.judges.limits",
    "LiteLLMJudge": "judgekit.judges.litellm",
    "ManualJudge": "judgekit.judges.manual",
    "Message": "judgekit.core.case",
    "ModelRanking": "judgekit.analysis.ranking.ranking",
    "PairwiseMetric": "judgekit.metrics.pairwise.preference",
    "Persona": "judgekit.metrics.brand_voice.persona",
    "PromptAlignment": "judgekit.metrics.prompt_alignment.prompt_alignment",
    "RecordMode": "judgekit.cassette.mode",
    "RecordedJudge": "judgekit.judges.recorded",
    "Reply": "judgekit.core.request",
    "Report": "judgekit.report.report",
    "Request": "judgekit.core.request",
    "Row": "judgekit.core.score",
    "Rubric": "judgekit.rubric.rubric",
    "RubricMetric": "judgekit.metrics.rubric",
    "Score": "judgekit.core.score",
    "Suite": "judgekit.suite.suite",
    "ToolCall": "judgekit.core.case",
    "WithFallback": "judgekit.metrics.fallback",
    "answer": "judgekit.suite.answering",
    "answer_sync": "judgekit.suite.answering",
    "agree": "judgekit.analysis.agreement.agree",
    "compare": "judgekit.analysis.comparison.compare",
    "correct": "judgekit.analysis.correction.correct",
    "create": "judgekit.metrics.registry",
    "evaluate": "judgekit.runner.evaluation",
    "evaluate_sync": "judgekit.runner.evaluation",
    "fold_prompt_alignment": "judgekit.metrics.prompt_alignment.prompt_alignment",
    "from_hf": "judgekit.datasets.conversion",
    "from_pandas": "judgekit.datasets.conversion",
    "from_polars": "judgekit.datasets.conversion",
    "lint_rubrics": "judgekit.authoring.lint.lint",
    "load_cases": "judgekit.datasets",
    "load_persona": "judgekit.metrics.brand_voice.persona",
    "load_rubric": "judgekit.rubric.load",
    "load_suite": "judgekit.suite.suite",
    "merge_shards": "judgekit.suite.merge",
    "metric": "judgekit.metrics.registry",
    "metric_names": "judgekit.metrics.registry",
    "rank": "judgekit.analysis.ranking.rank",
    "rubric_stats": "judgekit.analysis.rubric_stats.measure",
    "run_suite": "judgekit.suite.run",
    "run_suite_sync": "judgekit.suite.run",
    "score_sync": "judgekit.runner.evaluation",
    "to_hf": "judgekit.datasets.conversion",
    "to_pandas": "judgekit.datasets.conversion",
    "to_polars": "judgekit.datasets.conversion",
}

__all__ = [
    "Analysis",
    "Answers",
    "Authenticity",
    "BrandVoice",
    "Case",
    "CaseError",
    "Cassette",
    "Combined",
    "Comparison",
    "ConfigError",
    "CorrectedRun",
    "DecisionJudge",
    "Distribution",
    "Failure",
    "FakeJudge",
    "HostedEmbedder",
    "Judge",
    "JudgekitError",
    "Judgment",
    "Jury",
    "LimitedJudge",
    "LiteLLMJudge",
    "ManualJudge",
    "Message",
    "ModelRanking",
    "PairwiseMetric",
    "Persona",
    "PromptAlignment",
    "RecordMode",
    "RecordedJudge",
    "Reply",
    "Report",
    "Request",
    "Row",
    "Rubric",
    "RubricMetric",
    "Score",
    "Suite",
    "ToolCall",
    "WithFallback",
    "agree",
    "answer",
    "answer_sync",
    "compare",
    "correct",
    "create",
    "evaluate",
    "evaluate_sync",
    "fold_prompt_alignment",
    "from_hf",
    "from_pandas",
    "from_polars",
    "lint_rubrics",
    "load_cases",
    "load_persona",
    "load_rubric",
    "load_suite",
    "merge_shards",
    "metric",
    "metric_names",
    "rank",
    "rubric_stats",
    "run_suite",
    "run_suite_sync",
    "score_sync",
    "to_hf",
    "to_pandas",
    "to_polars",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'judgekit' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
