"""Adversarial robustness: does a system give the same answer to a changed question?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.protocols import Aggregate, Metric
from judgekit.core.score import Row, Score
from judgekit.core.value import Json
from judgekit.embedders import (
    Chosen,
    check_embedder,
    embeds_at_once,
    identity_of,
    is_semantic,
    vectors,
)
from judgekit.metrics._options import check_choice, check_name, needed_text, text_options
from judgekit.metrics.embedding.semantic_accuracy import NO_MEANING
from judgekit.metrics.embedding.similarity import cosine
from judgekit.metrics.tokens import answer_form
from judgekit.metrics.verdict import read_verdict

Equal = Literal["exact", "normalised", "lexical", "semantic", "verdict"]
Norm = Literal["edit", "embedding"]
ORIGINAL = "original_input"
"""Key of `expected` that holds the input a perturbed case came from."""
MAX_CHARACTERS = 2_000_000
MAX_LETTERS = 50_000
"""Longer texts are compared word by word: letter by letter takes time squared."""


def _perturbed(case: Case) -> tuple[str, str]:
    """Return the answer to the original and the answer to the changed input."""
    if case.parent is None:
        raise CaseError(
            "needs the case it is a changed copy of (field 'parent'); judgekit perturb writes both"
        )
    return needed_text(case, "baseline"), needed_text(case, "output")


def _kind(case: Case) -> str | None:
    about = case.metadata.get("perturbation")
    kind = about.get("kind") if isinstance(about, dict) else about
    return kind if isinstance(kind, str) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class AdversarialRobustness(Metric):
    """1 if the answer to a perturbed input equals the answer to the original, else 0.

    The mean over a run is the robustness, and the figure `attack_success_rate` is 1 minus it.
    A case is a copy as `judgekit perturb` writes it: `baseline` is the answer to the original,
    `output` the answer to the changed input. `equal` says what counts as the same answer:
    `exact` the same characters, `normalised` up to case, punctuation, articles and white space,
    `lexical` a cosine of words of at least `tau`, `semantic` a cosine of meaning of at least
    `tau` (not applicable without a semantic embedder), `verdict` the same word of `positive` or
    `negative` (whole words, negative ones first).
    """

    name: str = "adversarial_robustness"
    equal: Equal = "normalised"
    """What the same answer is."""
    tau: float = 0.8
    """Least cosine of `lexical` and `semantic`."""
    positive: tuple[str, ...] = ()
    """With `verdict`: words of the one verdict."""
    negative: tuple[str, ...] = ()
    """Verdict words of `verdict`, such as safe and unsafe."""
    embedder: Chosen | None = None
    """What turns texts into vectors, with `semantic`; a lexical one does not do."""

    figures: ClassVar[Mapping[str, bool]] = {"attack_success_rate": False}
    needs = ("output", "baseline", "parent")

    def __post_init__(self) -> None:
        check_name("adversarial_robustness", self.name)
        check_choice(self.name, "equal", self.equal, Equal)
        _check_share(self.name, "tau", self.tau)
        for option in ("positive", "negative"):
            object.__setattr__(self, option, text_options(self.name, option, getattr(self, option)))
        if (self.equal == "verdict") != bool(self.positive and self.negative):
            raise ConfigError(
                f"{self.name}: positive and negative words belong to equal: verdict, both of them"
            )
        if self.embedder is not None:
            check_embedder(self.name, self.embedder)

    @property
    def synchronous(self) -> bool:
        """Whether scoring waits for nothing."""
        model = self.equal == "semantic" and self.embedder is not None
        return not model or embeds_at_once(self.embedder or "lexical")

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
                same = _form(before) == _form(after)
            case "lexical" | "semantic":
                embedder = "lexical" if self.equal == "lexical" else self.embedder
                if embedder is None or (self.equal == "semantic" and not is_semantic(embedder)):
                    return self._not_applicable(f"{NO_MEANING}; or write equal: lexical.")
                first, second = await vectors(embedder, [before, after])
                value = cosine(first, second)
                meta["embedder"] = identity_of(embedder)
                if value is None:
                    return self._not_applicable("An answer holds no words the embedder knows.")
                details["cosine"] = round(value, 4)
                same = round(value, 4) >= self.tau
            case "verdict":
                words = [
                    read_verdict(text, positive=self.positive, negative=self.negative)
                    for text in (before, after)
                ]
                details["verdicts"] = list(words)
                if None in words:
                    return self._not_applicable("An answer states none of the verdict words.")
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
        return Score(
            status="not_applicable", reason=reason, method=f"{self.equal} equality of two answers"
        )


class _Attacks:
    """The share of perturbations that changed the answer."""

    def __init__(self) -> None:
        self._counts: dict[str | None, list[int]] = {}

    def add(self, row: Row) -> None:
        """Take one more result."""
        if not isinstance(row.result, Score) or row.result.value is None or row.result.fallback:
            return
        kind = row.result.details.get("perturbation")
        for key in (None, kind) if isinstance(kind, str) else (None,):
            count = self._counts.setdefault(key, [0, 0])
            count[0] += row.result.value < 1.0
            count[1] += 1

    def finish(self) -> dict[str, float | int | None]:
        """Return the rate over all, then by kind."""
        changed, of = self._counts.get(None, [0, 0])
        rates: dict[str, float | int | None] = {"attack_success_rate": changed / of if of else None}
        for kind in sorted(key for key in self._counts if key is not None):
            changed, of = self._counts[kind]
            rates[f"attack_success_rate_{kind}"] = changed / of
        return rates


@dataclass(frozen=True, kw_only=True, slots=True)
class ContinuousRobustness(Metric):
    """1 minus how far the answer moves for how far the input was moved; 0..1, higher is better.

    Distances are shares: `edit` is the Levenshtein distance over the length of the longer text
    (of words where a text has more than 50,000 characters), `embedding` is 1 minus the cosine.
    A ratio over 1 (the answer moves further than the input) counts as 0, and the unclamped
    value is in the details. An input that was not moved is not applicable and counted so. A
    case is a copy as `judgekit perturb` writes it.
    """

    name: str = "robustness_continuous"
    norm: Norm = "edit"
    """How far texts moved: by letters, or by vectors."""
    embedder: Chosen = "lexical"
    """What turns texts into vectors, with `embedding`."""

    needs = (
        "input",
        "output",
        "baseline",
        "parent",
        f"expected.{ORIGINAL}",
    )

    def __post_init__(self) -> None:
        check_name("robustness_continuous", self.name)
        check_choice(self.name, "norm", self.norm, Norm)
        if self.norm == "embedding":
            check_embedder(self.name, self.embedder)

    @property
    def synchronous(self) -> bool:
        """Whether scoring waits for nothing."""
        return self.norm == "edit" or embeds_at_once(self.embedder)

    async def score(self, case: Case) -> Score:
        """Score one perturbed copy.

        Raises:
            CaseError: a text is missing or over 2,000,000 characters, or there is no parent.
        """
        before, after = _perturbed(case)
        original = case.expected.get(ORIGINAL)
        if not isinstance(original, str) or not has_text(original):
            raise CaseError(f"needs the input it came from (field 'expected.{ORIGINAL}')")
        changed = needed_text(case, "input")
        for text in (before, after, original, changed):
            if len(text) > MAX_CHARACTERS:
                raise CaseError(f"a text of {len(text):,} characters is too long to compare")
        method = f"{self.norm} distance"
        meta: dict[str, Json] = {}
        if self.norm == "edit":
            moved, pushed = edit_share(before, after), edit_share(original, changed)
        else:
            rows = await vectors(self.embedder, [before, after, original, changed])
            meta["embedder"] = identity_of(self.embedder)
            answers, inputs = cosine(rows[0], rows[1]), cosine(rows[2], rows[3])
            if answers is None or inputs is None:
                return Score(
                    status="not_applicable",
                    reason="A text holds no words the embedder knows.",
                    method=method,
                )
            moved, pushed = round(1.0 - answers, 6), round(1.0 - inputs, 6)
        if pushed == 0:
            return Score(
                status="not_applicable",
                reason="The input was not moved, so nothing can be said of the answer.",
                method=method,
            )
        raw = continuous_robustness(moved, pushed)
        return Score(
            value=min(1.0, max(0.0, raw)),
            method=method,
            reason=f"The answer moves by {moved:.2f} where the input was moved by {pushed:.2f}.",
            ground_truth=before,
            details={
                "answer_moved": moved,
                "input_moved": pushed,
                "raw": raw,
                "parent": case.parent,
                "perturbation": _kind(case),
            },
            meta=meta,
        )


def continuous_robustness(moved: float, pushed: float) -> float:
    """Return 1 - moved / pushed, unclamped; `pushed` is over 0."""
    return 1.0 - moved / pushed


def edit_share(one: str, other: str) -> float:
    """Return the Levenshtein distance of two texts over the length of the longer, 0..1.

    Texts of more than 50,000 characters are compared word by word.

    >>> round(edit_share("kitten", "sitting"), 4)
    0.4286
    """
    from rapidfuzz.distance import Levenshtein

    if one == other:
        return 0.0
    if max(len(one), len(other)) > MAX_LETTERS:
        return float(Levenshtein.normalized_distance(one.split(), other.split()))
    return float(Levenshtein.normalized_distance(one, other))


def _form(text: str) -> str:
    return answer_form(text, ignore_case=True, ignore_accents=True)


def _check_share(metric: str, option: str, given: object) -> None:
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not math.isfinite(given) or not 0 <= given <= 1:  # type: ignore[arg-type, operator]
        raise ConfigError(f"{metric}: {option} must be a number from 0 to 1, not {given!r}")
