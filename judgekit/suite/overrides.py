"""The models of the flags that override a suite file."""

from typing import Any

from pydantic import Field

from judgekit.core.file_model import FileModel, none_yet

DECIDING = ("judge", "judges", "params", "settings", "no_judge", "only", "baseline", "against")
"""Flags that change the numbers, so that all shards must share them."""


class Overrides(FileModel):
    """Settings of flags; they override the file."""

    judge: str | None = None
    judges: dict[str, str] = Field(default_factory=dict)
    """Role -> model."""
    api_base: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Metric -> parameter of its rubric -> value as text."""
    record: str | None = None
    no_judge: bool = False
    only: list[str] = Field(default_factory=none_yet)
    limit: int | None = None
    where: list[str] = Field(default_factory=none_yet)
    """Conditions on the metadata of cases: `topic=refunds`."""
    ids: frozenset[str] | None = None
    """Ids of the only cases to run."""
    shard: str | None = None
    """The part of the cases to run, such as `2/5`."""
    cases: str | None = None
    format: str | None = None
    baseline: str | None = None
    """Run folder for `not_worse`."""
    against: str | None = None
    """Run folder; its outputs become the baselines of the cases."""
    again: frozenset[str] = frozenset()

    @property
    def narrow(self) -> bool:
        """Whether flags select cases by metadata or id."""
        return bool(self.where) or self.ids is not None

    @property
    def partial(self) -> bool:
        """Whether a run covers only a part of the suite, and so of its recordings."""
        some = self.limit is not None or self.shard is not None or bool(self.only)
        return some or self.narrow
