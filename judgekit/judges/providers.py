"""The only home of litellm: imported late and set up safely.

Importing litellm takes seconds and 160 MB and downloads a price list, so it is imported with the
first live call that needs it and never by a replay, a report or `--help`.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from judgekit.judges import connections
from judgekit.judges.quiet import asking, keep_quiet


def load() -> Any:
    """Import litellm on first use, without its network access, retries and prints.

    This setup only affects judgekit's own calls: other users of litellm in this process keep their
    clients, logs and warnings.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm

    litellm.suppress_debug_info = True  # it would print advice on standard output
    if not isinstance(litellm.in_memory_llm_clients_cache, _Clients):
        litellm.in_memory_llm_clients_cache = _Clients(litellm.in_memory_llm_clients_cache)
    keep_quiet()
    return litellm


class _Clients:
    """Replaces litellm's cache of HTTP clients, so that judgekit's calls have their own clients.

    These limit the bodies that they read and follow no redirects. Other users get litellm's
    clients.
    """

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    def get_cache(self, key: str, **options: Any) -> Any:
        if not asking():
            return self._theirs.get_cache(key, **options)
        return connections.shared(key)

    def set_cache(self, key: str, value: Any, **options: Any) -> None:
        if not asking():
            self._theirs.set_cache(key, value, **options)
            return
        _bound(value)
        connections.share(key, value)


def _bound(client: Any) -> None:
    """Limit the bodies that a client of litellm or of the OpenAI SDK reads."""
    import httpx

    from judgekit.judges import httpx_wire

    inner = getattr(client, "_client", None)
    if not isinstance(inner, httpx.AsyncClient):
        return
    httpx_wire.bound(inner)
    if hasattr(client, "event_hooks"):  # litellm's own client may reconnect
        client.event_hooks = inner.event_hooks
        client.follow_redirects = False


async def complete_text(**options: Any) -> Any:
    """Call a completions endpoint through litellm, with a shared client that is closed at the end.

    litellm itself opens a client for every call and closes none.
    """
    import httpx
    import openai

    key = ("completions", options["api_base"], options["api_key"])
    client = connections.shared(key)
    if client is None:
        client = openai.AsyncOpenAI(
            base_url=options["api_base"],
            api_key=options["api_key"],
            timeout=options["timeout"],
            max_retries=0,
            http_client=httpx.AsyncClient(),
        )
        _bound(client)
        connections.share(key, client)
    return await load().atext_completion(client=client, **options)


def missing_keys(model: str) -> list[str]:
    """Return the missing environment variables of a hosted model."""
    checked = load().validate_environment(model)
    return [name for name in checked.get("missing_keys", ()) if not name.endswith("_API_BASE")]


def known_parameters(model: str) -> frozenset[str] | None:
    """Return the parameters of a model; `None` if litellm does not know them."""
    try:
        known = load().get_supported_openai_params(model)
    except Exception:  # noqa: BLE001 - a question about the model, not a call; any answer but yes is "unknown"
        return None
    return frozenset(known) if known else None
