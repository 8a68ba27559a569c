"""The server of a judge: its key, its address, and its name for the model."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from judgekit.core.credentials import known_secrets
from judgekit.core.errors import ConfigError
from judgekit.core.sanitiser import Sanitiser
from judgekit.core.shared import SharedCall
from judgekit.core.sourced import read_tables
from judgekit.judges.connections import certificates
from judgekit.judges.headers import SentHeaders
from judgekit.judges.translation import one_line

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from judgekit.judges.calls import Calls

_OWN_SERVERS = ("hosted_vllm", "infinity", "litellm_proxy", "llamafile", "lm_studio", "xinference")
"""Providers whose servers are run by their users -> environment variable with the key.

Hosted providers are not listed: their keys must not be sent to another server by default.
"""
_KEY_IN_QUERY = re.compile(r"key|token|secret|passw|signature|\bsig\b|auth", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|[A-Za-z]{1,12}")
"""Pattern of texts that are certainly names of variables; any other text may be a key."""


def _key_name(model: str) -> str:
    return f"{model.partition('/')[0].upper()}_API_KEY"


def own_key(model: str) -> str | None:
    """Return the key in the environment for the server at `api_base`, if there is one."""
    own = model.partition("/")[0] in _OWN_SERVERS
    return os.environ.get(_key_name(model)) or None if own else None


def key_advice(model: str, api_base: str | None, *, key: str | None) -> str:
    """Return advice for the error of a server that rejects the key."""
    if api_base is None or key is not None:
        return ""
    name = _key_name(model)
    where = address(api_base)
    if os.environ.get(name):
        return f"; {name} is not sent to {where} unless you write `api_key_env: {name}`"
    return "; no key was sent: name the environment variable that holds it in `api_key_env`"


def variable_shown(name: str) -> str:
    """Return the name of an environment variable for a message; hide text that may be a key.

    >>> variable_shown("MY_KEY")
    'MY_KEY'
    >>> variable_shown("sk-1234567890")
    'the variable that api_key_env names (not shown: it looks like a key)'
    """
    if _VARIABLE.fullmatch(name):
        return name
    return "the variable that api_key_env names (not shown: it looks like a key)"


def check_address(api_base: str) -> None:
    """Check an address; messages do not repeat a possible password in it.

    Raises:
        ConfigError: it is not an address, or it contains credentials.
    """
    try:
        parts = urlsplit(api_base)
        user, host, _ = "@" in parts.netloc, parts.hostname, parts.port
    except ValueError as exc:
        example = "http://localhost:8000/v1"
        raise ConfigError(f"api_base is not an address; write one such as {example}") from exc
    if user or any(_KEY_IN_QUERY.search(name) for name, _ in parse_qsl(parts.query)):
        raise ConfigError(
            "api_base holds credentials (not shown); remove them, and name the environment "
            "variable that holds the key: api_key_env: MY_KEY"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(
            f"the address {shown_address(api_base)!r} must begin with http:// or https:// and "
            "name a server"
        )


def address(api_base: str | None) -> str | None:
    """Return host and port of a server, without credentials and path; `None` for a hosted model."""
    if api_base is None:
        return None
    try:
        parts = urlsplit(api_base if "//" in api_base else f"//{api_base}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "an address that cannot be read"
    return f"{host}:{port}" if port else host


def shown_address(api_base: str) -> str:
    """Return an address for a message, without user name, password, query and fragment.

    >>> shown_address("https://ann:secret@host:8000/v1?api_key=secret")
    'https://host:8000/v1'
    """
    try:
        parts = urlsplit(api_base)
    except ValueError:
        return "an address that cannot be read"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def secrets_of(key: str | None, api_base: str | None) -> tuple[str, ...]:
    """Return texts to hide in messages: the key, parts of the address, keys of the environment."""
    try:
        query = urlsplit(api_base or "").query
    except ValueError:
        query = ""
    in_query = (value for _, value in parse_qsl(query))
    return (key or "", *in_query, *known_secrets())


MAX_LIST = 1_000_000
"""Maximum number of bytes to read of a list of models."""
MAX_NAME = 200
_DATA = Path(__file__).parent / "data" / "weights.json"


def endpoint(api_base: str | None) -> str | None:
    """Return the address with path and without credentials; it identifies a server in the store."""
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
        """Whether the server was asked or does not have to be."""
        self._calls = calls
        self.ask = SharedCall(self._ask)
        """Wait until the server was asked."""

    async def _ask(self) -> None:
        import asyncio

        with suppress(TimeoutError):
            async with asyncio.timeout(_NAMING):
                calls = self._calls
                base, headers = calls.server.api_base or "", calls.headers
                self.name = await asyncio.to_thread(
                    server_name, base, calls.model, calls.key, _NAMING, headers
                )
        self.done = True


def server_name(
    api_base: str,
    model: str,
    api_key: str | None,
    timeout: float,
    headers: SentHeaders = SentHeaders(),  # noqa: B008 - it is immutable
) -> str | None:
    """Return the server's name for the model; `None` if unknown.

    The name is the entry with the requested name, or else the only entry, or else the whole list.
    Redirects are not followed.
    """
    from http.client import HTTPException

    try:
        listed = _listed(api_base, api_key=api_key, timeout=timeout, further=headers.values)
    except (OSError, ValueError, RecursionError, HTTPException):
        return None
    asked = model.partition("/")[2] or model
    named = [entry for entry in listed if entry.get("id") == asked] or listed
    # The details of several models do not identify the one that answers.
    names = [_described(entry, alone=len(named) == 1) for entry in named]
    if not names:
        return None
    text = ", ".join(sorted(names)[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    sanitiser = Sanitiser((*secrets_of(api_key, api_base), *headers.secrets))
    return one_line(text, sanitiser=sanitiser, most=MAX_NAME)


def _listed(
    api_base: str, *, api_key: str | None, timeout: float, further: Mapping[str, str]
) -> list[dict[str, Any]]:
    from http.client import HTTPException

    base = api_base.rstrip("/")
    headers = {**further, "Accept": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    root = base.removesuffix("/v1")
    data = _object_at(f"{root}/v1/models", headers, timeout)
    entries = data.get("data")
    if not isinstance(entries, list):
        return []
    named = [e for e in entries if isinstance(e, dict) and isinstance(e.get("id"), str)]
    detailed = [_with_details(entry, data.get("models")) for entry in named]
    rows = [row for row in _digests() if any(_applies(row, entry) for entry in detailed)]
    if not rows:
        return detailed
    further = rows[0]
    with suppress(OSError, ValueError, HTTPException):  # the names are known without it
        models = _object_at(root + further["path"], headers, timeout).get(further["list"])
        detailed = [_with_details(entry, models, names=further["names"]) for entry in detailed]
    return detailed


@cache
def _digests() -> list[dict[str, Any]]:
    """Return the servers that tell a digest of the weights elsewhere."""
    return [row for row in read_tables(_DATA)["servers"] if "path" in row]


def _applies(row: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    has_sign = all(entry.get(name) == value for name, value in row["sign"].items())
    return has_sign and not isinstance(entry.get("digest"), str)


def _object_at(url: str, headers: dict[str, str], timeout: float) -> dict[str, Any]:
    """Return the JSON object at an address; empty for anything else."""
    with _opened(url, headers, timeout) as response:
        body = _read(response, timeout) if response.status == 200 else b""
    data = json.loads(body or b"{}")
    return data if isinstance(data, dict) else {}


def _read(response: HTTPResponse, timeout: float) -> bytes:
    """Return a body; empty if it is too long or too slow."""
    end = time.monotonic() + timeout
    body = b""
    while piece := response.read1(_PIECE):
        body += piece
        if len(body) > MAX_LIST or time.monotonic() > end:
            return b""
    return body


def _with_details(
    entry: dict[str, Any], models: object, *, names: Sequence[str] = ("model", "name")
) -> dict[str, Any]:
    """Return an entry with the details of Ollama's list; llama.cpp has both lists."""
    for other in models if isinstance(models, list) else ():
        if isinstance(other, dict) and entry["id"] in [other.get(name) for name in names]:
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
