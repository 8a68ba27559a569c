"""One evaluation: cases in, results out.

In order, with progress, gates and interruption. It imports `analysis`, `report` and the layers
below.

Start with `evaluation`.
"""
