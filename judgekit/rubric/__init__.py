"""Rubrics: files that define what to ask a judge, and how to compute a score from its answers.

It imports `core`.

Start with `load`, which reads a rubric file; `rubric` renders its messages; `fold` turns answers
into a score.
"""
