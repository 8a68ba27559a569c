"""Calibrate a persona from labelled replies, and write the file that `authenticity` reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from judgekit.authoring.persona.labels import VoiceLabel, VoiceLabels, read_voice_labels
from judgekit.authoring.persona.steps import (
    L2,
    MeasuredParts,
    best_weights,
    cross_fitted,
    fit_traits,
    fold_all,
    grouped_split,
    percentiles,
    sgd_traits,
    stratified_split,
)
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.output_file import refuse_foreign, whole_file
from judgekit.core.score import Failure
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import to_yaml
from judgekit.metrics.brand_voice import calibration as files
from judgekit.metrics.brand_voice.authenticity import WEIGHTS, Authenticity
from judgekit.metrics.brand_voice.calibration import PersonaCalibration
from judgekit.metrics.brand_voice.persona import Persona, read_persona
from judgekit.runner.evaluation import evaluate_sync
from judgekit.stats.roc import auc_interval, best_threshold, f1_at, pearson, roc_auc

Step = Literal["bounds", "traits", "weights", "validate"]
STEPS: tuple[Step, ...] = get_args(Step)
OPTIONS = ("embedder", "reduce", "compat")
"""The options of `authenticity` that decide what is measured."""
LEAST = {"bounds": 2, "traits": 25, "weights": 10, "validate": 10}
"""Labels that a step needs, counted before the split."""
DIGITS = 4
_HEAD = "# Written by `judgekit persona calibrate`; the metric `authenticity` reads it.\n"


class CalibratePlan(NamedTuple):
    """The settings of `judgekit persona calibrate`."""

    persona: Path
    labels: Path
    steps: Sequence[str] = STEPS
    output: Path | None = None
    """By default beside the persona."""
    options: Mapping[str, Any] = {}
    """Some of `OPTIONS`."""
    split: float | None = None
    """The share of the labels to calibrate with; .8, or that of the file that is validated."""
    seed: int = 42
    l2: float | None = None

    @property
    def compat(self) -> bool:
        """Whether the numbers are those of Alignmenter."""
        return self.options.get("compat") is not None

    @property
    def path(self) -> Path:
        """The file to write."""
        return self.output or files.calibration_path(self.persona)


class LabelledScore(NamedTuple):
    """A held-out label and the calibrated score of its text."""

    label: VoiceLabel
    score: float


class Calibrated(NamedTuple):
    """The outcome."""

    calibration: PersonaCalibration
    labels: VoiceLabels
    notes: list[str]
    scores: list[LabelledScore]
    """Of the held-out labels, if they were validated."""


def load_with_labels(persona: Path, labels: Path) -> tuple[Persona, VoiceLabels]:
    """Return a persona and the labels about it.

    Raises:
        ConfigError: a file is wrong, or no label is about the persona.
    """
    if persona.suffix in (".jsonl", ".json"):
        message = "is no persona but a file of data; name the persona first, then the labels"
        raise ConfigError(message, where=str(persona))
    file, _ = read_persona(persona)
    loaded = Persona(file, persona)
    names = dict.fromkeys((file.id or persona.stem, loaded.name, persona.stem))
    return loaded, read_voice_labels(labels, persona=list(names))


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
    """Calibrate a persona; `write_calibration` writes the outcome.

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
        _check_labels(step, labels.values, where=str(plan.labels))
    run = _Calibration(plan, persona, labels)
    for step in STEPS:
        if step in plan.steps:
            run.do(step)
    return Calibrated(run.calibration, labels, run.notes, run.scores)


def _check_labels(step: str, values: Sequence[int], *, where: str) -> None:
    if len(values) < LEAST[step]:
        count = f"{len(values)} label{'s' * (len(values) != 1)}"
        message = f"{count}; the step {step} needs {LEAST[step]}"
        raise ConfigError(message, where=where)
    if step != "bounds" and len(set(values)) < 2:
        only = "on brand (1)" if values[0] else "off brand (0)"
        raise ConfigError(f"all labels are {only}; {step} needs both kinds", where=where)


def write_calibration(plan: CalibratePlan, calibration: PersonaCalibration) -> None:
    """Write a calibration, whole or not at all; the same calibration gives the same bytes.

    Raises:
        ConfigError: the file is foreign, or cannot be written.
    """
    refuse_foreign(plan.path, lambda head: head.startswith(_HEAD.encode()), what="a calibration")
    text = _HEAD + to_yaml(calibration.model_dump(mode="json", exclude_none=True))
    try:
        with whole_file(plan.path) as file:
            file.write(text.encode())
    except OSError as exc:
        raise ConfigError(f"cannot be written: {exc.strerror}", where=str(plan.path)) from exc


