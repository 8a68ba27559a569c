"""Compare the score of a persona with a judge, on a sample of cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from judgekit.authoring.persona.calibrate import authenticity_of
from judgekit.authoring.persona.labels import SCENARIO, VoiceLabel, load_with_labels
from judgekit.authoring.persona.steps import grouped_split
from judgekit.core.case import Case
from judgekit.core.display.parts import DisplayLine, DisplayPart, DisplayTable, cut
from judgekit.core.display.text import to_text
from judgekit.core.errors import ConfigError
from judgekit.core.json_document import json_document
from judgekit.core.score import Score
from judgekit.core.suggest import suggest
from judgekit.datasets.selection import values_at
from judgekit.metrics.brand_voice.calibration import PersonaCalibration
from judgekit.metrics.brand_voice.persona import load_persona
from judgekit.runner.evaluation import evaluate_sync
from judgekit.stats.intervals import wilson
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.source import read_suite
from judgekit.suite.suite import Suite, build_suite

NEAR = 0.1
"""Distance from the threshold within which a score may be wrong."""
EXTREMES = (0.3, 0.8)
FAILING = 0.6
UNTAGGED = "untagged"
MOST = 3
"""Maximum number of strengths and weaknesses per scenario."""
_JUDGE = "authenticity_judge"
_KEPT = ("cases", "judge", "judges", "cassette", "redact", "rubrics", "limits")
"""Keys of a suite for its cases, judges and tapes."""


class SamplePlan(NamedTuple):
    """The settings of a comparison, in particular the selection of cases for the judge."""

    strategy: str = "errors"
    rate: float = 0.2
    budget: int | None = None
    seed: int = 42
    options: Mapping[str, Any] = {}
    """Options of `authenticity` (see `OPTIONS`)."""
    cassette: Path | None = None
    """The tape of the judge, instead of that of the suite."""
    by: str = "scenario"
    """The metadata field with the scenario."""
    threshold: float | None = None
    """Minimum score of a reply that is on brand; by default that of the calibration."""
    held_out: bool = False
    """Whether to use only the labels that the calibration held out."""


class ComparedCase(NamedTuple):
    """A case with its computed score, and the judge's score if it was sampled."""

    case: Case
    scenarios: tuple[str, ...]
    label: int | None
    score: float
    reason: str = ""
    verdict: Score | None = None
    agrees: bool = False
    """Whether both scores are on the same side of their thresholds."""

    @property
    def judge(self) -> float:
        """The score of the judge, 0..1."""
        return (self.verdict and self.verdict.value) or 0.0


class JudgedSample(NamedTuple):
    """The outcome."""

    cases: list[ComparedCase]
    missing: int
    """Number of sampled cases without a verdict."""
    threshold: float
    spent: float | None
    """Cost of live calls in US dollars; recorded replies are free."""
    suite: Suite

    @property
    def judged(self) -> list[ComparedCase]:
        """The cases with a verdict."""
        return [each for each in self.cases if each.verdict is not None]

    def disagreements(self) -> list[ComparedCase]:
        """Return the cases in which judge and score disagree, the largest difference first."""
        apart = [each for each in self.judged if not each.agrees]
        return sorted(apart, key=lambda each: (-abs(each.score - each.judge), each.case.id))

    @property
    def agreement(self) -> dict[str, Any]:
        """The share of cases that agree, with its 95 % interval."""
        same, n = sum(each.agrees for each in self.judged), len(self.judged)
        low, high = wilson(same, n) if n else (None, None)
        return {"agree": same, "judged": n, "low": low, "high": high}


