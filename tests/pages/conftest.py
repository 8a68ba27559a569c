"""Fixtures of runs, shared with the tests of reports."""

from tests.report.conftest import rich, runs

__all__ = ["rich", "runs"]
