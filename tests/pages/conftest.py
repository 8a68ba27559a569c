"""Fixtures of runs, shared with the tests of reports and comparisons."""

from tests.analysis.comparison.conftest import run
from tests.report.conftest import rich, runs

__all__ = ["rich", "run", "runs"]
