"""A metric with options, as a class."""

from dataclasses import dataclass
from typing import ClassVar

from judgekit import Case, ConfigError, Score


@dataclass(frozen=True, kw_only=True)
class Shouting:
    """Share of the words of an answer that are all capitals; 0..1, lower is better.

    Words shorter than `shortest` letters do not count: "I" and "OK" are not shouting. The metric is
    not applicable to an answer without longer words.
    """

    name: str = "shouting"
    shortest: int = 3

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.shortest < 1:
            raise ConfigError(f"{self.name}: shortest must be at least 1, not {self.shortest}")

    async def score(self, case: Case) -> Score:
        """Score one case."""
        words = [word for word in (case.output or "").split() if len(word) >= self.shortest]
        if not words:
            return Score(status="not_applicable", reason="No word is long enough to shout.")
        loud = [word for word in words if word.isupper()]
        return Score(
            value=len(loud) / len(words),
            method="capital letters",
            reason=f"{len(loud)} of {len(words)} words are all capitals.",
            details={"loud": loud[:20]},
        )
