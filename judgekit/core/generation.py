"""Generations of the built-in rubrics: the versions that their bare names mean at one time.

`data/rubric_generations.json` has the table. A project whose tape was begun under an older
generation keeps the versions of that generation.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

_DATA = Path(__file__).with_name("data") / "rubric_generations.json"
_chosen: ContextVar[int | None] = ContextVar("generation", default=None)


@cache
def generations() -> Mapping[int, Mapping[str, int]]:
    """Return generation -> the rubrics with a new version in it -> that version."""
    data = json.loads(_DATA.read_bytes())["generations"]
    return {number: data[str(number)] for number in sorted(map(int, data))}


def newest() -> int:
    """Return the newest generation."""
    return max(generations())


def version_in(name: str, generation: int) -> int:
    """Return the version of a built-in rubric in a generation."""
    known = generations().items()
    versions = (new[name] for number, new in known if number <= generation and name in new)
    return max(versions, default=1)


def last_with(name: str, version: int) -> int:
    """Return the last generation in which a built-in rubric has a version; the newest if none."""
    having = (number for number in generations() if version_in(name, number) == version)
    return max(having, default=newest())


def metric_version(rubrics: Collection[str], generation: int) -> int:
    """Return the version of a metric: it counts the generations that change one of its rubrics.

    With one rubric, it is the version of that rubric.
    """
    known = generations().items()
    changes = [
        number
        for number, new in known
        if number <= generation and not new.keys().isdisjoint(rubrics)
    ]
    return 1 + len(changes)


def last_with_metric(rubrics: Collection[str], version: int) -> int | None:
    """Return the last generation in which a metric has a version; `None` if there is none."""
    having = (number for number in generations() if metric_version(rubrics, number) == version)
    return max(having, default=None)


def current() -> int:
    """Return the generation that bare names mean here: that of the suite, or else the newest."""
    return _chosen.get() or newest()


@contextmanager
def of_generation(number: int | None) -> Iterator[None]:
    """Let bare names of built-in rubrics mean their versions in a generation.

    A suite resolves and builds its metrics in this context, because metrics load further rubrics
    by name in their constructors.

    Args:
        number: the generation; the newest for `None`.
    """
    token = _chosen.set(number)
    try:
        yield
    finally:
        _chosen.reset(token)
