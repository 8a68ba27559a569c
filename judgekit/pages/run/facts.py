"""The head of a run's page: the outcome, the failures, and facts about the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from judgekit.core.display.parts import counted
from judgekit.core.score import Failure, Row, Score
from judgekit.pages.figures import Axis, number
from judgekit.pages.packing import first_line
from judgekit.pages.run.payload import JudgedBy, Makers
from judgekit.pages.run.tallies import Ranking
from judgekit.report.folder import Scored
from judgekit.report.manifest import cluster_field, mapping, metric_entry, suite_of
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.report.text import CALIBRATED, COMPARED, changed_weights, unchecked_line
from judgekit.report.verdict import run_verdict


class Fact(NamedTuple):
    """One fact about a run."""

    name: str
    value: str
    more: str = ""
    """Shown smaller, such as a digest."""


class WorstMetric(NamedTuple):
    """A metric to show for a case."""

    name: str
    value: str
    reason: str
    criterion: str = ""
    """The criterion that the reason is about, with its value."""


class WorstCase(NamedTuple):
    """A case shown in full before the table."""

    id: str
    place: str
    """The location of the case, if its id is derived."""
    line: str
    metrics: tuple[WorstMetric, ...]
    fails: bool
    """Whether they miss their threshold or have no score."""


class RunFacts:
    """Reads a report for the head of its page. Manifest and run facts may be incomplete.

    Args:
        report: the run.
        makers: the judges and rubrics named by the results of each metric.
        ranking: the failing cases; without it, cases are omitted.
    """

    def __init__(self, report: Report, *, makers: Makers, ranking: Ranking | None = None) -> None:
        self._report = report
        self._made = makers
        self._ranking = ranking or Ranking({})
        self._run = report.run
        self._manifest = manifest = report.figures.manifest
        suite = suite_of(manifest)
        self.title = str(suite.get("name") or "judgekit report")
        """The suite's name."""
        self.description = str(suite.get("description") or "")
        self.cluster = cluster_field(manifest)
        """The field that intervals are clustered by, if there is one."""
        self.notice = str(manifest.get("notice") or "")
        """The notice of the suite, if there is one."""
        self.unchecked = unchecked_line(manifest)
        self.failing = self._ranking.failing
        """Cases that miss a threshold or have no score."""
        outcome = run_verdict(report)
        self.verdict = "missed" if outcome.word == "FAIL" else outcome.phrase
        """The outcome by the exit code; a run without gates cannot pass."""
        self.tone = "mixed" if report.exit_code == 0 and self.failing else self.verdict
        """The class of the verdict; a run that passes with failing cases is not green."""
        self.verdict_word = outcome.phrase.capitalize()
        """The outcome in a word or two."""

    @property
    def subtitle(self) -> str:
        """The number of cases, the judges and the date."""
        parts = [counted(self._report.figures.cases, "case")]
        if models := self._models():
            parts.append(f"judge{'s' if len(models) > 1 else ''} {', '.join(models)}")
        if started := self._run.get("started"):
            parts.append(day_of(str(started)))
        return " · ".join(parts)

    # -- the verdict --------------------------------------------------------------

    @property
    def failing_text(self) -> str:
        """The number of failing cases, as text."""
        cases = self._report.figures.cases
        if self.failing:
            verb = "fails" if self.failing == 1 else "fail"
            return f"{self.failing:,} of {counted(cases, 'case')} {verb}"
        if not cases or all(s.threshold is None for s in self._report.figures.metrics):
            return ""
        if any(s.failed or s.not_run for s in self._report.figures.metrics):
            return "No case with a score fails"
        return "The case passes" if cases == 1 else f"All {cases:,} cases pass"

    @property
    def worst(self) -> list[WorstCase]:
        """The worst cases, the very worst first."""
        if self._report.figures.cases < 2:
            return []
        cases = map(self._worst_case, self._ranking.worst)
        return [case for case in cases if case.fails or not self.failing]

    def _worst_case(self, scored: Scored) -> WorstCase:
        rows = sorted(scored.rows, key=self._ranking.distance)
        bad = [r for r in rows if self._ranking.misses(r)]
        bad += [r for r in rows if self._ranking.failed(r)]
        shown = bad or rows[:1]
        return WorstCase(
            id=scored.case.id,
            place=self._report.places.get(scored.case.id, ""),
            line=first_line(scored.case)[:LINE],
            metrics=tuple(self._shown(row, fails=bool(bad)) for row in shown[:MOST_BAD]),
            fails=bool(bad),
        )

    def _shown(self, row: Row, *, fails: bool) -> WorstMetric:
        """Return the metric of a row, its value and the reason."""
        result, summary = row.result, self._report.metrics.get(row.metric)
        if isinstance(result, Failure):
            return WorstMetric(row.metric, result.kind.replace("_", " "), result.message)
        if summary is None:
            return WorstMetric(row.metric, number(result.value), result.reason)
        axis = Axis(summary)
        value = axis.short(result.value)
        if fails:
            value += f" {'<' if summary.higher_is_better else '>'} {axis.short(summary.threshold)}"
        return WorstMetric(row.metric, value, *_about(result))

    @property
    def doubts(self) -> list[str]:
        """The limitations of the figures, such as judges that were not compared with people."""
        lines = [line for line in self._report.calibration if not line.startswith(_COMPARED)]
        lines += [
            f"{metric}: its calibration is older than the persona (judgekit persona calibrate)"
            for metric, known in self._persona_calibrations()
            if known.get("older_than_persona")
        ]
        for model, several in mapping(self._run.get("mixed")).items():
            if isinstance(several, list):
                lines.append(f"{'; '.join(map(str, several))}: all replied as {model}")
        lines += changed_weights(self._run)
        return lines

    def made_by(self, summary: MetricSummary) -> str:
        """Return the source of a metric's values, in a few words."""
        if makers := self._makers(summary.metric):
            return "; ".join(
                f"judged by {m.model or 'an unnamed judge'}{', rubric ' * bool(m.rubric)}{m.rubric}"
                for m in makers
            )
        return "computed" if summary.computed and not summary.judged else ""

    def _makers(self, metric: str) -> tuple[JudgedBy, ...]:
        """Return the judges and rubrics of the results, or else those of the manifest."""
        if metric in self._made:
            return self._made[metric]
        made_with = metric_entry(self._manifest, metric).get("made_with")
        return (JudgedBy.of(made_with),) if isinstance(made_with, dict) else ()

    @cached_property
    def _all_makers(self) -> list[JudgedBy]:
        names = [summary.metric for summary in self._report.figures.metrics]
        return list(dict.fromkeys(maker for name in names for maker in self._makers(name)))

    def _models(self) -> list[str]:
        return list(dict.fromkeys(maker.model for maker in self._all_makers if maker.model))

    @property
    def facts(self) -> Iterator[Fact]:
        """The facts of "About this run", in display order."""
        if started := self._run.get("started"):
            yield Fact("Started", minute_of(str(started)))
        seconds = self._run.get("seconds")
        if isinstance(seconds, int | float):
            yield Fact("Took", _duration(seconds))
        yield from self._judges()
        yield from self._inputs()
        yield from self._calibration()
        yield from self._replies()
        yield Fact("judgekit", str(self._manifest.get("judgekit", "unknown version")))

    def _judges(self) -> Iterator[Fact]:
        if models := self._models():
            yield Fact("Judge" if len(models) == 1 else "Judges", ", ".join(models))
        for role, facts in mapping(self._run.get("judges")).items():
            if mapping(facts).get("mode"):
                served = f"served as {facts['server']}" if facts.get("server") else ""
                yield Fact(f"Output mode of {role}", str(facts["mode"]), served)

    def _inputs(self) -> Iterator[Fact]:
        named = dict.fromkeys((m.rubric, m.digest[:8]) for m in self._all_makers if m.rubric)
        for rubric, digest in named:
            yield Fact("Rubric", rubric, digest)
        if (other := self._run.get("against")) is not None:
            yield Fact("Baselines", f"outputs of the run {other}")
        for summary in self._report.figures.metrics:
            options = mapping(metric_entry(self._manifest, summary.metric).get("options"))
            if isinstance(parts := options.get("not_asked"), list):
                yield Fact(f"Not asked for {summary.metric}", "; ".join(map(str, parts)))

    def _calibration(self) -> Iterator[Fact]:
        for line in self._report.calibration:
            word, _, more = line.partition(": ")
            if line.startswith(_COMPARED):
                yield Fact("Against people", word, more)
        for metric, known in self._persona_calibrations():
            figure = str(known.get("held_out") or "not validated")
            yield Fact(f"Calibration of {metric}", figure, str(known.get("digest", ""))[:8])

    def _persona_calibrations(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the metrics with a calibrated persona, and its manifest entry."""
        for summary in self._report.figures.metrics:
            made_with = mapping(metric_entry(self._manifest, summary.metric).get("made_with"))
            if known := mapping(made_with.get("calibration")):
                yield summary.metric, known

    def _replies(self) -> Iterator[Fact]:
        origins, record = (self._run.get(name) for name in ("origins", "record"))
        if isinstance(origins, dict):
            recording = [f"record mode {record}"] if record else []
            recording += _counts(self._run, _RECORDING)
            shown = ", ".join(_counts(origins, _ORIGINS))
            yield Fact("Replies", shown or "none", ", ".join(recording))
        for name, word, unpriced in _COSTS:
            if self._run.get(name, 0) != 0:
                more = _counts(self._run, [(unpriced, "of unknown price")])
                yield Fact(word, dollars(self._run[name]), "".join(f"+ {n}" for n in more))


def _about(score: Score) -> tuple[str, str]:
    """Return the reason of a score, and the criterion with which it begins, if it does."""
    for part in score.parts:
        head, colon, rest = score.reason.partition(": ")
        if colon and head.startswith(f"{part.id} "):
            return rest, head
    return score.reason, ""


LINE = 160
"""Maximum length of the first line of a case, in characters."""
MOST_BAD = 4
"""Maximum number of metrics to show for a bad case."""
_COMPARED = (CALIBRATED, COMPARED)
_ORIGINS = (("live", "live"), ("tape", "from the tape"), ("store", "from the store"))
_RECORDING = (("missed", "not recorded"), ("unused", "recorded but not used"))
_COSTS = (("spent", "Spent", "unpriced"), ("avoided", "Avoided", "unpriced_replays"))


def _counts(facts: Mapping[str, Any], words: Sequence[tuple[str, str]]) -> list[str]:
    """Return the counts in untrusted facts, with their labels."""
    counts = [(facts.get(name), word) for name, word in words]
    return [f"{n:,} {word}" for n, word in counts if isinstance(n, int) and n]


def minute_of(time: str) -> str:
    """Return an ISO time as date, hour and minute; other texts unchanged.

    >>> minute_of("2026-01-02T03:04:05+00:00"), minute_of("yesterday")
    ('2026-01-02 03:04 UTC', 'yesterday')
    """
    try:
        moment = datetime.fromisoformat(time).astimezone(UTC)
    except (ValueError, OverflowError):
        return time
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def day_of(time: str) -> str:
    """Return the date of an ISO time; other texts unchanged."""
    minute = minute_of(time)
    return minute if minute == time else minute[:10]


def dollars(amount: Any) -> str:
    """Return an amount of money; `unknown` without a known price, never 0.

    >>> dollars(0.01234), dollars(None)
    ('$0.0123', 'unknown')
    """
    if not isinstance(amount, int | float):
        return "unknown"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
