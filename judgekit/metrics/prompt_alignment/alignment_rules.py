"""AlignmentFallback: the computed metric that replaces prompt alignment without a judge."""

from __future__ import annotations

from typing import Literal

from judgekit.core.case import Case
from judgekit.core.score import Part, Score
from judgekit.metrics._options import needed_prompts, needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable

Mode = Literal["user", "system", "both"]

# The two halves of the mode `both` of prompt alignment.
_SHARES: dict[Mode, dict[str, float]] = {
    "user": {"user": 1.0},
    "system": {"system": 1.0},
    "both": {"user": 0.7, "system": 0.3},
}
_HALVES = {"input": "user", "system": "system"}
_SIMILARITY = 0.5
"""Share of similarity in a half; the requirements have the rest."""


class AlignmentFallback(ComputedMetric):
    """Computed fallback for prompt alignment. Range 0..1, higher is better.

    Each half (the user's input, the system prompt) counts .5 lexical similarity to the output + .5
    share of its rule-checkable requirements that the output meets. Without such a requirement, the
    similarity counts alone. `both` is .7 user + .3 system. If one half is missing, the other counts
    alone, and `details.effective_mode` names it. A good answer in other words scores low: treat the
    value as a lower bound, and do not compare it with a judge's score. The metric needs `output`,
    and `input` or `system` depending on the mode.
    """

    name: str = "alignment_rules"
    mode: Mode = "both"
    """Which requirements count: the user's, the system prompt's, or both."""

    synchronous = True
    needs = ("output", "input or system, by mode")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing, or all texts that the mode needs.
        """
        from judgekit.embedders.lexical import LexicalEmbedder
        from judgekit.metrics.weights import fold_parts

        output = needed_text(case, "output")
        prompts = needed_prompts(case, "input" if self.mode == "user" else self.mode)
        requests = {_HALVES[field]: text for field, text in prompts.items()}
        parts = [
            part
            for half, request in requests.items()
            for part in _ingredients(half, request, output, share=_SHARES[self.mode][half])
        ]
        value, _, weighed = fold_parts(parts, {part.id: part.weight for part in parts})
        if value is None:
            return not_applicable(
                "There are no words to compare and no requirements to check.", method=_METHOD
            )
        return Score(
            value=value,
            parts=weighed,
            reason=" ".join(part.reason for part in parts),
            method=_METHOD,
            details={
                "mode": self.mode,
                "effective_mode": "both" if len(requests) > 1 else next(iter(requests)),
                **{part.id: {"value": part.value, "weight": part.weight} for part in weighed},
            },
            meta={"embedder": LexicalEmbedder().identity},
        )


_METHOD = "lexical similarity and rule-checkable requirements"


def _ingredients(half: str, request: str, output: str, *, share: float) -> list[Part]:
    """Return the parts of one half; the weights of the scored ones add up to its share."""
    # A fallback is often created and seldom used, and its rules are slow to load.
    from judgekit.embedders.lexical import LexicalEmbedder
    from judgekit.metrics.prompt_alignment.requirements import describe, find_requirements
    from judgekit.metrics.vectors import cosine

    whose = "user's request" if half == "user" else "system prompt"
    first, second = LexicalEmbedder().embed([output, request])
    similarity = cosine(first, second)
    checks = [
        (requirement, requirement.met_by(output)) for requirement in find_requirements(request)
    ]
    met = sum(is_met for _, is_met in checks)
    weight = share if similarity is None or not checks else share * _SIMILARITY
    return [
        Part(
            id=f"{half}.similarity",
            status="not_applicable" if similarity is None else "scored",
            value=None if similarity is None else round(similarity, 4),
            weight=weight,
            reason=f"There are no words to compare with the {whose}."
            if similarity is None
            else f"Lexical similarity to the {whose}: {similarity:.2f}.",
        ),
        Part(
            id=f"{half}.requirements",
            status="scored" if checks else "not_applicable",
            value=met / len(checks) if checks else None,
            weight=weight,
            reason=f"Of the {whose}, {met} of {len(checks)} checkable requirements are met."
            if checks
            else f"No requirement of the {whose} can be checked by rule.",
            items=tuple(describe(checks)),
        ),
    ]
