"""Evaluate cases with metrics.

Results are in the order of the cases; there are progress, gates and interruption. It imports
`analysis`, `report` and the layers below.

Start with `evaluation`.
"""
