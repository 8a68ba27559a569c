"""Judges: hosted and local models, people and fakes.

This package also has retries, limits and prices. It imports `core`.

Start with `litellm`, the judge for most runs; `fake` and `manual` need no model.
"""
