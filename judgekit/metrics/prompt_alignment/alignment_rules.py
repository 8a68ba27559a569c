"""AlignmentFallback: the computed metric that replaces prompt alignment without a judge."""

from __future__ import annotations

from typing import Literal

from judgekit.core.case import Case, has_text
from judgekit.core.score import Part, Score
from judgekit.embedders import Chosen, identity_of, is_semantic
from judgekit.metrics._options import needed_prompts, needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable

Mode = Literal["user", "system", "both"]

_HALVES: dict[str, tuple[str, float]] = {"input": ("user", 0.7), "system": ("system", 0.3)}
"""Field of the case -> name of its half, and its share of the requirements in the mode `both`."""
_SIMILARITY = 0.5
"""Share of the similarity; the requirements have the rest."""


class AlignmentFallback(ComputedMetric):
    """Computed fallback for prompt alignment. Range 0..1, higher is better.

    The value is .5 similarity + .5 share of the rule-checkable requirements that the output meets;
    if one of the two is missing, the other counts alone. The similarity is that to the most similar
    reference: F1 of words, where those copied from the input hardly count and numbers count twice;
    with a semantic embedder, its mean with the cosine of the words that are not copied. Without a
    reference, a semantic embedder compares these words of the output with the request. An output
    that only repeats the input, or refuses it, meets none of the user's requirements. In the mode
    `both`, the requirements count .7 user + .3 system. If one half is missing, the other counts
    alone, and `details.effective_mode` names it. Without a reference, a semantic embedder and a
    requirement that a rule can check, the metric is not applicable. A good answer in other words
    scores low: treat the value as a lower bound, and do not compare it with a judge's score. The
    metric needs `output`, and `input` or `system` depending on the mode.
    """

    name: str = "alignment_rules"
    mode: Mode = "both"
    """Which requirements count: the user's, the system prompt's, or both."""
    embedder: Chosen = "lexical"
    """Embedder that compares meaning; a lexical one does not count."""

    synchronous = ComputedMetric.embeds_at_once
    needs = ("output", "input or system, by mode")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing, or all texts that the mode needs.
        """
        from judgekit.metrics.weights import fold_parts

        output = needed_text(case, "output")
        prompts = needed_prompts(case, "input" if self.mode == "user" else self.mode)
        checked = [_requirements(field, text, case) for field, text in prompts.items()]
        shares = {part.id: _HALVES[field][1] for field, part in zip(prompts, checked, strict=True)}
        known = sum(shares[part.id] for part in checked if part.value is not None)
        weights = {name: (1 - _SIMILARITY) * share / (known or 1) for name, share in shares.items()}
        name = f"{_HALVES[next(iter(prompts))][0]}.similarity"
        request = "\n".join(prompts.values())
        parts = [await self._similarity(case, output, request, name=name), *checked]
        value, _, weighed = fold_parts(parts, {name: _SIMILARITY, **weights})
        if value is None:
            return not_applicable(
                "There is no reference, no semantic embedder and no requirement that a rule can"
                " check.",
                method=_METHOD,
            )
        return Score(
            value=value,
            parts=weighed,
            reason=" ".join(part.reason for part in parts),
            method=_METHOD,
            details={
                "mode": self.mode,
                "effective_mode": "both" if len(prompts) > 1 else _HALVES[next(iter(prompts))][0],
                **{part.id: {"value": part.value, "weight": part.weight} for part in weighed},
            },
            meta={"embedder": identity_of(self.embedder)} if is_semantic(self.embedder) else {},
        )

    async def _similarity(self, case: Case, output: str, request: str, *, name: str) -> Part:
        """Return the similarity to the references, or to the request."""
        from judgekit.metrics.prompt_alignment.own_words import agreement, own_text

        asked = case.input or ""
        references = [text for text in case.reference if has_text(text)]
        own = own_text(output, asked)
        if references:
            values = [agreement(output, text, request=asked) for text in references]
            others = [own_text(text, asked) or text for text in references]
            if is_semantic(self.embedder):
                meanings = await self._meanings(own, others)
                values = [(v + m) / 2 for v, m in zip(values, meanings, strict=True)]
            whose = "reference" if len(references) == 1 else "most similar reference"
        elif is_semantic(self.embedder):
            values, whose = await self._meanings(own, [request]), "request"
        else:
            return Part(
                id=name,
                status="not_applicable",
                reason="There is no reference and no semantic embedder to compare with.",
            )
        value = round(max(values), 4)
        return Part(
            id=name,
            value=value,
            reason=f"Similarity to the {whose}, without the words of the request: {value:.2f}.",
        )

    async def _meanings(self, own: str, others: list[str]) -> list[float]:
        """Return cosines; 0 for an output without words that the request does not have."""
        from judgekit.embedders import vectors
        from judgekit.metrics.vectors import cosine

        if not own:
            return [0.0] * len(others)
        first, *rest = await vectors(self.embedder, [own, *others])
        return [cosine(first, row) or 0.0 for row in rest]


_METHOD = "similarity without copied words, and rule-checkable requirements"


def _requirements(field: str, request: str, case: Case) -> Part:
    """Return the share of the requirements of one half that the output meets."""
    # A fallback is often created and seldom used, and its rules are slow to load.
    from judgekit.metrics.prompt_alignment.own_words import repeats
    from judgekit.metrics.prompt_alignment.requirements import describe, find_requirements
    from judgekit.metrics.safety_and_quality.refusal import find_refusals

    half, _ = _HALVES[field]
    output = case.output or ""
    whose = "user's request" if half == "user" else "system prompt"
    checks = [
        (requirement, requirement.met_by(output)) for requirement in find_requirements(request)
    ]
    if not checks:
        reason = f"No requirement of the {whose} can be checked by rule."
        return Part(id=f"{half}.requirements", status="not_applicable", reason=reason)
    met = sum(is_met for _, is_met in checks)
    reason = f"Of the {whose}, {met} of {len(checks)} checkable requirements are met."
    # The form of an answer counts only if there is an answer.
    if half == "user" and repeats(output, request):
        met, reason = 0, "The output only repeats the request."
    elif half == "user" and find_refusals(output) and not any(map(find_refusals, case.reference)):
        met, reason = 0, "The output refuses the request."
    return Part(
        id=f"{half}.requirements",
        value=met / len(checks),
        reason=reason,
        items=tuple(describe(checks)),
    )
