"""A folder of runs in a browser of this machine: listed, opened, compared, followed live.

It imports `pages`, `analysis`, `report`, `stats` and `core`.

Start with `server`.
"""
