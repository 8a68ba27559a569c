"""Statistics: plain functions of numbers.

Intervals, tests, clusters, power, bootstrap, coefficients of agreement and ROC-AUC. It imports
nothing of judgekit.

Start with `intervals` for means and shares, `clusters` for dependent cases, `tests` for
comparisons.
"""
