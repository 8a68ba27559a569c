"""Benchmarks with one right answer: stated answers, choices, mathematics, code, likelihood."""
