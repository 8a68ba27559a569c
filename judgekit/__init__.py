"""Score LLM output with LLM judges and rubrics; replay every verdict offline.

Importing the package does not load its modules; each name loads its modules on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `X as X` exports a name to type checkers
    from judgekit import datasets as datasets
    from judgekit import metrics as metrics
    from judgekit import types as types
    from judgekit.analysis.agreement.agree import agree as agree
    from judgekit.analysis.comparison.compare import compare as compare
    from judgekit.analysis.comparison.comparison import Comparison as Comparison
    from judgekit.analysis.correction.correct import CorrectedRun as CorrectedRun
    from judgekit.analysis.correction.correct import correct_means as correct_means
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
    from judgekit.core.lazy_names import LazyNames
    from judgekit.core.protocols import Judge as Judge
    from judgekit.core.protocols import Metric as Metric
    from judgekit.core.request import Form as Form
    from judgekit.core.request import Reply as Reply
    from judgekit.core.request import Request as Request
    from judgekit.core.score import Failure as Failure
    from judgekit.core.score import Row as Row
    from judgekit.core.score import Score as Score
    from judgekit.datasets import load_cases as load_cases
    from judgekit.embedders.hosted import HostedEmbedder as HostedEmbedder
    from judgekit.judges.decisions import DecisionJudge as DecisionJudge
    from judgekit.judges.fake import FakeJudge as FakeJudge
    from judgekit.judges.limits import LimitedJudge as LimitedJudge
    from judgekit.judges.litellm import LiteLLMJudge as LiteLLMJudge
    from judgekit.judges.manual import ManualJudge as ManualJudge
    from judgekit.judges.recorded import RecordedJudge as RecordedJudge
    from judgekit.metrics.combine import Combined as Combined
    from judgekit.metrics.criteria.written import Criterion as Criterion
    from judgekit.metrics.fallback import WithFallback as WithFallback
    from judgekit.metrics.pairwise.preference import PairwiseMetric as PairwiseMetric
    from judgekit.metrics.prompt_alignment.prompt_alignment import (
        PromptAlignment as PromptAlignment,
    )
    from judgekit.metrics.registry import create_metric as create_metric
    from judgekit.metrics.registry import metric as metric
    from judgekit.metrics.registry import metric_names as metric_names
    from judgekit.metrics.rubric import RubricMetric as RubricMetric
    from judgekit.report.gate import Gate as Gate
    from judgekit.report.report import Report as Report
    from judgekit.report.summary import MetricSummary as MetricSummary
    from judgekit.rubric.load import load_rubric as load_rubric
    from judgekit.rubric.rubric import Rubric as Rubric
    from judgekit.runner.gatekeeper import Rules as Rules
    from judgekit.runner.limits import Limits as Limits
    from judgekit.runner.progress import Progress as Progress
    from judgekit.suite.answering import AnsweredCases as AnsweredCases
    from judgekit.suite.answering import answer_cases as answer_cases
    from judgekit.suite.answering import answer_cases_sync as answer_cases_sync
    from judgekit.suite.answering import answer_sync as answer_sync
    from judgekit.suite.evaluate import evaluate as evaluate
    from judgekit.suite.evaluate import evaluate_sync as evaluate_sync
    from judgekit.suite.evaluate import score as score
    from judgekit.suite.evaluate import score_sync as score_sync
    from judgekit.suite.merge import merge_shards as merge_shards
    from judgekit.suite.overrides import Overrides as Overrides
    from judgekit.suite.pending_run import PendingRun as PendingRun
    from judgekit.suite.pending_run import submit as submit
    from judgekit.suite.pending_run import submit_sync as submit_sync
    from judgekit.suite.run import run_suite as run_suite
    from judgekit.suite.run import run_suite_sync as run_suite_sync
    from judgekit.suite.suite import Suite as Suite
    from judgekit.suite.suite import load_suite as load_suite

if TYPE_CHECKING:  # the former names; `_RENAMED` has the same, with what they are now
    from judgekit.datasets import from_hf as from_hf
    from judgekit.datasets import from_pandas as from_pandas
    from judgekit.datasets import from_polars as from_polars
    from judgekit.datasets import to_hf as to_hf
    from judgekit.datasets import to_pandas as to_pandas
    from judgekit.datasets import to_polars as to_polars
    from judgekit.metrics.brand_voice import Authenticity as Authenticity
    from judgekit.metrics.brand_voice import BrandVoice as BrandVoice
    from judgekit.metrics.brand_voice import Persona as Persona
    from judgekit.metrics.brand_voice import load_persona as load_persona
    from judgekit.metrics.prompt_alignment import Analysis as Analysis
    from judgekit.metrics.prompt_alignment import fold_prompt_alignment as fold_prompt_alignment

    Answers = AnsweredCases
    answer = answer_cases
    correct = correct_means
    create = create_metric

__version__ = "0.1.0"

_HOMES = {
    "judgekit.analysis.agreement.agree": ["agree"],
    "judgekit.analysis.comparison.compare": ["compare"],
    "judgekit.analysis.comparison.comparison": ["Comparison"],
    "judgekit.analysis.correction.correct": ["CorrectedRun", "correct_means"],
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
    "judgekit.core.protocols": ["Judge", "Metric"],
    "judgekit.core.request": ["Form", "Reply", "Request"],
    "judgekit.core.score": ["Failure", "Row", "Score"],
    "judgekit.datasets": ["load_cases"],
    "judgekit.embedders.hosted": ["HostedEmbedder"],
    "judgekit.judges.decisions": ["DecisionJudge"],
    "judgekit.judges.fake": ["FakeJudge"],
    "judgekit.judges.limits": ["LimitedJudge"],
    "judgekit.judges.litellm": ["LiteLLMJudge"],
    "judgekit.judges.manual": ["ManualJudge"],
    "judgekit.judges.recorded": ["RecordedJudge"],
    "judgekit.metrics.combine": ["Combined"],
    "judgekit.metrics.criteria.written": ["Criterion"],
    "judgekit.metrics.fallback": ["WithFallback"],
    "judgekit.metrics.pairwise.preference": ["PairwiseMetric"],
    "judgekit.metrics.prompt_alignment.prompt_alignment": ["PromptAlignment"],
    "judgekit.metrics.registry": ["create_metric", "metric", "metric_names"],
    "judgekit.metrics.rubric": ["RubricMetric"],
    "judgekit.report.gate": ["Gate"],
    "judgekit.report.report": ["Report"],
    "judgekit.report.summary": ["MetricSummary"],
    "judgekit.rubric.load": ["load_rubric"],
    "judgekit.rubric.rubric": ["Rubric"],
    "judgekit.runner.gatekeeper": ["Rules"],
    "judgekit.runner.progress": ["Progress"],
    "judgekit.runner.limits": ["Limits"],
    "judgekit.suite.answering": ["AnsweredCases", "answer_cases", "answer_cases_sync"],
    "judgekit.suite.evaluate": ["evaluate", "evaluate_sync", "score", "score_sync"],
    "judgekit.suite.merge": ["merge_shards"],
    "judgekit.suite.overrides": ["Overrides"],
    "judgekit.suite.pending_run": ["PendingRun", "submit", "submit_sync"],
    "judgekit.suite.run": ["run_suite", "run_suite_sync"],
    "judgekit.suite.suite": ["Suite", "load_suite"],
}
"""Module -> its public names."""
_MODULES = ["datasets", "metrics", "types"]
_RENAMED = {
    "Analysis": "judgekit.metrics.prompt_alignment.Analysis",
    "Answers": "judgekit.AnsweredCases",
    "Authenticity": "judgekit.metrics.brand_voice.Authenticity",
    "BrandVoice": "judgekit.metrics.brand_voice.BrandVoice",
    "Persona": "judgekit.metrics.brand_voice.Persona",
    "answer": "judgekit.answer_cases",
    "answer_sync": "judgekit.answer_cases_sync",
    "correct": "judgekit.correct_means",
    "create": "judgekit.create_metric",
    "fold_prompt_alignment": "judgekit.metrics.prompt_alignment.fold_prompt_alignment",
    "from_hf": "judgekit.datasets.from_hf",
    "from_pandas": "judgekit.datasets.from_pandas",
    "from_polars": "judgekit.datasets.from_polars",
    "load_persona": "judgekit.metrics.brand_voice.load_persona",
    "to_hf": "judgekit.datasets.to_hf",
    "to_pandas": "judgekit.datasets.to_pandas",
    "to_polars": "judgekit.datasets.to_polars",
}
"""Former name -> what it is now."""


def _names() -> LazyNames:
    # Imported here: pytest loads `judgekit` for its plug-in in every project, and nothing else.
    from judgekit.core.lazy_names import LazyNames

    return LazyNames(__name__, _HOMES, modules=_MODULES, renamed=_RENAMED, own=["__version__"])


# Type checkers would take any name for an attribute if they saw `__getattr__`.
if not TYPE_CHECKING:
    __all__ = sorted(n for names in _HOMES.values() for n in names)  # noqa: PLE0605 - a list

    def __getattr__(name: str) -> Any:
        return _names().get(name)

    def __dir__() -> list[str]:
        return _names().dir()
