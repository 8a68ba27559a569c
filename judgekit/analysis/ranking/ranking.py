"""The result of a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.value import Document, Value
from judgekit.datasets.dataframes.framed import Framed

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown


class RankedModel(Value):
    """One model of a ranking."""

    model: str
    group: int
    """From 1; strengths and ranks of different groups cannot be compared."""
    wins: int
    ties: int
    losses: int
    n: int
    """Comparisons with this model."""
    rank: int | None = None
    """In its group, by strength; `None` for a group of one model."""
    rank_low: int | None = None
    """The best rank that the comparisons allow."""
    rank_high: int | None = None
    strength: float | None = None
    """Natural logarithm; the mean of a group is 0. `None` for a group of one model."""
    low: float | None = None
    """95 % interval of the strength; `None` for too few prompts."""
    high: float | None = None


class HeadToHead(Value):
    """All comparisons of two models."""

    a: str
    b: str
    wins: int
    """Of `a`."""
    ties: int
    losses: int

    @property
    def n(self) -> int:
        """Number of comparisons."""
        return self.wins + self.ties + self.losses

    @property
    def rate(self) -> float:
        """Share of the comparisons that `a` won, a tie as half a win."""
        return (self.wins + self.ties / 2) / self.n


class ModelRanking(Document, Framed, Value):
    """Models by Bradley-Terry strength; made by `judgekit.rank`.

    A data frame of it has a row for each model.
    """

    comparisons: int
    prompts: int
    metric: str | None = None
    """The metric of the runs."""
    judges: dict[str, int]
    """Judge -> its comparisons; without those of no named judge."""
    draws: int
    """Draws of the bootstrap."""
    seed: int
    too_few: str | None = None
    """Why there are no intervals."""
    left_out: dict[str, int]
    """Reason -> results without a comparison."""
    warnings: tuple[str, ...]
    """Warnings to read before any figure."""
    models: tuple[RankedModel, ...]
    """By group, then the strongest first."""
    pairs: tuple[HeadToHead, ...]
    """Every two models that were compared, in the order of `models`."""

    def __repr__(self) -> str:
        return f"ModelRanking({', '.join(one.model for one in self.models)})"

    __str__ = __repr__

    @property
    def connected(self) -> bool:
        """Whether the comparisons connect all models, so that all strengths can be compared."""
        return all(one.group == 1 for one in self.models)

    def _parts_shown(self) -> Iterable[Shown]:
        from judgekit.analysis.ranking.words import ranking_parts

        return ranking_parts(self)

    def _frame_rows(self) -> Iterable[Mapping[str, Any]]:
        return (one.model_dump() for one in self.models)

    def to_html(self, path: str | Path) -> Path:
        """Write the ranking as one self-contained HTML file and return its path.

        Raises:
            ConfigError: the file cannot be written.
        """
        from judgekit.core.renderers import renderer

        written: Path = renderer("ranking page")(self, Path(path))
        return written

    def to_json(self) -> dict[str, Any]:
        """Return the ranking as JSON."""
        return self.model_dump(mode="json")
