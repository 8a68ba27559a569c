"""Facts covered: which facts of the ground truth does an answer state, exactly or similarly?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, NamedTuple

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError
from judgekit.core.score import Part, Score
from judgekit.core.value import Json
from judgekit.embedders import Chosen, embeds_at_once, identity_of, vectors
from judgekit.metrics._options import Fraction, needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.embedding.similarity import DIGITS, TAU
from judgekit.metrics.grounding.coverage import expected_texts
from judgekit.metrics.step import distinct
from judgekit.metrics.tokens import answer_form, split_sentences
from judgekit.metrics.vectors import cosine

Match = Literal["exact", "similar"]
MAX_SENTENCES = 2000
"""Maximum number of sentences compared with each fact; the details count the others."""
MAX_FACTS = 500


def is_covered(similarity: float, tau: float) -> bool:
    """Return whether a similarity is greater than tau, equation (5); tau itself is not."""
    return round(similarity, DIGITS) > tau


def facts_covered(response: Sequence[str], truth: Sequence[str]) -> float | None:
    """Return the share of true facts in a response, equation (4); `None` if there are none.

    Duplicates count once.

    >>> facts_covered(["a", "a", "c"], ["a", "b"])
    0.5
    """
    facts = set(truth)
    return len(facts & set(response)) / len(facts) if facts else None


class FactMatch(NamedTuple):
    """How an answer states a fact; `by` is `None` if it does not."""

    by: Match | None = None
    cosine: float | None = None
    """Cosine to the most similar sentence."""
    sentence: str | None = None


class FactsCovered(ComputedMetric):
    """Share of known facts that the answer states. Range 0..1, higher is better.

    The facts are `expected.facts`, or else the sentences of the first reference;
    `details.facts_from` names the source. `match: exact` requires each fact word for word:
    capitals, accents and articles matter, punctuation and white space do not. `match: similar`
    ignores capitals, accents and articles too. It also accepts a sentence of the answer with a
    cosine greater than `tau`. Additional facts in the answer do not lower the value, and one
    sentence may state several facts. The default embedder compares words: it recognises another
    order or ending, but not another wording or a "not". `facts_covered_judge` recognises both.
    """

    name: str = "facts_covered"
    match: Match = "similar"
    """`exact`: word for word. `similar`: a similar sentence is sufficient."""
    tau: Fraction = TAU
    """Cosine that a sentence must exceed; a cosine equal to `tau` does not count."""
    embedder: Chosen = "lexical"
    """Embedder that turns texts into vectors."""

    needs = ("output", "expected.facts or reference")

    def prepare(self) -> None:
        """Write `tau` as a decimal, as manifests always have it."""
        self.put(tau=float(self.tau))

    @property
    def synchronous(self) -> bool:
        """Whether no asynchronous embedder is needed."""
        return self.match == "exact" or embeds_at_once(self.embedder)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing, or both facts and reference.
        """
        output = needed_text(case, "output")
        facts, source = _facts(case, distinct if self.match == "similar" else _unique)
        method = "word for word"
        meta: dict[str, Json] = {}
        if self.match == "similar":
            meta["embedder"] = identity_of(self.embedder)
            method += f", or cosine over {self.tau:g}"
        if not facts:
            reason = "There are no facts to look for."
            return not_applicable(reason, method=method, details={"facts_from": source}, meta=meta)
        sentences = list(split_sentences(output))
        matches = await self._matches(facts, output, sentences[:MAX_SENTENCES])
        stated = [fact for fact, match in zip(facts, matches, strict=True) if match.by]
        missing = [fact for fact, match in zip(facts, matches, strict=True) if not match.by]
        return Score(
            value=facts_covered(stated, facts),
            parts=tuple(
                _part(number, fact, match, of=len(facts))
                for number, (fact, match) in enumerate(zip(facts, matches, strict=True), start=1)
            ),
            method=method,
            reason=_reason(len(facts), missing),
            ground_truth=list(facts),
            details={
                "facts_from": source,
                "missing": list(missing),
                "tau": self.tau,
                "sentences_left_out": max(0, len(sentences) - MAX_SENTENCES),
            },
            meta=meta,
        )

    async def _matches(
        self, facts: list[str], output: str, sentences: list[str]
    ) -> list[FactMatch]:
        loose = self.match == "similar"
        form = partial(answer_form, ignore_case=loose, ignore_accents=loose, ignore_articles=loose)
        answer = f" {form(output)} "
        matches = [FactMatch("exact" if f" {form(fact)} " in answer else None) for fact in facts]
        left = [number for number, match in enumerate(matches) if not match.by]
        if left and sentences and loose:
            rows = await vectors(self.embedder, [*(facts[n] for n in left), *sentences])
            for row, number in zip(rows, left, strict=False):
                matches[number] = self._nearest(row, rows[len(left) :], sentences)
        return matches

    def _nearest(
        self, fact: Sequence[float], rows: Iterable[Sequence[float]], sentences: list[str]
    ) -> FactMatch:
        cosines = (cosine(fact, row) for row in rows)
        known = [
            (round(value, DIGITS), sentence)
            for value, sentence in zip(cosines, sentences, strict=True)
            if value is not None
        ]
        if not known:
            return FactMatch()
        value, sentence = max(known, key=lambda pair: pair[0])
        return FactMatch("similar" if is_covered(value, self.tau) else None, value, sentence)


def _unique(facts: Iterable[str]) -> list[str]:
    """Return the distinct facts in order; case matters."""
    return list(dict.fromkeys(" ".join(fact.split()) for fact in facts))


def _facts(case: Case, unique: Callable[[Iterable[str]], list[str]]) -> tuple[list[str], str]:
    """Return the facts and their source, `given` or `reference`."""
    texts, source = expected_texts(case, "facts"), "given"
    if texts is None:
        reference = next((text for text in case.reference if has_text(text)), None)
        if reference is None:
            raise CaseError("needs facts or a reference (field 'expected.facts' or 'reference')")
        texts, source = list(split_sentences(reference)), "reference"
    facts = unique(texts)
    if len(facts) > MAX_FACTS:
        raise CaseError(f"{len(facts):,} facts are too many to compare (at most {MAX_FACTS:,})")
    return facts, source


def _part(number: int, fact: str, match: FactMatch, *, of: int) -> Part:
    details: dict[str, Json] = {"by": match.by}
    if match.cosine is not None:
        details |= {"cosine": match.cosine, "nearest": match.sentence}
    return Part(
        id=f"fact {number}",
        value=0.0 if match.by is None else 1.0,
        weight=1 / of,
        answer="missing" if match.by is None else "covered",
        reason=fact,
        details=details,
    )


def _reason(count: int, missing: list[str]) -> str:
    if not missing:
        return f"The answer states {'the fact' if count == 1 else f'all {count} facts'}."
    more = "" if len(missing) == 1 else f" (and {len(missing) - 1} more)"
    return f"The answer states {count - len(missing)} of {count} facts; missing: {missing[0]}{more}"
