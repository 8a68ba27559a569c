"""Lint: what a rubric's author would rather hear now than read out of a thousand verdicts."""
