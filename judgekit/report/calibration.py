"""The agreement of a judge with people, which `judgekit agree` writes to a run folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgekit.core.arguments import checked
from judgekit.core.document import Document
from judgekit.core.input_file import read_text
from judgekit.core.value import Value, sparse
from judgekit.datasets.dataframes.framed import Framed
from judgekit.report.agreement_words import MOST_CRITERIA, STATISTICS, agreement_parts
from judgekit.report.folder import AGREEMENT, MAX_JSON
from judgekit.stats.intervals import Coefficient, CountedFigure, wilson

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown

Scale = Literal["nominal", "ordinal", "number"]
KappaWeights = Literal["none", "linear", "quadratic"]
LabelRule = Literal["each", "majority", "mean"]
NO_VERDICT = "no verdict"
"""The category of replies without a verdict."""


class AgreementStatistic(Value):
    """A statistic with its 95 % interval and the number of answers."""

    name: str
    """A key of `STATISTICS`."""
    n: int
    """The number of pairs of answers; of cases for alpha; or of groups or systems."""
    value: float | None
    """`None` if it is undefined."""
    low: float | None = None
    high: float | None = None
    too_few: str | None = None
    """Why there is no interval."""

    @classmethod
    def of(cls, name: str, n: int, figure: Coefficient) -> AgreementStatistic:
        """Return a coefficient as a statistic."""
        return cls(name=name, n=n, value=figure.value, low=figure.low, high=figure.high,
                   too_few=figure.too_few)  # fmt: skip

    @property
    def text(self) -> str:
        """The value with its interval."""
        if self.value is None and self.too_few:
            return "too few"
        return Coefficient(self.value, self.low, self.high).text


def statistics_of(figures: Mapping[str, CountedFigure]) -> tuple[AgreementStatistic, ...]:
    """Return figures as statistics, in the order of `STATISTICS`."""
    return tuple(AgreementStatistic.of(name, *figures[name]) for name in STATISTICS
                 if name in figures)  # fmt: skip


class LabellerAgreement(Value):
    """One labeller against the judge and against the other labellers."""

    labeller: str
    judge: AgreementStatistic | None
    others: AgreementStatistic | None = None
    """`None` if no other person labelled one of these cases."""


class ReasonedLabel(Value):
    """The answer of one person, with the reason they wrote."""

    labeller: str
    value: str
    reason: str = ""


class Disagreement(Value):
    """A case about which the judge and people differ."""

    case: str
    judge: str
    reason: str = ""
    """The judge's answer."""
    people: tuple[ReasonedLabel, ...]
    distance: float
    """Mean distance to the labels; 1 is the largest possible distance."""


_LONGEST_COUNT = 15
"""Maximum number of digits of a count; a run has fewer cases."""


class ProbabilityBin(Value):
    """The judge's most probable answers with a probability in one range."""

    least: float
    """The least probability, 0..1; the range ends where the next one begins."""
    n: int
    stated: float
    """Their mean probability."""
    right: float
    """The share of them that people gave."""
    low: float | None
    high: float | None
    """95 % interval of that share; `None` below 20 cases."""


class GroupAgreement(Value):
    """Agreement within groups of cases, averaged over groups."""

    field: str
    groups: int
    """Number of groups with labels."""
    statistics: tuple[AgreementStatistic, ...]
    """Means over the groups in which the statistic is defined."""


class SystemMeans(Value):
    """The mean answers about one system."""

    system: str
    cases: int
    judge: float
    people: float


class SystemAgreement(Value):
    """Agreement about the mean scores of systems."""

    field: str | None
    """Metadata field that names the system; `None` for the model that answered."""
    systems: tuple[SystemMeans, ...]
    statistics: tuple[AgreementStatistic, ...]


class AltTestLabeller(Value):
    """The alternative test for one labeller."""

    labeller: str
    n: int
    """Number of cases shared with other labellers."""
    difference: float
    """Share of cases in which the labeller is at least as good, minus the share of the judge."""
    advantage: float
    """Share of cases in which the judge is as good or better."""
    p: float
    wins: bool
    """Whether the judge is not worse than the labeller."""


