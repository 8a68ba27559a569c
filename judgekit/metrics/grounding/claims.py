"""Claims: the statements of a text, each checked against passages, and the metrics of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from judgekit.core.case import Case
from judgekit.core.judgment import Quote
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics import step
from judgekit.metrics._options import Fraction, Positive, needed_text, needed_texts
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.quote import find_quote
from judgekit.metrics.shares import TAU, faithfulness_ratio, ratio


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


class ClaimMetric(step.Stepped):
    """The base of metrics of claims: list the claims of a text, then check each of them."""

    judge: JudgeLike
    name: str
    tau: Fraction = TAU
    max_claims: Positive = step.MAX_STATEMENTS
    rubric: RubricLike = "claim_support"
    listing = "statements"

    async def check_claims(self, case: Case, passages: Sequence[str]) -> CheckedClaims:
        """Return the claims of the output of a case, checked against passages."""
        extracted = await self._extract(case)
        claims = await self._check(case, extracted.claims, passages)
        return CheckedClaims(extracted, claims, passages)

    async def _extract(self, case: Case) -> Extracted:
        (score,) = await step.judge_all(self._list, [case])
        claims = step.items_of(score, met=True)
        return Extracted(
            claims=claims[: self.max_claims],
            others=step.items_of(score, met=False),
            left_out=max(0, len(claims) - self.max_claims),
            score=score,
        )

    async def _check(
        self, case: Case, claims: Sequence[str], passages: Sequence[str]
    ) -> list[Claim]:
        texts = [{"output": claim, "context": tuple(passages)} for claim in claims]
        scores = await self.judge_each(case, texts)
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
            parts=step.text_parts(
                "claim",
                [
                    step.JudgedText(
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
            confidence=step.certainty([claim.probability for claim in claims]),
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


class Faithfulness(ClaimMetric):
    """Share of an answer's claims that its context supports. Range 0..1, higher is better.

    First a judge lists the claims of the answer (rubric `statements`); equal claims count once.
    Then it gives, for each claim separately and with quotes, the probability that the claim is true
    if the passages are (rubric `claim_support`). A claim is supported if this probability is above
    `tau`. Greetings, questions and offers are not claims; an answer without claims is not
    applicable. `confidence` is the certainty of the judge: the mean of max(p, 1 - p).

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability that a claim must exceed to count as supported.
        max_claims: maximum number of claims to check. `details.claims_left_out` counts the others.
        rubric: rubric for checking a claim.
    """

    name: str = "faithfulness"

    needs = ("output", "context")
    confidence = "is how sure the judge was: the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        passages = needed_texts(case, "context")
        checked = await self.check_claims(case, passages)
        claims = checked.claims
        value = faithfulness_ratio(sum(claim.supported for claim in claims), len(claims))
        if value is None:
            reason = "The answer has no claims to check."
        else:
            missing = [claim.text for claim in claims if not claim.supported]
            reason = f"The context supports {len(claims) - len(missing)} of {len(claims)} claims"
            reason += f"; not {step.named(missing)}." if missing else "."
        return self.scored(checked, value, reason=reason, counts=lambda claim: claim.supported)


class Hallucination(ClaimMetric):
    """Share of an answer's claims that its context does not support. Range 0..1, lower is better.

    The metric sends the same requests as `faithfulness` (rubrics `statements` and `claim_support`),
    so using both costs no additional call. At the same `tau` the value is 1 - `faithfulness`. In
    addition, `details` count contradicted claims separately from claims that the context does not
    mention. With `only_contradicted`, only contradicted claims count. `confidence` is the mean of
    max(p, 1 - p).

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability that a claim must exceed to count as supported.
        only_contradicted: ignore claims that the context does not mention.
        max_claims: maximum number of claims to check. `details.claims_left_out` counts the others.
        rubric: rubric for checking a claim.
    """

    name: str = "hallucination"
    only_contradicted: bool = False

    higher_is_better = False
    needs = ("output", "context")
    confidence = "is the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        passages = needed_texts(case, "context")
        checked = await self.check_claims(case, passages)
        claims = checked.claims
        bad = [claim for claim in claims if self._counts(claim)]
        value = ratio(len(bad), len(claims))
        if value is None:
            reason = "The answer has no claims to check."
        elif bad:
            contradicted = sum(claim.contradicted for claim in bad)
            reason = (
                f"Not in the context: {len(bad)} of {len(claims)} claims"
                f" ({contradicted} contradicted): {step.named([claim.text for claim in bad])}."
            )
        else:
            beyond = "" if self.only_contradicted else " or goes beyond it"
            reason = f"None of {len(claims)} claims contradicts the context{beyond}."
        return self.scored(checked, value, reason=reason, counts=self._counts)

    def _counts(self, claim: Claim) -> bool:
        return claim.contradicted if self.only_contradicted else not claim.supported


class ContextRecall(ClaimMetric):
    """Share of a reference's claims that the context supports. Range 0..1, higher is better.

    The metric rates the retrieval, not the answer. A judge lists the claims of the first reference
    (rubric `statements`) and checks each of them against the context (rubric `claim_support`), as
    `faithfulness` does with the claims of the answer. `confidence` is the mean of max(p, 1 - p).

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability that a claim must exceed to count as supported.
        max_claims: maximum number of claims to check. `details.claims_left_out` counts the others.
        rubric: rubric for checking a claim.
    """

    name: str = "context_recall"

    needs = ("reference", "context")
    confidence = "is the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        reference = needed_texts(case, "reference")[0]
        passages = needed_texts(case, "context")
        source = step.subject(case, "reference", input=case.input, output=reference)
        checked = await self.check_claims(source, passages)
        missing = [claim.text for claim in checked.claims if not claim.supported]
        supported = len(checked.claims) - len(missing)
        value = ratio(supported, len(checked.claims))
        if value is None:
            reason = "The reference has no claims to check."
        else:
            reason = (
                f"The context supports {supported} of {len(checked.claims)} claims of the reference"
            )
            reason += f"; not {step.named(missing)}." if missing else "."
        return self.scored(
            checked,
            value,
            reason=reason,
            counts=lambda claim: claim.supported,
            ground_truth=reference,
        )
