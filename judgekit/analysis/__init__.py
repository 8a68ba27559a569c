"""Analysis of finished runs: comparison of two runs, agreement of a judge with human labels.

It imports `report` and the layers below.

Start with `comparison.compare` and `agreement.agree`.
"""
