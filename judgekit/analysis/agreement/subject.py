"""The answers of a judge and of people to one criterion, or about one metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgekit.analysis.agreement import details
from judgekit.analysis.agreement.jury import jury_agreement
from judgekit.analysis.agreement.pairs import (
    AgreeSettings,
    Answer,
    JudgedCase,
    JudgedPair,
    by_case,
    combined,
    is_number,
)
from judgekit.analysis.agreement.statistics import AnswerScale, RatedCases, shown
from judgekit.analysis.agreement.verdicts import (
    answer_of,
    member_answers,
    order_values,
    probabilities_of,
    word_values,
)
from judgekit.core.errors import ConfigError
from judgekit.core.request import Question
from judgekit.core.score import Failure, Result, Score
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import VERDICTS, Label, read_answer
from judgekit.metrics.pairwise.orders import Rule
from judgekit.report.agreement_words import sentence
from judgekit.report.calibration import NO_VERDICT, Agreement, Scale, statistics_of
from judgekit.report.summary import MetricSummary
from judgekit.report.thresholds import passes

MAX_CATEGORIES = 10
"""Maximum number of distinct numbers for a table and kappa."""
OTHER_OUTPUT = "the label is for another output"
NO_SUCH = "no such criterion"
TIED = "the labellers of the case are tied"
_FAILED_REPLIES = ("invalid_reply", "refused", "truncated", "empty")
"""Kinds of failures in which the judge replied; others are not the judge's."""


_Order = tuple[Scale, list[Answer]]
"""A scale, and its answers in order."""