def sample_for_judge(
    cases: Sequence[ComparedCase], plan: SamplePlan, threshold: float = 0.5
) -> list[int]:
    """Return the ascending indices of the cases for the judge; at least one if there are cases.

    `random`: a share of all cases. `stratified`: the same number per scenario. `errors`: cases
    whose label contradicts the score, or without labels, scores near the threshold. `extremes`:
    scores below .3 or above .8. `on_failure`: scores below .6. If there are no such cases, `errors`
    and `extremes` fall back to `random`, and `on_failure` to the lowest score.

    Raises:
        ConfigError: the strategy is unknown.
    """
    order = np.random.RandomState(plan.seed).permutation(len(cases)).tolist()
    share = plan.rate * len(cases) + 1e-9
    labelled = any(case.label is not None for case in cases)
    of_each = max(1, int(share / max(1, len({case.scenarios[0] for case in cases}))))
    drawn: Counter[str] = Counter()

    def is_among_first(case: ComparedCase) -> bool:
        drawn[case.scenarios[0]] += 1
        return drawn[case.scenarios[0]] <= of_each

    def is_doubtful(case: ComparedCase) -> bool:
        if labelled:
            return case.label == int(case.score < threshold)
        return abs(case.score - threshold) <= NEAR + 1e-9

    strategies: dict[str, Callable[[ComparedCase], bool]] = {
        "random": lambda case: False,
        "stratified": is_among_first,
        "errors": is_doubtful,
        "extremes": lambda case: not EXTREMES[0] <= case.score <= EXTREMES[1],
        "on_failure": lambda case: case.score < FAILING,
    }
    if plan.strategy not in strategies:
        hint = suggest(plan.strategy, strategies)
        raise ConfigError(f"--sample {plan.strategy}: unknown strategy{hint}")
    chosen = [at for at in order if strategies[plan.strategy](cases[at])]
    if plan.strategy == "on_failure":
        chosen = chosen or sorted(order, key=lambda at: (cases[at].score, at))[:1]
    return sorted((chosen or order[: max(1, int(share))])[: plan.budget])


def compare_with_judge(
    persona: Path, source: Path, plan: SamplePlan, overrides: Overrides
) -> JudgedSample:
    """Score all cases, and ask the judge about a sample.

    Args:
        persona: the persona file.
        source: a suite, with its cases, judge and cassette; or labels of the persona.
        plan: the settings.
        overrides: flags about the judge.

    Raises:
        ConfigError: a file or a setting is wrong, or there is no judge.
    """
    is_suite = source.suffix in (".yaml", ".yml")
    read = read_suite(source)[0] if is_suite else {}
    data = {key: value for key, value in read.items() if key in _KEPT}
    data["metrics"] = {_JUDGE: {"persona": str(persona.absolute())}}
    if plan.cassette is not None:
        data["cassette"] = str(plan.cassette.absolute())
    if not is_suite and not overrides.judge:
        raise ConfigError("no judge is given: add --judge MODEL, or name a suite that has one")
    built = build_suite(data, base=source.parent if is_suite else Path(), overrides=overrides)
    metric = authenticity_of(load_persona(persona), plan.options)
    made = metric.learned
    labels = {} if is_suite else _labels(persona, source, made if plan.held_out else None)
    given = list(built.cases()) if is_suite else [_case(id, labels[id]) for id in labels]
    cases = []
    for scored in evaluate_sync(given, [metric]).results:
        case, result = scored.case, scored.rows[0].result
        if isinstance(result, Score) and result.value is not None:
            label = labels[case.id].label if case.id in labels else None
            scenarios = _scenarios(case, plan.by)
            cases.append(ComparedCase(case, scenarios, label, result.value, result.reason))
    if not cases:
        raise ConfigError("no case has a score to compare", where=str(source))
    threshold = made.held_out.threshold if made and made.held_out else 0.5
    threshold = threshold if plan.threshold is None else plan.threshold
    chosen = [cases[at] for at in sample_for_judge(cases, plan, threshold)]
    built.cases = lambda: iter([each.case for each in chosen])  # type: ignore[method-assign]
    report = run_suite_sync(built)
    verdicts = {each.case.id: each.rows[0].result for each in report.results}
    for at, each in enumerate(cases):
        verdict = verdicts.get(each.case.id)
        if isinstance(verdict, Score) and verdict.value is not None:
            agrees = (verdict.value >= 0.5) == (each.score >= threshold)
            cases[at] = each._replace(verdict=verdict, agrees=agrees)
    missing = len(chosen) - sum(each.verdict is not None for each in cases)
    return JudgedSample(cases, missing, threshold, report.run.get("spent"), built)


def _labels(persona: Path, source: Path, made: PersonaCalibration | None) -> dict[str, VoiceLabel]:
    """Return the labels by the id of a case; with a calibration, those that it held out."""
    _, labels = load_with_labels(persona, source)
    kept: Sequence[int] = range(len(labels.labels))
    if made is not None:
        drawn = made.labels
        if drawn.digest != labels.digest:
            raise ConfigError("the calibration was made with other labels", where=str(source))
        kept = grouped_split(labels.labels, drawn.split, drawn.seed).held_out
    return {f"{labels.labels[at].id} ({at + 1})": labels.labels[at] for at in kept}


