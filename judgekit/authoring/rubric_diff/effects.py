"""What another version of a rubric would make of the verdicts of a run, without asking anybody.

A verdict whose request is the same under the new version is folded again from its recorded
answers; one whose request differs must be asked again, and no value is guessed for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.request import Request
from judgekit.core.score import Failure, Result, Score, Status
from judgekit.core.suggest import suggest
from judgekit.core.value import Value
from judgekit.judges.absent import AbsentJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.metrics.samples import agreed
from judgekit.report.report import Report
from judgekit.rubric.rubric import Rubric, Variant

Fate = Literal["same", "changed", "ask", "refused", "failed"]
"""`ask`: the request differs; `refused`: the new version does not take the case; `failed`: there
was no verdict before, and the same request would give none."""


class Effect(Value):
    """What becomes of one recorded verdict."""

    case: str
    fate: Fate
    old: float | None = None
    """Value before; `None` where there was none."""
    new: float | None = None
    """Value now; `None` unless it could be folded again and was scored."""
    status: Status | None = None
    """Now, where it could be folded again."""
    flip: Literal["pass -> fail", "fail -> pass"] | None = None
    """How it changes sides of the threshold."""
    note: str = ""


class Effects(Value):
    """What becomes of the verdicts of one metric of a run."""

    metric: str
    threshold: float | None
    effects: tuple[Effect, ...]
    calls: int = 0
    """Requests to be asked again, all samples counted."""
    characters: int = 0
    """Length of their messages."""
    foreign: int = 0
    """Verdicts that the old version as it stands would not have asked for."""
    mean_old: float | None = None
    """Mean of the verdicts that could be folded again, before."""
    mean_new: float | None = None

    def of(self, *fates: Fate) -> list[Effect]:
        """Return the verdicts with these fates."""
        return [effect for effect in self.effects if effect.fate in fates]

    @property
    def flips(self) -> list[Effect]:
        """The verdicts that change sides of the threshold."""
        return [effect for effect in self.effects if effect.flip]


def effects_on(
    folder: Path,
    *,
    old: Rubric,
    new: Rubric,
    metric: str | None = None,
    threshold: float | None = None,
) -> list[Effects]:
    """Return what the new version makes of a run's verdicts, by metric.

    Args:
        folder: a run folder.
        old: the version the run was made with; its name finds the metrics.
        new: the version to apply.
        metric: look at this metric alone.
        threshold: pass line to flip against; the run's own without one.

    Raises:
        ConfigError: not a run folder, none of its metrics uses the rubric, or one makes something
            else of the rubric's value.
    """
    report = Report.read(folder)
    manifest = report.figures.manifest
    found = {
        name: entry
        for name, entry in _judged(manifest.get("metrics"))
        if (entry["made_with"].get("rubric") == old.name if metric is None else name == metric)
    }
    if not found:
        names = [name for name, _ in _judged(manifest.get("metrics"))]
        what = f"no metric by rubric {old.name!r}" if metric is None else f"no metric {metric!r}"
        raise ConfigError(f"{what}{suggest(metric or old.name, names)}", where=str(folder))
    for name, entry in found.items():
        if "value" in entry["made_with"]:
            raise ConfigError(
                f"the value of {name} is {entry['made_with']['value']}, so its verdicts cannot be "
                "folded anew; run it by both versions and compare the runs",
                where=str(folder),
            )
    judge = _judge(manifest.get("judge"), folder)
    thresholds = manifest.get("thresholds") or {}
    looks = {
        name: _EffectFinder(
            name,
            _metric(old, entry, judge, strict=False),
            _metric(new, entry, judge, strict=True),
            thresholds.get(name) if threshold is None else threshold,
        )
        for name, entry in found.items()
    }
    for scored in report.results:
        for row in scored.rows:
            if row.metric in looks:
                looks[row.metric].add(scored.case, row.result)
    return [look.finish() for look in looks.values()]


def _judged(described: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the metrics of a manifest that a rubric makes, also those inside others."""
    if isinstance(described, list):
        for entry in described:
            yield from _judged(entry)
    elif isinstance(described, dict):
        options = described.get("options")
        made_with = described.get("made_with")
        if isinstance(options, dict) and isinstance(made_with, dict) and "rubric" in made_with:
            yield str(described.get("name")), described
        elif isinstance(options, dict):
            for value in options.values():
                yield from _judged(value)


def _judge(described: Any, folder: Path) -> AbsentJudge:
    if not isinstance(described, dict) or not isinstance(described.get("model"), str):
        raise ConfigError("nobody judged in this run, so there are no verdicts", where=str(folder))
    return AbsentJudge(
        described["model"],
        described.get("identity"),
        described.get("params") or {},
        described.get("mode"),
    )


