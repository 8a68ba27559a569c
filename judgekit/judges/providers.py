"""litellm at arm's length: imported late, set up safely, its errors translated once.

Importing litellm takes seconds and 160 MB and fetches a price list from the network, so it
happens at the first live call and never in a replay, a report or `--help`.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import warnings
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judgekit.core.canonical import visible
from judgekit.core.errors import (
    CaseError,
    JudgekitError,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.example_model import EXAMPLE_MODEL
from judgekit.judges.quiet import asking, keep_quiet
from judgekit.judges.unreachable import certificate_error, chain, no_connection

_SECRET = re.compile(
    r"\b(sk|pk|rk|xai|gsk|key|ghp|hf)[-_][A-Za-z0-9*_-]{6,}|\bAIza[0-9A-Za-z_-]{20,}"
    r"|(?i:bearer)\s+[A-Za-z0-9._~+/=-]{8,}"
)
_USERINFO = re.compile(r"(\b[a-z]{2,10}://)[^\s/@:]{0,100}:[^\s/@]{1,200}@")
"""A password in an address."""
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)\Z")
_MISSING_KEY = re.compile(
    r"api[_ ]?key.{0,200}(must be set|missing|not (set|found|provided))|missing credentials", re.I
)
_NOBODY = re.compile(r"connection error\.?\Z", re.I)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.I)
_POLICY = re.compile(r"content[ _](management[ _])?(policy|filter)|safety system", re.I)
_WORDING = re.compile(
    r"\A(litellm\.\w+: |\w+(Error|Exception|Timeout): |(Timeout Error|LiteLLM): |\w+Exception - )+"
)
_TRACEBACK = re.compile(r"(?<!\s)\s*+Traceback \(most recent call last\).*", re.DOTALL)
_PASSING = frozenset({408, 409, 425, 429})
"""Statuses below 500 that another attempt may not meet again."""

_ABOUT_THE_REQUEST = frozenset({400, 404, 422})
"""Statuses that may be about the format or a parameter, rather than about who asks."""
MAX_SAID = 4_000
"""Characters of an error that are looked through for what it is about."""

_sessions = 0
_clients: dict[tuple[Hashable, int], tuple[object, Any]] = {}
"""The HTTP clients of judgekit's calls, by key and id of the event loop: the loop, the client."""


