"""Comparison of runs with a baseline, case by case."""
