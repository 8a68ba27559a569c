"""Fixtures of runs, shared with the tests of comparisons."""

from tests.analysis.comparison.conftest import run

__all__ = ["run"]
