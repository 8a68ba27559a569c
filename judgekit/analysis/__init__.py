"""Analysis of finished runs: comparison of runs, agreement with human labels, rankings of models.

It imports `report` and the layers below.

Start with `comparison.compare`, `agreement.agree` and `ranking.rank`.
"""
