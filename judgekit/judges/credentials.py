"""Keys and addresses: which key is sent where, and addresses without credentials."""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl, urlsplit

from judgekit.core.errors import ConfigError

_OWN_SERVERS = {
    "hosted_vllm": "HOSTED_VLLM_API_KEY",
    "infinity": "INFINITY_API_KEY",
    "litellm_proxy": "LITELLM_PROXY_API_KEY",
    "llamafile": "LLAMAFILE_API_KEY",
    "lm_studio": "LM_STUDIO_API_KEY",
    "xinference": "XINFERENCE_API_KEY",
}
"""By provider, the variable with the key of a server that its users run themselves.

A key of a hosted provider is not among them: it must not go to any other server by itself.
"""
_KEY_IN_QUERY = re.compile(r"key|token|secret|passw|signature|\bsig\b|auth", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|[A-Za-z]{1,12}")
"""What is a variable's name beyond doubt; anything else may be a key."""


def own_key(model: str) -> str | None:
    """Return the key that the environment has for the server behind `api_base`, if it has one."""
    return os.environ.get(_OWN_SERVERS.get(model.partition("/")[0], "")) or None


def key_advice(model: str, api_base: str | None, *, key: str | None) -> str:
    """Return what to add to an error of a server that does not accept the key."""
    if api_base is None or key is not None:
        return ""
    name = f"{model.partition('/')[0].upper()}_API_KEY"
    where = address(api_base)
    if os.environ.get(name):
        return f"; {name} is not sent to {where} unless you write `api_key_env: {name}`"
    return "; no key was sent: name the environment variable that holds it in `api_key_env`"


def variable_shown(name: str) -> str:
    """Return the name of an environment variable for a message, but no key in its place.

    >>> variable_shown("MY_KEY")
    'MY_KEY'
    >>> variable_shown("sk-1234567890")
    'the variable that api_key_env names (not shown: it looks like a key)'
    """
    if _VARIABLE.fullmatch(name):
        return name
    return "the variable that api_key_env names (not shown: it looks like a key)"


def check_address(api_base: str) -> None:
    """Check an address without repeating what may be a password in it.

    Raises:
        ConfigError: it cannot be one, or it holds credentials.
    """
    try:
        parts = urlsplit(api_base)
        user, host, _ = "@" in parts.netloc, parts.hostname, parts.port
    except ValueError as exc:
        raise ConfigError(
            "api_base is not an address; write one such as http://localhost:8000/v1"
        ) from exc
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
    """Return an address for a message: without user name, password, query and fragment.

    >>> shown_address("https://ann:secret@host:8000/v1?api_key=secret")
    'https://host:8000/v1'
    """
    try:
        parts = urlsplit(api_base)
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()


def secrets_in(api_base: str | None) -> tuple[str, ...]:
    """Return what of an address no message may repeat."""
    if api_base is None:
        return ()
    try:
        query = urlsplit(api_base).query
    except ValueError:
        return ()
    return tuple(value for _, value in parse_qsl(query) if len(value) >= 8)
