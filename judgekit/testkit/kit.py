"""The `judgekit` fixture: score, evaluate and check, on the recordings of one test module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgekit.at_once import at_once, done_at_once
from judgekit.background import run_sync
from judgekit.canonical import canonical_json
from judgekit.case import Case
from judgekit.cassette.cassette import Cassette
from judgekit.datasets import load_cases
from judgekit.errors import JudgekitError
from judgekit.evaluation import evaluate_sync
from judgekit.failure import failure_of
from judgekit.protocols import Metric
from judgekit.registry import create
from judgekit.report.report import Report
from judgekit.score import Failure, Result, Score, check_score
from judgekit.testkit.told import explained, shortfall

Chosen = str | Path | Metric


class NotAsExpected(AssertionError):
    """A check did not hold; the message says why."""


class Kit:
    """Scores and checks on one cassette. Made by the fixture `judgekit`.

    A metric is named (`quality`, `token_f1`), or is a rubric file, or a metric that was made
    already. Judged ones ask through the cassette; options go to whoever makes the metric.
    """

    def __init__(
        self, cassette: Cassette, *, folder: Path, test: str, made: dict[str, Metric], record: str
    ) -> None:
        self.judge = cassette
        """The judge of this module's recordings, for metrics made by hand."""
        self.soft: list[str] = []
        """What soft checks found."""
        self._folder = folder
        self._test = test
        self._made = made
        self._record = record

    def case(self, **fields: Any) -> Case:
        """Return a case of these fields; its id is the test's unless one is given."""
        return next(load_cases([{"id": self._test, **fields}]))

    def metric(self, chosen: Chosen, **options: Any) -> Metric:
        """Return a metric, made once for the same name and options.

        Raises:
            JudgekitError: no such metric or rubric, or an option it does not take.
        """
        if not isinstance(chosen, (str, Path)):
            return chosen
        key = canonical_json([str(chosen), {name: repr(value) for name, value in options.items()}])
        if key not in self._made:
            self._made[key] = self._make(str(chosen), options)
        return self._made[key]

    def _make(self, chosen: str, options: dict[str, Any]) -> Metric:
        from judgekit.metrics.rubric import RubricMetric
        from judgekit.registry import find
        from judgekit.rubric.load import load_rubric
        from judgekit.rubric.shelf import SUFFIX, own_shelves, rubric_names

        own = {n for shelf in own_shelves(self._folder, ()) for n in rubric_names(shelf.folder)}
        if chosen.endswith(SUFFIX) or "/" in chosen or chosen in own:
            rubric = load_rubric(chosen, base=self._folder)
            return RubricMetric(rubric, judge=self.judge, **options)
        if find(chosen).judged:
            options = {"judge": self.judge, **options}
        return create(chosen, **options)

    def score(self, case: Case | Mapping[str, Any], metric: Chosen, **options: Any) -> Result:
        """Return a score, or the failure in its place; a failure is no exception.

        Raises:
            JudgekitError: something is set up wrongly.
        """
        subject = case if isinstance(case, Case) else self.case(**case)
        made = self.metric(metric, **options)
        try:
            work = made.score(subject)
            score: Score = done_at_once(work) if at_once(made) else run_sync(work)
            if not getattr(made, "checked", False):
                check_score(score, within=made.range)
        except JudgekitError as exc:
            failure = failure_of(exc)
            if failure is None:
                raise
            return failure
        return score

    def evaluate(
        self,
        cases: Iterable[Case | Mapping[str, Any]] | str | Path,
        *metrics: Chosen,
        **options: Any,
    ) -> Report:
        """Return a report of several cases; takes what `judgekit.evaluate` takes.

        Cases are given as such, or as a file beside the test.

        Raises:
            JudgekitError: something is set up wrongly.
        """
        found = load_cases(self._folder / cases if isinstance(cases, (str, Path)) else cases)
        return evaluate_sync(found, [self.metric(metric) for metric in metrics], **options)

    def check(
        self,
        case: Case | Mapping[str, Any],
        metric: Chosen,
        *,
        threshold: float | None = None,
        allow_fallback: bool = False,
        soft: bool = False,
        **options: Any,
    ) -> Result:
        """Assert that a case scores, and passes the threshold if there is one.

        Args:
            case: a case, or its fields.
            metric: what to score by.
            threshold: least value, or greatest where lower is better; raw, not scaled.
            allow_fallback: whether a stand-in's score counts.
            soft: say what is wrong at the end of the session, and let the test pass.
            options: of the metric.

        Raises:
            NotAsExpected: the check does not hold.
            JudgekitError: something is set up wrongly.
        """
        __tracebackhide__ = True
        subject = case if isinstance(case, Case) else self.case(**case)
        made = self.metric(metric, **options)
        result = self.score(subject, made)
        fault = shortfall(
            result,
            threshold=threshold,
            higher_is_better=made.higher_is_better,
            allow_fallback=allow_fallback,
        )
        if fault is not None:
            advice = self._advice(result)
            said = "\n".join(explained(subject.id, made.name, result, fault, advice=advice))
            if not soft:
                raise NotAsExpected(said)
            self.soft.append(said)
        return result

    def _advice(self, result: Result) -> str:
        if isinstance(result, Failure):
            return f"to record it: {self._record}" if result.kind == "cassette_miss" else ""
        path = self.judge.path
        if result.source != "judge" or path is None or not result.judgments:
            return ""
        key = result.judgments[0].request_key[:12]
        return f"see more: judgekit cassette show {path} {key}"
