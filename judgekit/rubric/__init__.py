"""Rubrics: files that say what a judge is asked and how its answers become a number."""
