"""Score LLM output with LLM judges and rubrics; replay every verdict offline.

Importing the package does not load its modules; each name loads its modules on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `X as X` exports a name to type checkers
    from judgekit.analysis.agreement.agree import agree as agree
    from judgekit.analysis.comparison.compare import compare as compare
    from judgekit.analysis.comparison.comparison import Comparison as Comparison
    from judgekit.analysis.correction.correct import CorrectedRun as CorrectedRun
    from judgekit.analysis.correction.correct import correct as correct
    from judgekit.analysis.ranking.rank import rank as rank
    from judgekit.analysis.ranking.ranking import ModelRanking as ModelRanking
    from judgekit.analysis.rubric_stats.measure import rubric_stats as rubric_stats
    from judgekit.authoring.lint.lint import lint_rubrics as lint_rubrics
    from judgekit.cassette.cassette import Cassette as Cassette
    from judgekit.cassette.mode import RecordMode as RecordMode
    from judgekit.core.case import Case as Case
    from judgekit.core.case import Message as Message
    from judgekit.core.case import ToolCall as ToolCall
    from judgekit.core.distribution import Distribution as Distribution
    from judgekit.core.errors import CaseError as CaseError
    from judgekit.core.errors import ConfigError as ConfigError
    from judgekit.core.errors import JudgekitError as JudgekitError
    from judgekit.core.judgment import Judgment as Judgment
    from judgekit.core.jury import Jury as Jury
    from judgekit.core.protocols import Judge as Judge
    from judgekit.core.request import Reply as Reply
    from judgekit.core.request import Request as Request
    from judgekit.core.score import Failure as Failure
    from judgekit.core.score import Row as Row
    from judgekit.core.score import Score as Score
    from judgekit.datasets import load_cases as load_cases
    from judgekit.datasets.conversion import from_hf as from_hf
    from judgekit.datasets.conversion import from_pandas as from_pandas
    from judgekit.datasets.conversion import from_polars as from_polars
    from judgekit.datasets.conversion import to_hf as to_hf
    from judgekit.datasets.conversion import to_pandas as to_pandas
    from judgekit.datasets.conversion import to_polars as to_polars
    from judgekit.embedders.hosted import HostedEmbedder as HostedEmbedder
    from judgekit.judges.decisions import DecisionJudge as DecisionJudge
    from judgekit.judges.fake import FakeJudge as FakeJudge
    from judgekit.judges.limits import LimitedJudge as LimitedJudge
    from judgekit.judges.litellm import LiteLLMJudge as LiteLLMJudge
    from judgekit.judges.manual import ManualJudge as ManualJudge
    from judgekit.judges.recorded import RecordedJudge as RecordedJudge
    from judgekit.metrics.brand_voice.authenticity import Authenticity as Authenticity
    from judgekit.metrics.brand_voice.overall import BrandVoice as BrandVoice
    from judgekit.metrics.brand_voice.persona import Persona as Persona
    from judgekit.metrics.brand_voice.persona import load_persona as load_persona
    from judgekit.metrics.combine import Combined as Combined
    from judgekit.metrics.fallback import WithFallback as WithFallback
    from judgekit.metrics.pairwise.preference import PairwiseMetric as PairwiseMetric
    from judgekit.metrics.prompt_alignment.prompt_alignment import Analysis as Analysis
    from judgekit.metrics.prompt_alignment.prompt_alignment import (
        PromptAlignment as PromptAlignment,
    )
    from judgekit.metrics.prompt_alignment.prompt_alignment import (
        fold_prompt_alignment as fold_prompt_alignment,
    )
    from judgekit.metrics.registry import create as create
    from judgekit.metrics.registry import metric as metric
    from judgekit.metrics.registry import metric_names as metric_names
    from judgekit.metrics.rubric import RubricMetric as RubricMetric
    from judgekit.report.report import Report as Report
    from judgekit.rubric.load import load_rubric as load_rubric
    from judgekit.rubric.rubric import Rubric as Rubric
    from judgekit.runner.evaluation import evaluate as evaluate
    from judgekit.runner.evaluation import evaluate_sync as evaluate_sync
    from judgekit.runner.evaluation import score_sync as score_sync
    from judgekit.suite.answering import Answers as Answers
    from judgekit.suite.answering import answer as answer
    from judgekit.suite.answering import answer_sync as answer_sync
    from judgekit.suite.merge import merge_shards as merge_shards
    from judgekit.suite.run import run_suite as run_suite
    from judgekit.suite.run import run_suite_sync as run_suite_sync
    from judgekit.suite.suite import Suite as Suite
    from judgekit.suite.suite import load_suite as load_suite

__version__ = "0.1.0"

_NAMES = {
    "judgekit.analysis.agreement.agree": ["agree"],
    "judgekit.analysis.comparison.compare": ["compare"],
    "judgekit.analysis.comparison.comparison": ["Comparison"],
    "judgekit.analysis.correction.correct": ["CorrectedRun", "correct"],
    "judgekit.analysis.ranking.rank": ["rank"],
    "judgekit.analysis.ranking.ranking": ["ModelRanking"],
    "judgekit.analysis.rubric_stats.measure": ["rubric_stats"],
    "judgekit.authoring.lint.lint": ["lint_rubrics"],
    "judgekit.cassette.cassette": ["Cassette"],
    "judgekit.cassette.mode": ["RecordMode"],
    "judgekit.core.case": ["Case", "Message", "ToolCall"],
    "judgekit.core.distribution": ["Distribution"],
    "judgekit.core.errors": ["CaseError", "ConfigError", "JudgekitError"],
    "judgekit.core.judgment": ["Judgment"],
    "judgekit.core.jury": ["Jury"],
    "judgekit.core.protocols": ["Judge"],
    "judgekit.core.request": ["Reply", "Request"],
    "judgekit.core.score": ["Failure", "Row", "Score"],
    "judgekit.datasets": ["load_cases"],
    "judgekit.datasets.conversion": [
        "from_hf",
        "from_pandas",
        "from_polars",
        "to_hf",
        "to_pandas",
        "to_polars",
    ],
    "judgekit.embedders.hosted": ["HostedEmbedder"],
    "judgekit.judges.decisions": ["DecisionJudge"],
    "judgekit.judges.fake": ["FakeJudge"],
    "judgekit.judges.limits": ["LimitedJudge"],
    "judgekit.judges.litellm": ["LiteLLMJudge"],
    "judgekit.judges.manual": ["ManualJudge"],
    "judgekit.judges.recorded": ["RecordedJudge"],
    "judgekit.metrics.brand_voice.authenticity": ["Authenticity"],
    "judgekit.metrics.brand_voice.overall": ["BrandVoice"],
    "judgekit.metrics.brand_voice.persona": ["Persona", "load_persona"],
    "judgekit.metrics.combine": ["Combined"],
    "judgekit.metrics.fallback": ["WithFallback"],
    "judgekit.metrics.pairwise.preference": ["PairwiseMetric"],
    "judgekit.metrics.prompt_alignment.prompt_alignment": [
        "Analysis",
        "PromptAlignment",
        "fold_prompt_alignment",
    ],
    "judgekit.metrics.registry": ["create", "metric", "metric_names"],
    "judgekit.metrics.rubric": ["RubricMetric"],
    "judgekit.report.report": ["Report"],
    "judgekit.rubric.load": ["load_rubric"],
    "judgekit.rubric.rubric": ["Rubric"],
    "judgekit.runner.evaluation": ["evaluate", "evaluate_sync", "score_sync"],
    "judgekit.suite.answering": ["Answers", "answer", "answer_sync"],
    "judgekit.suite.merge": ["merge_shards"],
    "judgekit.suite.run": ["run_suite", "run_suite_sync"],
    "judgekit.suite.suite": ["Suite", "load_suite"],
}
"""Module -> its public names."""
_HOMES = dict(sorted((name, home) for home, names in _NAMES.items() for name in names))

if not TYPE_CHECKING:
    __all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'judgekit' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
