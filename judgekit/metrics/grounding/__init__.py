"""Grounding: whether the context supports an answer, and whether the answer is complete."""