class _Calibration:
    """The state between the steps."""

    def __init__(self, plan: CalibratePlan, persona: Persona, labels: VoiceLabels) -> None:
        self.plan = plan
        self.persona = persona
        self.notes: list[str] = []
        self.scores: list[LabelledScore] = []
        self.parts: list[MeasuredParts] = []
        self.plain = self._metric(False)
        share = 0.8 if plan.split is None else plan.split
        self.calibration = self._start(labels, share)
        if plan.compat:
            split = stratified_split(labels.values, share, plan.seed)
        else:
            drawn = self.calibration.labels.drawn
            split = grouped_split(labels.values, labels.groups, *drawn)
        train = range(len(labels.labels)) if plan.compat else split.train
        self.train = [labels.labels[at] for at in train]
        self.texts = [each.text for each in self.train]
        self.values = [each.label for each in self.train]
        self.held = [labels.labels[at] for at in split.held_out]

    def _metric(self, calibration: Any, **options: Any) -> Authenticity:
        given = {**self.plan.options, **options}
        return authenticity_of(self.persona, given, calibration=calibration)

    def _start(self, labels: VoiceLabels, share: float) -> PersonaCalibration:
        """Return the earlier file, for single steps on the same labels, or else an empty one."""
        plan, on_brand = self.plan, sum(labels.values)
        counts = files.LabelCounts(
            digest=labels.digest,
            on_brand=on_brand,
            off_brand=len(labels.values) - on_brand,
            split=1.0 if plan.compat else share,
            seed=plan.seed,
        )
        fresh = PersonaCalibration(
            format=files.FORMAT,
            persona=self.persona.name,
            persona_digest=files.digest_of(self.persona),
            measured_with=self.plain.measured(),
            labels=counts,
        )
        alone = set(plan.steps) == {"validate"}
        if not alone and not share:
            raise ConfigError("--split 0 leaves no labels to calibrate with")
        if set(plan.steps) == set(STEPS) or not (alone or plan.path.is_file()):
            return fresh
        earlier = files.load_calibration(plan.path)
        made = [(each.persona_digest, each.measured_with) for each in (earlier, fresh)]
        same = earlier.labels.digest == counts.digest
        problem = ""
        if made[0] != made[1]:
            problem = (
                "was made with another version of the persona, or other options; run all steps"
            )
        elif same and plan.split == 0:
            problem = "was made with these labels; leave out --split"
        elif not same and not alone:
            problem = "was made with other labels; run all steps"
        elif not same and plan.split != 0:
            problem = "was made with other labels; if it has seen none of these, add --split 0"
        if problem:
            raise ConfigError(problem, where=str(plan.path))
        kept = earlier.labels if same else counts
        return earlier.model_copy(update={"held_out": None, "labels": kept})

    def do(self, step: Step) -> None:
        """Do one step."""
        steps: dict[Step, Callable[[], dict[str, Any]]] = {
            "bounds": lambda: {"bounds": self._bounds()},
            "traits": lambda: {"traits": self._traits()},
            "weights": self._weights,
            "validate": lambda: {"held_out": self._held_out()},
        }
        self.calibration = self.calibration.model_copy(update=steps[step]())

    def _scored(self, metric: Authenticity, labels: Sequence[VoiceLabel]) -> list[Any]:
        """Return the score of each reply.

        Raises:
            ConfigError: one fails, such as where an embedder has an outage.
        """
        cases = [Case(id=str(at), output=label.text) for at, label in enumerate(labels)]
        results = [each.rows[0].result for each in evaluate_sync(cases, [metric]).results]
        for result, label in zip(results, labels, strict=True):
            if isinstance(result, Failure):
                message = f"{label.id} cannot be scored: {result.message}"
                raise ConfigError(message, where=str(self.plan.labels))
        return results

    def _turns(self, metric: Authenticity) -> list[dict[str, Any]]:
        return [score.details["turns"][0] for score in self._scored(metric, self.train)]

    def _bounds(self) -> files.StyleBounds | None:
        # Alignmenter: from the greatest similarity, though its scorer takes the mean.
        nearest = {"embedder": self.plain.embedder, "reduce": "max", "compat": None}
        metric = self._metric(False, **nearest) if self.plan.compat else self.plain
        values = [turn["style"] for turn in self._turns(metric) if turn["style"] is not None]
        low, high = (round(each, DIGITS) for each in percentiles(values or [0.0]))
        if high <= low:
            self.notes.append(f"bounds: left out; every style similarity is {low:g}")
            return None
        return files.StyleBounds(low=low, high=high)

    def _traits(self) -> files.TraitModel:
        l2 = self.plan.l2
        if self.plan.compat:
            return sgd_traits(self.texts, self.values, l2=l2 or 0.0)
        return fit_traits(self.texts, self.values, l2=L2 if l2 is None else l2)

    def _parts(self, *, learned: bool = True) -> list[MeasuredParts]:
        """Return the parts of each reply, by rules or by a model of words that did not see it."""
        made = self.calibration.model_copy(update={} if learned else {"traits": None})
        turns = self._turns(self._metric(made))
        if made.traits and not self.plan.compat:
            groups = [each.group for each in self.train]
            l2 = L2 if self.plan.l2 is None else self.plan.l2
            unseen = cross_fitted(self.texts, self.values, groups, l2=l2)
            turns = [{**turn, "traits": p} for turn, p in zip(turns, unseen, strict=True)]
        return [MeasuredParts(turn["style"], turn["traits"], turn["lexicon"]) for turn in turns]

    def _weights(self) -> dict[str, Any]:
        self.parts = self._parts()
        best = best_weights(self.parts, self.values)
        traits = self.calibration.traits
        if traits and not self.plan.compat:
            parts = self._parts(learned=False)
            rules = best_weights(parts, self.values)
            if rules and best and rules.rank > best.rank:
                best, traits, self.parts = rules, None, parts
                self.notes.append("traits: left out; the rules tell these labels apart better")
        if best is None:
            self.notes.append("weights: left out; no part applies to the labelled replies")
        return {"weights": best and best.weights, "traits": traits}

    def _threshold(self, scores: Sequence[float], labels: Sequence[int]) -> float:
        """Return the best threshold of the training labels, or else of the labels themselves."""
        if self.train and not self.plan.compat:
            weights = self.calibration.weights or files.AuthenticityWeights(**WEIGHTS)
            folded = fold_all(self.parts or self._parts(), weights)
            known = [at for at, score in enumerate(folded) if score is not None]
            scores = [score for score in folded if score is not None]
            labels = [self.values[at] for at in known]
        return round(best_threshold(scores, labels)[0], DIGITS)

    def _held_out(self) -> files.HeldOut:
        before = [score.value for score in self._scored(self.plain, self.held)]
        after = [score.value for score in self._scored(self._metric(self.calibration), self.held)]
        self.scores = [
            LabelledScore(label, score)
            for label, score in zip(self.held, after, strict=True)
            if score is not None
        ]
        if left := len(self.held) - len(self.scores):
            self.notes.append(f"validate: {left} held-out labels have no score")
        scores, labels = [s.score for s in self.scores], [s.label.label for s in self.scores]
        if len(set(labels)) < 2:
            message = "the held-out labels are of one kind; give more labels or a lower --split"
            raise ConfigError(message, where=str(self.plan.labels))
        # Turns of a session are alike: an interval counts sessions.
        sides = [len({s.label.group for s in self.scores if s.label.label == k}) for k in (1, 0)]
        low, high = auc_interval(auc := roc_auc(scores, labels), *sides)
        comparable = [value for value in before if value is not None]
        linear = pearson(scores, [float(label) for label in labels])
        threshold = self._threshold(scores, labels)
        return files.HeldOut(
            on_brand=sum(labels),
            off_brand=len(labels) - sum(labels),
            roc_auc=round(auc, DIGITS),
            low=round(low, DIGITS),
            high=round(high, DIGITS),
            uncalibrated=round(roc_auc(comparable, labels), DIGITS)
            if len(comparable) == len(labels) == len(before)
            else None,
            f1=round(f1_at(scores, labels, 0.5), DIGITS),
            pearson=None if linear is None else round(linear, DIGITS),
            threshold=threshold,
            f1_at_threshold=round(f1_at(scores, labels, threshold), DIGITS),
            seen=self.plan.compat,
        )
