"""Means of a run, corrected with labels of people."""
