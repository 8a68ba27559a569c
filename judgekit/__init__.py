"""Score LLM output with LLM judges and rubrics; replay every verdict offline.

Importing this loads nothing but itself; each name loads what it needs when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgekit.agreement.agree import agree
    from judgekit.answering import Answers, answer, answer_sync
    from judgekit.case import Case, Message, ToolCall
    from judgekit.cassette.cassette import Cassette
    from judgekit.cassette.mode import RecordMode
    from judgekit.comparison.compare import compare
    from judgekit.comparison.comparison import Comparison
    from judgekit.config import Suite, load_suite
    from judgekit.datasets import load_cases
    from judgekit.datasets.doors import (
        from_hf,
        from_pandas,
        from_polars,
        to_hf,
        to_pandas,
        to_polars,
    )
    from judgekit.embedders.hosted import HostedEmbedder
    from judgekit.errors import CaseError, ConfigError, JudgekitError
    from judgekit.evaluation import evaluate, evaluate_sync, score_sync
    from judgekit.judges.fake import FakeJudge
    from judgekit.judges.limits import LimitedJudge
    from judgekit.judges.litellm import LiteLLMJudge
    from judgekit.judges.manual import ManualJudge
    from judgekit.judgment import Judgment
    from judgekit.lint.lint import lint_rubrics
    from judgekit.merge import merge_shards
    from judgekit.metrics.combine import Combined
    from judgekit.metrics.fallback import WithFallback
    from judgekit.metrics.prompt_alignment import Analysis, PromptAlignment, fold_prompt_alignment
    from judgekit.metrics.rubric import RubricMetric
    from judgekit.metrics.voice.authenticity import Authenticity
    from judgekit.metrics.voice.overall import BrandVoice
    from judgekit.metrics.voice.persona import Persona, load_persona
    from judgekit.registry import create, metric, metric_names
    from judgekit.report.report import Report
    from judgekit.request import Reply, Request
    from judgekit.rubric.load import load_rubric
    from judgekit.rubric.rubric import Rubric
    from judgekit.run import run_suite, run_suite_sync
    from judgekit.score import Failure, Row, Score

__version__ = "0.1.0"

_HOMES = {
    "Analysis": "judgekit.metrics.prompt_alignment",
    "Answers": "judgekit.answering",
    "Authenticity": "judgekit.metrics.voice.authenticity",
    "BrandVoice": "judgekit.metrics.voice.overall",
    "Case": "judgekit.case",
    "CaseError": "judgekit.errors",
    "Cassette": "judgekit.cassette.cassette",
    "Comparison": "judgekit.comparison.comparison",
    "Combined": "judgekit.metrics.combine",
    "ConfigError": "judgekit.errors",
    "Failure": "judgekit.score",
    "FakeJudge": "judgekit.judges.fake",
    "HostedEmbedder": "judgekit.embedders.hosted",
    "JudgekitError": "judgekit.errors",
    "Judgment": "judgekit.judgment",
    "LimitedJudge": "judgekit.judges.limits",
    "LiteLLMJudge": "judgekit.judges.litellm",
    "ManualJudge": "judgekit.judges.manual",
    "Message": "judgekit.case",
    "Persona": "judgekit.metrics.voice.persona",
    "PromptAlignment": "judgekit.metrics.prompt_alignment",
    "RecordMode": "judgekit.cassette.mode",
    "Reply": "judgekit.request",
    "Report": "judgekit.report.report",
    "Request": "judgekit.request",
    "Row": "judgekit.score",
    "Rubric": "judgekit.rubric.rubric",
    "RubricMetric": "judgekit.metrics.rubric",
    "Score": "judgekit.score",
    "Suite": "judgekit.config",
    "ToolCall": "judgekit.case",
    "WithFallback": "judgekit.metrics.fallback",
    "answer": "judgekit.answering",
    "answer_sync": "judgekit.answering",
    "agree": "judgekit.agreement.agree",
    "compare": "judgekit.comparison.compare",
    "create": "judgekit.registry",
    "evaluate": "judgekit.evaluation",
    "evaluate_sync": "judgekit.evaluation",
    "fold_prompt_alignment": "judgekit.metrics.prompt_alignment",
    "from_hf": "judgekit.datasets.doors",
    "from_pandas": "judgekit.datasets.doors",
    "from_polars": "judgekit.datasets.doors",
    "lint_rubrics": "judgekit.lint.lint",
    "load_cases": "judgekit.datasets",
    "load_persona": "judgekit.metrics.voice.persona",
    "load_rubric": "judgekit.rubric.load",
    "load_suite": "judgekit.config",
    "merge_shards": "judgekit.merge",
    "metric": "judgekit.registry",
    "metric_names": "judgekit.registry",
    "run_suite": "judgekit.run",
    "run_suite_sync": "judgekit.run",
    "score_sync": "judgekit.evaluation",
    "to_hf": "judgekit.datasets.doors",
    "to_pandas": "judgekit.datasets.doors",
    "to_polars": "judgekit.datasets.doors",
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
    "Failure",
    "FakeJudge",
    "HostedEmbedder",
    "JudgekitError",
    "Judgment",
    "LimitedJudge",
    "LiteLLMJudge",
    "ManualJudge",
    "Message",
    "Persona",
    "PromptAlignment",
    "RecordMode",
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
