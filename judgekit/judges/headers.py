"""Headers that a gateway needs: checked names, and values with variables of the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from judgekit.core.credentials import credential_in
from judgekit.core.errors import ConfigError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
"""A token of RFC 9110, section 5.6.2."""
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,8000}[\x21-\x7e])?")
"""Printable ASCII without spaces at the ends: both transports send it unchanged."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")
_MOST = 50

_HOP_BY_HOP = {
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
"""Headers of one connection, RFC 9110, section 7.6.1."""
_OF_THE_BODY = {
    "accept", "accept-encoding", "content-encoding", "content-length", "content-type", "cookie",
    "expect", "host",
}  # fmt: skip
"""Headers that describe the request, which judgekit writes."""


def check_headers(headers: Mapping[str, str]) -> None:
    """Check names and values; variables are not read.

    Raises:
        ConfigError: a name or a value is wrong, or a credential is not in a variable.
    """
    if len(headers) > _MOST:
        raise ConfigError(f"headers: {len(headers)} are too many (at most {_MOST})")
    seen: set[str] = set()
    for name, value in headers.items():
        lower = str(name).lower()
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise ConfigError(f"headers: {name!r:.80} is no name of a header")
        if lower in seen:
            raise ConfigError(f"headers: {name} is given twice; capitals make no difference")
        seen.add(lower)
        if lower == "authorization":
            raise ConfigError(
                "headers: Authorization has the key; name its variable in api_key_env instead"
            )
        if lower in _HOP_BY_HOP or lower in _OF_THE_BODY:
            raise ConfigError(f"headers: {name} belongs to the connection; remove it")
        if not isinstance(value, str) or _VALUE.fullmatch(value) is None:
            raise ConfigError(f"headers.{name}: the value must be one line of printable ASCII")
        plain = _VARIABLE.sub("", value)
        if "${" in plain:
            raise ConfigError(f"headers.{name}: write a variable as ${{NAME}}")
        if plain == value and credential_in({lower.replace("-", "_"): value}) is not None:
            raise ConfigError(
                f"headers.{name} is a credential; write it as ${{NAME}} of a variable of the"
                " environment"
            )


class SentHeaders(NamedTuple):
    """Headers with their values."""

    values: Mapping[str, str] = {}
    secrets: tuple[str, ...] = ()
    """Values of variables, which no file or message may contain."""


def sent_headers(headers: Mapping[str, str]) -> SentHeaders:
    """Fill in the variables of the environment.

    Raises:
        ConfigError: a variable is not set, or its value is no value of a header.
    """
    secrets: list[str] = []

    def filled(match: re.Match[str]) -> str:
        value = os.environ.get(match[1])
        if value is None:
            raise ConfigError(f"headers.{name}: {match[1]} is not set in the environment; set it")
        secrets.append(value)
        return value

    values = {}
    for name, value in headers.items():
        values[name] = _VARIABLE.sub(filled, value)
        if _VALUE.fullmatch(values[name]) is None:
            raise ConfigError(
                f"headers.{name}: the value of its variable must be one line of printable ASCII"
            )
    return SentHeaders(values, tuple(secrets))
