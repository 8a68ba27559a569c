"""Authenticity: does an assistant sound like its persona? By exemplars, traits and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Aggregate
from judgekit.core.score import Part, Score
from judgekit.core.value import Json
from judgekit.embedders import Chosen, identity_of
from judgekit.metrics.aggregate import mean_of
from judgekit.metrics.brand_voice import alignmenter
from judgekit.metrics.brand_voice.alignmenter import Compat
from judgekit.metrics.brand_voice.calibration import (
    MeasuredWith,
    PersonaCalibration,
    calibration_for,
)
from judgekit.metrics.brand_voice.persona import Persona, persona_of
from judgekit.metrics.brand_voice.phrases import score_lexicon
from judgekit.metrics.brand_voice.sessions import FIGURES, POOLED, Pooled, Scope, Sessions, replies
from judgekit.metrics.brand_voice.traits import TraitFinding, find_traits, signals_digest
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.embedding.similarity import Reduce
from judgekit.metrics.vectors import Vector, dot, unit_vectors
from judgekit.metrics.weights import check_weights, fold_parts, spelled_part

WEIGHTS = {"style": 0.6, "traits": 0.25, "lexicon": 0.15}


class Authenticity(ComputedMetric):
    """How much the replies sound like a persona. Range 0..1, higher is better.

    `style` is the maximum cosine of a reply to the persona's exemplars, or the mean with `reduce:
    mean`. `meta` names the embedder; the default one compares words, not meaning. `traits` is the
    share of the persona's formality, tones and verbosity that rules detect in the reply. The rules
    support English only, and a trait without any signal does not count. `lexicon` is the share of
    preferred words and phrases in the reply, minus .1 per avoided one; it matches whole words only.
    Each part is the mean over the assistant's turns, or the value of the last turn with `scope:
    last`. A part that is not applicable drops out, and the others share its weight. `confidence` is
    the share of the weight that counted.

    `compat: alignmenter` reproduces the figures of Alignmenter's code: token density for words, a
    logistic function of single words for traits, the mean similarity rescaled to .3-.9, the weights
    .3/.3/.4, and its hashed embedder. The figure `mean_by_turn` of a run pools the turns of all
    sessions, as in Alignmenter's report.

    A calibration comes from labelled replies: `judgekit persona calibrate` writes it to
    `PERSONA.calibration.yaml`, and this metric reads it next to the persona. It sets the range of
    `style`, replaces the rules of `traits` by a model of words, and sets the weights.
    """

    persona: str | Mapping[str, Any] | Persona
    """The persona, as a file path relative to the suite or as a mapping."""
    name: str = "authenticity"
    weights: Mapping[str, float] | None = None
    """Weights of style, traits and lexicon, which add up to 1; by default .6, .25 and .15."""
    reduce: Reduce = "max"
    """Similarity to several exemplars: the maximum (`max`) or the mean (`mean`)."""
    scope: Scope = "session"
    """Every assistant turn (`session`) or only the last one (`last`)."""
    embedder: Chosen = "lexical"
    """Embedder that turns texts into vectors."""
    compat: Compat | None = None
    """Reproduce the figures of Alignmenter's code."""
    calibration: str | Mapping[str, Any] | bool | None = None
    """A `.calibration.yaml` file or its content, instead of the one next to the persona; `false`
    for none. With `compat` also a `.traits.json`."""

    files: ClassVar[tuple[str, ...]] = ("persona", "calibration")
    figures: ClassVar[Mapping[str, bool]] = {**FIGURES, **POOLED}
    synchronous = ComputedMetric.embeds_at_once
    needs = ("output, or assistant turns in history",)
    confidence = "is the share of the weight that counted"
    # The persona is named in `made_with`.
    options = ComputedMetric.plain_options
    synchronous = ComputedMetric.embeds_at_once

    voice: Persona = field(init=False, repr=False)
    learned: PersonaCalibration | None = field(init=False, repr=False)
    """The calibration from labelled replies, if there is one."""
    original: alignmenter.AlignmenterCalibration = field(init=False, repr=False)
    """The parameters for `compat`."""

    def prepare(self) -> None:
        """Check and complete the options."""
        persona = persona_of(self.name, self.persona)
        self.put(voice=persona, persona=persona)
        if self.compat is not None and self.embedder == "lexical":
            self.put(embedder="hashed-512")
        known = calibration_for(self.name, self.calibration, persona, self.measured)
        learned = known if isinstance(known, PersonaCalibration) else None
        original = learned.as_alignmenter() if learned else alignmenter.calibration_of(known)
        given = self.compat or (learned and learned.weights)
        weights = check_weights(self.name, self.weights, original.weights if given else WEIGHTS)
        self.put(calibration=known or False, learned=learned, original=original, weights=weights)
        there = {
            "style": persona.exemplars,
            "traits": persona.traits or (learned and learned.traits),
            "lexicon": persona.preferred or persona.avoided,
        }
        if not self.compat and not any(weights[part] for part, has in there.items() if has):
            message = f"{self.name}: the persona {persona.name!r} has nothing to compare with"
            raise ConfigError(f"{message}; add exemplars, traits or a lexicon")

    @property
    def made_with(self) -> dict[str, Json]:
        """Facts that affect the value in addition to the options."""
        facts: dict[str, Json] = self.voice.made_with
        if learned := self.learned:
            facts["calibration"] = learned.made_with(self.voice)
        return facts if self.compat else facts | {"trait_lists": signals_digest()}

    def aggregates(self) -> list[Aggregate]:
        """Return the spread over sessions, and the mean over turns."""
        return [Sessions(), Pooled()]

    def measured(self) -> MeasuredWith:
        """Return the settings that a calibration must match."""
        embedder = identity_of(self.embedder)
        return MeasuredWith(embedder=embedder, reduce=self.reduce, compat=self.compat)

    async def score(self, case: Case) -> Score:
        """Score one session, or its last reply.

        Raises:
            CaseError: the assistant has no turn with text.
        """
        texts = replies(case, self.scope)
        vectors = await unit_vectors(self.embedder, texts)
        exemplars = await self._exemplars()
        score_turn = self._compat_turn if self.compat else self._turn
        turns = [score_turn(text, v, exemplars) for text, v in zip(texts, vectors, strict=True)]
        folded = fold_parts([part_of(id, turns) for id in WEIGHTS], self.weights or {})
        method = f"style, traits and lexicon over {len(texts)} turn{'s' * (len(texts) != 1)}"
        if self.compat:
            method += ", as Alignmenter"
        common: dict[str, Any] = {
            "parts": folded.parts,
            "method": method,
            "details": {"turns": [turn.details for turn in turns]},
            "meta": {"embedder": identity_of(self.embedder), **self.made_with},
        }
        if folded.value is None:
            heard = "; ".join(f"{part.id}: {part.reason}" for part in folded.parts)
            return not_applicable(
                f"Nothing the persona asks for can be heard in these replies: {heard}.", **common
            )
        summary = "; ".join(f"{spelled_part(part)} ({part.reason})" for part in folded.parts)
        return Score(
            value=folded.value,
            reason=f"{folded.value:.2f} like {self.voice.name}: {summary}.",
            confidence=folded.covered,
            **common,
        )

    async def _exemplars(self) -> Sequence[Vector]:
        """Return the exemplars to compare with; without any, Alignmenter's code uses words."""
        persona = self.voice
        if self.compat and not persona.exemplars:
            words = sorted(word.lower() for word in persona.preferred.entries)
            return await unit_vectors(self.embedder, [" ".join(words) or "persona"])
        return await persona.vectors(self.embedder)

    def _turn(self, text: str, vector: Vector, exemplars: Sequence[Vector]) -> ReplyScore:
        persona = self.voice
        style, nearest = self._style(vector, exemplars)
        findings = find_traits(text, persona.traits)
        traits = mean_of([None if f.matched is None else float(f.matched) for f in findings])
        words = score_lexicon(text, persona.preferred, persona.avoided)
        details: dict[str, Json] = {
            "style": style,
            "nearest_exemplar": nearest,
            "traits": traits,
            "trait_signals": [plain_finding(finding) for finding in findings],
            "lexicon": words.value,
            "preferred_used": words.preferred,
            "avoided_used": words.avoided,
        }
        reasons = {
            "style": self._style_reason(style),
            "traits": traits_reason(findings),
            "lexicon": words_reason(words.preferred, words.avoided, len(persona.preferred)),
        }
        if learned := self.learned:
            learned.apply(text, details, reasons)
        return ReplyScore(details, reasons)

    def _style(
        self, vector: Vector, exemplars: Sequence[Vector]
    ) -> tuple[float | None, int | None]:
        """Return the similarity to the exemplars, and the number of the most similar one."""
        near = [
            (max(0.0, dot(vector, other)), -at)
            for at, other in enumerate(exemplars, 1)
            if vector is not None and other is not None
        ]
        if not near:
            return None, None
        most, at = max(near)
        value = most if self.reduce == "max" else mean_of([cosine for cosine, _ in near])
        return round(value or 0.0, 4), -at

    def _style_reason(self, value: float | None) -> str:
        if value is None:
            there = "the reply holds no words the embedder knows"
            return there if self.voice.exemplars else "the persona has no exemplars"
        return f"{alignmenter.band_of(value, STYLE_BANDS)} match of the exemplars"

    def _compat_turn(self, text: str, vector: Vector, exemplars: Sequence[Vector]) -> ReplyScore:
        persona, calibration = self.voice, self.original
        preferred = {word.lower() for word in persona.preferred.entries}
        avoided = {word.lower() for word in persona.avoided.entries}
        tokens = alignmenter.tokens_of(text)
        raw = style_mean(vector, exemplars)
        style = alignmenter.rescale_style(raw, calibration.bounds)
        trained = calibration.bias is not None
        weights = calibration.tokens
        if not trained:
            weights = alignmenter.persona_weights(sorted(avoided), persona.style_words)
        bias = calibration.bias or 0.0
        details: dict[str, Json] = {
            "style": style,
            "style_raw": raw,
            "traits": alignmenter.trait_probability(text, bias, weights, calibration.phrases),
            "lexicon": alignmenter.lexicon_density(tokens, preferred, avoided),
            "tokens": len(tokens),
            "preferred_hits": sum(token in preferred for token in tokens),
            "avoid_hits": sum(token in avoided for token in tokens),
        }
        reasons = {
            "style": f"mean cosine {raw:.2f}, rescaled",
            "traits": f"logistic of {'trained' if trained else 'the persona’s'} word weights",
            "lexicon": f"{details['preferred_hits']} preferred and {details['avoid_hits']} avoided"
            f" of {len(tokens)} tokens",
        }
        return ReplyScore(details, reasons)


def style_mean(vector: Vector, exemplars: Sequence[Vector]) -> float:
    """Return the mean cosine to the exemplars, clamped to 0..1; a zero vector counts as 0."""
    if not exemplars:
        return 0.0
    cosines = [0.0 if vector is None or o is None else dot(vector, o) for o in exemplars]
    return max(0.0, min(1.0, mean_of(cosines) or 0.0))


STYLE_BANDS = ((0.9, "very close"), (0.7, "good"), (0.5, "moderate"), (-1.0, "poor"))
"""Minimum similarity of style -> its meaning, from the original's documentation."""


class ReplyScore(NamedTuple):
    """The score of one reply."""

    details: Mapping[str, Json]
    """Details; each part has its value under its name."""
    reasons: Mapping[str, str]


def part_of(id: str, replies: Sequence[ReplyScore]) -> Part:
    """Return the mean of the replies as a part, with the reason of the worst reply."""
    values = [reply.details[id] for reply in replies]
    known = [(value, at) for at, value in enumerate(values) if value is not None]
    if not known:
        return Part(id=id, status="not_applicable", reason=replies[0].reasons[id])
    lowest, worst = min(known)
    turn = f"turn {worst + 1}: " if len(replies) > 1 else ""
    return Part(
        id=id,
        value=max(0.0, min(1.0, mean_of(values) or 0.0)),
        reason=f"{turn}{replies[worst].reasons[id]}",
        details={"turns": len(known), "lowest": lowest},
    )


def plain_finding(finding: TraitFinding) -> dict[str, Json]:
    """Return a finding as plain data."""
    return {
        "trait": finding.kind,
        "wanted": finding.expected,
        "matched": finding.matched,
        "heard": list(finding.detected),
        "signals": {name: list(hits) for name, hits in finding.signals.items()},
        "reason": finding.reason,
    }


def traits_reason(findings: Sequence[TraitFinding]) -> str:
    """Return which traits are missing, or else which are detected."""
    if not findings:
        return "the persona names no traits"
    if missed := [f for f in findings if f.matched is False]:
        return "; ".join(f"not {f.expected}: {f.reason}" for f in missed)
    if matched := [f.expected for f in findings if f.matched]:
        return f"{', '.join(matched)} as wanted"
    return "; ".join(f"{f.expected}: {f.reason}" for f in findings)


def words_reason(liked: Mapping[str, int], shunned: Mapping[str, int], total: int) -> str:
    """Return which preferred and avoided words are used; `total` is the number of preferred."""
    facts = [f"uses {', '.join(liked)}"] if liked else ["uses no preferred word"] if total else []
    if shunned:
        facts.append(f"uses {', '.join(shunned)}, which the persona avoids")
    elif not total:
        facts.append("uses no avoided word")
    return "; ".join(facts)
