"""Show a folder of runs in a local browser: list, open, compare and follow runs.

It imports `pages`, `analysis`, `report`, `stats` and `core`.

Start with `server`.
"""
