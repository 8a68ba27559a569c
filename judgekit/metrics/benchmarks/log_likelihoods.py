"""Log-likelihoods: which choice does a model find most likely?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError, ConfigError, InvalidReply
from judgekit.core.protocols import Aggregate, JudgeLike, Likelihood
from judgekit.core.replies.logprobs import Continuation
from judgekit.core.score import Score
from judgekit.datasets.benchmark_rows import LETTERS
from judgekit.metrics._options import lacking
from judgekit.metrics.aggregate import DetailMeans
from judgekit.metrics.benchmarks.likelihood import LikelihoodMetric

Normalise = Literal["none", "tokens", "bytes"]
_KINDS: Mapping[Normalise, str] = {
    "none": "accuracy_raw",
    "tokens": "accuracy_per_token",
    "bytes": "accuracy_per_byte",
}
"""Divisor of a log-probability -> the figure of a run."""
_HOLE = re.compile(r"\{(input|system|context)\}")


class LogLikelihoods(LikelihoodMetric):
    """1 if the model finds the correct choice most likely, else 0. Higher is better.

    The metric appends each of `choices` to the prompt and sums the natural log-probabilities of its
    tokens. A long choice has a lower sum than a short one, so `normalise` can divide the sum by
    tokens or bytes. `details` contain all three figures and the choice that each one selects. The
    correct choice is `expected.correct_index` (from 0), or the choice that equals `reference`. If
    the best choices are tied, the score abstains.

    `confidence` is the share of the selected choice in the softmax over the figures of all choices.
    With `normalise: none` this is the model's probability of the choice, given that it is one of
    the choices.

    The log-probabilities come from a completions endpoint with echo. A token that begins in the
    prompt and ends in the choice counts as part of the choice; `details.shared` is the number of
    such tokens.

    Args:
        judge: the model, or a `Likelihood`.
        name: the name in results.
        normalise: divisor of the sum before the comparison: `none`, `tokens` or `bytes`.
        template: the prompt; `{input}`, `{system}` and `{context}` are replaced by fields of the
            case.
        joint: text between prompt and choice. It belongs to the choice, because tokenisers join a
            space to the next word.
    """

    judge: JudgeLike | Likelihood
    name: str = "log_likelihoods"
    normalise: Normalise = "none"
    template: str = "{input}"
    joint: str = " "

    figures: ClassVar[Mapping[str, bool]] = dict.fromkeys(_KINDS.values(), True)
    needs = ("input", "choices", "reference or expected.correct_index")
    confidence = (
        "is the share of the picked choice in the softmax over all choices' figures: with"
        " `normalise: none` the model's probability of it, given that it is one of the "
        "choices"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(template := vars(self)["template"], str) or not _HOLE.search(template):
            raise ConfigError(f"{self.name}: template must contain {{input}}, not {template!r}")

    def aggregates(self) -> list[Aggregate]:
        """Return the aggregate that counts the selections of the three figures."""
        return [_accuracies()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: there is no prompt, or not exactly one correct choice.
            JudgekitError: raised by the model or the cassette.
        """
        prompt = self._prompt(case)
        choices, correct = correct_of(case)
        pairs = [(prompt, self.joint + choice) for choice in choices]
        continuations = await self.measure(case, pairs)
        figures = [_figures(c, found) for c, found in zip(choices, continuations, strict=True)]
        by = {kind: _best([each[kind] for each in figures]) for kind in _KINDS}
        shares = softmax([each[self.normalise] for each in figures])
        picked = by[self.normalise]
        details: dict[str, Any] = {
            "choices": [
                {
                    "text": choice,
                    "logprob": each["none"],
                    "per_token": each["tokens"],
                    "per_byte": each["bytes"],
                    "tokens": len(found.logprobs),
                    "share": share,
                }
                for choice, each, found, share in zip(
                    choices, figures, continuations, shares, strict=True
                )
            ],
            "correct": correct,
            "picked": picked,
            "picked_by": dict(by),
            "shared": sum(one.shared for one in continuations),
        }
        common: dict[str, Any] = {
            "method": self._method,
            "ground_truth": choices[correct],
            "details": details,
            "meta": self.made_with,
        }
        if picked is None:
            reason = "The model finds its best choices equally likely."
            return Score(status="abstained", reason=reason, **common)
        right = picked == correct
        verdict = "is correct" if right else f"is not the correct {choices[correct]!r}"
        return Score(
            value=float(right),
            confidence=shares[picked],
            reason=f"The model finds {choices[picked]!r} most likely, which {verdict}.",
            **common,
        )

    def _prompt(self, case: Case) -> str:
        texts = {"input": case.input, "system": case.system, "context": "\n".join(case.context)}
        for name in _HOLE.findall(self.template):
            if not has_text(texts[name]):
                raise lacking(name)
        return _HOLE.sub(lambda match: texts[match[1]] or "", self.template)


