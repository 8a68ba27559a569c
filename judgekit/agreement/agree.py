"""Hold a judge against people, criterion by criterion."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from judgekit.agreement.coefficients import (
    RESAMPLES,
    SEED,
    Paired,
    kappa_figure,
    rank_figure,
)
from judgekit.agreement.labels import Label, read_labels
from judgekit.agreement.words import sentence
from judgekit.canonical import canonical_json, digest
from judgekit.cassette.record import decode
from judgekit.cassette.tape import Tape
from judgekit.errors import ConfigError, JudgekitError
from judgekit.judgment import Judgment
from judgekit.metrics.samples import combined_value
from judgekit.report.calibration import Agreement, Calibration, Scale
from judgekit.report.folder import AGREEMENT, TAPE, write_json
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary, passes
from judgekit.request import Question
from judgekit.score import Failure, Part, Result, Score
from judgekit.suggest import suggest
from judgekit.value import Json

MAX_CATEGORIES = 10
"""Distinct numbers up to which there is a table of them, and a kappa."""
_KEY = re.compile("[0-9a-f]{64}")
_VERDICTS = {"pass": True, "passed": True, "yes": True, "fail": False, "failed": False, "no": False}

Said = float | bool | str
Thing = tuple[str, str | None]
"""A metric and a criterion; `None` for the metric's own value."""


def agree(run: str | Path | Report, labels: str | Path, *, write: bool = True) -> Calibration:
    """Hold the judge of a run against what people said of its cases. No model is called.

    Args:
        run: a run folder, or a report.
        labels: JSON Lines of labels (see `judgekit.agreement.labels`).
        write: whether to leave the outcome beside the run, where reports and pages find it.

    Raises:
        ConfigError: not a run, a line that is no label, or no label of anything in the run.
    """
    report = run if isinstance(run, Report) else Report.read(run)
    path = Path(labels)
    people = _Labels(read_labels(path))
    if not people.of:
        raise ConfigError("holds no label", where=str(path))
    things = _met(report, people)
    if not any(thing.pairs for thing in things.values()):
        raise ConfigError(_nothing_fits(report, people), where=str(path))
    questions = _questions(report, {thing.metric: thing.key for thing in things.values()})
    found = Calibration(
        dataset=report.figures.dataset,
        manifest=digest(canonical_json(report.figures.manifest)),
        labels=hashlib.sha256(path.read_bytes()).hexdigest(),
        resamples=RESAMPLES,
        seed=SEED,
        criteria=tuple(
            agreement
            for thing in things.values()
            for agreement in thing.finish(questions.get((thing.metric, thing.criterion)))
        ),
    )
    if write and report.folder is not None:
        write_json(report.folder / AGREEMENT, found.model_dump(mode="json"))
    return found


class _Labels:
    """Labels by what they are about."""

    def __init__(self, labels: object) -> None:
        self.of: dict[Thing, dict[str, dict[str, Said | None]]] = {}
        """Thing -> case -> labeller -> what was said."""
        for label in labels:  # type: ignore[attr-defined]
            assert isinstance(label, Label)  # noqa: S101
            cases = self.of.setdefault((label.metric, label.criterion), {})
            cases.setdefault(label.case, {})[label.labeller] = label.value


class _Pair(NamedTuple):
    case: int
    judge: Said
    labeller: str
    person: Said


