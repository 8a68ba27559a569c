"""The interface that sends one HTTP request of a judge, without retries and time limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import JsonValue

from judgekit.core.judgment import ParsedReply
from judgekit.core.request import Form
from judgekit.judges.late_reply import LateReply
from judgekit.judges.output_mode import Mode
from judgekit.judges.price import ModelPrice
from judgekit.judges.prompt_cache import Marks, PromptCaching
from judgekit.judges.tier import FallbackTier, Tier
from judgekit.judges.wire import Exchange

Via = Literal["direct", "litellm"]
"""The transports: judgekit's HTTP, or litellm with instructor."""

NAME = "Verdict"
"""Name of the schema and of the tool."""


class Server(NamedTuple):
    """The server of a judge, and its limits of time and attempts."""

    model: str
    api_base: str | None
    api_key: str | None
    timeout: float
    retries: int
    max_wait: float
    price: ModelPrice | None
    headers: Mapping[str, str] = {}
    """Further headers of every request; `${NAME}` in a value is a variable of the environment."""
    caching: PromptCaching = "none"
    """Whether requests are sent as the prompt cache of the provider needs them."""
    tier: Tier = "standard"
    fallback_tier: FallbackTier | None = None
    """The tier of requests that `tier` has no room for; `None` for the standard one."""


class SchemaRules(NamedTuple):
    """What a server takes of JSON Schema; a row of `data/schema_keywords.json`."""

    name: str
    """The provider."""
    hosts: frozenset[str]
    models: frozenset[str]
    """First parts of the model names that are sent to it without an address."""
    strict: bool
    """Whether `strict: true` is sent."""
    left_out: tuple[str, ...]
    """Keywords that it refuses."""
    takes: frozenset[str] | None
    """The keywords of a schema that fits `strict`; `None` if any schema does."""
    limits: Mapping[str, int]
    strict_models: frozenset[str] | None = None
    """The models that take `strict`; `None` for all."""
    strict_tools: bool = False
    """Whether `strict: true` also constrains the arguments of a tool call."""


class Sending(NamedTuple):
    """The settings of one HTTP request, without its content."""

    params: dict[str, JsonValue]
    key: str | None
    """The key to send, if there is one."""
    call: Exchange
    """Receives status, headers and body."""
    rules: SchemaRules | None = None
    """What the server takes of JSON Schema; `None` if nothing is known."""
    headers: Mapping[str, str] = {}
    """Further headers."""
    late: LateReply | None = None
    """Answers instead of the server."""
    marks: Marks | None = None
    """What is sent for the prompt cache."""


class Response(NamedTuple):
    """The response to one request, in OpenAI's format."""

    data: dict[str, Any]
    parsed: tuple[str, ParsedReply] | None = None
    """The text and its parsed values, if the transport has parsed it."""
    cost: float | None = None
    """Cost in US dollars by a price list; `None` if the list has no price."""


class Transport(Protocol):
    """Sends one HTTP request at a time; the caller translates its exceptions."""

    via: Via
    reason: str
    """The reason for this transport."""

    def load(self) -> None:
        """Import the libraries for the calls; this may block for seconds."""

    def missing_keys(self) -> list[str]:
        """Return the missing environment variables of a hosted model."""

    def known_parameters(self) -> frozenset[str] | None:
        """Return the parameters of a hosted model; `None` if they are not known."""

    async def chat(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, sending: Sending
    ) -> Response:
        """Ask for a reply to a form."""

    async def embed(self, texts: list[str], sending: Sending) -> Response:
        """Ask for the vectors of texts."""

    async def echo(self, text: str, sending: Sending) -> Response:
        """Ask a completions endpoint to repeat a text with its log-probabilities."""
