"""The effect of a new version of a rubric on the verdicts of a run, without a call to a judge.

If the request is unchanged, the new value is computed from the recorded answers. If it changed, the
request must be sent again, and there is no new value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judgekit.cassette.cassette import Cassette
from judgekit.core.case import Case
from judgekit.core.comparing import at_least
from judgekit.core.errors import CaseError, ConfigError, JudgekitError
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.jury import Jury
from judgekit.core.key_rules import all_keys
from judgekit.core.protocols import Judge
from judgekit.core.request import Request
from judgekit.core.score import Failure, Result, Score, Status
from judgekit.core.suggest import suggest
from judgekit.core.synchronous import run_inline
from judgekit.judges.absent import AbsentJudge
from judgekit.metrics.prompt_alignment import PromptAlignment
from judgekit.metrics.rubric import DEFAULT_HISTORY, RubricMetric
from judgekit.report.report import Report
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.variant import Variant

Fate = Literal["same", "changed", "ask", "refused", "failed"]
"""`ask`: the request differs; `refused`: the new version refuses the case; `failed`: there was no
verdict, and the same request would give none."""


@dataclass(frozen=True)
class Effect:
    """The effect on one recorded verdict."""

    case: str
    fate: Fate
    old: float | None = None
    """Old value; `None` if there was none."""
    new: float | None = None
    """New value; `None` unless the same request has a score."""
    status: Status | None = None
    """New status, if the request is the same."""
    flip: Literal["pass -> fail", "fail -> pass"] | None = None
    """Whether it crosses the threshold."""
    note: str = ""


@dataclass
class Effects:
    """The effects on the verdicts of one metric of a run."""

    metric: str
    threshold: float | None
    effects: list[Effect] = field(default_factory=list)
    calls: int = 0
    """Number of requests to send again, including samples."""
    characters: int = 0
    """Characters in their messages."""
    questions: int = 0
    """Questions in them."""
    model: str = ""
    on_tape: int = 0
    """Number of verdicts of the new version that the tape has; they have a new value."""
    foreign: int = 0
    """Number of verdicts with requests that the old version would not send."""
    mean_old: float | None = None
    """Old mean of the verdicts with a new value."""
    mean_new: float | None = None

    def of(self, *fates: Fate) -> list[Effect]:
        """Return the verdicts with these outcomes."""
        return [effect for effect in self.effects if effect.fate in fates]

    @property
    def flips(self) -> list[Effect]:
        """The verdicts that cross the threshold."""
        return [effect for effect in self.effects if effect.flip]


def effects_on(
    folder: Path,
    *,
    old: Rubric,
    new: Rubric,
    metric: str | None = None,
    threshold: float | None = None,
    tape: Path | None = None,
) -> list[Effects]:
    """Return the effects of the new version on the verdicts of a run, by metric.

    Args:
        folder: a run folder.
        old: the version of the run; its name selects the metrics.
        new: the version to apply.
        metric: the only metric to check.
        threshold: threshold for flips; that of the run by default.
        tape: a tape that may have replies to the requests of the new version.

    Raises:
        ConfigError: it is not a run folder, no metric uses the rubric, or one changes its value.
    """
    report = Report.read(folder)
    manifest = report.figures.manifest
    judged = list(_judged(manifest.get("metrics")))
    chosen = {
        name: entry
        for name, entry in judged
        if (_rubric_of(entry) == old.name if metric is None else name == metric)
    }
    if not chosen:
        what = f"no metric by rubric {old.name!r}" if metric is None else f"no metric {metric!r}"
        raise ConfigError(f"{what}{suggest(metric or old.name, dict(judged))}", where=str(folder))
    for name, entry in chosen.items():
        if "value" in entry["made_with"]:
            value = f"the value of {name} is {entry['made_with']['value']}"
            advice = "so its verdicts do not give it; run both versions and compare the runs"
            raise ConfigError(f"{value}, {advice}", where=str(folder))
    judge = _judge(manifest.get("judge"), folder)
    cassette = None if tape is None else Cassette.open(tape, judge)
    thresholds = manifest.get("thresholds") or {}
    finders = {}
    for name, entry in chosen.items():
        limit = thresholds.get(name) if threshold is None else threshold
        try:
            of_run = _metric(old, entry, judge)
        except ConfigError:
            of_run = None  # the run used a third version
        effects = Effects(name, limit, model=judge.model)
        replayed = None if cassette is None else _metric(new, entry, cassette)
        finders[name] = _EffectFinder(effects, of_run, _metric(new, entry, judge), replayed, set())
    for scored in report.results:
        for row in scored.rows:
            if row.metric in finders:
                finders[row.metric].add(scored.case, row.result)
    if cassette is not None:
        cassette.close()
    return [finder.finish() for finder in finders.values()]


def _judged(described: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the metrics of a manifest that use a rubric, including those inside other metrics."""
    if isinstance(described, list):
        for entry in described:
            yield from _judged(entry)
    elif isinstance(described, dict) and isinstance(described.get("options"), dict):
        made_with = described.get("made_with")
        if isinstance(made_with, dict) and "rubric" in made_with:
            yield str(described.get("name")), described
        else:
            yield from _judged(list(described["options"].values()))


