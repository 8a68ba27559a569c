"""Fixtures of runs, shared with the tests of reports, and one browser for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browsing import launched
from tests.report.conftest import rich, runs

__all__ = ["rich", "runs"]


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser
