"""Rubrics: files that state what a judge is asked and how its answers become a number.

It imports `core`.

Start with `load`, which reads a rubric file; `rubric` renders its messages; `fold` turns answers
into a score.
"""
