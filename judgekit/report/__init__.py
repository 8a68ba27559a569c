"""A finished run: summary, run folder, page, exports, and tables for terminal and notebook.

It imports `core`, `stats`, `datasets`, `cassette` and `metrics`.

Start with `report`, the results of a run; `writer` and `folder` keep them on disk; `export`
writes other formats.
"""
