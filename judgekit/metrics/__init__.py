"""Metrics: one case in, one score out.

Each metric lives in the module named after it. It imports `core`, `stats`, `datasets`,
`embedders` and `rubric`, never a judge or a cassette.

Start with `catalogue`, the list of every metric; each family has a folder; `rubric` scores with a
judge.
"""
