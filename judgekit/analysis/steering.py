"""The results of a search for the layer and the strength of a steering vector."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from judgekit.core.display.parts import DisplayLine, DisplayPart, DisplayTable, cut
from judgekit.core.value import Document, Value

FORMAT = "judgekit-steering/1"
FIGURES = ("overall", "difference", "quality", "alignment", "steered_share")
"""Figures of a cell, in display order."""
_HEAD = ("layer", "strength", "overall", "95 %", "differs", "quality", "aligned", "steered", "")
QUALITY_DROP = 0.1
"""Tolerated difference of a cell's mean quality below that of the baseline."""


class SteeringCell(Value):
    """The answers of one layer and strength."""

    layer: int
    strength: float
    figures: dict[str, float | None]
    """Means over the test prompts, on 0..1; `None` without scores. `overall` counts an answer that
    hardly differs from its baseline as 0; `steered_share` is the share of the others."""
    interval: str
    """95 % interval of `overall`, as shown."""
    counts: str
    """The numbers of rows by outcome, as text."""
    complete: bool
    """Whether all answers have a score."""


class SteeringTable(Document, Value):
    """The outcome of `judgekit steer optimize`."""

    format: str = FORMAT
    trait: str
    model: str
    weights: str = ""
    """Digest of the model's weights."""
    pairs: int = 0
    """Number of training pairs."""
    prompts: int
    rated_by: str
    """The judge of quality, or `rules`."""
    baseline_quality: float | None
    """Mean quality of the answers without steering."""
    cells: tuple[SteeringCell, ...]
    """The cells by layer, then by strength, in the given order."""

    def holds(self, cell: SteeringCell) -> bool:
        """Return whether the quality of a cell is not much below that of the baseline.

        True for a cell without scores.
        """
        quality = cell.figures["quality"]
        least = (self.baseline_quality or 0) - QUALITY_DROP
        return quality is None or quality >= least - 1e-9

    @property
    def best(self) -> SteeringCell | None:
        """The cell with the highest mean and enough quality; `None` if no such mean is above 0."""
        return max(
            (cell for cell in self.cells if cell.figures["overall"] and self.holds(cell)),
            key=lambda cell: (cell.figures["overall"] or 0, -abs(cell.strength), -cell.layer),
            default=None,
        )

    @property
    def rows(self) -> list[list[SteeringCell]]:
        """The cells of each layer."""
        return [list(row) for _, row in groupby(self.cells, key=lambda cell: cell.layer)]

    @property
    def verdict(self) -> str:
        """A sentence about the best cell, or why there is none."""
        if self.best is not None:
            place = f"layer {self.best.layer}, strength {self.best.strength:g}"
            return f"Best: {place}, with {self.best.figures['overall']:.2f}."
        if not all(cell.complete for cell in self.cells):
            return "No best cell can be named: some answers have no score."
        if any(cell.figures["overall"] for cell in self.cells):
            return "No cell holds the quality of the baseline."
        return "No steering had an effect; try other layers, higher strengths or more pairs."

    def _parts_shown(self) -> Iterable[DisplayPart]:
        yield DisplayLine(f"Steering towards: {cut(self.trait)}", "title")
        quality = "none" if self.baseline_quality is None else f"{self.baseline_quality:.2f}"
        yield DisplayLine(
            f"{self.model}; {self.pairs} pairs; {self.prompts} test prompts; quality by "
            f"{self.rated_by}, of the baseline {quality}"
        )
        rows = []
        for cell in self.cells:
            shown = ["–" if n is None else f"{n:.2f}" for n in map(cell.figures.get, FIGURES)]
            mark = "best" if cell is self.best else "" if self.holds(cell) else "low"
            shown.insert(1, cell.interval)
            rows.append((str(cell.layer), f"{cell.strength:g}", *shown, mark))
        yield DisplayTable(_HEAD, rows, numbers=range(8))
        yield DisplayLine(self.verdict, "note")
