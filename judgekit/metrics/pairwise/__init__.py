"""Pairwise preference: which of two answers a judge prefers. Start with `preference`."""
