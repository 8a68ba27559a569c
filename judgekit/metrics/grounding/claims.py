"""Claims: the statements of a text, each checked against passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from judgekit.core.case import Case
from judgekit.core.judgment import Quote
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import Fraction, Positive
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.quote import find_quote
from judgekit.metrics.shares import TAU
from judgekit.metrics.step import (
    MAX_STATEMENTS,
    JudgedText,
    Stepped,
    certainty,
    items_of,
    subject,
    text_parts,
)


class Claim(NamedTuple):
    """A claim, and whether the passages support it."""

    text: str
    probability: float
    """That the claim is true if the passages are, according to the judge."""
    supported: bool
    contradicted: bool
    """Whether the passages contradict it; false for a supported claim."""
    score: Score

    @property
    def verdict(self) -> str:
        """`supported`, `contradicted`, or `unsupported` (not mentioned)."""
        if self.supported:
            return "supported"
        return "contradicted" if self.contradicted else "unsupported"


class Extracted(NamedTuple):
    """The statements of a text."""

    claims: list[str]
    """Distinct statements that can be checked."""
    others: list[str]
    """Greetings, questions, offers and the like."""
    left_out: int
    """Claims beyond `max_claims`, which are not checked."""
    score: Score


class CheckedClaims(NamedTuple):
    """The claims of a text, checked against the same passages."""

    extracted: Extracted
    claims: list[Claim]
    passages: Sequence[str]


class ClaimMetric(Stepped):
    """The base of metrics of claims: list the claims of a text, then check each of them."""

    judge: JudgeLike
    name: str
    tau: Fraction = TAU
    max_claims: Positive = MAX_STATEMENTS
    rubric: RubricLike = "claim_support"
    listing = "statements"

    async def check_claims(self, case: Case, passages: Sequence[str]) -> CheckedClaims:
        """Return the claims of the output of a case, checked against passages."""
        extracted = await self._extract(case)
        claims = await self._check(case, extracted.claims, passages)
        return CheckedClaims(extracted, claims, passages)

    async def _extract(self, case: Case) -> Extracted:
        (score,) = await self._list.ask([case])
        claims = items_of(score, met=True)
        return Extracted(
            claims=claims[: self.max_claims],
            others=items_of(score, met=False),
            left_out=max(0, len(claims) - self.max_claims),
            score=score,
        )

    async def _check(
        self, case: Case, claims: Sequence[str], passages: Sequence[str]
    ) -> list[Claim]:
        cases = [
            subject(case, str(number), output=claim, context=tuple(passages))
            for number, claim in enumerate(claims, start=1)
        ]
        scores = await self._each.ask(cases)
        checked = []
        for claim, score in zip(claims, scores, strict=True):
            probability = score.value or 0.0
            supported = probability > self.tau
            contradicted = score.parts[0].details.get("contradicted") is True and not supported
            checked.append(Claim(claim, probability, supported, contradicted, score))
        return checked

    def scored(
        self,
        checked: CheckedClaims,
        value: float | None,
        *,
        reason: str,
        counts: Callable[[Claim], bool],
        ground_truth: Json = None,
    ) -> Score:
        """Return the score of a text; `counts` selects the claims that count for the value."""
        extracted, claims, passages = checked
        if extracted.left_out:
            reason += f" Not checked (see max_claims): {extracted.left_out} more."
        source = Case(id="passages", context=tuple(passages))
        return self._score(
            value,
            reason=reason,
            scores=[extracted.score, *(claim.score for claim in claims)],
            parts=text_parts(
                "claim",
                [
                    JudgedText(
                        claim.text,
                        claim.score,
                        value=float(counts(claim)),
                        met=claim.supported,
                        answer=claim.verdict,
                        source=source,
                        details={
                            "probability": claim.probability,
                            "quoted_passages": _quoted(claim.score.parts[0].quotes, passages),
                        },
                    )
                    for claim in claims
                ],
            ),
            details=self._details(extracted, claims),
            confidence=certainty([claim.probability for claim in claims]),
            ground_truth=ground_truth,
        )

    def _details(self, extracted: Extracted, claims: Sequence[Claim]) -> dict[str, Json]:
        details: dict[str, Json] = {
            "claims": len(claims),
            **{
                word: sum(claim.verdict == word for claim in claims)
                for word in ("supported", "contradicted", "unsupported")
            },
            "tau": self.tau,
        }
        if extracted.others:
            details["not_claims"] = list(extracted.others)
        if extracted.left_out:
            details["claims_left_out"] = extracted.left_out
        return details


def _quoted(quotes: Sequence[Quote], passages: Sequence[str]) -> list[Json]:
    """Return the numbers of the passages that contain one of the quotes, from 1."""
    return [
        number
        for number, passage in enumerate(passages, start=1)
        if any(find_quote(q.text, Case(id="passage", context=(passage,))) for q in quotes)
    ]
