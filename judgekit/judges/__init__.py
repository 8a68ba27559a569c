"""Judges: hosted and local models, people and fakes.

Also retries, limits and prices. It imports `core`.

Start with `litellm`, the judge of most runs; `fake` and `manual` answer without a model.
"""
