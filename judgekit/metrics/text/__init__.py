"""Metrics that compare texts by rules."""
