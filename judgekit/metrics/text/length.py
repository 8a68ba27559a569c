"""Length: is the output as long as it should be?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.metrics._options import Positive, needed_text
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.tokens import count_lines, count_paragraphs, count_sentences, count_words

Unit = Literal["words", "characters", "sentences", "lines", "paragraphs"]

COUNTS: dict[Unit, Callable[[str], int]] = {
    "words": count_words,
    "characters": len,
    "sentences": count_sentences,
    "lines": count_lines,
    "paragraphs": count_paragraphs,
}
"""How each unit is counted. Characters are code points; blank lines do not count."""


class Length(ComputedMetric):
    """1 within the limits, less outside. Range 0..1, higher is better.

    Outside the limits the value decreases linearly to 0 at half the minimum and twice the maximum.
    Words are separated by spaces; each Han or kana character counts as one word, and so does a run
    of Thai, Lao, Khmer or Burmese characters. The metric needs `output` and at least one limit.
    """

    name: str = "length"
    unit: Unit = "words"
    """The unit to count."""
    minimum: Positive | None = None
    """Minimum length, inclusive."""
    maximum: Positive | None = None
    """Maximum length, inclusive."""

    synchronous = True
    needs = ("output",)

    def prepare(self) -> None:
        """Check and complete the options."""
        if self.minimum is None and self.maximum is None:
            raise ConfigError(f"{self.name}: needs a minimum or a maximum, such as maximum: 120")
        if self.minimum and self.maximum and self.minimum > self.maximum:
            problem = f"minimum must not be above maximum, not {self.minimum} above {self.maximum}"
            raise ConfigError(f"{self.name}: {problem}")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing.
        """
        count = COUNTS[self.unit](needed_text(case, "output"))
        unit = self.unit if count != 1 else self.unit.removesuffix("s")
        return Score(
            value=self._value(count),
            method=f"number of {self.unit}",
            reason=f"{count:,} {unit}; wanted {self._bounds()}.",
            details={
                "count": count,
                "unit": self.unit,
                "minimum": self.minimum,
                "maximum": self.maximum,
            },
        )

    def _value(self, count: int) -> float:
        if self.minimum and count < self.minimum:
            return max(0.0, 2 * count / self.minimum - 1)
        if self.maximum and count > self.maximum:
            return max(0.0, 2 - count / self.maximum)
        return 1.0

    def _bounds(self) -> str:
        if self.minimum == self.maximum:
            return f"{self.minimum:,}"
        low = "" if self.minimum is None else f"at least {self.minimum:,}"
        high = "" if self.maximum is None else f"at most {self.maximum:,}"
        return " and ".join(bound for bound in (low, high) if bound)
