"""Lint: problems of a rubric that are found without calling a judge."""
