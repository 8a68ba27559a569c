"""Metrics made of a model's log-probabilities rather than of anything it says."""