@dataclass
class Subject:
    """One criterion, or the value of a metric, with the answers of the judge and the labels."""

    metric: str
    criterion: str | None
    """`None` for the metric's own value or verdict."""
    summary: MetricSummary
    settings: AgreeSettings
    question: Question | None = None
    """The question of the run's rubric; `None` if the run does not have it."""
    rule: Rule | None = None
    """How a pairwise metric combines two orders; `None` for other metrics."""
    word_values: dict[str, float] = field(default_factory=dict)
    """Word of a pairwise metric -> its value."""
    pairs: list[JudgedPair] = field(default_factory=list)
    undecided: list[JudgedPair] = field(default_factory=list)
    """Labels of cases on which a jury has no verdict, such as a tie, with its members' answers."""
    values: dict[Answer, float] = field(default_factory=dict)
    """Answer of the judge -> value of the criterion."""
    left_out: Counter[str] = field(default_factory=Counter)
    without_digest: int = 0
    key: str | None = None
    unreadable: str | None = None
    """The first label that is no answer to the question."""
    misnamed: str = ""
    """The first label of a criterion that does not exist, and the name that was meant."""
    weighted: bool = False
    """Whether labels have the probability of a sampling plan."""
    _spellings: dict[str, str] = field(default_factory=dict)

    def add(self, case: JudgedCase, result: Result, people: Mapping[str, Label | None]) -> None:
        """Add the judge's result for one case.

        Args:
            case: the case.
            result: the judge's result.
            people: labeller -> label; `None` if it is for another output.
        """
        judge, reason, missing = self._answer(result)
        opinions, parts = (result.opinions, result.parts) if isinstance(result, Score) else ((), ())
        members = member_answers(opinions, self.criterion, rule=self.rule) if opinions else {}
        own = next((part for part in parts if part.id == self.criterion), None)
        probabilities = probabilities_of(own)
        orders: tuple[tuple[float, float], ...] = ()
        if self.rule is not None and self.criterion is not None:
            orders = tuple(order_values(opinions, self.criterion))
            self.word_values |= word_values(self.criterion, opinions)
        for labeller, label in people.items():
            if label is None:
                self.left_out[OTHER_OUTPUT] += 1
            elif label.value is None:
                self.left_out["the person could not tell"] += 1
            else:
                person = self._read(label)
                pair = JudgedPair(case, judge, reason, labeller, person, label.reason,
                                  1 / (label.probability or 1), members, probabilities,
                                  orders)  # fmt: skip
                if missing:
                    self.left_out[missing] += 1
                    if any(answer is not None for answer in members.values()):
                        self.undecided.append(pair._replace(judge=None))
                    continue
                self.without_digest += label.output is None
                self.weighted = label.probability is not None
                self.pairs.append(pair)

    def _read(self, label: Label) -> Answer:
        """Return the answer of a label in the form of the question's answers."""
        answer: Answer = label.value if label.value is not None else ""
        if self.question is None:
            return answer
        try:
            read = read_answer(answer, self.question)
        except ValueError as exc:
            by = f" by {label.labeller}" if label.labeller else ""
            self.unreadable = self.unreadable or f"case {label.case!r}{by}: {exc}"
            return answer
        return answer if read is None else read

    def _answer(self, result: Result) -> tuple[Answer | None, str, str]:
        """Return the answer of the judge (`None`: no verdict) and its reason.

        The last item is the reason why the result does not count; empty if it does.
        """
        if isinstance(result, Failure):
            missing = "" if self.settings.failures == "wrong" else "the reply failed"
            if result.kind not in _FAILED_REPLIES:
                missing = "the judge was not asked or could not be reached"
            return None, f"{result.kind}: {result.message}", missing
        if result.fallback is not None:
            return None, "", "a fallback scored it"
        if self.key is None and result.judgments:
            self.key = result.judgments[0].request_key
        if self.criterion is None:
            return result.value, result.reason, "the judge abstained" * (result.value is None)
        part = next((part for part in result.parts if part.id == self.criterion), None)
        if part is None or part.value is None:
            missing = "the judge abstained" if part else NO_SUCH
            return None, "", missing
        if (answer := answer_of(part, result)) is None:
            return None, "", "two answers are equally probable for the judge"
        self.values[answer] = part.value
        return answer, part.reason, ""

    def finish(self, question: Question | None) -> list[Agreement]:
        """Return the figures; for a metric with a threshold, also those of its verdicts.

        Raises:
            ConfigError: labels and answers are of different kinds.
        """
        if self.unreadable:
            raise ConfigError(f"{self.name}: {self.unreadable}")
        question = question or self.question
        if question is not None:
            labels = [label for label in question.labels if label not in self.values]
            self._spellings |= {" ".join(label.split()).casefold(): label for label in labels}
        if all(pair.judge is None for pair in self.pairs):
            if not self.pairs and self.left_out:
                counts = (f"{n} left out: {why}" for why, n in self._named_left_out().items())
                raise ConfigError(f"{self.name}: no label can be used, {', '.join(counts)}")
            return []
        if self.criterion is not None or self.summary.threshold is None:
            return [self._whole(self.pairs, question, undecided=self.undecided)]
        passed = ([pair.map(self._passed) for pair in of] for of in (self.pairs, self.undecided))
        figures = [self._whole(next(passed), None, undecided=next(passed))]
        if all(is_number(pair.person) for pair in self.pairs):
            # The members of a jury are reported with the verdicts.
            alone = [pair._replace(members={}) for pair in self.pairs]
            figures.append(self._whole(alone, question))
        return figures

    def _whole(
        self,
        pairs: Sequence[JudgedPair],
        question: Question | None,
        *,
        undecided: Sequence[JudgedPair] = (),
    ) -> Agreement:
        """Return the agreement with all statistics.

        Args:
            pairs: the answers.
            question: the question, if it is known.
            undecided: labels of cases without a verdict of the jury.
        """
        settings = self.settings
        pairs, undecided = (self._spelled(of) for of in (pairs, undecided))
        cases = by_case(pairs)
        one_each, tied = combined(cases, settings.combine)
        if not any(pair.judge is not None for pair in one_each):
            raise ConfigError(f"{self.name}: the labellers of every case are tied")
        scale = self._scale(pairs if settings.combine == "each" else [*one_each, *pairs], question)
        rated = RatedCases(scale, cases)
        judged = rated.judged if settings.combine == "each" else scale.judged(one_each)
        figures = scale.figures(judged) | rated.alphas(judge=True) | scale.forecasts(one_each)
        figures |= scale.orders(one_each, self.word_values)
        people = rated.alphas(judge=False) | scale.between(rated.people)
        main, other = ({n: one.figure for n, one in of.items()} for of in (figures, people))
        failed = sum(pair.judge is None for pair in one_each)
        categories: tuple[str, ...] = ()
        counts: Counter[tuple[int, int]] = Counter()
        if scale.tabled:  # a reply without a verdict is the judge's last category
            categories = (*map(shown, scale.order), *[NO_VERDICT] * bool(failed))
            counts.update(zip(judged.first.tolist(), judged.second.tolist(), strict=True))
        places = range(len(categories))
        combine, groups, epsilon = settings.combine, settings.group, settings.alt_test
        if combine == "mean" and not all(is_number(pair.person) for pair in pairs):
            combine = "majority"
        left_out = {**self._named_left_out(), **({TIED: tied} if tied else {})}
        agreement = Agreement(
            metric=self.metric, criterion=self.criterion, scale=scale.kind,
            cases=len({pair.case.id for pair in one_each}),
            clusters=len({pair.case.unit for pair in one_each}) if scale.clustered else None,
            pairs=len(one_each), failed=failed, without_digest=self.without_digest,
            labellers=tuple(sorted({*rated.labellers} - {""})), categories=categories,
            table=tuple(tuple(counts[row, column] for column in places) for row in places),
            same=scale.same(judged), kappa=main.get("kappa"), rank=main.get("spearman"),
            people_pairs=len(rated.people) // 2,
            people_kappa=other.get("kappa"), people_rank=other.get("spearman"),
            left_out=dict(sorted(left_out.items())), combine=combine, weighted=self.weighted,
            weights=settings.weights if scale.kind != "nominal" else None,
            statistics=statistics_of(figures), people_statistics=statistics_of(people),
            by_labeller=tuple(rated.by_labeller()), probability_bins=tuple(scale.bins(one_each)),
            groups=details.within_groups(scale, one_each, groups) if groups is not None else None,
            systems=details.by_system(scale, one_each, settings.system),
            alt_test=None if epsilon is None else details.alternative_test(scale, cases, epsilon),
            disagreements=tuple(rated.disagreements()), sentence="",
        )  # fmt: skip
        jury = jury_agreement(
            [*pairs, *undecided], alone=lambda own: self._alone(own, question),
            categories=len(scale.order) if scale.tabled else 0, labels=combine,
            clustered=scale.clustered,
        )  # fmt: skip
        return agreement.model_copy(update={"sentence": sentence(agreement), "jury": jury})

    def _named_left_out(self) -> dict[str, int]:
        """Return reason -> number of labels left out; the reason names the first wrong name."""
        named = f"{NO_SUCH} ({self.misnamed})" if self.misnamed else NO_SUCH
        return {named if why == NO_SUCH else why: n for why, n in self.left_out.items()}

    def _alone(self, pairs: Sequence[JudgedPair], question: Question | None) -> dict[str, Any]:
        """Return the figures of one member of a jury."""
        scale = self._scale(pairs, question)
        columns = scale.judged(pairs)
        figures = {name: one.figure for name, one in scale.figures(columns).items()}
        kappa, rank = (figures.get(name) for name in ("kappa", "spearman"))
        return {"pairs": len(pairs), "same": scale.same(columns), "kappa": kappa, "rank": rank}

    def _spelled(self, pairs: Sequence[JudgedPair]) -> Sequence[JudgedPair]:
        """Return pairs with words in the spelling of their criterion."""
        answers = {pair.person for pair in pairs} | {pair.judge for pair in pairs}
        answers |= {answer for pair in pairs for answer in pair.members.values()}
        if any(self._normalized(answer) != answer for answer in answers if answer is not None):
            return [pair.map(self._normalized) for pair in pairs]
        return pairs

    def _passed(self, answer: Answer) -> bool:
        if isinstance(answer, str):
            if answer.strip().lower() not in VERDICTS:
                raise ConfigError(f"{self.name}: {answer!r} is neither a number nor pass or fail")
            return VERDICTS[answer.strip().lower()]
        if isinstance(answer, bool):
            return answer
        return bool(passes(answer, self.summary.threshold, self.summary.higher_is_better))

    def _scale(self, pairs: Sequence[JudgedPair], question: Question | None) -> AnswerScale:
        judge = {p.judge for p in pairs if p.judge is not None}
        kind, order = self._order(judge, {p.person for p in pairs}, question)
        weights = "none" if kind == "nominal" else self.settings.weights or "quadratic"
        return AnswerScale(
            kind=kind, order=order, tabled=kind != "number" or len(order) <= MAX_CATEGORIES,
            power={"none": 0, "linear": 1, "quadratic": 2}[weights],
            clustered=self.settings.cluster is not None,
            rank={None: len(order), **{value: n for n, value in enumerate(order)}},
            numbers=[float(v if kind == "number" else n) for n, v in enumerate(order)],
        )  # fmt: skip

    @property
    def name(self) -> str:
        """The metric and its criterion."""
        return self.metric if self.criterion is None else f"{self.metric}, {self.criterion}"

    def _normalized(self, answer: Answer) -> Answer:
        """Return a word in its criterion's spelling, ignoring case and spaces."""
        if not isinstance(answer, str):
            return answer
        if answer not in self._spellings:
            folded = " ".join(answer.split()).casefold()
            known = {v.casefold(): v for v in self.values if isinstance(v, str)}
            self._spellings[answer] = known.get(folded) or self._spellings.get(folded, folded)
        return self._spellings[answer]

    def _order(self, judge: set[Answer], people: set[Answer], question: Question | None) -> _Order:
        """Return the scale of the answers, and the answers in order."""
        answers = judge | people
        kinds = {_kind(answer) for answer in answers}
        if len(kinds) > 1:
            mine, other = (" and ".join(sorted(set(map(_kind, of)))) for of in (judge, people))
            raise ConfigError(f"{self.name}: the judge answers in {mine}, people in {other}")
        kind = kinds.pop()
        if kind == "yes or no":
            return "nominal", [False, True]
        if kind == "numbers":
            return "number", sorted(answers)
        return self._order_of_words(answers, question)

    def _order_of_words(self, answers: set[Answer], question: Question | None) -> _Order:
        values = self.values
        if question is None or not question.labels:
            if answers <= set(values) and len(set(values.values())) == len(values) > 2:
                return "ordinal", sorted(answers, key=lambda answer: values[answer])
            return "nominal", sorted(answers, key=str)
        known = {label.casefold() for label in question.labels}
        for answer in answers:
            if str(answer).casefold() not in known:
                hint = suggest(answer, question.labels)
                raise ConfigError(f"{self.name}: unknown label {answer!r}{hint}")
        words: list[Answer] = [self._normalized(label) for label in question.labels]
        if question.kind == "choice":
            return "nominal", words
        numbers = [values[word] for word in words if word in values]
        return "ordinal", words[::-1] if numbers != sorted(numbers) else words


def _kind(answer: Answer) -> str:
    if isinstance(answer, bool):
        return "yes or no"
    return "words" if isinstance(answer, str) else "numbers"
