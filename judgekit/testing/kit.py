"""The `judgekit` fixture: score, evaluate and check with the cassette of a test module.

The message of a failed check contains the case, the criterion, the reason and its quotes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest
from operator import attrgetter
from pathlib import Path
from typing import Any

from judgekit.cassette.cassette import Cassette
from judgekit.core.canonical import canonical_json, printable
from judgekit.core.case import Case
from judgekit.core.errors import JudgekitError
from judgekit.core.generation import of_generation
from judgekit.core.protocols import Metric, MetricLike
from judgekit.core.score import Failure, Part, Result, checked_score, failure_of
from judgekit.core.synchronous import run_inline
from judgekit.datasets import load_cases
from judgekit.metrics.adapter import as_metric
from judgekit.metrics.registry import create_metric, find
from judgekit.report.report import Report
from judgekit.report.thresholds import passes
from judgekit.runner.background import run_sync, wait_for
from judgekit.runner.evaluation import evaluate, evaluate_sync

Given = Case | Mapping[str, Any]
Several = Iterable[Given] | str | Path
Chosen = str | Path | MetricLike


class CheckFailed(AssertionError):
    """A check failed; the message has the reason."""


class Kit:
    """Scores and checks with one cassette; created by the fixture `judgekit`.

    A metric is a name (`quality`, `token_f1`), a rubric file, or a metric object. Judged metrics
    use the cassette; options are passed to the constructor of the metric.
    """

    def __init__(
        self, cassette: Cassette, *, folder: Path, test: str, made: dict[str, Metric], record: str
    ) -> None:
        self.judge = cassette
        """The judge with this module's recordings, for metrics that a test creates."""
        self.soft: list[str] = []
        """The messages of failed soft checks."""
        self._folder, self._test, self._made, self._record = folder, test, made, record

    def case(self, **fields: Any) -> Case:
        """Return a case with these fields; its default id is the id of the test."""
        return next(load_cases([{"id": self._test, **fields}]))

    def metric(self, chosen: Chosen, **options: Any) -> Metric:
        """Return a metric; the same name and options return the same object.

        Raises:
            JudgekitError: the metric, the rubric or an option is unknown.
        """
        if not isinstance(chosen, (str, Path)):
            return as_metric(chosen)
        key = canonical_json([str(chosen), {name: repr(value) for name, value in options.items()}])
        if key not in self._made:
            # Tests keep their recordings: bare names mean the versions of their tape.
            with of_generation(self.judge.generation):
                self._made[key] = self._make(str(chosen), options)
        return self._made[key]

    def _make(self, chosen: str, options: dict[str, Any]) -> Metric:
        from judgekit.metrics.rubric import RubricMetric
        from judgekit.rubric.library import own_folders, rubric_names
        from judgekit.rubric.load import load_rubric
        from judgekit.rubric.versions import SUFFIX

        own = {n for folder in own_folders(self._folder, ()) for n in rubric_names(folder.path)}
        if chosen.endswith(SUFFIX) or "/" in chosen or chosen in own:
            return RubricMetric(load_rubric(chosen, base=self._folder), judge=self.judge, **options)
        if find(chosen).judged:
            options = {"judge": self.judge, **options}
        return create_metric(chosen, **options)

    def score(self, case: Given, metric: Chosen, **options: Any) -> Result:
        """Return a score, or a failure as a value; a failure does not raise an exception.

        Inside a running event loop, the loop is blocked; `ascore` does not block it.

        Raises:
            JudgekitError: something is set up wrongly.
        """
        return self._score(self._subject(case), self.metric(metric, **options))

    async def ascore(self, case: Given, metric: Chosen, **options: Any) -> Result:
        """Score like `score`, but await the metric in the event loop of the test.

        Raises:
            JudgekitError: something is set up wrongly.
        """
        return await self._ascore(self._subject(case), self.metric(metric, **options))

    def evaluate(self, cases: Several, *metrics: Chosen, **options: Any) -> Report:
        """Return a report of several cases, with the arguments of `judgekit.evaluate`.

        Cases are objects, or a file next to the test module.

        Raises:
            JudgekitError: something is set up wrongly.
        """
        return evaluate_sync(self._cases(cases), list(map(self.metric, metrics)), **options)

    async def aevaluate(self, cases: Several, *metrics: Chosen, **options: Any) -> Report:
        """Evaluate like `evaluate`, but in the event loop of the test.

        Raises:
            JudgekitError: something is set up wrongly.
        """
        built = list(map(self.metric, metrics))
        return await wait_for(evaluate(self._cases(cases), built, **options))

    def check(
        self,
        case: Given,
        metric: Chosen,
        *,
        threshold: float | None = None,
        allow_fallback: bool = False,
        soft: bool = False,
        **options: Any,
    ) -> Result:
        """Assert that a case has a score, and that it passes the threshold if there is one.

        Args:
            case: a case, or its fields.
            metric: the metric.
            threshold: lowest raw value, or highest if lower is better.
            allow_fallback: whether the score of a fallback is accepted.
            soft: report a failure at the end of the session, and let the test pass.
            options: options of the metric.

        Raises:
            CheckFailed: the check does not hold.
            JudgekitError: something is set up wrongly.
        """
        __tracebackhide__ = True
        subject, built = self._subject(case), self.metric(metric, **options)
        result = self._score(subject, built)
        fault = shortfall(result, built, threshold=threshold, allow_fallback=allow_fallback)
        return self._checked(subject, built, result, fault, soft=soft)

    async def acheck(
        self,
        case: Given,
        metric: Chosen,
        *,
        threshold: float | None = None,
        allow_fallback: bool = False,
        soft: bool = False,
        **options: Any,
    ) -> Result:
        """Check like `check`, but await the metric in the event loop of the test.

        Raises:
            CheckFailed: the check does not hold.
            JudgekitError: something is set up wrongly.
        """
        __tracebackhide__ = True
        subject, built = self._subject(case), self.metric(metric, **options)
        result = await self._ascore(subject, built)
        fault = shortfall(result, built, threshold=threshold, allow_fallback=allow_fallback)
        return self._checked(subject, built, result, fault, soft=soft)

    def _subject(self, case: Given) -> Case:
        return case if isinstance(case, Case) else self.case(**case)

    def _cases(self, cases: Several) -> Iterator[Case]:
        return load_cases(self._folder / cases if isinstance(cases, (str, Path)) else cases)

    def _score(self, subject: Case, metric: Metric) -> Result:
        work = self._ascore(subject, metric)
        return run_inline(work) if metric.synchronous else run_sync(work)

    async def _ascore(self, subject: Case, metric: Metric) -> Result:
        try:
            work = checked_score(metric, subject)
            # Code that never waits needs no event loop of any kind.
            return await (work if metric.synchronous else wait_for(work))
        except JudgekitError as exc:
            failure = failure_of(exc)
            if failure is None:  # the error would stop a run
                raise
            return failure

    def _checked(
        self, subject: Case, metric: Metric, result: Result, fault: str | None, *, soft: bool
    ) -> Result:
        """Return a result if it passes its check.

        Raises:
            CheckFailed: it does not pass, and the check is not soft.
        """
        __tracebackhide__ = True
        if fault is not None:
            advice = self._advice(result)
            message = "\n".join(explained(subject.id, metric.name, result, fault, advice=advice))
            if not soft:
                raise CheckFailed(message)
            self.soft.append(message)
        return result

    def _advice(self, result: Result) -> str:
        if isinstance(result, Failure):
            return f"to record it: {self._record}" if result.kind == "cassette_miss" else ""
        path = self.judge.path
        if result.source != "judge" or path is None or not result.judgments:
            return ""
        key = result.judgments[0].request_key[:12]
        return f"see more: judgekit cassette show {path} {key}"