def _case(id: str, label: VoiceLabel) -> Case:
    return Case(id=id, output=label.text, metadata={SCENARIO: list(label.scenarios)})


def _scenarios(case: Case, by: str) -> tuple[str, ...]:
    tags = [str(tag) for tag in values_at(case, "tags")]
    named = [tag.removeprefix(SCENARIO) for tag in tags if tag.startswith(SCENARIO)]
    names = [*map(str, values_at(case, by)), *map(str, values_at(case, SCENARIO)), *named]
    return tuple(dict.fromkeys(names)) or (UNTAGGED,)


def by_scenario(sample: JudgedSample) -> list[dict[str, Any]]:
    """Return the figures of each scenario, the lowest score first."""
    entries = []
    for name in sorted({tag for each in sample.cases for tag in each.scenarios}):
        cases = [each for each in sample.cases if name in each.scenarios]
        judged = sample._replace(cases=cases).judged
        entry = {
            "scenario": name,
            "cases": len(cases),
            "score": round(fmean(each.score for each in cases), 4),
            "judged": len(judged),
            "judge": round(fmean(each.judge for each in judged), 4) if judged else None,
            "agree": sum(each.agrees for each in judged),
        }
        for key in ("strengths", "weaknesses"):
            listed = [str(text) for each in judged for text in each.verdict.details.get(key) or ()]  # type: ignore[union-attr]
            entry[key] = [text for text, _ in Counter(listed).most_common(MOST)]
        entries.append(entry)
    return sorted(entries, key=lambda entry: (entry["score"], entry["scenario"]))


def diagnosis_text(sample: JudgedSample, *, as_json: bool = False) -> str:
    """Return the cases in which judge and score disagree, with reasons."""
    parts: list[DisplayPart] = [_head(sample)]
    entries = []
    for each in sample.disagreements():
        judged = each.verdict.details if each.verdict else {}
        entry = {
            "case": each.case.id,
            "score": each.score,
            "judge": each.judge,
            "label": each.label,
            "score_reason": each.reason,
            "judge_reason": each.verdict.reason if each.verdict else "",
            **{name: judged.get(name) for name in ("weaknesses", "suggestion")},
        }
        entries.append(entry)
        label = "" if each.label is None else f", label {each.label}"
        title = f"\n{each.case.id}: score {each.score:.2f}, judge {each.judge:.2f}{label}"
        parts.append(DisplayLine(title))
        for name in ("score_reason", "judge_reason", "suggestion"):
            if entry[name]:
                parts.append(DisplayLine(f"  {name.split('_')[0]}: {cut(str(entry[name]))}"))
    return (
        _json("persona_diagnosis", sample, {"disagreements": entries})
        if as_json
        else to_text(parts) + "\n"
    )


def scenarios_text(sample: JudgedSample, *, as_json: bool = False) -> str:
    """Return the figures of each scenario."""
    entries = by_scenario(sample)
    if as_json:
        return _json("persona_scenarios", sample, {"scenarios": entries})
    rows = []
    for e in entries:
        judge = "-" if e["judge"] is None else f"{e['judge']:.2f}"
        figures = (str(e["cases"]), f"{e['score']:.2f}", judge, f"{e['agree']} of {e['judged']}")
        rows.append((e["scenario"], *figures, cut("; ".join(e["weaknesses"]))))
    head = ("scenario", "cases", "score", "judge", "agree", "weaknesses")
    return to_text([_head(sample), DisplayTable(head, rows, numbers=(1, 2, 3))]) + "\n"


def _json(kind: str, sample: JudgedSample, data: dict[str, Any]) -> str:
    facts = {"cases": len(sample.cases), "threshold": sample.threshold, "spent": sample.spent}
    data = {**facts, **sample.agreement, "missing": sample.missing, **data}
    return json_document(kind, data) + "\n"


def _head(sample: JudgedSample) -> DisplayLine:
    figures = sample.agreement
    within = "" if figures["low"] is None else f" [{figures['low']:.2f}, {figures['high']:.2f}]"
    missing = f"; {sample.missing} without a verdict" if sample.missing else ""
    count = f"{len(sample.cases)} cases, {figures['judged']} judged{missing}"
    side = f"on the same side of {sample.threshold:g} in {figures['agree']}{within}"
    return DisplayLine(f"{count}; judge and score are {side}")
