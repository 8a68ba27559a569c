"""The file that marks a run as a shard, for `judgekit merge`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from judgekit.core.file_model import FileModel
from judgekit.datasets.shard import Sharding
from judgekit.report.folder import write_json


class ShardFile(FileModel):
    """The content of `shard.json`."""

    shard: str
    cases: int = Field(ge=0)
    """Number of cases of all shards."""
    ids: str
    """Digest of all ids, in order."""
    finished: bool
    """Whether the run read all cases."""
    flags: dict[str, Any] = Field(default_factory=dict)
    """Command-line options that affect the numbers."""
    source: str = ""
    """The file of `--cases`, relative to the working folder of the run."""
    places: str = Field(default="", pattern=r"^[0-9 ]*$")
    """Positions of its cases in the data set, as distances to the previous one."""


def write_shard(
    sharding: Sharding, path: Path, *, flags: Mapping[str, Any], source: str | None
) -> None:
    """Write the data that `merge` needs from a finished shard.

    Args:
        sharding: the cases of the shard.
        path: the file to write.
        flags: the flags that affect the numbers.
        source: the file of `--cases`.

    Raises:
        ConfigError: the file cannot be written.
    """
    shard = ShardFile(
        shard=str(sharding.shard),
        cases=sharding.seen,
        ids=sharding.ids,
        finished=sharding.finished,
        flags=dict(flags),
        source=source or "",
        places=" ".join(map(str, sharding.places)),
    )
    write_json(path, shard.model_dump(exclude=None if source else {"source"}))
