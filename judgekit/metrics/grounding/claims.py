"""Claims: list the statements of a text, check each against passages; metrics of claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from judgekit.core.case import Case
from judgekit.core.comparing import above
from judgekit.core.judgment import Quote
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics import step
from judgekit.metrics._options import Fraction, Positive, needed_text, needed_texts
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.quote import find_quote
from judgekit.metrics.shares import TAU, faithfulness_ratio, ratio


class CheckedClaims(NamedTuple):
    """The claims of a text, checked against the same passages."""

    claims: list[step.JudgedText]
    """Each is `supported`, `contradicted`, or `unsupported` (not mentioned)."""
    others: list[str]
    """Greetings, questions, offers and the like."""
    left_out: int
    """Claims above `max_claims`, which are not checked."""
    listing: Score
    """The score of the step that listed the claims."""


class ClaimMetric(step.Stepped):
    """The base of metrics of claims: list the claims of a text, then check each of them."""

    judge: JudgeLike
    name: str
    tau: Fraction = TAU
    max_claims: Positive = step.MAX_STATEMENTS
    rubric: RubricLike = "claim_support"
    listing = "statements"

    async def check_claims(self, case: Case, passages: tuple[str, ...]) -> CheckedClaims:
        """Return the claims of the output of a case, checked against passages."""
        (listing,) = await step.judge_all(self._list, [case])
        listed = step.items_of(listing, met=True)
        texts = listed[: self.max_claims]
        scores = await self.judge_each(case, [{"output": t, "context": passages} for t in texts])
        source = Case(id="passages", context=passages)
        return CheckedClaims(
            [self._claim(text, score, source) for text, score in zip(texts, scores, strict=True)],
            others=step.items_of(listing, met=False),
            left_out=len(listed) - len(texts),
            listing=listing,
        )

    def _claim(self, text: str, score: Score, source: Case) -> step.JudgedText:
        probability, verdict = score.value or 0.0, score.parts[0]
        supported = above(probability, self.tau)
        against = verdict.details.get("contradicted") is True
        answer = "supported" if supported else "contradicted" if against else "unsupported"
        quoted = _quoted(verdict.quotes, source.context)
        details: dict[str, Json] = {"probability": probability, "quoted_passages": quoted}
        return step.JudgedText(text, score, float(supported), supported, answer, source, details)

    def supported_share(
        self, checked: CheckedClaims, *, subject: str, of: str = "", ground_truth: Json = None
    ) -> Score:
        """Return the score of the share of claims that the passages support.

        Args:
            checked: the claims.
            subject: the text that has the claims, for the reason.
            of: words after "claims", for the reason.
            ground_truth: the ground truth of the score.
        """
        claims = checked.claims
        missing = [claim.text for claim in claims if not claim.met]
        supported = len(claims) - len(missing)
        reason = f"The {subject} has no claims to check."
        if claims:
            reason = f"The context supports {supported} of {len(claims)} claims{of}"
            reason += f"; not {step.named(missing)}." if missing else "."
        value = faithfulness_ratio(supported, len(claims))
        return self.scored(checked, value, reason=reason, ground_truth=ground_truth)

    def scored(
        self,
        checked: CheckedClaims,
        value: float | None,
        *,
        reason: str,
        ground_truth: Json = None,
    ) -> Score:
        """Return the score of a text; each claim contributes its `value`."""
        if checked.left_out:
            reason += f" Not checked (see max_claims): {checked.left_out} more."
        scores = [claim.score for claim in checked.claims]
        return self._score(
            value,
            reason=reason,
            scores=[checked.listing, *scores],
            parts=step.text_parts("claim", checked.claims),
            details=self._details(checked),
            confidence=step.certainty([score.value or 0.0 for score in scores]),
            ground_truth=ground_truth,
        )

    def _details(self, checked: CheckedClaims) -> dict[str, Json]:
        verdicts = [claim.answer for claim in checked.claims]
        words = ("supported", "contradicted", "unsupported")
        details: dict[str, Json] = {
            "claims": len(verdicts),
            **{word: verdicts.count(word) for word in words},
            "tau": self.tau,
        }
        if checked.others:
            details["not_claims"] = [*checked.others]
        if checked.left_out:
            details["claims_left_out"] = checked.left_out
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

    First a judge lists the claims of the answer (rubric `statements`), with the conversation to
    understand them; equal claims count once.
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
    confidence = "is the certainty of the judge: the mean of max(p, 1 - p)"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        checked = await self.check_claims(case, needed_texts(case, "context"))
        return self.supported_share(checked, subject="answer")


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
    confidence = "is the mean of max(p, 1 - p)"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        checked = await self.check_claims(case, needed_texts(case, "context"))
        counted = ("contradicted",) if self.only_contradicted else ("contradicted", "unsupported")
        claims = [c._replace(value=float(c.answer in counted)) for c in checked.claims]
        bad = [claim for claim in claims if claim.value]
        value = ratio(len(bad), len(claims))
        if value is None:
            reason = "The answer has no claims to check."
        elif bad:
            contradicted = sum(claim.answer == "contradicted" for claim in bad)
            reason = (
                f"Not in the context: {len(bad)} of {len(claims)} claims"
                f" ({contradicted} contradicted): {step.named([claim.text for claim in bad])}."
            )
        else:
            addition = "" if self.only_contradicted else " or goes beyond it"
            reason = f"None of {len(claims)} claims contradicts the context{addition}."
        return self.scored(checked._replace(claims=claims), value, reason=reason)


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
    confidence = "is the mean of max(p, 1 - p)"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        reference = needed_texts(case, "reference")[0]
        passages = needed_texts(case, "context")
        source = step.subject(
            case, "reference", history=case.history, input=case.input, output=reference
        )
        checked = await self.check_claims(source, passages)
        of = " of the reference"
        return self.supported_share(checked, subject="reference", of=of, ground_truth=reference)
