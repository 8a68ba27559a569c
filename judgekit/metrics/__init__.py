"""Metrics: one case in, one score out. Each lives in the module named after it."""
