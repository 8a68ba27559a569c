"""Judges: models, people, and limits around them."""
