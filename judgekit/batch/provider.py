"""The providers that take batch jobs, by the table in `data/providers.json`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from judgekit.core.sourced import read_tables
from judgekit.judges.endpoint import own_key

_DATA = Path(__file__).with_name("data") / "providers.json"


@dataclass(frozen=True, kw_only=True, eq=False)
class BatchProvider:
    """A provider that takes batch jobs; a row of the table."""

    name: str
    protocol: str
    models: tuple[str, ...]
    """First parts of the model names."""
    address: str | None
    """Where jobs are sent without `api_base`."""
    key: str | None
    """The environment variable of the key for that address."""
    endpoints: Mapping[str, str]
    """Path of a live call after the address -> the endpoint of a job with such calls."""
    headers: tuple[str, ...]
    """Headers of a live call, in lower case, that a job with it needs."""
    lines: int
    """Most requests of a job."""
    bytes: int
    """Maximum size of the file of a job."""
    share: float
    """The price of a request at `address`, as a share of a live one."""


@cache
def _rows() -> dict[str, BatchProvider]:
    fields = [field.name for field in dataclasses.fields(BatchProvider)]
    rows = read_tables(_DATA)["providers"]
    return {
        row["name"]: BatchProvider(
            **{
                **{field: row[field] for field in fields},
                "models": tuple(row["models"]),
                "headers": tuple(row["headers"]),
            }
        )
        for row in rows
    }


def provider_of(model: str) -> BatchProvider | None:
    """Return the provider of a model string; `None` if it takes no jobs."""
    name = model.partition("/")[0]
    return next((row for row in _rows().values() if name in row.models), None)


def provider_named(name: str) -> BatchProvider | None:
    """Return the provider of a job in the journal; `None` for an unknown name."""
    return _rows().get(name)


def key_of(
    provider: BatchProvider, *, model: str, api_base: str | None, variable: str | None
) -> str:
    """Return the key of a job's server, as the judge would; empty if there is none.

    Args:
        provider: the provider.
        model: the model string of the judge.
        api_base: the address of its server; the key of a provider is not sent to another address.
        variable: the environment variable that the judge names.
    """
    if variable is not None:
        return os.environ.get(variable, "")
    if api_base is not None:
        return own_key(model) or ""
    return os.environ.get(provider.key or "", "")
