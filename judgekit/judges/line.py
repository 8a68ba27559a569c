"""What asking a model is made of: one call at a time, and what it costs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

from pydantic import JsonValue

from judgekit.core.request import Form, Try
from judgekit.judges.rung import Mode


class Heard(NamedTuple):
    """A raw response, and what was sent for it."""

    response: Any
    """What litellm made of it; of a malformed one, its model and tokens."""
    params: dict[str, JsonValue]
    """The parameters that were sent."""
    malformed: Try | None = None
    """The response where it is no answer at all: what is kept of it, and what is wrong."""
    tool: str | None = None
    """Name of the tool that was to be called, if one was."""
    price: float | None = None
    """US dollars the server says the call took."""


class Line(Protocol):
    """What makes the calls, again after outages: a `Transport`."""

    @property
    def model(self) -> str:
        """The model, as litellm names it."""

    @property
    def answered(self) -> bool:
        """Whether any request was taken yet."""

    async def put(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, *, retry: bool = True
    ) -> Heard:
        """Return the raw response to a chat, asked for its form the way the mode says."""

    async def sent(
        self, send: Callable[..., Awaitable[Any]], *, fixed: Mapping[str, JsonValue]
    ) -> Heard:
        """Return the raw response of another call; `fixed` parameters go before the judge's."""

    def read(self, heard: Heard) -> Try:
        """Return what was said."""

    def named(self, model: object) -> str | None:
        """Return the name a server gave its model."""

    def cost(self, heard: Heard) -> float | None:
        """Return the US dollars of one response."""
