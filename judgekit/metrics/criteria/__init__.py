"""Criteria in the row: each case has its own rubric, with points, kinds, tags and subtrees.

Start with `score` of the metric, `judgekit/metrics/safety_and_quality/points.py`. Here, `item.py`
reads `expected.criteria`; `tree.py` computes the value of a case and whether it passes; `groups.py`
asks a judge about several criteria at a time.
"""
