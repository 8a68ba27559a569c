"""Statistics: plain functions of numbers.

Intervals, tests, clusters, power, bootstrap and coefficients of agreement. It imports `core`.

Start with `intervals` for means and shares, `clusters` for dependent cases, `tests` for
comparisons.
"""
