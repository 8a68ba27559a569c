"""Calibrate a persona from labelled replies, and write the file that `authenticity` reads."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from judgekit.authoring.persona import steps as fit
from judgekit.authoring.persona.labels import VoiceLabel, VoiceLabels, load_with_labels
from judgekit.core.case import Case
from judgekit.core.display.parts import DisplayLine, counted
from judgekit.core.display.text import to_text
from judgekit.core.errors import ConfigError
from judgekit.core.output_file import refuse_foreign, whole_file
from judgekit.core.score import Failure
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import to_yaml
from judgekit.metrics.brand_voice import calibration as files
from judgekit.metrics.brand_voice.authenticity import WEIGHTS, Authenticity
from judgekit.metrics.brand_voice.persona import Persona
from judgekit.report.export.target import translated
from judgekit.runner.evaluation import evaluate_sync
from judgekit.stats.rates import auc_interval, best_threshold, f1_at, pearson, roc_auc

OPTIONS = ("embedder", "reduce", "compat")
"""The options of `authenticity` that affect its scores."""
LEAST = {"bounds": 2, "traits": 25, "weights": 10, "validate": 10}
"""Minimum number of labels for a step, before the split."""
STEPS = tuple(LEAST)
DIGITS = 4
PERCENTILES = (5, 95)
WORDS = 5
"""Maximum number of words to show per side."""
WRONG = 5
"""Maximum number of misclassified held-out labels to show."""
_HEAD = "# Written by `judgekit persona calibrate`; the metric `authenticity` reads it.\n"


class CalibratePlan(NamedTuple):
    """The settings of `judgekit persona calibrate`."""

    persona: Path
    labels: Path
    steps: Sequence[str] = STEPS
    output: Path | None = None
    """File to write; by default, next to the persona."""
    options: Mapping[str, Any] = {}
    """Values for names in `OPTIONS`."""
    split: float | None = None
    """Share of the labels to calibrate with; by default .8, or that of the validated file."""
    seed: int = 42
    l2: float | None = None

    @property
    def compat(self) -> bool:
        """Whether to reproduce the numbers of Alignmenter."""
        return self.options.get("compat") is not None

    @property
    def path(self) -> Path:
        """The file to write."""
        return self.output or files.calibration_path(self.persona)

    def fault(self, message: str) -> ConfigError:
        """Return an error about the file of labels."""
        return ConfigError(message, where=str(self.labels))


class LabelledScore(NamedTuple):
    """A held-out label and the calibrated score of its text."""

    label: VoiceLabel
    score: float


def authenticity_of(
    persona: Persona, options: Mapping[str, Any], *, calibration: Any = None
) -> Authenticity:
    """Return the metric of a persona with the options of a command.

    Raises:
        ConfigError: an option is unknown or wrong.
    """
    for name in options:
        if name not in OPTIONS:
            raise ConfigError(f"--option {name}: unknown option{suggest(name, OPTIONS)}")
    return Authenticity(persona=persona, calibration=calibration, **options)


def calibrate(plan: CalibratePlan) -> Calibrated:
    """Calibrate a persona; `write_calibration` writes the result.

    Raises:
        ConfigError: a file or a setting is wrong, or there are too few labels.
    """
    for step in plan.steps:
        if step not in STEPS:
            raise ConfigError(f"--step {step}: unknown step{suggest(step, STEPS)}")
    if plan.split is not None and not 0 <= plan.split < 1:
        raise ConfigError(f"--split {plan.split:g}: must be from 0 to below 1")
    if plan.l2 is not None and not 0 <= plan.l2 < math.inf:
        raise ConfigError(f"--l2 {plan.l2:g}: must be a number of at least 0")
    persona, labels = load_with_labels(plan.persona, plan.labels)
    for step in plan.steps:
        if len(labels.values) < LEAST[step]:
            count = counted(len(labels.values), "label")
            raise plan.fault(f"{count}; the step {step} needs {LEAST[step]}")
        if step != "bounds" and len(set(labels.values)) < 2:
            only = "on brand (1)" if labels.values[0] else "off brand (0)"
            raise plan.fault(f"all labels are {only}; {step} needs both kinds")
    made = Calibrated(plan, persona, labels)
    steps = zip(STEPS, (made.bounds, made.traits, made.weights, made.validate), strict=True)
    for name, fields_of in steps:
        if name in plan.steps:
            made.calibration = made.calibration.model_copy(update=fields_of())
    return made


def write_calibration(plan: CalibratePlan, calibration: files.PersonaCalibration) -> None:
    """Write a calibration atomically; the same calibration gives the same bytes.

    Raises:
        ConfigError: the file is foreign, or cannot be written.
    """
    refuse_foreign(plan.path, lambda head: head.startswith(_HEAD.encode()), what="a calibration")
    text = _HEAD + to_yaml(calibration.model_dump(mode="json", exclude_none=True))
    with translated(plan.path), whole_file(plan.path) as file:
        file.write(text.encode())


class Calibrated:
    """The state of a calibration; each step returns the fields that it sets.

    Raises:
        ConfigError: a step needs another earlier calibration, or all labels are held out, because a
            session is never split.

    Attributes:
        calibration: the results of the steps so far.
        labels: the labels.
        notes: omitted steps and data, with reasons.
        scores: scores of the held-out labels, if they were validated.
    """

    def __init__(self, plan: CalibratePlan, persona: Persona, labels: VoiceLabels) -> None:
        self._plan, self._persona, self.labels = plan, persona, labels
        self.notes: list[str] = []
        self.scores: list[LabelledScore] = []
        self._parts: Sequence[fit.MeasuredParts] = []
        default = 0.0 if plan.compat else fit.L2
        self._l2 = default if plan.l2 is None else plan.l2
        self._plain = self._metric(False)
        share = 0.8 if plan.split is None else plan.split
        alone = set(plan.steps) == {"validate"}
        self.calibration = self._start(share, alone=alone)
        every, drawn = labels.labels, self.calibration.labels
        train, held_out = fit.grouped_split(every, drawn.split, drawn.seed)
        if plan.compat:  # trains on all labels, and validates with labels of the training
            train = list(range(len(every)))
            held_out = fit.stratified_split(labels.values, share, plan.seed).held_out
        self._train, self._held = ([every[at] for at in side] for side in (train, held_out))
        self._values = [each.label for each in self._train]
        if not self._train and not alone:
            raise plan.fault("too few sessions: none is left to calibrate with")

    def _metric(self, calibration: Any, **options: Any) -> Authenticity:
        given = {**self._plan.options, **options}
        return authenticity_of(self._persona, given, calibration=calibration)

    def _start(self, share: float, *, alone: bool) -> files.PersonaCalibration:
        """Return the earlier calibration, for single steps on the same labels, or an empty one."""
        plan, labels = self._plan, self.labels
        fresh = files.PersonaCalibration(
            persona=self._persona.name,
            persona_digest=self._persona.digest[:16],
            measured_with=self._plain.measured(),
            labels=files.LabelCounts(
                digest=labels.digest,
                on_brand=labels.values.count(1),
                off_brand=labels.values.count(0),
                split=1.0 if plan.compat else share,
                seed=plan.seed,
            ),
        )
        if not alone and not share:
            raise ConfigError("--split 0 leaves no labels to calibrate with")
        if set(plan.steps) == set(STEPS) or not (alone or plan.path.is_file()):
            return fresh
        earlier = files.load_calibration(plan.path)
        made = [(each.persona_digest, each.measured_with) for each in (earlier, fresh)]
        other = earlier.labels.digest != fresh.labels.digest
        problems = {
            "another version of the persona, or other options; run all steps": made[0] != made[1],
            "these labels; leave out --split": not other and plan.split == 0,
            "other labels; run all steps": other and not alone,
            "other labels; if it has seen none of these, add --split 0": other and plan.split != 0,
        }
        for problem, is_there in problems.items():
            if is_there:
                raise ConfigError(f"was made with {problem}", where=str(plan.path))
        kept = fresh.labels if other else earlier.labels
        return earlier.model_copy(update={"held_out": None, "labels": kept})

    def _scored(self, metric: Authenticity, labels: Sequence[VoiceLabel]) -> list[Any]:
        """Return the score of each reply.

        Raises:
            ConfigError: a score fails, for example because of an outage of the embedder.
        """
        cases = [Case(id=str(at), output=label.text) for at, label in enumerate(labels)]
        results = [each.rows[0].result for each in evaluate_sync(cases, [metric]).results]
        for result, label in zip(results, labels, strict=True):
            if isinstance(result, Failure):
                raise self._plan.fault(f"{label.id} cannot be scored: {result.message}")
        return results

    def _turns(self, metric: Authenticity) -> list[dict[str, Any]]:
        return [score.details["turns"][0] for score in self._scored(metric, self._train)]

    def bounds(self) -> dict[str, Any]:
        """Return the range of the style similarity, if it has one."""
        # Alignmenter uses the greatest similarity here, although its scorer uses the mean.
        nearest = {"embedder": self._plain.embedder, "reduce": "max", "compat": None}
        metric = self._metric(False, **nearest) if self._plan.compat else self._plain
        values = [turn["style"] for turn in self._turns(metric) if turn["style"] is not None]
        low, high = (round(float(at), DIGITS) for at in np.percentile(values or [0.0], PERCENTILES))
        if high > low:
            return {"bounds": files.StyleBounds(low=low, high=high)}
        self.notes.append(f"bounds: left out; every style similarity is {low:g}")
        return {"bounds": None}

    def traits(self) -> dict[str, Any]:
        """Return the model of words."""
        train = fit.sgd_traits if self._plan.compat else fit.fit_traits
        return {"traits": train(self._train, l2=self._l2)}

    def _measured(self, traits: files.TraitModel | None) -> Sequence[fit.MeasuredParts]:
        """Return the parts of each reply, by rules or by a model of words trained without it."""
        turns = self._turns(self._metric(self.calibration.model_copy(update={"traits": traits})))
        if traits and not self._plan.compat:
            unseen = fit.cross_fitted(self._train, l2=self._l2)
            turns = [{**turn, "traits": p} for turn, p in zip(turns, unseen, strict=True)]
        return turns

    def weights(self) -> dict[str, Any]:
        """Return the best weights; discard the model of words if the rules are better."""
        traits = self.calibration.traits
        self._parts = self._measured(traits)
        best = fit.best_weights(self._parts, self._values)
        if traits and not self._plan.compat:
            parts = self._measured(None)
            rules = fit.best_weights(parts, self._values)
            if rules and best and rules.rank > best.rank:
                best, traits, self._parts = rules, None, parts
                self.notes.append("traits: left out; the rules tell these labels apart better")
        if best is None:
            self.notes.append("weights: left out; no part applies to the labelled replies")
        return {"weights": best and best.weights, "traits": traits}

    def _threshold(self, scores: Sequence[float], labels: Sequence[int]) -> float:
        """Return the best threshold on the training labels, or else on the labels themselves."""
        if self._train and not self._plan.compat:
            weights = self.calibration.weights or files.AuthenticityWeights(**WEIGHTS)
            folded = fit.fold_all(self._parts or self._measured(self.calibration.traits), weights)
            labels = [self._values[at] for at, score in enumerate(folded) if score is not None]
            scores = [score for score in folded if score is not None]
        return round(best_threshold(scores, labels)[0], DIGITS)

    def validate(self) -> dict[str, Any]:
        """Return how well the score separates the held-out labels.

        Raises:
            ConfigError: the held-out labels are all the same.
        """
        before = [score.value for score in self._scored(self._plain, self._held)]
        after = [score.value for score in self._scored(self._metric(self.calibration), self._held)]
        pairs = zip(self._held, after, strict=True)
        self.scores = [LabelledScore(label, score) for label, score in pairs if score is not None]
        if left := len(self._held) - len(self.scores):
            self.notes.append(f"validate: {left} held-out labels have no score")
        scores, labels = [s.score for s in self.scores], [s.label.label for s in self.scores]
        if len(set(labels)) < 2:
            few = "the held-out labels are of one kind; give more labels or a lower --split"
            raise self._plan.fault(few)
        # Turns of a session are correlated, so intervals count sessions.
        sides = [len({s.label.group for s in self.scores if s.label.label == k}) for k in (1, 0)]
        low, high = auc_interval(auc := roc_auc(scores, labels), *sides)
        threshold, f1 = self._threshold(scores, labels), f1_at(scores, labels, 0.5)
        figures = {"roc_auc": auc, "low": low, "high": high, "threshold": threshold, "f1": f1}
        figures["f1_at_threshold"] = f1_at(scores, labels, threshold)
        if len(scores) == len(before) and None not in before:
            figures["uncalibrated"] = roc_auc(before, labels)
        if (linear := pearson(scores, labels)) is not None:
            figures["pearson"] = linear
        counts = {"on_brand": sum(labels), "off_brand": len(labels) - sum(labels)}
        known = {name: round(figure, DIGITS) for name, figure in figures.items()}
        return {"held_out": files.HeldOut(**counts, **known, seen=self._plan.compat)}


def calibrated_text(outcome: Calibrated, path: Path) -> str:
    """Return the content and the quality of a calibration."""
    made, labels = outcome.calibration, outcome.labels
    left = f" ({labels.undecided} undecided and {labels.others} of other personas left out)"
    lines = [f"{made.persona}: {made.labels.on_brand} labels on brand, {made.labels.off_brand} off"
             f"{left if labels.undecided or labels.others else ''}"]  # fmt: skip
    if made.bounds:
        lines.append(f"bounds: style from {made.bounds.low:g} to {made.bounds.high:g}")
    if made.traits:
        weights = made.traits.tokens
        words = sorted(weights, key=lambda word: (weights[word], word))
        on = ", ".join(reversed(words[-WORDS:]))
        lines.append(f"traits: {len(words)} words; on brand: {on}; off: {', '.join(words[:WORDS])}")
    if made.weights:
        shares = made.weights.model_dump().items()
        lines.append(f"weights: {', '.join(f'{name} {weight:g}' for name, weight in shares)}")
    lines += [*outcome.notes, *_validated(outcome), f"written to {path}"]
    return to_text(map(DisplayLine, lines)) + "\n"


def _validated(outcome: Calibrated) -> Iterator[str]:
    held = outcome.calibration.held_out
    if held is None:
        yield "not validated: no figure says how good it is (--step validate)"
        return
    yield held.text
    linear = "undefined" if held.pearson is None else f"{held.pearson:.2f}"
    best = f"{held.f1_at_threshold:.2f} at the best threshold {held.threshold:.2f}"
    yield f"F1 {held.f1:.2f} at 0.5, {best}; Pearson {linear}"
    for name, side in (("on brand", 1), ("off brand", 0)):
        values = [each.score for each in outcome.scores if each.label.label == side]
        mean, sd = statistics.fmean(values), statistics.pstdev(values)
        yield f"{name}: mean {mean:.2f}, sd {sd:.2f}, median {statistics.median(values):.2f}"
    wrong = [e for e in outcome.scores if (e.score >= held.threshold) != (e.label.label == 1)]
    if wrong:
        shown = ", ".join(f"{each.label.id} ({each.score:.2f})" for each in wrong[:WRONG])
        yield f"on the wrong side of it: {len(wrong)} of {len(outcome.scores)}: {shown}"
