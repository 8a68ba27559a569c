"""The answers of a judge and of people to one criterion, or about one metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, NamedTuple

from judgekit.analysis.agreement.jury import JuryPair, jury_agreement, member_answers
from judgekit.analysis.agreement.words import sentence
from judgekit.core.case import Case, output_digest
from judgekit.core.errors import ConfigError
from judgekit.core.judgment import Judgment
from judgekit.core.request import Question
from judgekit.core.score import Failure, Part, Result, Score
from judgekit.core.suggest import suggest
from judgekit.core.value import Json
from judgekit.metrics.opinions.vote import combined_value
from judgekit.report.calibration import NO_VERDICT, Agreement, Scale
from judgekit.report.summary import MetricSummary
from judgekit.report.thresholds import passes
from judgekit.stats.agreement import Paired, kappa_figure, rank_figure

MAX_CATEGORIES = 10
"""The most distinct numbers that still get a table and a kappa."""
OTHER_OUTPUT = "the label is for another output"
Failures = Literal["wrong", "drop"]
"""How to count a reply without a verdict: as a disagreement, or not at all."""
_FAILED_REPLIES = ("invalid_reply", "refused", "truncated", "empty")
"""Failures of a judge that replied; other failures are not the judge's."""
_VERDICTS = {"pass": True, "passed": True, "yes": True, "fail": False, "failed": False, "no": False}

Answer = float | bool | str
LabelsOfCase = Mapping[str, Mapping[str | None, Answer | None]]
"""Labeller -> digest of the output -> the label."""


class _MissingValue(NamedTuple):
    """The reason why the judge has no answer."""

    reason: str


class _Pair(NamedTuple):
    case: str
    unit: int
    judge: Answer | None
    """`None` for a reply without a verdict."""
    labeller: str
    person: Answer

    def map(self, convert: Callable[[Answer], Answer]) -> _Pair:
        judge = None if self.judge is None else convert(self.judge)
        return self._replace(judge=judge, person=convert(self.person))


