"""litellm at arm's length: imported late, set up safely, its errors translated once.

Importing litellm takes seconds and 160 MB and fetches a price list from the network, so it
happens at the first live call and never in a replay, a report or `--help`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judgekit.canonical import visible
from judgekit.errors import CaseError, JudgekitError, JudgeRefused, JudgeRejected, JudgeUnavailable

_SECRET = re.compile(
    r"\b(sk|pk|rk|xai|gsk|key|ghp|hf)[-_][A-Za-z0-9*_-]{6,}|\bAIza[0-9A-Za-z_-]{20,}"
    r"|(?i:bearer)\s+[A-Za-z0-9._~+/=-]{8,}"
)
_MISSING_KEY = re.compile(
    r"api[_ ]?key.*(must be set|missing|not (set|found|provided))|missing credentials", re.I
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.I)

_sessions = 0


class Outage(JudgeUnavailable):
    """An outage that may pass; carries how long the server asked to wait, in seconds."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def load() -> Any:
    """Import litellm on first use, without its network access, retries, prints and logs."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    litellm.num_retries = 0
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "instructor", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


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
    paid = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not all(isinstance(price, (int, float)) for price in paid):
        return None
    return paid[0] * 1e6, paid[1] * 1e6


def translate(error: BaseException, *, secrets: tuple[str, ...] = ()) -> JudgekitError:
    """Return the judgekit error that says what a provider's error means for the run.

    The status code decides, not the class: providers name a 401 BadRequest and a refused
    connection InternalServerError.
    """
    status = getattr(error, "status_code", None)
    text = one_line(str(error), secrets=secrets)
    kind = type(error).__name__
    if kind == "ContextWindowExceededError":
        return CaseError(f"too long for the judge's context window: {text}")
    if kind == "ContentPolicyViolationError":
        return JudgeRefused(f"the provider's content policy declined: {text}")
    if _MISSING_KEY.search(text):
        return JudgeRejected(f"credentials are missing: {text}")
    if kind in ("UnsupportedParamsError", "NotFoundError", "AuthenticationError"):
        return JudgeRejected(text)
    if status == 429 and _QUOTA.search(text):
        return JudgeRejected(f"the account's quota is used up: {text}")
    if kind in ("Timeout", "APIConnectionError", "TimeoutError") or status in (408, 409, 425, 429):
        return Outage(text, retry_after=_retry_after(error))
    if isinstance(status, int) and status >= 500:
        return Outage(text, retry_after=_retry_after(error))
    if status == 413:
        return CaseError(f"too large for the judge: {text}")
    if status == 400 and "response_format" in text:
        return JudgeRejected(f"{text} (this server may need another output mode: set judge.mode)")
    return JudgeRejected(text)


def one_line(text: str, *, secrets: tuple[str, ...] = ()) -> str:
    """Return a foreign message in one line, without anything that looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    text = " ".join(visible(_SECRET.sub("[key]", text)).split())
    text = re.sub(r"^(litellm\.\w+: )+(\w+Error: )?", "", text)
    return text if len(text) <= 300 else text[:297] + "..."


def _retry_after(error: BaseException) -> float | None:
    headers = getattr(error, "litellm_response_headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if headers is not None else None
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


@asynccontextmanager
async def connections() -> AsyncIterator[None]:
    """Close the connections litellm keeps when the last evaluation that may use them ends."""
    global _sessions  # noqa: PLW0603 - litellm's clients are process-wide, so their count is
    _sessions += 1
    try:
        yield
    finally:
        _sessions -= 1
        if _sessions == 0 and "litellm" in sys.modules:
            import litellm

            closing = getattr(litellm, "close_litellm_async_clients", None)
            if closing is not None:
                await closing()
            cache = getattr(litellm, "in_memory_llm_clients_cache", None)
            if cache is not None:
                cache.flush_cache()
