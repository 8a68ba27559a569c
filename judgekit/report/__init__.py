"""The results of a run: summary, run folder, exports, and tables for terminals and notebooks.

It imports `core`, `stats`, `datasets`, `rubric` and `metrics`.

Start with `report`, the results of a run; `folder` stores them on disk, and `export` writes other
formats.
"""
