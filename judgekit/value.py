"""The base of every value: frozen, strict about its fields, finite numbers only."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen pydantic model that refuses unknown fields, NaN and infinities."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # Models that a command never uses are never built: half of the start-up time.
        defer_build=True,
    )