class Outage(JudgeUnavailable):
    """An outage that may pass; carries the status, and how many seconds the server asks to wait."""

    def __init__(
        self, message: str, *, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.status = status


class BadRequest(JudgeRejected):
    """A request the provider finds wrong in itself: a parameter, its format, something in this one.

    `said` is more of what the provider said than the message shows.
    """

    def __init__(self, message: str, *, said: str = "", status: int | None = None) -> None:
        super().__init__(message)
        self.said = said or message
        self.status = status


def load() -> Any:
    """Import litellm on first use, without its network access, retries and prints.

    What is set up here for judgekit's own calls leaves other users of litellm in this process
    alone: their clients, their log and their warnings.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm

    litellm.suppress_debug_info = True  # it prints advice of its own on standard output
    if not isinstance(litellm.in_memory_llm_clients_cache, _Clients):
        litellm.in_memory_llm_clients_cache = _Clients(litellm.in_memory_llm_clients_cache)
    keep_quiet()
    return litellm


class _Clients:
    """Stands in for litellm's cache of HTTP clients, so that judgekit's calls have their own.

    These limit what they read and follow no redirect, whichever provider is asked. Everybody
    else gets the clients litellm would have given them.
    """

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    def get_cache(self, key: str, **options: Any) -> Any:
        if not asking():
            return self._theirs.get_cache(key, **options)
        return _client_of(key)

    def set_cache(self, key: str, value: Any, **options: Any) -> None:
        if not asking():
            self._theirs.set_cache(key, value, **options)
            return
        _bound(value)
        loop = _loop()
        _clients[key, id(loop)] = (loop, value)


def _client_of(key: Hashable) -> Any:
    loop = _loop()
    made_in, client = _clients.get((key, id(loop)), (None, None))
    return client if made_in is loop else None


def _loop() -> object:
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _bound(client: Any) -> None:
    """Limit what a client of litellm or of the OpenAI SDK reads."""
    import httpx

    from judgekit.judges import wire

    inner = getattr(client, "_client", None)
    if not isinstance(inner, httpx.AsyncClient):
        return
    wire.bound(inner)
    if hasattr(client, "event_hooks"):  # litellm's own makes another one where a connection failed
        client.event_hooks = inner.event_hooks
        client.follow_redirects = False


async def complete_text(**options: Any) -> Any:
    """Ask a completions endpoint through litellm, with a client that is used again and closed.

    Left to itself litellm opens one for every call and closes none.
    """
    import httpx
    import openai

    key = ("completions", options["api_base"], options["api_key"])
    client = _client_of(key)
    if client is None:
        client = openai.AsyncOpenAI(
            base_url=options["api_base"],
            api_key=options["api_key"],
            timeout=options["timeout"],
            max_retries=0,
            http_client=httpx.AsyncClient(),
        )
        _bound(client)
        loop = _loop()
        _clients[key, id(loop)] = (loop, client)
    return await load().atext_completion(client=client, **options)


def completion(data: dict[str, Any]) -> Any:
    """Return the JSON object of a chat completion as litellm's response; `None` if it is none."""
    try:
        return load().ModelResponse(**data)
    except Exception:  # noqa: BLE001 - what a server sent: any error of litellm's says that it is none
        return None


def missing_keys(model: str) -> list[str]:
    """Return the environment variables a hosted model needs and does not find."""
    found = load().validate_environment(model)
    return [name for name in found.get("missing_keys", ()) if not name.endswith("_API_BASE")]


def known_parameters(model: str) -> frozenset[str] | None:
    """Return the parameters a model takes, or `None` when litellm cannot tell."""
    try:
        known = load().get_supported_openai_params(model)
    except Exception:  # noqa: BLE001 - a question about the model, not a call; any answer but yes is "unknown"
        return None
    return frozenset(known) if known else None


def listed_price(model: str) -> tuple[float, float] | None:
    """Return litellm's US dollars per million input and output tokens, without importing it."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    table = Path(spec.origin).with_name("model_prices_and_context_window_backup.json")
    try:
        prices = json.loads(table.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    entry = prices.get(model) or prices.get(model.partition("/")[2]) or {}
    read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not (isinstance(read, (int, float)) and isinstance(written, (int, float))):
        return None
    return read * 1e6, written * 1e6


def secrets_known() -> tuple[str, ...]:
    """Return the credentials in the environment, so that no message repeats them."""
    found = (value for name, value in os.environ.items() if _SECRET_NAME.search(name.upper()))
    return tuple(value for value in found if len(value) >= 8)


def about(judge: str, error: JudgekitError) -> JudgekitError:
    """Return an error that says which judge it is about."""
    text = str(error)
    if text.startswith(judge.partition(" at ")[0]):
        return error
    named = type(error)(f"{judge}: {text}")
    if isinstance(error, BadRequest) and isinstance(named, BadRequest):
        named.said, named.status = error.said, error.status
    return named


def translate(error: BaseException, *, secrets: tuple[str, ...] = ()) -> JudgekitError:
    """Return the judgekit error that says what a provider's error means for the run.

    The status the server sent decides, not the class: providers name a 401 BadRequest and a
    refused connection InternalServerError.
    """
    kind = type(error).__name__
    status = status_of(error)
    said = one_line(str(error), secrets=secrets, most=MAX_SAID)
    text = _cut(said) or kind
    if kind == "ContextWindowExceededError":
        return CaseError(f"too long for the judge's context window: {text}")
    if status == 413:
        return CaseError(f"too large for the judge: {text}")
    if kind == "ContentPolicyViolationError" or (status == 400 and _POLICY.search(text)):
        return JudgeRefused(f"the provider's content policy declined: {text}")
    if "LLM Provider NOT provided" in text:
        return JudgeRejected(
            f"the model lacks its provider: write PROVIDER/NAME, such as {EXAMPLE_MODEL}"
        )
    advice = _rejection(status, text)
    about_format = "response_format" in said and (status or 500) >= 500
    if (untrusted := certificate_error(error)) is not None:
        return untrusted
    if _NOBODY.search(text):
        text = no_connection(error)
    if advice is None and not about_format and _passing(kind, status):
        return Outage(text, retry_after=_retry_after(error), status=status)
    shown = f"HTTP {status}: {text}" if status is not None and status < 500 else text
    if status == 404 and "model" not in text.lower():
        shown += "; check the address: that of an OpenAI-compatible server ends in /v1"
    if advice is not None:
        return JudgeRejected(advice.format(shown))
    if about_format or status is None or status in _ABOUT_THE_REQUEST:
        return BadRequest(shown, said=said, status=status)
    return JudgeRejected(shown)


def status_of(error: BaseException) -> int | None:
    """Return the status the server really sent; litellm changes some by what the text says."""
    for link in chain(error):
        sent = getattr(getattr(link, "response", None), "status_code", None)
        if type(link).__module__.startswith(("openai", "httpx")) and isinstance(sent, int):
            return sent
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _passing(kind: str, status: int | None) -> bool:
    if status is None:
        return kind in ("Timeout", "APIConnectionError", "TimeoutError")
    return status in _PASSING or status >= 500


def _rejection(status: int | None, text: str) -> str | None:
    """Return how to word an error that no other attempt can mend, whatever its status."""
    if _MISSING_KEY.search(text):
        return "credentials are missing: {}"
    if status == 429 and _QUOTA.search(text):
        return "the account's quota is used up: {}"
    return None


def without(text: str, secrets: tuple[str, ...]) -> str:
    """Return a text with each of the secrets replaced by `[key]`."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    return text


def one_line(text: str, *, secrets: tuple[str, ...] = (), most: int = 300) -> str:
    """Return a foreign message in one line, without anything that looks like a key."""
    text = _TRACEBACK.sub("", without(text, secrets)[:10_000])
    text = _USERINFO.sub(r"\1[key]@", text)
    text = " ".join(visible(_SECRET.sub("[key]", text)).split())
    return _cut(_WORDING.sub("", text), most)


def _cut(text: str, most: int = 300) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _retry_after(error: BaseException) -> float | None:
    headers = getattr(error, "litellm_response_headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if headers is not None else None
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _until(value)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(date: str) -> float:
    """Return the seconds until an HTTP date, or NaN if it is none."""
    try:
        return (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return math.nan


@asynccontextmanager
async def connections() -> AsyncIterator[None]:
    """Close the connections litellm keeps when the last evaluation that may use them ends."""
    global _sessions  # noqa: PLW0603 - litellm's clients are process-wide, so their count is
    _sessions += 1
    try:
        yield
    finally:
        _sessions -= 1
        if _sessions == 0:
            closing = [client for _, client in _clients.values()]
            _clients.clear()
            for client in closing:
                if inspect.isawaitable(closed := client.close()):
                    await closed