def _rubric_of(entry: Mapping[str, Any]) -> Any:
    """Return the rubric of the verdicts; for a metric with several steps, all of them."""
    named = entry["made_with"].get("rubric")
    return str(named).rpartition("+")[2] if entry.get("type") == _WITH_LISTS else named


_WITH_LISTS = PromptAlignment.__name__


def _judge(described: Any, folder: Path) -> AbsentJudge:
    if not isinstance(described, dict) or not isinstance(described.get("model"), str):
        message = "no judge in this run, so there are no verdicts; name another run"
        raise ConfigError(message, where=str(folder))
    parts: dict[str, Any] = {
        name: described.get(name) for name in ("identity", "mode", "api", "max_reason")
    }
    settings = JudgeSettings(**parts, params=described.get("params") or {})
    return AbsentJudge(described["model"], settings)


def _metric(rubric: Rubric, entry: Mapping[str, Any], judge: Judge) -> RubricMetric:
    """Return the metric of a run with another version of its rubric."""
    options = entry["options"]
    settings = options.get("parameters") or {}
    shared: dict[str, Any] = {
        "name": str(entry["name"]),
        "mode": options.get("mode"),
        "samples": options.get("samples", 1),
        "history": options.get("history", DEFAULT_HISTORY),
        "parameters": {n: v for n, v in settings.items() if n in rubric.declared},
    }
    bound = options.get("max_reason")
    if entry.get("type") == _WITH_LISTS:
        jury = Jury([judge], max_reason=bound)
        return PromptAlignment(rubric=rubric, judge=jury, **shared)
    return RubricMetric(rubric, judge=judge, max_reason=bound, **shared)


class _EffectFinder(NamedTuple):
    """Finds the effects on one metric of a run, verdict by verdict."""

    all: Effects
    old: RubricMetric | None
    new: RubricMetric
    replayed: RubricMetric | None
    """The new version with the tape as its judge."""
    asked: set[str]
    """The keys of the requests to send again."""

    def add(self, case: Case, result: Result) -> None:
        """Add one verdict."""
        keys = _keys(result)
        before = None if isinstance(result, Failure) else result.value
        if keys and not keys <= _keys_of(self.old, case, result):
            self.all.foreign += 1
        fields: dict[str, Any]
        try:
            metric, lists = _of_row(self.new, case, result)
            variant, requests = metric.requests(case)
        except CaseError as exc:
            fields = {"fate": "refused", "old": before, "note": str(exc)}
        else:
            requests = [*lists, *requests]
            if not keys or not keys <= {key for each in requests for key in all_keys(each)}:
                fields = {"fate": "ask", "old": before}
            elif isinstance(result, Failure):
                fields = {"fate": "failed", "note": f"{result.kind}: {result.message}"}
            elif result.fallback is not None:
                fields = {"fate": "ask", "note": "a fallback scored it"}
            else:
                fields = self._compared(result, *self._folded(metric, case, result, variant))
            if fields["fate"] == "ask" and (known := self._recorded(case)) is not None:
                fields = self._compared(result, known.status, known.value)
                self.all.on_tape += 1
            if fields["fate"] == "ask":
                # Several cases may share a request, such as that for a list of requirements.
                new = {each.key: each for each in requests if each.key not in self.asked}
                self.asked.update(new)
                self.all.calls += len(new)
                contents = (message.content for each in new.values() for message in each.messages)
                self.all.characters += sum(map(len, contents))
                self.all.questions += sum(len(each.form.questions) for each in new.values())
        self.all.effects.append(Effect(case=case.id, **fields))

    def _recorded(self, case: Case) -> Score | None:
        """Return the score of the new version, if the tape has all its replies."""
        if self.replayed is None:
            return None
        try:
            return run_inline(self.replayed.score(case))
        except JudgekitError:
            return None

    def _folded(
        self, metric: RubricMetric, case: Case, score: Score, variant: Variant
    ) -> tuple[Status, float | None]:
        try:
            return _fold(metric, case, variant, score)
        except (LookupError, TypeError, ValueError) as exc:
            message = "the recorded answers do not match their request; run it again"
            raise ConfigError(f"case {case.id!r}: {message}") from exc

    def _compared(self, result: Result, status: Status, value: float | None) -> dict[str, Any]:
        before = None if isinstance(result, Failure) else result
        old = None if before is None else before.value
        threshold, flip = self.all.threshold, None
        equal = value is None or old is None or abs(value - old) < 1e-9
        if threshold is not None and old is not None and value is not None:
            passed, passes = at_least(old, threshold), at_least(value, threshold)
            if passed != passes:
                flip = "pass -> fail" if passed else "fail -> pass"
        same = before is not None and before.status == status and equal
        fate = "same" if same else "changed"
        return {"fate": fate, "old": old, "new": value, "status": status, "flip": flip}

    def finish(self) -> Effects:
        """Return all effects, with the means."""
        effects = self.all
        both = [(e.old, e.new) for e in effects.effects if e.old is not None and e.new is not None]
        if both:
            old, new = zip(*both, strict=True)
            effects.mean_old, effects.mean_new = sum(old) / len(old), sum(new) / len(new)
        return effects


