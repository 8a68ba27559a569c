"""The table of layers and strengths: which cell is the best, and what is printed."""

from __future__ import annotations

import pytest

from judgekit.core.display.text import to_text
from judgekit.steering.search import FIGURES, SteeringCell, SteeringTable


def cell(layer, strength, overall, quality=1.0):
    figures = {**dict.fromkeys(FIGURES, 0.5), "overall": overall, "quality": quality}
    return SteeringCell(
        layer=layer, strength=strength, figures=figures, interval="", counts="", complete=True
    )


def table(*cells, quality=0.9, **update):
    fields = {"trait": "dry", "model": "transformers/m", "prompts": 3, "rated_by": "rules"}
    return SteeringTable(**{**fields, **update}, baseline_quality=quality, cells=cells)


def test_the_best_is_the_highest_that_holds_quality():
    good = cell(1, 2.0, 0.4, quality=0.8)
    found = table(cell(1, 1.0, 0.3), good, cell(2, 2.0, 0.9, quality=0.79))

    assert found.best == good
    assert found.verdict == "Best: layer 1, strength 2, with 0.40."


def test_equal_cells_are_decided_by_the_lower_strength_then_the_lower_layer():
    cells = [cell(3, -2.0, 0.5), cell(2, 1.0, 0.5), cell(1, 1.0, 0.5), cell(0, 2.0, 0.5)]

    assert table(*cells).best == cells[2]


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        ([cell(1, 1.0, 0.0)], "No steering had an effect"),
        ([cell(1, 1.0, None, quality=None)], "No steering had an effect"),
        ([cell(1, 1.0, 0.6, quality=0.1)], "No cell holds the quality"),
    ],
)
def test_without_a_best_cell_the_reason_is_printed(cells, verdict):
    assert table(*cells).best is None
    assert verdict in to_text(table(*cells)._parts_shown())


def test_a_line_of_the_terminal_has_80_columns_and_no_controls():
    text = to_text(table(cell(10, 0.5, 0.25), trait="d\x1b[31mry")._parts_shown(), width=80)

    assert "\x1b" not in text
    assert "   10       0.5     0.25" in text
    assert "best" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_rows_of_the_heat_map_are_layers():
    found = table(*(cell(layer, x, 0.1) for layer in (4, 8) for x in (1.0, 2.0, 3.0)))

    assert [[(c.layer, c.strength) for c in row] for row in found.rows] == [
        [(4, 1.0), (4, 2.0), (4, 3.0)],
        [(8, 1.0), (8, 2.0), (8, 3.0)],
    ]