def _metric(
    rubric: Rubric, entry: Mapping[str, Any], judge: AbsentJudge, *, strict: bool
) -> RubricMetric | None:
    """Return the metric a run had, by another version of its rubric."""
    options = entry["options"]
    set_to = options.get("parameters") or {}
    try:
        return RubricMetric(
            rubric,
            judge=judge,
            name=str(entry["name"]),
            mode=options.get("mode"),
            samples=options.get("samples", 1),
            history=options.get("history", 10),
            parameters={n: v for n, v in set_to.items() if n in rubric.declared},
        )
    except ConfigError:
        if strict:
            raise
        return None


class _Rescored(NamedTuple):
    """What a new version asks of a case."""

    variant: Variant
    requests: list[Request]


class _EffectFinder:
    """One metric of a run, looked at verdict by verdict."""

    def __init__(
        self, name: str, old: RubricMetric | None, new: RubricMetric | None, threshold: float | None
    ) -> None:
        assert new is not None  # noqa: S101 - made strictly
        self.name = name
        self._old = old
        self._new = new
        self._threshold = threshold
        self._effects: list[Effect] = []
        self._calls = 0
        self._characters = 0
        self._foreign = 0

    def add(self, case: Case, result: Result) -> None:
        """Take one verdict."""
        keys = _keys(result)
        before = None if isinstance(result, Failure) else result.value
        if keys and not set(keys) <= set(_asked(self._old, case)):
            self._foreign += 1
        try:
            again = _Rescored(*self._new.requests(case))
        except CaseError as exc:
            effect = Effect(case=case.id, fate="refused", old=before, note=str(exc))
        else:
            if keys and set(keys) <= {request.key for request in again.requests}:
                effect = self._folded(case, result, again, before)
            else:
                self._ask(again)
                effect = Effect(case=case.id, fate="ask", old=before)
        self._effects.append(effect)

    def _ask(self, again: _Rescored) -> None:
        self._calls += len(again.requests)
        self._characters += sum(len(m.content) for r in again.requests for m in r.messages)

    def _folded(self, case: Case, result: Result, again: _Rescored, before: float | None) -> Effect:
        if isinstance(result, Failure):
            return Effect(case=case.id, fate="failed", note=f"{result.kind}: {result.message}")
        if result.fallback is not None:
            self._ask(again)
            return Effect(case=case.id, fate="ask", note="a stand-in scored it")
        try:
            status, value = _fold(self._new.rubric, again.variant, result)
        except (KeyError, LookupError, TypeError, ValueError, StopIteration) as exc:
            raise ConfigError(
                f"case {case.id!r}: the recorded answers do not fit the request they belong to"
            ) from exc
        same = status == result.status and (
            value is None or before is None or abs(value - before) < 1e-9
        )
        return Effect(
            case=case.id,
            fate="same" if same else "changed",
            old=before,
            new=value,
            status=status,
            flip=self._flip(before, value),
        )

    def _flip(self, old: float | None, new: float | None) -> Any:
        if self._threshold is None or old is None or new is None:
            return None
        passed, passes = old >= self._threshold, new >= self._threshold
        if passed == passes:
            return None
        return "pass -> fail" if passed else "fail -> pass"

    def finish(self) -> Effects:
        """Return what was found."""
        both = [
            (effect.old, effect.new)
            for effect in self._effects
            if effect.old is not None and effect.new is not None
        ]
        return Effects(
            metric=self.name,
            threshold=self._threshold,
            effects=tuple(self._effects),
            calls=self._calls,
            characters=self._characters,
            foreign=self._foreign,
            mean_old=sum(old for old, _ in both) / len(both) if both else None,
            mean_new=sum(new for _, new in both) / len(both) if both else None,
        )


def _keys(result: Result) -> list[str]:
    keys = [judgment.request_key for judgment in result.judgments]
    if isinstance(result, Failure) and result.key is not None and result.kind in _RECORDED:
        keys.append(result.key)
    return keys


_RECORDED = ("refused", "truncated", "empty", "invalid_reply")
"""Failures that came with a reply: the same request would fail the same way."""


def _asked(metric: RubricMetric | None, case: Case) -> list[str]:
    if metric is None:
        return []
    try:
        return [request.key for request in metric.requests(case)[1]]
    except CaseError:
        return []


def _fold(rubric: Rubric, variant: Variant, score: Score) -> tuple[Status, float | None]:
    """Return what recorded answers come to under a rubric that asks the same."""
    ids = [criterion.id for criterion in variant.criteria]
    judgments = list(score.judgments)
    if len(judgments) == 1:
        answers = {
            part.id: Answer(
                value=part.answer,
                reason=part.reason,
                quotes=tuple(quote.text for quote in part.quotes),
                items=part.items,
                details=part.details,
            )
            for part in score.parts
        }
        judgments = [Judgment(request_key=judgments[0].request_key, answers=answers)]
    if any(list(judgment.answers) != ids for judgment in judgments):
        raise ValueError("other criteria")
    if len(judgments) == 1:
        outcomes = variant.outcomes(judgments[0])
    else:
        outcomes, _, _ = agreed(variant, judgments)
    folded = variant.fold(outcomes, rubric.combine)
    return folded.status, folded.value
