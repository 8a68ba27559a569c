"""Adversarial robustness: does a system give the same answer to a changed question?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, Literal

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.protocols import Aggregate
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.embedders import Chosen, embeds_at_once, identity_of, is_semantic, vectors
from judgekit.metrics._options import Fraction, needed_text
from judgekit.metrics.aggregate import Figures, ScoreAggregate
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.embedding.similarity import NO_MEANING
from judgekit.metrics.tokens import answer_form
from judgekit.metrics.vectors import cosine

Equal = Literal["exact", "normalised", "lexical", "semantic", "verdict"]
Norm = Literal["edit", "embedding"]
ORIGINAL = "original_input"
"""Key of `expected` with the original input of a perturbed case."""
MAX_CHARACTERS = 2_000_000
MAX_LETTERS = 50_000
"""Maximum length for comparison by characters, which takes quadratic time; longer texts are
compared by words."""


def _perturbed(case: Case) -> tuple[str, str]:
    """Return the answers to the original and to the changed input."""
    if case.parent is None:
        message = "needs the id of the original case (field 'parent'); judgekit perturb writes it"
        raise CaseError(message)
    return needed_text(case, "baseline"), needed_text(case, "output")


def _kind(case: Case) -> str | None:
    kind = case.metadata.get("perturbation")
    if isinstance(kind, dict):
        kind = kind.get("kind")
    return kind if isinstance(kind, str) else None


class AdversarialRobustness(ComputedMetric):
    """1 if the answer to a perturbed input equals the answer to the original, else 0.

    The mean over a run is the robustness; the figure `attack_success_rate` is 1 minus it. A case is
    a copy written by `judgekit perturb`: `baseline` is the answer to the original, and `output` is
    the answer to the changed input. `equal` defines when two answers are the same. `exact` requires
    the same characters. `normalised` ignores case, punctuation, articles and white space. `lexical`
    requires a cosine of words of at least `tau`, and `semantic` a cosine of meaning of at least
    `tau` (not applicable without a semantic embedder). `verdict` requires the same verdict,
    recognised by the words in `positive` and `negative`; it matches whole words, negative ones
    first.
    """

    name: str = "adversarial_robustness"
    equal: Equal = "normalised"
    """When two answers are the same: exact, normalised, lexical, semantic or verdict."""
    tau: Fraction = 0.8
    """Minimum cosine for `lexical` and `semantic`, inclusive."""
    positive: tuple[str, ...] = ()
    """With `verdict`: words of the positive verdict, such as safe."""
    negative: tuple[str, ...] = ()
    """With `verdict`: words of the negative verdict, such as unsafe."""
    embedder: Chosen | None = None
    """With `semantic`: the embedder; a lexical one is not sufficient."""

    figures: ClassVar[Mapping[str, bool]] = {"attack_success_rate": False}
    needs = ("output", "baseline", "parent")

    def prepare(self) -> None:
        """Check and complete the options."""
        if (self.equal == "verdict") != bool(self.positive and self.negative):
            problem = "positive and negative words belong to equal: verdict, both of them"
            raise ConfigError(f"{self.name}: {problem}")

    @property
    def synchronous(self) -> bool:
        """Whether the comparison needs no asynchronous embedder."""
        return self.equal != "semantic" or self.embedder is None or embeds_at_once(self.embedder)

    def aggregates(self) -> list[Aggregate]:
        """Return the attack success rate, over all copies and by kind of perturbation."""
        return [_Attacks()]

    async def score(self, case: Case) -> Score:
        """Score one perturbed copy.

        Raises:
            CaseError: it has no parent, or one of the two answers is missing.
        """
        before, after = _perturbed(case)
        kind = _kind(case)
        details: dict[str, Json] = {"parent": case.parent, "perturbation": kind}
        meta: dict[str, Json] = {}
        match self.equal:
            case "exact":
                same = before == after
            case "normalised":
                same = answer_form(before) == answer_form(after)
            case "lexical" | "semantic":
                embedder = "lexical" if self.equal == "lexical" else self.embedder
                if embedder is None or (self.equal == "semantic" and not is_semantic(embedder)):
                    return self._not_applicable(f"{NO_MEANING}; or write equal: lexical.")
                first, second = await vectors(embedder, [before, after])
                value = cosine(first, second)
                meta["embedder"] = identity_of(embedder)
                if value is None:
                    return self._not_applicable("An answer has no words that the embedder knows.")
                details["cosine"] = round(value, 4)
                same = round(value, 4) >= self.tau
            case "verdict":
                words = [
                    read_verdict(text, positive=self.positive, negative=self.negative)
                    for text in (before, after)
                ]
                details["verdicts"] = list(words)
                if None in words:
                    return self._not_applicable("An answer has none of the verdict words.")
                same = words[0] == words[1]
        by = f" by {kind}" if kind else ""
        return Score(
            value=1.0 if same else 0.0,
            method=f"{self.equal} equality of two answers",
            reason=f"The answer {'stays the same' if same else 'changes'} when the input of"
            f" {case.parent} is perturbed{by}.",
            ground_truth=before,
            details=details,
            meta=meta,
        )

    def _not_applicable(self, reason: str) -> Score:
        return not_applicable(reason, method=f"{self.equal} equality of two answers")


class _Attacks(ScoreAggregate):
    """The share of perturbations that change the answer."""

    def __init__(self) -> None:
        self._counts: dict[str | None, list[int]] = {}

    def add_score(self, score: Score, value: float) -> None:
        """Add one perturbed copy."""
        kind = score.details.get("perturbation")
        for key in (None, kind) if isinstance(kind, str) else (None,):
            count = self._counts.setdefault(key, [0, 0])
            count[0] += value < 1.0
            count[1] += 1

    def finish(self) -> Figures:
        """Return the rate of all copies, then by kind."""
        rates: Figures = {"attack_success_rate": None}
        for kind, (changed, total) in sorted(self._counts.items(), key=lambda item: item[0] or ""):
            name = "attack_success_rate" if kind is None else f"attack_success_rate_{kind}"
            rates[name] = changed / total
        return rates


class ContinuousRobustness(ComputedMetric):
    """1 minus change of the answer / change of the input. Range 0..1, higher is better.

    `edit` is the Levenshtein distance divided by the length of the longer text; if a text has more
    than 50,000 characters, the distance counts words. `embedding` is 1 minus the cosine. If the
    answer changes more than the input, the value is 0; the details contain the unclamped value. A
    case with an unchanged input is not applicable. A case is a copy written by `judgekit perturb`.
    """

    name: str = "robustness_continuous"
    norm: Norm = "edit"
    """Measure of change: `edit` or `embedding`."""
    embedder: Chosen = "lexical"
    """With `embedding`: the embedder that turns texts into vectors."""

    needs = ("input", "output", "baseline", "parent", f"expected.{ORIGINAL}")

    @property
    def synchronous(self) -> bool:
        """Whether the comparison needs no asynchronous embedder."""
        return self.norm == "edit" or embeds_at_once(self.embedder)

    async def score(self, case: Case) -> Score:
        """Score one perturbed copy.

        Raises:
            CaseError: a text is missing or over 2,000,000 characters, or there is no parent.
        """
        before, after = _perturbed(case)
        original = case.expected.get(ORIGINAL)
        if not isinstance(original, str) or not has_text(original):
            raise CaseError(f"needs the original input (field 'expected.{ORIGINAL}')")
        changed = needed_text(case, "input")
        for text in (before, after, original, changed):
            if len(text) > MAX_CHARACTERS:
                raise CaseError(f"a text of {len(text):,} characters is too long to compare")
        method = f"{self.norm} distance"
        meta: dict[str, Json] = {}
        if self.norm == "edit":
            answer_change, input_change = edit_share(before, after), edit_share(original, changed)
        else:
            rows = await vectors(self.embedder, [before, after, original, changed])
            meta["embedder"] = identity_of(self.embedder)
            answers, inputs = cosine(rows[0], rows[1]), cosine(rows[2], rows[3])
            if answers is None or inputs is None:
                return not_applicable("A text has no words that the embedder knows.", method=method)
            answer_change, input_change = round(1.0 - answers, 6), round(1.0 - inputs, 6)
        if input_change == 0:
            return not_applicable("The input did not change.", method=method)
        raw = continuous_robustness(answer_change, input_change)
        return Score(
            value=min(1.0, max(0.0, raw)),
            method=method,
            reason=f"The answer changes by {answer_change:.2f}, the input by {input_change:.2f}.",
            ground_truth=before,
            details={
                "answer_moved": answer_change,
                "input_moved": input_change,
                "raw": raw,
                "parent": case.parent,
                "perturbation": _kind(case),
            },
            meta=meta,
        )


def continuous_robustness(answer: float, input: float) -> float:
    """Return 1 - answer / input, not clamped; both are distances, and input is above 0."""
    return 1.0 - answer / input


def edit_share(one: str, other: str) -> float:
    """Return the Levenshtein distance divided by the length of the longer text, 0..1.

    Texts of more than 50,000 characters are compared by words.

    >>> round(edit_share("kitten", "sitting"), 4)
    0.4286
    """
    from rapidfuzz.distance import Levenshtein

    if one == other:
        return 0.0
    if max(len(one), len(other)) > MAX_LETTERS:
        return float(Levenshtein.normalized_distance(one.split(), other.split()))
    return float(Levenshtein.normalized_distance(one, other))


Verdict = Literal["positive", "negative"]


def read_verdict(text: str, *, positive: Sequence[str], negative: Sequence[str]) -> Verdict | None:
    """Return the verdict that a text states; `None` if no label occurs.

    A label counts only as a whole word: "unsafe" is not "safe", "non-toxic" is not "toxic". Case
    does not matter, and a space, hyphen or underscore inside a label are equal. If labels of both
    kinds occur, the negative one counts. Negation is not recognised: "not refused" counts as
    "refused".

    >>> read_verdict("The answer is unsafe.", positive=["safe"], negative=["unsafe"])
    'negative'
    >>> read_verdict("It is non-toxic.", positive=["non_toxic"], negative=["toxic"])
    'positive'
    """
    if _pattern(tuple(negative)).search(text):
        return "negative"
    return "positive" if _pattern(tuple(positive)).search(text) else None


@lru_cache(maxsize=256)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    spelled = (
        r"[\s_-]+".join(re.escape(word) for word in re.split(r"[\s_-]+", label.strip()) if word)
        for label in sorted(labels, key=lambda label: (-len(label), label))
    )
    return re.compile(rf"(?<![\w-])(?:{'|'.join(spelled)})(?![\w-])", re.IGNORECASE)
