"""Metrics of embedding similarity."""
