"""Scores and checks in pytest, on recorded replies.

It imports `authoring`, `suite` and the layers below.

Start with `kit`, the object that the pytest fixture returns; `session` holds the state of a test
session.
"""