def _keys(result: Result) -> set[str]:
    keys = {judgment.request_key for judgment in result.judgments}
    if isinstance(result, Failure) and result.key is not None and result.kind in _RECORDED:
        keys.add(result.key)
    return keys


_RECORDED = ("refused", "truncated", "empty", "invalid_reply")
"""Failures with a reply: the same request would fail in the same way."""


def _keys_of(metric: RubricMetric | None, case: Case, result: Result) -> set[str]:
    if metric is None:
        return set()
    try:
        as_scored, lists = _of_row(metric, case, result)
        requests = [*lists, *as_scored.requests(case)[1]]
        return {key for request in requests for key in all_keys(request)}
    except CaseError:
        return set()


def _of_row(metric: RubricMetric, case: Case, result: Result) -> tuple[RubricMetric, list[Request]]:
    """Return the metric that made a row, and the requests for its lists of requirements."""
    if not isinstance(metric, PromptAlignment):
        return metric, []
    lists = metric.list_requests(case)
    return (metric.as_scored(result) if isinstance(result, Score) else metric), lists


def _fold(
    metric: RubricMetric, case: Case, variant: Variant, score: Score
) -> tuple[Status, float | None]:
    """Return status and value of recorded answers under a rubric with the same request."""
    ids = list(variant.ids)
    _, lists = _of_row(metric, case, score)
    listed = {key for request in lists for key in all_keys(request)}
    judgments = [one for one in score.judgments if one.request_key not in listed]
    if len(judgments) == 1:
        answers = {
            part.id: Answer(
                value=part.answer,
                reason=part.reason,
                quotes=tuple(quote.text for quote in part.quotes),
                items=part.items,
                details=part.details,
                distribution=part.distribution,
            )
            for part in score.parts
        }
        judgments = [Judgment(request_key=judgments[0].request_key, answers=answers)]
    judgments = [_asked_about(judgment, ids) for judgment in judgments]
    several = metric.opinion_replies(case, judgments)
    if any(list(one.verdict.answers) != ids for one in several if one.verdict is not None):
        raise ValueError("other criteria")
    _, outcomes = metric.combined(variant, several)
    folded = variant.fold(outcomes, combine=metric.rubric.combine)
    return folded.status, folded.value


def _asked_about(judgment: Judgment, ids: Sequence[str]) -> Judgment:
    """Return a judgment without checklists that were not asked about, because they are empty."""
    answers = judgment.answers.items()
    asked = {id: answer for id, answer in answers if id in ids or answer != Answer(value=None)}
    return judgment.model_copy(update={"answers": asked})