@dataclass
class Subject:
    """One criterion, or the value of a metric, with the answers of the judge and the labels."""

    metric: str
    criterion: str | None
    """`None` for the metric's own value or verdict."""
    labels: Mapping[str, LabelsOfCase]
    """Case -> labels of the case."""
    summary: MetricSummary
    failures: Failures
    """How to count a failed reply."""
    clustered: bool
    pairs: list[_Pair] = field(default_factory=list)
    values: dict[Answer, float] = field(default_factory=dict)
    """Answer of the judge -> value of the criterion."""
    left_out: Counter[str] = field(default_factory=Counter)
    without_digest: int = 0
    juries: list[tuple[_Pair, dict[str, Answer | None]]] = field(default_factory=list)
    """Each pair with the answers of the members of the jury."""
    key: str | None = None
    _cases: set[str] = field(default_factory=set)
    _units: dict[object, int] = field(default_factory=dict)

    def add(self, case: Case, result: Result, cluster: object) -> None:
        """Add the judge's result for one case.

        Args:
            case: the case.
            result: the result of the metric.
            cluster: the cluster of the case; unique to the case if cases are independent.
        """
        labels = self.labels.get(case.id)
        if labels is None:
            return
        self._cases.add(case.id)
        unit = self._units.setdefault(cluster, len(self._units))
        judge = self._answer(result)
        opinions = result.opinions if isinstance(result, Score) else ()
        members = member_answers(opinions, self.criterion) if opinions else None
        digest = output_digest(case.output)
        for labeller, by_output in labels.items():
            if digest not in by_output and None not in by_output:
                self.left_out[OTHER_OUTPUT] += 1
                continue
            person = by_output[digest if digest in by_output else None]
            if person is None:
                self.left_out["the person could not tell"] += 1
            elif isinstance(judge, _MissingValue):
                self.left_out[judge.reason] += 1
            else:
                self.without_digest += digest not in by_output
                self.pairs.append(_Pair(case.id, unit, judge, labeller, person))
                if members is not None:
                    self.juries.append((self.pairs[-1], members))

    def _answer(self, result: Result) -> Answer | _MissingValue | None:
        if isinstance(result, Failure):
            if result.kind not in _FAILED_REPLIES:
                return _MissingValue("the judge was not asked or could not be reached")
            return None if self.failures == "wrong" else _MissingValue("the reply failed")
        if result.fallback is not None:
            return _MissingValue("a fallback scored it")
        if self.key is None and result.judgments:
            self.key = result.judgments[0].request_key
        if self.criterion is None:
            return _MissingValue("the judge abstained") if result.value is None else result.value
        return self._part(result)

    def _part(self, score: Score) -> Answer | _MissingValue:
        for part in score.parts:
            if part.id != self.criterion:
                continue
            if part.value is None:
                return _MissingValue("the judge abstained")
            verdict = part.answer if score.opinions else _verdict(part, score.judgments)
            answer = verdict if isinstance(verdict, (bool, int, float, str)) else part.value
            self.values[answer] = part.value
            return answer
        return _MissingValue("the run has no such criterion")

    def finish(self, question: Question | None) -> list[Agreement]:
        """Return the figures; for a metric with a threshold, also those of its verdicts.

        Raises:
            ConfigError: labels and answers are of different kinds.
        """
        missing = sum(len(people) for case, people in self.labels.items()
                      if case not in self._cases)  # fmt: skip
        if missing:
            self.left_out["no such case in the run"] += missing
        if all(pair.judge is None for pair in self.pairs):
            return []
        if self.criterion is not None or self.summary.threshold is None:
            return [self._with_jury(self._figures(self.pairs, question), question)]
        verdicts = self._figures([pair.map(self._passed) for pair in self.pairs], None)
        figures = [self._with_jury(verdicts, None, convert=self._passed)]
        if all(not isinstance(pair.person, (bool, str)) for pair in self.pairs):
            figures.append(self._figures(self.pairs, question))
        return figures

    def _with_jury(
        self,
        agreement: Agreement,
        question: Question | None,
        *,
        convert: Callable[[Answer], Answer] | None = None,
    ) -> Agreement:
        """Return an agreement with that of each judge of a jury."""
        as_is: Callable[[Answer], Answer] = convert or (lambda answer: answer)

        def alone(name: str) -> Agreement:
            own = [pair._replace(judge=members.get(name)) for pair, members in self.juries]
            return self._figures([p.map(as_is) for p in own if p.judge is not None], question)

        pairs = [
            JuryPair(members, pair.person).map(as_is).map(self._normalized)
            for pair, members in self.juries
        ]
        jury = jury_agreement(pairs, jury=agreement, alone=alone)
        return agreement if jury is None else agreement.model_copy(update={"jury": jury})

    def _passed(self, answer: Answer) -> bool:
        if isinstance(answer, str):
            if answer.strip().lower() not in _VERDICTS:
                raise ConfigError(f"{self._name}: {answer!r} is neither a number nor pass or fail")
            return _VERDICTS[answer.strip().lower()]
        if isinstance(answer, bool):
            return answer
        return bool(passes(answer, self.summary.threshold, self.summary.higher_is_better))

    def _figures(self, pairs: Sequence[_Pair], question: Question | None) -> Agreement:
        pairs = [pair.map(self._normalized) for pair in pairs]
        scale, order = self._order(pairs, question)
        rank = {value: number for number, value in enumerate(order)}
        failed = sum(p.judge is None for p in pairs)
        # A reply without a verdict is a category of the judge, after all answers.
        size = len(order) + bool(failed)
        judged = [
            Paired(p.unit, size - 1 if p.judge is None else rank[p.judge], rank[p.person])
            for p in pairs
        ]
        verdicts = [one for one, p in zip(judged, pairs, strict=True) if p.judge is not None]
        people = _people(pairs, rank)
        # The order of two people is arbitrary: count each pair in both orders.
        both = [*people, *(Paired(p.unit, p.second, p.first) for p in people)]
        tabled = scale != "number" or len(order) <= MAX_CATEGORIES
        ordered = scale != "nominal"
        places = [float(v if scale == "number" else n) for v, n in rank.items()]
        weights = places if ordered else None
        clustered = self.clustered
        table = [[0] * size for _ in range(size)] if tabled else []
        for pair in judged if tabled else ():
            table[pair.first][pair.second] += 1
        agreement = Agreement(
            metric=self.metric,
            criterion=self.criterion,
            scale=scale,
            cases=len({p.case for p in pairs}),
            clusters=len({p.unit for p in pairs}) if clustered else None,
            pairs=len(pairs),
            failed=failed,
            without_digest=self.without_digest,
            labellers=tuple(sorted({p.labeller for p in pairs if p.labeller})),
            categories=(*map(_shown, order), *[NO_VERDICT] * bool(failed)) if tabled else (),
            table=tuple(map(tuple, table)),
            same=sum(p.first == p.second for p in judged) if tabled else None,
            kappa=kappa_figure(judged, size, weights, clustered=clustered) if tabled else None,
            rank=rank_figure(verdicts, len(order), clustered=clustered) if ordered else None,
            people_pairs=len(people),
            people_kappa=kappa_figure(both, len(order), weights, clustered=clustered)
            if tabled and people
            else None,
            people_rank=rank_figure(both, len(order), clustered=clustered)
            if ordered and people
            else None,
            left_out=dict(sorted(self.left_out.items())),
            sentence="",
        )
        return agreement.model_copy(update={"sentence": sentence(agreement)})

    @property
    def _name(self) -> str:
        return self.metric if self.criterion is None else f"{self.metric}, {self.criterion}"

    def _normalized(self, answer: Answer) -> Answer:
        """Return a word in the spelling of its criterion, whatever its case and spaces."""
        if not isinstance(answer, str):
            return answer
        folded = " ".join(answer.split()).casefold()
        known = {v.casefold(): v for v in self.values if isinstance(v, str)}
        return known.get(folded, folded)

    def _order(
        self, pairs: Sequence[_Pair], question: Question | None
    ) -> tuple[Scale, list[Answer]]:
        """Return the scale of the answers, and the answers in order."""
        judge = [p.judge for p in pairs if p.judge is not None]
        answers = {*judge, *(p.person for p in pairs)}
        kinds = {_kind(answer) for answer in answers}
        if len(kinds) > 1:
            raise ConfigError(
                f"{self._name}: the judge answers in {_kinds(judge)}, people in "
                f"{_kinds(p.person for p in pairs)}"
            )
        kind = kinds.pop()
        if kind == "yes or no":
            return "nominal", [False, True]
        if kind == "numbers":
            return "number", sorted(answers)
        return self._order_of_words(answers, question)

    def _order_of_words(
        self, answers: set[Answer], question: Question | None
    ) -> tuple[Scale, list[Answer]]:
        labels: list[str] = list(question.labels) if question is not None else []
        known = {label.casefold() for label in labels}
        for answer in answers:
            if labels and str(answer).casefold() not in known:
                raise ConfigError(
                    f"{self._name}: unknown label {answer!r}{suggest(str(answer), labels)}"
                )
        if question is not None and labels:
            words: list[Answer] = [self._normalized(label) for label in labels]
            if question.kind == "choice":
                return "nominal", words
            values = [self.values[word] for word in words if word in self.values]
            return "ordinal", words[::-1] if values != sorted(values) else words
        if answers <= set(self.values) and len(set(self.values.values())) == len(self.values) > 2:
            return "ordinal", sorted(answers, key=lambda answer: self.values[answer])
        return "nominal", sorted(answers, key=str)


def _verdict(part: Part, judgments: Sequence[Judgment]) -> Json:
    """Return the answer behind the value of a criterion; for several samples, the combined one.

    The parts of older runs hold the answer of the first sample only.
    """
    if len(judgments) < 2 or any(part.id not in judgment.answers for judgment in judgments):
        return part.answer
    return combined_value([judgment.answers[part.id].value for judgment in judgments])


def _kind(answer: Answer) -> str:
    if isinstance(answer, bool):
        return "yes or no"
    return "words" if isinstance(answer, str) else "numbers"


def _kinds(answers: Iterable[Answer]) -> str:
    return " and ".join(sorted({_kind(answer) for answer in answers}))


def _shown(answer: Answer) -> str:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return answer if isinstance(answer, str) else f"{answer:g}"


def _people(pairs: Sequence[_Pair], rank: Mapping[Answer, int]) -> list[Paired]:
    """Return every pair of answers that two people gave to one case."""
    by_case: dict[str, list[_Pair]] = {}
    for pair in pairs:
        by_case.setdefault(pair.case, []).append(pair)
    return [
        Paired(one.unit, rank[one.person], rank[other.person])
        for answers in by_case.values()
        for one, other in combinations(answers, 2)
    ]
