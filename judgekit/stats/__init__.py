"""Statistics: plain functions of numbers.

Intervals, tests, clusters, power, bootstrap and coefficients of agreement. It imports nothing of
judgekit.

Start with `intervals` for means and shares, `clusters` for dependent cases, `tests` for
comparisons.
"""
