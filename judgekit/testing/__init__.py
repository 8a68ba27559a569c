"""Scores and checks on recorded verdicts inside pytest.

It imports `authoring`, `suite` and the layers below.

Start with `session`, what the pytest fixture returns.
"""