class AltTest(Value):
    """The alternative annotator test: whether the judge may replace a labeller."""

    epsilon: float
    by: Literal["accuracy", "negative RMSE"]
    labellers: tuple[AltTestLabeller, ...]
    short: tuple[str, ...] = ()
    """Labellers who are not tested because they share fewer than 30 cases."""
    too_few: str | None = None
    """Why the test is inconclusive."""
    winning_rate: float | None = None
    """Share of the labellers that the judge wins against."""
    advantage: float | None = None
    """Mean of the labellers' advantage."""
    low: float | None = None
    high: float | None = None

    @property
    def passed(self) -> bool | None:
        """Whether the judge wins against at least half; `None` if the test is inconclusive."""
        return None if self.winning_rate is None else self.winning_rate >= 0.5

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        return {None: "cannot tell", True: "passed", False: "not passed"}[self.passed]

    @property
    def lines(self) -> list[str]:
        """The outcome and its meaning."""
        head = f"alternative test (epsilon {self.epsilon:g}, {self.by}): {self.verdict}"
        if self.too_few:
            return [f"{head}: {self.too_few}"]
        won = sum(one.wins for one in self.labellers)
        least, most = (f(one.n for one in self.labellers) for f in (min, max))
        cases = f"{least}" if least == most else f"{least} to {most}"
        rate = Coefficient(self.winning_rate, *wilson(won, len(self.labellers))).text
        share = Coefficient(self.advantage, self.low, self.high).text
        figures = (
            f"{head}; the judge wins against {won} of {len(self.labellers)} labellers, winning "
            f"rate {rate}; advantage probability {share}, {cases} cases each"
        )
        if not self.passed:
            return [figures, "not passed does not show that the judge is worse: more cases may "
                    "decide"]  # fmt: skip
        return [figures, "passed means: the judge agrees with the other labellers about as well as "
                f"at least half of them do (worse in fewer than {self.epsilon:g} more of the cases "
                "than better); it may replace one of them on cases like these"]  # fmt: skip


class MemberAgreement(Value):
    """The agreement of one judge of a jury with people."""

    member: str
    pairs: int
    same: int | None = None
    """Pairs with the very same answer."""
    kappa: Coefficient | None = None
    rank: Coefficient | None = None
    weight: float
    """Weight for `vote: weighted`; the mean over the members is 1."""


class JuryAgreement(Value):
    """Figures of the members of a jury, in addition to the agreement of its verdicts."""

    members: tuple[MemberAgreement, ...]
    pairs: int
    """Number of labelled cases with an answer of every member; answers in older files."""
    correlation: float | None
    """Mean correlation of the members' errors; `None` if an error never or always occurs."""
    effective: float | None
    """Effective number of independent votes of the members, if every label is right."""
    low: float | None = sparse(default=None)
    """Lower end of the 95 % interval of the effective votes over cases."""
    high: float | None = sparse(default=None)
    """Upper end, if as many labels are wrong as `wrong_labels`."""
    too_few: str | None = sparse(default=None)
    """Why there is no interval."""
    wrong_labels: float | None = sparse(default=None)
    """Share of wrong labels that the interval allows for, 0..1; of numbers, share of noise in their
    variance."""
    labels_compared: bool = sparse(default=False)
    """Whether that share follows from the disagreement of labellers."""
    best: str | None
    """The member that agrees better with people than the jury, if there is one."""
    best_pairs: int | None = sparse(default=None)
    """Number of pairs on which the best member and the jury are compared."""
    best_figures: tuple[float, float] | None = sparse(default=None)
    """Kappa (or Spearman's rho) of the best member and of the jury on these pairs."""

    @property
    def lines(self) -> list[str]:
        """The figures in sentences."""
        lines = []
        for one in self.members:
            kind, figure = ("kappa", one.kappa) if one.kappa else ("Spearman", one.rank)
            same = "" if one.same is None else f", {one.same} of {one.pairs} the same"
            if figure is not None:
                lines.append(f"{one.member} alone: {kind} {figure.text}{same}")
        weights = ", ".join(f"{one.member}: {one.weight:g}" for one in self.members)
        lines += [self.votes, *filter(None, [self.better])]
        return [*lines, f"weights by each member's errors on these labels, as if members erred "
                f"independently: jury: {{{weights}}}"]  # fmt: skip

    @property
    def votes(self) -> str:
        """The effective votes with their interval and assumptions."""
        if self.effective is None:
            return "effective votes: unknown, the errors do not vary"
        text = f"effective votes: {self.effective:.1f} of {len(self.members)}"
        figures = f"errors correlate by {self.correlation:.2f} over {self.pairs} cases"
        if self.low is None or self.high is None:
            why = f": {self.too_few}" if self.too_few else ""
            return f"{text} [too few{why}] ({figures}; a wrong label counts as a shared error)"
        share = f"{100 * (self.wrong_labels or 0):.0f} %"
        source = "not measured, as one person labelled a case"
        if self.labels_compared:
            source = "the most by which labellers differ, if they err independently"
        return (
            f"{text} [{self.low:.1f}, {self.high:.1f}] ({figures}; a wrong label counts as a "
            f"shared error: the upper end allows for {share} wrong labels, {source})"
        )

    @property
    def better(self) -> str:
        """The member that agrees better with people than the jury; empty if there is none."""
        if self.best is None:
            return ""
        text = f"{self.best} alone agrees better with people than the jury"
        if self.best_figures is None:
            return text
        one, jury = self.best_figures
        return f"{text} on {self.best_pairs} common answers: {one:.2f} and {jury:.2f}, not tested"


