"""Perturbations: seeded, small changes of an input that should not change what it gets."""
