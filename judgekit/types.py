"""Types that the signatures of the Python API name, for annotations.

Functions return most of them; few programs create one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.lazy_names import LazyNames

if TYPE_CHECKING:
    from judgekit.analysis.comparison.comparison import CaseMove as CaseMove
    from judgekit.analysis.comparison.comparison import Change as Change
    from judgekit.analysis.comparison.comparison import CorrectedDifference as CorrectedDifference
    from judgekit.analysis.comparison.comparison import CriteriaAgreement as CriteriaAgreement
    from judgekit.analysis.comparison.comparison import DistributionChange as DistributionChange
    from judgekit.analysis.comparison.comparison import Flips as Flips
    from judgekit.analysis.comparison.comparison import MeanDifference as MeanDifference
    from judgekit.analysis.comparison.comparison import MetricComparison as MetricComparison
    from judgekit.analysis.comparison.comparison import PartMove as PartMove
    from judgekit.analysis.comparison.comparison import PromptChange as PromptChange
    from judgekit.analysis.ranking.ranking import HeadToHead as HeadToHead
    from judgekit.analysis.ranking.ranking import OrderAgreement as OrderAgreement
    from judgekit.analysis.ranking.ranking import RankedModel as RankedModel
    from judgekit.analysis.ranking.records import RankSource as RankSource
    from judgekit.analysis.rubric_stats.statistics import CriterionStatistics as CriterionStatistics
    from judgekit.analysis.rubric_stats.statistics import RubricFigure as RubricFigure
    from judgekit.analysis.rubric_stats.statistics import RubricStatistics as RubricStatistics
    from judgekit.authoring.lint.rule import Linted as Linted
    from judgekit.authoring.lint.rule import LintFinding as LintFinding
    from judgekit.batch.job import Job as Job
    from judgekit.cassette.mode import RecordChoice as RecordChoice
    from judgekit.cassette.store import Store as Store
    from judgekit.core.case import Texts as Texts
    from judgekit.core.distribution import Label as Label
    from judgekit.core.errors import InvalidReply as InvalidReply
    from judgekit.core.errors import JudgeRefused as JudgeRefused
    from judgekit.core.judge_settings import JudgeSettings as JudgeSettings
    from judgekit.core.judgment import Answer as Answer
    from judgekit.core.judgment import Quote as Quote
    from judgekit.core.jury import Calls as Calls
    from judgekit.core.protocols import Aggregate as Aggregate
    from judgekit.core.protocols import AsyncEmbedder as AsyncEmbedder
    from judgekit.core.protocols import Embedder as Embedder
    from judgekit.core.protocols import JudgeLike as JudgeLike
    from judgekit.core.protocols import MetricInfo as MetricInfo
    from judgekit.core.protocols import MetricLike as MetricLike
    from judgekit.core.protocols import RubricSource as RubricSource
    from judgekit.core.protocols import SimpleMetric as SimpleMetric
    from judgekit.core.request import About as About
    from judgekit.core.request import ChatMessage as ChatMessage
    from judgekit.core.request import Detail as Detail
    from judgekit.core.request import Fault as Fault
    from judgekit.core.request import Omitted as Omitted
    from judgekit.core.request import Question as Question
    from judgekit.core.request import Try as Try
    from judgekit.core.request import Usage as Usage
    from judgekit.core.score import Fallback as Fallback
    from judgekit.core.score import Opinion as Opinion
    from judgekit.core.score import Part as Part
    from judgekit.core.score import Result as Result
    from judgekit.core.synchronous import Flag as Flag
    from judgekit.core.value import Json as Json
    from judgekit.datasets.load import Frame as Frame
    from judgekit.datasets.load import Source as Source
    from judgekit.embedders import Chosen as Chosen
    from judgekit.judges.budget import Bill as Bill
    from judgekit.judges.budget import Budget as Budget
    from judgekit.judges.budget import CostMeter as CostMeter
    from judgekit.judges.fake import Script as Script
    from judgekit.judges.pace import Pace as Pace
    from judgekit.judges.price import ModelPrice as ModelPrice
    from judgekit.judges.price import Rates as Rates
    from judgekit.judges.price import TokenCounts as TokenCounts
    from judgekit.judges.terminal import Terminal as Terminal
    from judgekit.metrics.brand_voice.patterns import PatternSet as PatternSet
    from judgekit.metrics.function import FunctionMetric as FunctionMetric
    from judgekit.metrics.function import FunctionResult as FunctionResult
    from judgekit.metrics.function import ScoringFunction as ScoringFunction
    from judgekit.report.calibration import Agreement as Agreement
    from judgekit.report.calibration import AgreementStatistic as AgreementStatistic
    from judgekit.report.calibration import AltTest as AltTest
    from judgekit.report.calibration import AltTestLabeller as AltTestLabeller
    from judgekit.report.calibration import Calibration as Calibration
    from judgekit.report.calibration import Disagreement as Disagreement
    from judgekit.report.calibration import GroupAgreement as GroupAgreement
    from judgekit.report.calibration import JuryAgreement as JuryAgreement
    from judgekit.report.calibration import LabellerAgreement as LabellerAgreement
    from judgekit.report.calibration import MemberAgreement as MemberAgreement
    from judgekit.report.calibration import ProbabilityBin as ProbabilityBin
    from judgekit.report.calibration import ReasonedLabel as ReasonedLabel
    from judgekit.report.calibration import SystemAgreement as SystemAgreement
    from judgekit.report.calibration import SystemMeans as SystemMeans
    from judgekit.report.constant import ConstantAnswers as ConstantAnswers
    from judgekit.report.corrected import CorrectedMean as CorrectedMean
    from judgekit.report.corrected import LabelComparison as LabelComparison
    from judgekit.report.corrected import LabelFigure as LabelFigure
    from judgekit.report.folder import Scored as Scored
    from judgekit.report.gate import GateResult as GateResult
    from judgekit.report.opinions import MassSummary as MassSummary
    from judgekit.report.opinions import MemberSummary as MemberSummary
    from judgekit.report.opinions import OpinionSummary as OpinionSummary
    from judgekit.report.opinions import PairAgreement as PairAgreement
    from judgekit.report.opinions import RepeatSummary as RepeatSummary
    from judgekit.report.own_criteria import TagSummary as TagSummary
    from judgekit.report.report import Figures as Figures
    from judgekit.report.run_labels import RunLabels as RunLabels
    from judgekit.report.summary import CriterionSummary as CriterionSummary
    from judgekit.report.summary import Worst as Worst
    from judgekit.rubric.criterion import Arrangement as Arrangement
    from judgekit.rubric.variant import Variant as Variant
    from judgekit.runner.evaluation import Gates as Gates
    from judgekit.runner.evaluation import Last as Last
    from judgekit.runner.evaluation import Reuse as Reuse
    from judgekit.stats.intervals import Coefficient as Coefficient
    from judgekit.stats.rates import MeanFigure as MeanFigure
    from judgekit.suite.answering import Answered as Answered
    from judgekit.suite.choice import JudgeChoice as JudgeChoice
    from judgekit.suite.choice import JudgeChoices as JudgeChoices
    from judgekit.suite.choice import MetricChoice as MetricChoice
    from judgekit.suite.choice import MetricChoices as MetricChoices

_names = LazyNames(
    __name__,
    {
        "judgekit.analysis.comparison.comparison": [
            "CaseMove",
            "Change",
            "CorrectedDifference",
            "CriteriaAgreement",
            "DistributionChange",
            "Flips",
            "MeanDifference",
            "MetricComparison",
            "PartMove",
            "PromptChange",
        ],
        "judgekit.analysis.ranking.ranking": ["HeadToHead", "OrderAgreement", "RankedModel"],
        "judgekit.analysis.ranking.records": ["RankSource"],
        "judgekit.analysis.rubric_stats.statistics": [
            "CriterionStatistics",
            "RubricFigure",
            "RubricStatistics",
        ],
        "judgekit.authoring.lint.rule": ["LintFinding", "Linted"],
        "judgekit.batch.job": ["Job"],
        "judgekit.cassette.mode": ["RecordChoice"],
        "judgekit.cassette.store": ["Store"],
        "judgekit.core.case": ["Texts"],
        "judgekit.core.distribution": ["Label"],
        "judgekit.core.errors": ["InvalidReply", "JudgeRefused"],
        "judgekit.core.judge_settings": ["JudgeSettings"],
        "judgekit.core.judgment": ["Answer", "Quote"],
        "judgekit.core.jury": ["Calls"],
        "judgekit.core.protocols": [
            "Aggregate",
            "AsyncEmbedder",
            "Embedder",
            "JudgeLike",
            "MetricInfo",
            "MetricLike",
            "RubricSource",
            "SimpleMetric",
        ],
        "judgekit.core.request": [
            "About",
            "ChatMessage",
            "Detail",
            "Fault",
            "Omitted",
            "Question",
            "Try",
            "Usage",
        ],
        "judgekit.core.score": ["Fallback", "Opinion", "Part", "Result"],
        "judgekit.core.synchronous": ["Flag"],
        "judgekit.core.value": ["Json"],
        "judgekit.datasets.load": ["Frame", "Source"],
        "judgekit.embedders": ["Chosen"],
        "judgekit.judges.fake": ["Script"],
        "judgekit.judges.budget": ["Bill", "Budget", "CostMeter"],
        "judgekit.judges.price": ["ModelPrice", "Rates", "TokenCounts"],
        "judgekit.judges.pace": ["Pace"],
        "judgekit.judges.terminal": ["Terminal"],
        "judgekit.metrics.brand_voice.patterns": ["PatternSet"],
        "judgekit.metrics.function": ["FunctionMetric", "FunctionResult", "ScoringFunction"],
        "judgekit.report.calibration": [
            "Agreement",
            "AgreementStatistic",
            "AltTest",
            "AltTestLabeller",
            "Calibration",
            "Disagreement",
            "GroupAgreement",
            "JuryAgreement",
            "LabellerAgreement",
            "MemberAgreement",
            "ReasonedLabel",
            "SystemAgreement",
            "ProbabilityBin",
            "SystemMeans",
        ],
        "judgekit.report.corrected": ["CorrectedMean", "LabelFigure", "LabelComparison"],
        "judgekit.report.folder": ["Scored"],
        "judgekit.report.constant": ["ConstantAnswers"],
        "judgekit.report.gate": ["GateResult"],
        "judgekit.report.opinions": [
            "MassSummary",
            "MemberSummary",
            "OpinionSummary",
            "PairAgreement",
            "RepeatSummary",
        ],
        "judgekit.report.report": ["Figures"],
        "judgekit.report.run_labels": ["RunLabels"],
        "judgekit.report.own_criteria": ["TagSummary"],
        "judgekit.report.summary": ["CriterionSummary", "Worst"],
        "judgekit.rubric.criterion": ["Arrangement"],
        "judgekit.rubric.variant": ["Variant"],
        "judgekit.runner.evaluation": ["Gates", "Last", "Reuse"],
        "judgekit.stats.intervals": ["Coefficient"],
        "judgekit.stats.rates": ["MeanFigure"],
        "judgekit.suite.choice": ["JudgeChoice", "JudgeChoices", "MetricChoice", "MetricChoices"],
        "judgekit.suite.answering": ["Answered"],
    },
)

if not TYPE_CHECKING:
    __all__ = list(_names.homes)
    __getattr__ = _names.get
    __dir__ = _names.dir
