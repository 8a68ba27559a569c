"""A finished run: summary, run folder, exports, and tables for terminal and notebook.

It imports `core`, `stats`, `datasets`, `rubric` and `metrics`.

Start with `report`, the results of a run; `folder` keeps them on disk; `export` writes other
formats.
"""
