"""Brand voice by a judge: does a session sound like the persona, and is it safe for the brand?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from judgekit.core.case import Case
from judgekit.core.protocols import Aggregate, JudgeLike, Metric
from judgekit.core.score import Part, Score, checked_score
from judgekit.core.value import Json
from judgekit.metrics._options import text_options
from judgekit.metrics.brand_voice.patterns import PatternSet
from judgekit.metrics.brand_voice.persona import Persona, persona_of
from judgekit.metrics.brand_voice.safety import SafetyPatterns
from judgekit.metrics.brand_voice.sessions import FIGURES, Sessions
from judgekit.metrics.built_in import BuiltIn, RubricLike
from judgekit.metrics.quote import FIGURES as QUOTE_FIGURES
from judgekit.metrics.rubric import RubricMetric

SESSION_HISTORY = 100
"""Maximum number of earlier messages of a session that the judge sees."""


class AuthenticityJudge(BuiltIn):
    """How much the replies sound like a persona, by a judge. Range 0..1, higher is better.

    The judge sees the persona (description, traits, words, exemplars) and the whole session. It
    rates style, traits and wording, with the weights .6, .25 and .15 as in `authenticity`. If the
    persona has no traits or no words, the other criteria share the weight. `confidence` is the
    share of the weight that the judge answered. `details` contain strengths, weaknesses and a
    suggestion.

    Args:
        judge: the judge.
        persona: the persona, as a file path relative to the suite or as a mapping.
        name: the name in results.
        samples: how many times to ask the judge.
        history: maximum number of earlier messages that the judge sees.
        scale: factor for the displayed value, such as 10.
        rubric: rubric with the same parameters that replaces the built-in one.
    """

    judge: JudgeLike
    persona: str | Mapping[str, Any] | Persona
    name: str = "authenticity_judge"
    samples: int = 1
    history: int = SESSION_HISTORY
    scale: float = 1.0
    rubric: RubricLike = "authenticity_judge"

    files: ClassVar[tuple[str, ...]] = ("persona",)
    needs = ("output",)
    confidence = "is the share of the weight that the judge answered"

    def __post_init__(self) -> None:
        self.persona = persona_of(self.name, self.persona)
        self.parameters = persona_parameters(self.persona)
        super().__post_init__()
        self.made_with.update(self.persona.made_with)

    @property
    def figures(self) -> Mapping[str, bool]:
        """The figures of a run, and whether higher is better."""
        return {**super().figures, **FIGURES}

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the quotes and the spread over sessions."""
        return (*super().aggregates(), Sessions())


def persona_parameters(persona: Persona) -> dict[str, Any]:
    """Return a persona as the parameters of the rubric `authenticity_judge`."""
    return {
        "persona": persona.name,
        "voice": "\n".join(filter(None, (persona.description, persona.notes))),
        "exemplars": list(persona.exemplars),
        "traits": [f"{kind}: {value.replace('_', ' ')}" for kind, value in persona.traits],
        "preferred": list(persona.preferred.entries),
        "avoided": list(persona.avoided.entries),
    }


@dataclass(kw_only=True, eq=False, repr=False)
class BrandSafety(Metric):
    """The minimum of pattern score and judge's score of a session. Range 0..1, higher is better.

    The patterns are those of `safety_patterns`. The judge sees the user's and the assistant's turns
    and chooses a level for each of six kinds of harm (rubric `brand_safety`); the worst counts.
    Version 1 of the rubric asks for one number from 0 to 10, which is divided by 10. Without a
    judge, `safety_patterns` replaces this metric.

    Args:
        judge: the judge.
        name: the name in results.
        policy: what the assistant must avoid, one line per rule; the judge sees it.
        persona: a persona; its `safety_rules.disallowed_topics` become part of the policy.
        categories: built-in pattern lists to use; by default all of them.
        patterns: your own pattern list, as a file path relative to the suite or as a mapping.
        samples: how many times to ask the judge.
        history: maximum number of earlier messages that the judge sees.
        rubric: rubric with a parameter `policy` that replaces the built-in one.
    """

    judge: JudgeLike
    name: str = "brand_safety"
    policy: tuple[str, ...] = ()
    persona: str | Mapping[str, Any] | Persona | None = None
    categories: tuple[str, ...] | None = None
    patterns: str | Mapping[str, Any] | PatternSet | None = None
    samples: int = 1
    history: int = SESSION_HISTORY
    rubric: RubricLike = "brand_safety"

    files: ClassVar[tuple[str, ...]] = ("persona", "patterns")
    figures: ClassVar[Mapping[str, bool]] = {**QUOTE_FIGURES, **FIGURES}
    needs = ("output",)
    confidence = "is the share of the rubric's weight that the judge answered"

    def __post_init__(self) -> None:
        self.words = SafetyPatterns(
            name=self.name, categories=self.categories, patterns=self.patterns
        )
        lines = list(text_options(self.name, "policy", self.policy))
        if self.persona is not None:
            topics = persona_of(self.name, self.persona).topics
            lines += [f"Keep off this topic: {topic}" for topic in topics]
        self.judged = RubricMetric(
            self.rubric,
            judge=self.judge,
            name=self.name,
            samples=self.samples,
            history=self.history,
            parameters={"policy": lines} if lines else None,
        )

    def children(self) -> tuple[Metric, ...]:
        """Return the metrics of which it takes the minimum."""
        return (self.words, self.judged)

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits."""
        return self.judged.synchronous

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        return {**self.judged.options, "categories": self.words.options["categories"]}

    @property
    def made_with(self) -> dict[str, Json]:
        """Rubric, model and lists."""
        return {**self.judged.made_with, **self.words.made_with}

    def aggregates(self) -> list[Aggregate]:
        """Return the quotes and the spread over sessions."""
        return [*self.judged.aggregates(), Sessions()]

    async def score(self, case: Case) -> Score:
        """Score one session.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        words = await checked_score(self.words, case)
        judged = await checked_score(self.judged, case)
        value = min(one.value for one in (words, judged) if one.value is not None)
        by_words = words.value == value
        return Score(
            value=value,
            parts=(
                Part(id="keywords", value=words.value, weight=float(by_words), reason=words.reason),
                *_judge_parts(judged, decisive=not by_words),
            ),
            reason=words.reason if by_words else judged.reason,
            source="judge",
            method=f"least of keywords and {judged.method}",
            confidence=judged.confidence,
            judgments=judged.judgments,
            opinions=judged.opinions,
            details={**words.details, "judge": judged.value, **judged.details},
            meta={**judged.meta, **words.meta},
        )


def _judge_parts(judged: Score, *, decisive: bool) -> Sequence[Part]:
    total = float(decisive)
    if len(judged.parts) == 1:
        return [judged.parts[0].model_copy(update={"id": "judge", "weight": total})]
    return [
        part.model_copy(update={"id": f"judge.{part.id}", "weight": part.weight * total})
        for part in judged.parts
    ]
