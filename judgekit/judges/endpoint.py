"""The address of a judge without credentials, and the name that its server gives the model."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judgekit.core.shared import SharedCall
from judgekit.judges.connections import certificates
from judgekit.judges.credentials import address, secrets_in
from judgekit.judges.translation import one_line, secrets_known

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from judgekit.judges.calls import Calls

MAX_LIST = 1_000_000
"""Bytes to read of a list of models."""
MAX_NAME = 200


def endpoint(api_base: str | None) -> str | None:
    """Return the address with its path, without credentials; it names a server in the store."""
    if api_base is None:
        return None
    return f"{address(api_base)}{urlsplit(api_base).path.rstrip('/')}"


_PIECE = 1 << 16
_NAMING = 5.0
"""Seconds to wait for the list of models."""


class Naming:
    """Asks a server once for the name of its model; failures are ignored."""

    def __init__(self, calls: Calls) -> None:
        self.name: str | None = None
        self.done = calls.server.api_base is None
        """Whether the server was asked, or need not be."""
        self._calls = calls
        self.ask = SharedCall(self._ask)
        """Waits until the server was asked."""

    async def _ask(self) -> None:
        import asyncio

        with suppress(TimeoutError):
            async with asyncio.timeout(_NAMING):
                base, model, key = self._calls.server.api_base, self._calls.model, self._calls.key
                self.name = await asyncio.to_thread(server_name, base or "", model, key, _NAMING)
        self.done = True


def server_name(api_base: str, model: str, api_key: str | None, timeout: float) -> str | None:
    """Return the name that a server gives the model that answers; `None` if unknown.

    The name is the entry with the requested name, or the only entry, else the whole list.
    Redirects are not followed.
    """
    from http.client import HTTPException

    try:
        listed = _listed(api_base, api_key=api_key, timeout=timeout)
    except (OSError, ValueError, RecursionError, HTTPException):
        return None
    asked = model.partition("/")[2] or model
    named = [entry for entry in listed if entry.get("id") == asked] or listed
    # Details of several models say nothing about the one that answers.
    names = [_described(entry, alone=len(named) == 1) for entry in named]
    if not names:
        return None
    text = ", ".join(sorted(names)[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    secrets = (api_key or "", *secrets_in(api_base), *secrets_known())
    return one_line(text, secrets=secrets, most=MAX_NAME)


def _listed(api_base: str, *, api_key: str | None, timeout: float) -> list[dict[str, Any]]:
    base = api_base.rstrip("/")
    headers = {"Accept": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    url = f"{base}/models" if base.endswith("/v1") else f"{base}/v1/models"
    with _opened(url, headers, timeout) as response:
        body = _read(response, timeout) if response.status == 200 else b""
    data = json.loads(body or b"{}")
    entries = data.get("data") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        return []
    named = [e for e in entries if isinstance(e, dict) and isinstance(e.get("id"), str)]
    return [_with_details(entry, data.get("models")) for entry in named]


def _read(response: HTTPResponse, timeout: float) -> bytes:
    """Return a body, or nothing if it is too long or too slow."""
    end = time.monotonic() + timeout
    body = b""
    while piece := response.read1(_PIECE):
        body += piece
        if len(body) > MAX_LIST or time.monotonic() > end:
            return b""
    return body


def _with_details(entry: dict[str, Any], models: object) -> dict[str, Any]:
    """Return an entry with the details of Ollama's list; llama.cpp has both lists."""
    for other in models if isinstance(models, list) else ():
        if isinstance(other, dict) and entry["id"] in (other.get("model"), other.get("name")):
            return {**{n: other[n] for n in ("details", "digest") if n in other}, **entry}
    return entry


def _opened(url: str, headers: dict[str, str], timeout: float) -> HTTPResponse:
    """Send a request, through the proxy of the environment if there is one."""
    from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

    # Only these handlers: others follow redirects and read files.
    opener = OpenerDirector()
    opener.add_handler(ProxyHandler())
    if url.startswith("https://"):
        opener.add_handler(HTTPSHandler(context=certificates()))
    else:
        opener.add_handler(HTTPHandler())
    request = Request(url, headers=headers)  # noqa: S310 - there is no handler for files
    response: HTTPResponse | None = opener.open(request, timeout=timeout)
    if response is None:
        raise ValueError("no server's address")
    return response


def _described(entry: dict[str, Any], *, alone: bool) -> str:
    """Return a model's id, with facts about its weights."""
    root, meta = entry.get("root"), _object(entry, "meta")
    facts = []
    if isinstance(root, str) and root not in ("", entry["id"]):
        facts.append(_no_folder(root))
    weights = [_count(meta.get("n_params"), "parameters")]
    if alone:
        digest = entry.get("digest")
        weights += [_count(meta.get("size"), "bytes"), _quantisation(entry, meta)]
        weights += [digest.removeprefix("sha256:")[:12] if isinstance(digest, str) else ""]
    facts += filter(None, weights)
    return _no_folder(entry["id"]) + (f" ({', '.join(facts)})" if facts else "")


def _object(entry: dict[str, Any], name: str) -> dict[str, Any]:
    value = entry.get(name)
    return value if isinstance(value, dict) else {}


def _count(count: object, of: str) -> str:
    return f"{count:,} {of}" if type(count) is int and 0 < count < 1 << 62 else ""


def _quantisation(entry: dict[str, Any], meta: dict[str, Any]) -> str:
    levels = (
        _object(entry, "details").get("quantization_level"),
        entry.get("quantization"),
        meta.get("quantization"),
        meta.get("ftype"),
    )
    level = next((text for text in levels if isinstance(text, str) and text.strip()), "")
    return " ".join(level.replace(",", " ").split())[:40]


def _no_folder(name: str) -> str:
    """Return the name of a file without its folders; the name of a hub model keeps its owner."""
    local = name.startswith(("/", "~", ".")) or "\\" in name
    return name.replace("\\", "/").rpartition("/")[2] if local else name
