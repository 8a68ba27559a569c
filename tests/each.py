"""One test for many small rows, where a test of its own for each would cost more than it does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def each(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Callable[[Any], object] | Sequence[object] | None = None,
) -> Callable[[Test], Test]:
    """Call a test for every row, like `pytest.mark.parametrize`, but as one test.

    It goes on after a row that fails, and then fails with all of them, each with its row. Fixtures
    are the same for all rows: only for tests that leave nothing behind. No row may skip.

    Args:
        names: the parameters; several as a sequence, or as text with commas.
        rows: their values, or `pytest.param` with an id.
        ids: what the rows are called, or a function of each value; the row itself by default.
    """
    alone = isinstance(names, str) and "," not in names
    parameters = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
    table = [_named(row, alone) for row in rows]
    if ids is not None and not callable(ids):
        table = [(name, values) for name, (_, values) in zip(ids, table, strict=True)]
    elif ids is not None:
        table = [([ids(value) for value in values], values) for _, values in table]
    assert table, "there is no row"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in parameters]
        assert len(left) == len(signature.parameters) - len(parameters), parameters

        @wraps(test)
        def run(**fixtures: Any) -> None:
            failed: list[Exception] = []
            for number, (name, values) in enumerate(table, start=1):
                try:
                    test(**dict(zip(parameters, values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as exc:
                    fault = exc if isinstance(exc, Exception) else AssertionError(str(exc))
                    fault.add_note(f"row {number}: {name!r:.200}")
                    failed.append(fault)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(table)} rows", failed)

        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate


def _named(row: Any, alone: bool) -> tuple[object, list[Any]]:
    """Return what a row is called, and its values."""
    if isinstance(row, type(pytest.param())):
        assert not row.marks, "marks are for tests, not for rows"
        return row.id or row.values, list(row.values)
    return row, [row] if alone else list(row)