class Agreement(Value):
    """The agreement on one criterion, or on the verdict of a metric."""

    metric: str
    criterion: str | None
    """`None` for the metric's own value or verdict."""
    scale: Scale
    """The kind of kappa: unweighted for `nominal`, with quadratic weights for `ordinal`."""
    cases: int
    clusters: int | None = None
    """Number of clusters; `None` if cases are independent."""
    failed: int = 0
    """Number of pairs whose reply has no verdict; they count as disagreement."""
    without_digest: int = 0
    """Number of pairs whose label does not identify the output; they are matched by case id."""
    pairs: int
    """Number of pairs of a judge's and a person's answer; a case may have several."""
    labellers: tuple[str, ...]
    categories: tuple[str, ...] = ()
    """Answers in order; empty for numbers with many values."""
    table: tuple[tuple[int, ...], ...] = ()
    """Rows: answers of the judge; columns: answers of people."""
    same: int | None = None
    """Pairs with the very same answer."""
    kappa: Coefficient | None = None
    """Cohen's kappa. A reply without a verdict has the largest possible distance to all answers."""
    rank: Coefficient | None = None
    """Spearman's rho, without failed replies; only for ordered answers."""
    people_pairs: int = 0
    """Number of pairs of answers by two people to one case."""
    people_kappa: Coefficient | None = None
    people_rank: Coefficient | None = None
    left_out: dict[str, int]
    """Reason why labels have no pair -> their number."""
    sentence: str
    jury: JuryAgreement | None = sparse(default=None)
    """The judges of a jury; `None` for a single judge."""

    combine: LabelRule = sparse(default="each")
    """How several labels of a case are combined: each one, their majority, or their mean."""
    weights: KappaWeights | None = sparse(default=None)
    """Weights of kappa; `None` in older files: quadratic for ordered answers."""
    weighted: bool = sparse(default=False)
    """Whether figures are weighted by 1 / probability of the sampling plan."""
    statistics: tuple[AgreementStatistic, ...] = sparse(default=())
    """All statistics of the judge and people; empty in files of version 2."""
    people_statistics: tuple[AgreementStatistic, ...] = sparse(default=())
    """The same statistics between people."""
    probability_bins: tuple[ProbabilityBin, ...] = sparse(default=())
    """How often the judge's answers are right, by their probability."""
    by_labeller: tuple[LabellerAgreement, ...] = sparse(default=())
    groups: GroupAgreement | None = sparse(default=None)
    systems: SystemAgreement | None = sparse(default=None)
    alt_test: AltTest | None = sparse(default=None)
    disagreements: tuple[Disagreement, ...] = sparse(default=())
    """Cases with the largest disagreement, the largest first."""

    @property
    def kappa_name(self) -> str:
        """Kappa with its weights."""
        weights = self.weights or ("none" if self.scale == "nominal" else "quadratic")
        return "kappa" if weights == "none" else f"kappa ({weights})"

    @property
    def name(self) -> str:
        """The metric and its criterion."""
        return self.metric if self.criterion is None else f"{self.metric}, {self.criterion}"