def _figures(choice: str, continuation: Continuation) -> dict[Normalise, float]:
    """Return the log-probability of a choice: the sum, and the sum divided by tokens and bytes."""
    tokens = len(continuation.logprobs)
    if not tokens:
        raise InvalidReply(f"no token of the choice {choice!r} has a log-probability")
    total = math.fsum(continuation.logprobs)
    return {"none": total, "tokens": total / tokens, "bytes": total / len(choice.encode())}


def correct_of(case: Case) -> tuple[tuple[str, ...], int]:
    """Return the choices of a case, and the index of the correct one.

    Raises:
        CaseError: there are fewer than two choices, two are equal, or the correct one is unknown.
    """
    choices = case.choices
    if len(choices) < 2 or not all(map(has_text, choices)):
        raise CaseError("needs at least two choices, none blank (field 'choices')")
    plain = [choice.strip() for choice in choices]
    if len(set(plain)) < len(plain):
        raise CaseError("two choices are the same (field 'choices')")
    index = case.expected.get("correct_index")
    if index is not None:
        last = len(choices) - 1
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index <= last:
            raise CaseError(f"expected.correct_index must be from 0 to {last}, not {index!r}")
        return choices, index
    accepted = {text.strip() for text in case.reference}
    matches = [number for number, choice in enumerate(plain) if choice in accepted]
    if not matches:
        matches = sorted({n for text in accepted for n in _places_of(text, len(plain))})
    if len(matches) != 1:
        none = "none of the choices is" if not matches else "several choices are"
        raise CaseError(f"{none} the reference; set expected.correct_index")
    return choices, matches[0]


def softmax(figures: Sequence[float]) -> list[float]:
    """Return the share of each figure in the sum of exp(figure); the shares add up to 1.

    >>> [round(share, 3) for share in softmax([0.0, -1.0])]
    [0.731, 0.269]
    """
    most = max(figures)
    weights = [math.exp(figure - most) for figure in figures]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _best(figures: Sequence[float]) -> int | None:
    best = max(figures)
    numbers = [number for number, figure in enumerate(figures) if figure == best]
    return numbers[0] if len(numbers) == 1 else None


def _accuracies() -> DetailMeans:
    """Return the share of cases for which each figure selects the correct choice."""

    def is_right(kind: Normalise, details: Mapping[str, Any]) -> bool:
        return bool(details["picked_by"][kind] == details["correct"])

    figures = {figure: partial(is_right, kind) for kind, figure in _KINDS.items()}
    return DetailMeans("picked_by", figures)


def _places_of(text: str, count: int) -> list[int]:
    """Return the index that a label such as `B`, `(b)`, `B.` or `1` names, from 0; or nothing.

    A number is an index from 0, as in files of MMLU.
    """
    label = text.strip("()[]. :").upper()
    if len(label) == 1 and label in LETTERS[:count]:
        return [LETTERS.index(label)]
    if label.isascii() and label.isdecimal() and len(label) < 3 and int(label) < count:
        return [int(label)]
    return []
