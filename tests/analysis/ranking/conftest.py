"""Run folders, as the tests of comparisons make them."""

from tests.analysis.comparison.conftest import run

__all__ = ["run"]