class _Thing:
    """One criterion, or the value of a metric, as the judge and people saw it."""

    def __init__(
        self, metric: str, criterion: str | None, said: Mapping[str, Mapping[str, Said | None]],
        summary: MetricSummary,
    ) -> None:  # fmt: skip
        self.metric, self.criterion = metric, criterion
        self.summary = summary
        self.said = said
        self.pairs: list[_Pair] = []
        self.values: dict[Said, float] = {}
        """What the judge answered -> what that is worth."""
        self.left_out: Counter[str] = Counter()
        self.key: str | None = None
        self._met: set[str] = set()

    def add(self, case: str, result: Result) -> None:
        """Take what the judge said of one case."""
        people = self.said.get(case)
        if people is None:
            return
        number = len(self._met)
        self._met.add(case)
        judge = self._answer(result)
        for labeller, person in people.items():
            if person is None:
                self.left_out["the person could not tell"] += 1
            elif isinstance(judge, _Absent):
                self.left_out[judge.why] += 1
            else:
                self.pairs.append(_Pair(number, judge, labeller, person))

    def _answer(self, result: Result) -> Said | _Absent:
        if isinstance(result, Failure):
            return _Absent("the judge gave no score")
        if result.fallback is not None:
            return _Absent("a stand-in scored it")
        if self.key is None and result.judgments:
            self.key = result.judgments[0].request_key
        if self.criterion is None:
            return _Absent("the judge abstained") if result.value is None else result.value
        return self._part(result)

    def _part(self, score: Score) -> Said | _Absent:
        for part in score.parts:
            if part.id != self.criterion:
                continue
            if part.value is None:
                return _Absent("the judge abstained")
            answer = _verdict(part, score.judgments)
            said = answer if isinstance(answer, (bool, int, float, str)) else part.value
            self.values[said] = part.value
            return said
        return _Absent("the run has no such criterion")

    def finish(self, question: Question | None) -> list[Agreement]:
        """Return the figures; of a metric with a threshold, also those of its verdicts."""
        missing = sum(len(people) for case, people in self.said.items() if case not in self._met)
        if missing:
            self.left_out["no such case in the run"] += missing
        if not self.pairs:
            return []
        if self.criterion is not None or self.summary.threshold is None:
            return [self._figures(self.pairs, question)]
        verdicts = [
            p._replace(judge=self._passed(p.judge), person=self._passed(p.person))
            for p in self.pairs
        ]
        found = [self._figures(verdicts, None)]
        if all(not isinstance(p.person, (bool, str)) for p in self.pairs):
            found.append(self._figures(self.pairs, question))
        return found

    def _passed(self, said: Said) -> bool:
        if isinstance(said, str):
            if said.strip().lower() not in _VERDICTS:
                raise ConfigError(f"{self._name}: {said!r} is neither a number nor pass or fail")
            return _VERDICTS[said.strip().lower()]
        if isinstance(said, bool):
            return said
        return bool(passes(said, self.summary.threshold, self.summary.higher_is_better))

    def _figures(self, pairs: Sequence[_Pair], question: Question | None) -> Agreement:
        pairs = [p._replace(judge=self._word(p.judge), person=self._word(p.person)) for p in pairs]
        scale, order = self._order(pairs, question)
        place = {value: number for number, value in enumerate(order)}
        judged = [Paired(p.case, place[p.judge], place[p.person]) for p in pairs]
        people = _people(pairs, place)
        # Two people are two people whoever is named first.
        both = [*people, *(Paired(p.case, p.second, p.first) for p in people)]
        size = len(order)
        tabled = scale != "number" or size <= MAX_CATEGORIES
        places = None if scale == "nominal" else (
            [float(v) for v in order] if scale == "number" else [float(n) for n in range(size)]
        )  # fmt: skip
        ordered = scale != "nominal"
        table = [[0] * size for _ in order] if tabled else []
        for pair in judged if tabled else ():
            table[pair.first][pair.second] += 1
        found = Agreement(
            metric=self.metric,
            criterion=self.criterion,
            scale=scale,
            cases=len({p.case for p in pairs}),
            pairs=len(pairs),
            labellers=tuple(sorted({p.labeller for p in pairs if p.labeller})),
            categories=tuple(map(_shown, order)) if tabled else (),
            table=tuple(map(tuple, table)),
            same=sum(p.first == p.second for p in judged) if tabled else None,
            kappa=kappa_figure(judged, size, places) if tabled else None,
            rank=rank_figure(judged, (size, size)) if ordered else None,
            people_pairs=len(people),
            people_kappa=kappa_figure(both, size, places) if tabled and people else None,
            people_rank=rank_figure(both, (size, size)) if ordered and people else None,
            left_out=dict(sorted(self.left_out.items())),
            sentence="",
        )
        return found.model_copy(update={"sentence": sentence(found)})

    @property
    def _name(self) -> str:
        return self.metric if self.criterion is None else f"{self.metric}, {self.criterion}"

    def _word(self, said: Said) -> Said:
        """Return a word as its criterion has it, whatever its case and the space around it."""
        if not isinstance(said, str):
            return said
        folded = " ".join(said.split()).casefold()
        known = {v.casefold(): v for v in self.values if isinstance(v, str)}
        return known.get(folded, folded)

    def _order(self, pairs: Sequence[_Pair], question: Question | None) -> tuple[Scale, list[Said]]:
        """Return how answers are told apart, and the answers in order."""
        answers = {a for p in pairs for a in (p.judge, p.person)}
        kinds = {_kind(answer) for answer in answers}
        if len(kinds) > 1:
            raise ConfigError(
                f"{self._name}: the judge answers in {_kinds(p.judge for p in pairs)}, people in "
                f"{_kinds(p.person for p in pairs)}"
            )
        kind = kinds.pop()
        if kind == "yes or no":
            return "nominal", [False, True]
        if kind == "numbers":
            return "number", sorted(answers)
        return self._order_of_words(answers, question)

    def _order_of_words(
        self, answers: set[Said], question: Question | None
    ) -> tuple[Scale, list[Said]]:
        labels: list[str] = list(question.labels) if question is not None else []
        known = {label.casefold(): label for label in labels}
        for answer in answers:
            if labels and str(answer).casefold() not in known:
                raise ConfigError(
                    f"{self._name}: people said {answer!r}{suggest(str(answer), labels)}"
                )
        if question is not None and labels:
            words: list[Said] = [self._word(label) for label in labels]
            if question.kind == "choice":
                return "nominal", words
            worth = [self.values[word] for word in words if word in self.values]
            return "ordinal", words[::-1] if worth != sorted(worth) else words
        if answers <= set(self.values) and len(set(self.values.values())) == len(self.values) > 2:
            return "ordinal", sorted(answers, key=lambda answer: self.values[answer])
        return "nominal", sorted(answers, key=str)


