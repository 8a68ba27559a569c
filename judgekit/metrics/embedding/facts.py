"""Facts covered: which facts of the ground truth are in an answer, word for word or nearly?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError
from judgekit.core.protocols import Metric
from judgekit.core.score import Part, Score
from judgekit.core.value import Json
from judgekit.embedders import Chosen, embeds_at_once, identity_of, vectors
from judgekit.metrics._options import (
    Fraction,
    check_options,
    needed_text,
)
from judgekit.metrics.embedding.aggregation import (
    DIGITS,
    TAU,
    facts_covered,
    facts_covered_semantic,
    is_covered,
)
from judgekit.metrics.embedding.similarity import cosine
from judgekit.metrics.step import distinct
from judgekit.metrics.tokens import answer_form, split_sentences

Match = Literal["exact", "similar"]
MAX_SENTENCES = 2000
"""Sentences of an answer that are compared with every fact; what is beyond is said."""
MAX_FACTS = 500


class _FactMatch(NamedTuple):
    """How a fact was found, if it was."""

    by: Literal["exact", "similar"] | None
    cosine: float | None
    sentence: str | None

    @property
    def row(self) -> tuple[float, ...]:
        """The cosines that decide; what stands word for word is nearer than any."""
        if self.by == "exact":
            return (math.inf,)
        return () if self.cosine is None else (self.cosine,)


@dataclass(frozen=True, kw_only=True, slots=True)
class FactsCovered(Metric):
    """The share of known facts that an answer states; 0..1, higher is better.

    The facts are `expected.facts`, or else the sentences of the first reference, and
    `details.facts_from` says which. With `match: exact` a fact is in the answer if it stands there
    word for word: capitals, accents and articles count, only punctuation and white space do not.
    With `match: similar` capitals, accents and articles do not count either, and a cosine to a
    sentence of the answer that is greater than `tau` will do. Facts the answer adds cost nothing;
    one sentence may hold several. The default embedder compares words: it finds another order
    or ending, not another wording, and does not hear a "not". `facts_covered_judge` does.
    """

    name: str = "facts_covered"
    match: Match = "similar"
    """Whether a fact must stand word for word, or a sentence near to it will do."""
    tau: Fraction = TAU
    """A cosine must be greater; at it does not count."""
    embedder: Chosen = "lexical"
    """The embedder."""

    needs = ("output", "expected.facts or reference")

    def __post_init__(self) -> None:
        check_options(self)
        object.__setattr__(self, "tau", float(self.tau))

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits."""
        return self.match == "exact" or embeds_at_once(self.embedder)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing, or there is nothing to take facts from.
        """
        output = needed_text(case, "output")
        facts, source = _facts(case, distinct if self.match == "similar" else _each_once)
        method = "word for word"
        meta: dict[str, Json] = {}
        if self.match == "similar":
            meta["embedder"] = identity_of(self.embedder)
            method += f", or cosine over {self.tau:g}"
        if not facts:
            return Score(
                status="not_applicable",
                reason="There are no facts to look for.",
                method=method,
                details={"facts_from": source},
                meta=meta,
            )
        sentences = list(split_sentences(output))
        matches = await self._find(facts, output, sentences[:MAX_SENTENCES])
        covered = [each.by is not None for each in matches]
        missing = [fact for fact, hit in zip(facts, covered, strict=True) if not hit]
        if self.match == "exact":
            stated = [fact for fact, hit in zip(facts, covered, strict=True) if hit]
            value = facts_covered(stated, facts)
        else:
            value = facts_covered_semantic([each.row for each in matches], tau=self.tau)
        return Score(
            value=value,
            parts=tuple(
                _part(number, fact, each, of=len(facts))
                for number, (fact, each) in enumerate(zip(facts, matches, strict=True), start=1)
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

    async def _find(self, facts: list[str], output: str, sentences: list[str]) -> list[_FactMatch]:
        loose = self.match == "similar"
        form = partial(answer_form, ignore_case=loose, ignore_accents=loose, ignore_articles=loose)
        text = f" {form(output)} "
        matches = [
            _FactMatch("exact", None, None) if f" {form(fact)} " in text else None for fact in facts
        ]
        left = [number for number, each in enumerate(matches) if each is None]
        nearest: dict[int, _FactMatch] = {}
        if left and sentences and self.match == "similar":
            rows = await vectors(self.embedder, [*(facts[n] for n in left), *sentences])
            for row, number in enumerate(left):
                nearest[number] = self._nearest(rows[row], rows[len(left) :], sentences)
        return [
            each or nearest.get(number, _FactMatch(None, None, None))
            for number, each in enumerate(matches)
        ]

    def _nearest(self, fact: object, rows: object, sentences: list[str]) -> _FactMatch:
        cosines = [cosine(fact, row) for row in rows]  # type: ignore[arg-type, attr-defined]
        best = max(
            (number for number, value in enumerate(cosines) if value is not None),
            key=lambda number: (round(cosines[number] or 0.0, DIGITS), -number),
            default=None,
        )
        if best is None:
            return _FactMatch(None, None, None)
        value = round(cosines[best] or 0.0, DIGITS)
        return _FactMatch(
            "similar" if is_covered(value, self.tau) else None, value, sentences[best]
        )


def _each_once(facts: Iterable[str]) -> list[str]:
    """Return the facts as a set in order; letters of another case are another fact."""
    return list(dict.fromkeys(" ".join(fact.split()) for fact in facts))


def _facts(case: Case, once: Callable[[Iterable[str]], list[str]]) -> tuple[list[str], str]:
    """Return the facts and where they come from."""
    value = case.expected.get("facts")
    if value is None:
        text = next((text for text in case.reference if has_text(text)), None)
        if text is None:
            raise CaseError("needs facts or a reference (field 'expected.facts' or 'reference')")
        facts, source = once(split_sentences(text)), "reference"
    else:
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(
            isinstance(fact, str) and has_text(fact) for fact in listed
        ):
            raise CaseError("expected.facts must be a list of texts, none blank")
        facts, source = once(str(fact) for fact in listed), "given"
    if len(facts) > MAX_FACTS:
        raise CaseError(f"{len(facts):,} facts are too many to look for; {MAX_FACTS} are not")
    return facts, source


def _part(number: int, fact: str, match: _FactMatch, *, of: int) -> Part:
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
    return f"The answer states {count - len(missing)} of {count} facts; missing: {missing[0]}" + (
        "" if len(missing) == 1 else f" (and {len(missing) - 1} more)"
    )
