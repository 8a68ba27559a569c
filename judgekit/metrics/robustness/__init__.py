"""Metrics of robustness: how answers change when inputs are perturbed."""