class _Absent(NamedTuple):
    """Says why the judge has no answer."""

    why: str


def _verdict(part: Part, judgments: Sequence[Judgment]) -> Json:
    """Return the answer behind the value of a criterion; of several samples, the combined one.

    Runs of earlier versions hold the answer of the first sample in their parts.
    """
    if len(judgments) < 2 or any(part.id not in judgment.answers for judgment in judgments):
        return part.answer
    return combined_value([judgment.answers[part.id].value for judgment in judgments])


def _kind(said: Said) -> str:
    if isinstance(said, bool):
        return "yes or no"
    return "words" if isinstance(said, str) else "numbers"


def _kinds(said: object) -> str:
    return " and ".join(sorted({_kind(one) for one in said}))  # type: ignore[attr-defined]


def _shown(said: Said) -> str:
    if isinstance(said, bool):
        return "yes" if said else "no"
    return said if isinstance(said, str) else f"{said:g}"


def _people(pairs: Sequence[_Pair], place: Mapping[Said, int]) -> list[Paired]:
    """Return every pair of two people's answers to one case."""
    by_case: dict[int, list[_Pair]] = {}
    for pair in pairs:
        by_case.setdefault(pair.case, []).append(pair)
    return [
        Paired(case, place[one.person], place[other.person])
        for case, answers in by_case.items()
        for one, other in combinations(answers, 2)
    ]


def _met(report: Report, people: _Labels) -> dict[Thing, _Thing]:
    """Return the things people labelled, with what the judge said of them."""
    summaries = report.metrics
    things: dict[Thing, _Thing] = {}
    for scored in report.results:
        for row in scored.rows:
            if row.metric not in summaries:
                continue
            rubric = None if isinstance(row.result, Failure) else row.result.meta.get("rubric")
            for (name, criterion), said in people.of.items():
                if name not in (row.metric, rubric):
                    continue
                thing = things.get((row.metric, criterion))
                if thing is None:
                    thing = _Thing(row.metric, criterion, said, summaries[row.metric])
                    things[row.metric, criterion] = thing
                thing.add(scored.case.id, row.result)
    return things


def _nothing_fits(report: Report, people: _Labels) -> str:
    names = sorted({metric for metric, _ in people.of})
    known = list(report.metrics)
    if not set(names) & set(known):
        return f"labels {', '.join(map(repr, names))}; the run has {', '.join(known)}"
    return "no label is of a case the run has a score for; are the case ids the same?"


def _questions(report: Report, keys: Mapping[str, str | None]) -> dict[Thing, Question]:
    """Return what the judge was asked, by metric and criterion, as far as the tape has it."""
    found: dict[Thing, Question] = {}
    path = report.folder / TAPE if report.folder is not None else None
    if path is None or not path.is_file():
        return found
    try:
        tape = Tape(path)
        try:
            for metric, key in keys.items():
                if key is None or not _KEY.fullmatch(key) or (at := tape.find(key)) < 0:
                    continue
                record = decode(tape.line(at), parts=tape.parts(), where=tape.spot(at, key))
                for question in record.request.form.questions:
                    found[metric, question.id] = question
        finally:
            tape.close()
    except JudgekitError as exc:
        raise ConfigError(f"its tape cannot be read: {exc}", where=str(report.folder)) from exc
    return found


__all__ = ["agree"]
