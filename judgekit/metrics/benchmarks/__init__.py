"""Metrics of benchmarks with one right answer: stated answers, mathematics, code."""
