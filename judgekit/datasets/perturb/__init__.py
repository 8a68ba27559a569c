"""Perturbations: small, seeded changes of an input that should not change its answer."""
