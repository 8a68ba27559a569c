"""Means of a run, corrected with human labels."""
