"""Personalization: how a steered answer differs from a baseline, and how good it stays."""
