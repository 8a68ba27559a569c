"""The page of a ranking: one HTML file that needs no network and no other file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from judgekit.analysis.ranking import words
from judgekit.analysis.ranking.ranking import ModelRanking, RankedModel
from judgekit.pages.html import fill, write_html

SCRIPTS = ("scrolls", "ranking/main")
"""Pieces of the script, in the order they are joined."""
WIDTH = 240.0
"""Width of the figure of an interval, in the units of its drawing."""
MOST_COLUMNS = 40
"""Models of the table of pairs; a larger one is not readable."""


def write_ranking(ranking: ModelRanking, path: Path) -> Path:
    """Write the page of a ranking and return its path.

    Raises:
        ConfigError: the file cannot be written, is a link, or exists and is not a judgekit page.
    """
    return write_html(render_ranking(ranking), path)


def render_ranking(ranking: ModelRanking) -> str:
    """Return the page of a ranking."""
    return fill(
        "ranking",
        styles=("ranking",),
        scripts=SCRIPTS,
        ranking=ranking,
        words=words,
        axis=StrengthAxis(ranking),
        table=PairTable(ranking) if len(ranking.models) <= MOST_COLUMNS else None,
    )


class StrengthAxis:
    """The axis of the figures of strengths, with 0 in the middle."""

    def __init__(self, ranking: ModelRanking) -> None:
        ends = [v for one in ranking.models for v in (one.strength, one.low, one.high)]
        self._most = 1.08 * max((abs(v) for v in ends if v is not None), default=1.0) or 1.0

    def x(self, value: float) -> str:
        """Return the position of a strength."""
        return f"{WIDTH / 2 + value / self._most * (WIDTH / 2 - 6):.1f}"


class PairCell(NamedTuple):
    """The comparisons of the model of a row with the model of a column."""

    rate: float
    """Share that the model of the row won, a tie as half a win."""
    n: int

    @property
    def shade(self) -> str:
        """Class of the style sheet, in steps of a tenth."""
        return f"w{round(self.rate * 10)}"


class PairTable:
    """Who wins how often against which model."""

    def __init__(self, ranking: ModelRanking) -> None:
        self.models: list[RankedModel] = list(ranking.models)
        self._cells: dict[tuple[str, str], PairCell] = {}
        for pair in ranking.pairs:
            self._cells[pair.a, pair.b] = PairCell(pair.rate, pair.n)
            self._cells[pair.b, pair.a] = PairCell(1 - pair.rate, pair.n)

    def cell(self, row: str, column: str) -> PairCell | None:
        """Return the comparisons of two models; `None` without any."""
        return self._cells.get((row, column))
