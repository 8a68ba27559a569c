"""Calibration of a persona: the parameters that `authenticity` learned from labelled replies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from judgekit.core.canonical import digest_json
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import FileModel, Fraction, Number, validate_file
from judgekit.core.input_file import read_named
from judgekit.core.value import Json
from judgekit.core.yaml_file import Lines, parse_yaml
from judgekit.metrics.brand_voice import alignmenter
from judgekit.metrics.brand_voice.alignmenter import AlignmenterCalibration, Compat
from judgekit.metrics.brand_voice.persona import CALIBRATION_ENDING, Persona
from judgekit.metrics.brand_voice.phrases import plain

FORMAT: Final = "judgekit-calibration/1"
MAX_FILE = 4_000_000
"""Maximum size of a calibration file, in bytes."""
_SHOWN = 3
"""Number of words that a reason names."""

WordWeight = Annotated[Number, Field(ge=-1e6, le=1e6)]
"""Bounded, so a sum of weights cannot overflow."""


class MeasuredWith(FileModel):
    """The settings of `authenticity` when the labelled replies were scored."""

    embedder: str
    reduce: Literal["max", "mean"] = "max"
    compat: Compat | None = None


class LabelCounts(FileModel):
    """The labels of a calibration."""

    digest: str
    """Digest of all labels, including held-out ones."""
    on_brand: int
    off_brand: int
    split: Fraction
    """Share of the labels used for the calibration; the others are held out."""
    seed: int = 42


class StyleBounds(FileModel):
    """The range of the style similarity: `low` becomes 0 and `high` 1."""

    low: Annotated[Number, Field(ge=-1, le=1)]
    high: Annotated[Number, Field(ge=-1, le=1)]

    @model_validator(mode="after")
    def _rising(self) -> StyleBounds:
        if self.high <= self.low:
            raise ValueError(f"high must be above low ({self.low:g})")
        return self

    def rescaled(self, similarity: float) -> float:
        """Return a similarity between the bounds rescaled to 0..1."""
        return round(alignmenter.position(similarity, (self.low, self.high)), 4)


class TraitModel(FileModel):
    """A logistic model of the words of a reply."""

    bias: WordWeight = 0.0
    tokens: dict[str, WordWeight] = Field(default_factory=dict)
    phrases: dict[str, WordWeight] = Field(default_factory=dict)

    def probability(self, text: str) -> float:
        """Return the probability that a reply is on brand, 0..1."""
        return alignmenter.trait_probability(plain(text), self.bias, self.tokens, self.phrases)

    def reason(self, text: str) -> str:
        """Return the words with the largest effect on the probability."""
        there = {*alignmenter.tokens_of(plain(text))} & self.tokens.keys()
        words = sorted(there, key=lambda word: (-abs(self.tokens[word]), word))[:_SHOWN]
        listed = ", ".join(f"{word} {self.tokens[word]:+.2f}" for word in words)
        return f"words of the labels: {listed or 'none'}"


class AuthenticityWeights(FileModel):
    """The weights of the parts of `authenticity`, which add up to 1."""

    style: Fraction
    traits: Fraction
    lexicon: Fraction

    @model_validator(mode="after")
    def _whole(self) -> AuthenticityWeights:
        total = math.fsum((self.style, self.traits, self.lexicon))
        if abs(total - 1) > 1e-6:
            raise ValueError(f"weights must add up to 1, not {total:g}")
        return self


class HeldOut(FileModel):
    """How well the calibrated score separates the held-out labels."""

    on_brand: int
    off_brand: int
    roc_auc: Fraction
    low: Fraction
    """The lower end of the 95 % interval of the ROC-AUC."""
    high: Fraction
    uncalibrated: Fraction | None = None
    """The ROC-AUC without the calibration, on the same labels."""
    f1: Fraction
    """F1 at .5."""
    pearson: Number | None = None
    threshold: Fraction
    """The score with the best F1; computed on the training labels, unless all labels are held
    out."""
    f1_at_threshold: Fraction
    seen: bool = False
    """Whether the calibration used these labels too, as in Alignmenter."""

    @property
    def text(self) -> str:
        """The figure with its interval, in words."""
        held, seen = ("", " that it was made with") if self.seen else ("held-out ", "")
        before = "" if self.uncalibrated is None else f"; {self.uncalibrated:.2f} without it"
        figure = f"ROC-AUC {self.roc_auc:.2f} [{self.low:.2f}, {self.high:.2f}]"
        return f"{held}{figure} on {self.on_brand + self.off_brand} labels{seen}{before}"


class PersonaCalibration(FileModel):
    """The content of a `.calibration.yaml`."""

    format: Literal["judgekit-calibration/1"] = FORMAT
    persona: str
    persona_digest: str
    measured_with: MeasuredWith
    labels: LabelCounts
    bounds: StyleBounds | None = None
    traits: TraitModel | None = None
    weights: AuthenticityWeights | None = None
    held_out: HeldOut | None = None

    def older_than(self, persona: Persona) -> bool:
        """Return whether the persona has changed since the calibration."""
        return self.persona_digest != persona.digest[:16]

    def made_with(self, persona: Persona) -> dict[str, Json]:
        """Return the facts about the calibration for the results of a run."""
        return {
            "digest": digest_json(self.model_dump(mode="json"))[:16],
            "older_than_persona": self.older_than(persona),
            "labels": self.labels.on_brand + self.labels.off_brand,
            "held_out": self.held_out and self.held_out.text,
        }

    def apply(self, text: str, details: dict[str, Json], reasons: dict[str, str]) -> None:
        """Replace the parts of the score of one reply that the calibration changes."""
        raw = details["style"]
        if self.bounds is not None and raw is not None:
            details |= {"style": self.bounds.rescaled(raw), "style_raw": raw}
            reasons["style"] += f", {details['style']:.2f} of the calibrated range"
        if self.traits is not None:
            details["traits"] = round(self.traits.probability(text), 4)
            reasons["traits"] = self.traits.reason(text)

    def as_alignmenter(self) -> AlignmenterCalibration:
        """Return this calibration in the form of a `.traits.json` file."""
        parts: dict[str, Any] = dict(self.traits) if self.traits else {}
        if self.weights:
            parts["weights"] = self.weights.model_dump()
        if self.bounds:
            parts["bounds"] = (self.bounds.low, self.bounds.high)
        return AlignmenterCalibration(**parts)


def calibration_path(persona: Path) -> Path:
    """Return the path of the calibration of a persona file.

    >>> str(calibration_path(Path("acme.yaml")))
    'acme.calibration.yaml'
    """
    return persona.with_name(persona.stem + CALIBRATION_ENDING)


def load_calibration(path: Path) -> PersonaCalibration:
    """Read a calibration file.

    Raises:
        ConfigError: with `file:line`, for anything wrong in it.
    """
    hint = "; `judgekit persona calibrate` writes one"
    text = read_named(path, what="calibration", most=MAX_FILE, otherwise=hint)
    data, lines = parse_yaml(text, file=str(path))
    return _validated(data, lines, where=str(path))


def _validated(data: object, lines: Lines, *, where: str) -> PersonaCalibration:
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        message = f"is not a calibration: its first key must be `format: {FORMAT}`"
        raise ConfigError(message, where=where)
    return validate_file(PersonaCalibration, dict(data), lines=lines)


def calibration_for(
    metric: str, option: object, persona: Persona, measured: Callable[[], MeasuredWith]
) -> PersonaCalibration | AlignmenterCalibration | None:
    """Return the calibration of a metric.

    Args:
        metric: the name of the metric.
        option: a file, its content, `False` for none, or `None` for the file next to the persona.
        persona: the persona.
        measured: returns the settings of the metric.

    Raises:
        ConfigError: it cannot be read, is invalid, or was made with other settings.
    """
    where = ""
    if option is None and persona.path is not None:
        path = calibration_path(persona.path)
        option = path if path.is_file() else None
    if option is None or option is False or isinstance(option, AlignmenterCalibration):
        return option or None
    if isinstance(option, PersonaCalibration):
        known = option
    elif isinstance(option, (str, Path)) and Path(option).suffix in (".yaml", ".yml"):
        known, where = load_calibration(Path(option)), str(option)
    elif isinstance(option, Mapping) and "format" in option:
        known = _validated(option, Lines(file=""), where=f"{metric}: calibration")
    elif measured().compat is None:
        message = f"{metric}: this calibration belongs to compat: alignmenter; without it"
        raise ConfigError(f"{message}, name a file that `judgekit persona calibrate` wrote")
    else:
        return alignmenter.calibration_of(option)
    if known.measured_with != measured():
        made = ", ".join(f"{k} {v}" for k, v in known.measured_with.model_dump().items() if v)
        message = f"{metric}: the calibration was made with {made}, unlike this metric; calibrate"
        hint = "with the options of the suite, or write `calibration: false`"
        raise ConfigError(f"{message} {hint}", where=where)
    return known
