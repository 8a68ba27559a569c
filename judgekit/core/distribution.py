"""A distribution over the answers to one question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field, SerializeAsAny

from judgekit.core.value import Value

# `SerializeAsAny`: for a word, pydantic would first try and fail to write a number.
Label = SerializeAsAny[float | bool | str | None]
"""An answer: a number, a yes or no, or a word; `None` is "cannot tell"."""
Source = Literal["decisions", "logprobs", "samples"]
Readout = Literal["expected", "mode", "yes"]

LITTLE_MASS = 0.8
"""Reports show the mass of a distribution below this value."""
_EQUAL = 1e-9


class Distribution(Value):
    """The probability of each answer to a question.

    Probabilities cover only the legal answers and sum to 1. `mass` is the probability that the
    judge gave to all legal answers together, before normalisation.
    """

    labels: tuple[Label, ...] = Field(min_length=1)
    """The answers, in the order of the rubric; numbers ascend."""
    probabilities: tuple[float, ...]
    """The probability of each label, 0..1; they sum to 1."""
    source: Source
    mass: float = Field(default=1.0, ge=0, le=1)
    bound: float = Field(default=0.0, ge=0, le=1)
    """Largest error of a probability, because a server lists only the likeliest tokens."""

    @classmethod
    def of(
        cls,
        weights: Mapping[Label, float],
        *,
        source: Source,
        mass: float | None = None,
        bound: float = 0.0,
    ) -> Distribution | None:
        """Return the distribution in proportion to weights of at least 0.

        Args:
            weights: answer -> its weight.
            source: where the weights come from.
            mass: probability of all legal answers; the sum of the weights by default.
            bound: largest error of a probability.

        Returns:
            `None` if all weights are 0.
        """
        total = math.fsum(weights.values())
        if total <= 0:
            return None
        return cls(
            labels=tuple(weights),
            probabilities=tuple(weight / total for weight in weights.values()),
            source=source,
            mass=min(1.0, total if mass is None else mass),
            bound=min(1.0, bound),
        )

    def items(self) -> Iterable[tuple[Label, float]]:
        """Return label and probability of each answer."""
        return zip(self.labels, self.probabilities, strict=True)

    def probability(self, label: Label) -> float:
        """Return the probability of an answer; 0 if the distribution does not have it."""
        return dict(self.items()).get(label, 0.0)

    @property
    def expected(self) -> float | None:
        """The mean of the numbers, and of yes as 1 and no as 0; `None` without any."""
        numbers = (label for label in self.labels if isinstance(label, (bool, int, float)))
        return self.expected_of({number: float(number) for number in numbers})

    def expected_of(self, values: Mapping[Label, float]) -> float | None:
        """Return the mean value of the answers that have one; `None` if their probability is 0."""
        known = [(p, values[label]) for label, p in self.items() if label in values]
        total = math.fsum(p for p, _ in known)
        return math.fsum(p * value for p, value in known) / total if total > 0 else None

    @property
    def mode(self) -> Label:
        """The most probable answer; `None` if two are tied or it is "cannot tell"."""
        best = max(self.probabilities)
        first = [label for label, p in self.items() if p >= best - _EQUAL]
        return first[0] if len(first) == 1 else None

    @property
    def yes(self) -> float | None:
        """The probability of a yes among yes and no; `None` if the question has other answers."""
        # 1.0 == True, so the class distinguishes numbers from booleans.
        answers = (label for label in self.labels if isinstance(label, bool))
        return self.expected_of({answer: float(answer) for answer in answers})

    @property
    def entropy(self) -> float:
        """The entropy in bits: 0 if one answer is certain, 1 for a coin."""
        return -math.fsum(p * math.log2(p) for p in self.probabilities if p > 0)