_COLUMNS = {"metric", "criterion", "scale", "cases", "clusters", "pairs", "failed",
            "without_digest", "same", "people_pairs"}  # fmt: skip
"""Fields that are columns of a data frame."""


class Calibration(Document, Framed, Value):
    """The content of `agree.json`. Its data frame has a row for each criterion."""

    judgekit: Literal["agreement"] = "agreement"
    version: Literal[2, 3] = 3
    """Version 2 has only kappa, Spearman's rho and the jury."""
    dataset: str
    """Digest of the run's cases."""
    manifest: str
    """Digest of the inputs of the run's numbers."""
    labels: str
    """Digest of the labels."""
    cluster: str | None = None
    """Metadata field that clusters cases; intervals are clustered by it."""
    criteria: tuple[Agreement, ...]
    problems: dict[str, str] = sparse(default={})
    """Metric and criterion -> why its labels cannot be compared with the judge."""
    label_warnings: tuple[str, ...] = sparse(default=())
    """Metrics whose judge says other things of the labelled cases than of the rest."""

    def problems_of(self, metric: str) -> dict[str, str]:
        """Return the problems of a metric and its criteria."""
        return {name: why for name, why in self.problems.items()
                if name == metric or name.startswith(f"{metric}, ")}  # fmt: skip

    @property
    def intervals(self) -> str:
        """The method of the intervals."""
        by = f"clusters of {self.cluster}" if self.cluster else "case"
        return f"Intervals: 95 %, adjusted Wald by {by}."

    @property
    def sampling(self) -> str:
        """The assumption about the selection of the labelled cases."""
        if any(one.weighted for one in self.criteria):
            return "Weighted by 1 / probability of the sampling plan; tables count answers."
        return "No label has a probability: labelled cases count as a random sample of the run."

    @checked
    def to_html(self, path: str | Path, *, run: str | Path | None = None) -> Path:
        """Write the agreement as one self-contained HTML file and return its path.

        Args:
            path: the file.
            run: the folder of the run that was compared; the page then shows question and answer of
                the cases with the largest disagreements, and links to them on the page of the run.

        Raises:
            ConfigError: the file cannot be written, or the run cannot be read.
        """
        from judgekit.core.renderers import renderer

        written: Path = renderer("agreement page")(self, Path(path), run)
        return written

    def _parts_shown(self) -> Iterable[Shown]:
        return agreement_parts(self, most=MOST_CRITERIA)

    def _all_parts(self) -> Iterable[Shown]:
        return agreement_parts(self)

    def _frame_rows(self) -> Iterator[dict[str, Any]]:
        for one in self.criteria:
            row: dict[str, Any] = one.model_dump(include=_COLUMNS)
            for name, figure in (("kappa", one.kappa), ("rank", one.rank),
                                 ("people_kappa", one.people_kappa),
                                 ("people_rank", one.people_rank)):  # fmt: skip
                known = figure or Coefficient(value=None)
                row[name] = {"value": known.value, "low": known.low, "high": known.high}
            for side, others in (("", one.statistics), ("people_", one.people_statistics)):
                row |= {f"{side}{other.name}": other.model_dump(exclude={"name", "too_few"})
                        for other in others if other.name not in ("kappa", "spearman")}  # fmt: skip
            yield {**row, "labellers": list(one.labellers), "sentence": one.sentence}


def _count(digits: str) -> int:
    if len(digits) > _LONGEST_COUNT:
        raise ValueError("no count that judgekit wrote")
    return int(digits)


def read_calibration(folder: Path, *, dataset: str, manifest: str) -> Calibration | None:
    """Return the agreement of a run's judge; `None` if missing or for another run."""
    try:
        text = read_text(folder / AGREEMENT, most=MAX_JSON)
        known = Calibration.model_validate(json.loads(text, parse_int=_count))
    except (OSError, ValueError, RecursionError):
        return None
    return known if (known.dataset, known.manifest) == (dataset, manifest) else None