MAX_REASON = 300
SHOWN = 3
"""Maximum number of criteria to name; those that lower the value most come first."""


def shortfall(
    result: Result, metric: Metric, *, threshold: float | None, allow_fallback: bool
) -> str | None:
    """Return the reason why a result does not pass, as a clause; `None` if it passes."""
    if isinstance(result, Failure):
        return f"no score ({result.kind}): {result.message}"
    if result.fallback is not None and not allow_fallback:
        fallback = f"{result.fallback.substitute} ({result.fallback.cause})"
        return f"scored by the fallback {fallback}; allow_fallback=True accepts that"
    if result.value is None:
        return f"{result.status.replace('_', ' ')}: {result.reason or 'no value'}"
    if passes(result.value, threshold, metric.higher_is_better) is False:
        side = "below" if metric.higher_is_better else "above"
        return f"{result.value:.3g} is {side} the threshold {threshold:g}"
    return None


def explained(
    case: str, metric: str, result: Result, fault: str, *, advice: str = ""
) -> Iterator[str]:
    """Yield the lines of a failed check."""
    yield printable(f"{metric} of case {case!r}: {fault}")
    if not isinstance(result, Failure):
        costly = [part for part in result.parts if part.cost > 0]
        for part in nlargest(SHOWN, costly, key=attrgetter("cost")):
            value = part.status.replace("_", " ") if part.value is None else f"{part.value:.2f}"
            yield printable(f"  {part.id} {value}: {_cut(_reason(part))}")
            for quote in part.quotes:
                where = f"in {quote.field}" if quote.field else "NOT FOUND in the case"
                yield printable(f'    "{_cut(quote.text)}" ({where})')
        if not costly and result.reason:
            yield printable(f"  {_cut(result.reason)}")
    if advice:
        yield printable(f"  {advice}")


def _reason(part: Part) -> str:
    if part.reason:
        return part.reason
    unmet = [str(i["item"]) for i in part.items if isinstance(i, dict) and not i.get("met")]
    return f"not met: {'; '.join(unmet)}" if unmet else "no reason given"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_REASON else text[: MAX_REASON - 1] + "…"
