"""Scores and checks inside pytest, on recorded replies.

It imports `authoring`, `suite` and the layers below.

Start with `session`, what the pytest fixture returns.
"""
