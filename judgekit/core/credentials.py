"""Find credentials in settings: settings are written to manifests, keys and tapes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from judgekit.core.secret_forms import SHORTEST

_NAME = re.compile(
    r"(?:.*[_-])?(?:api[_-]?keys?|access[_-]?key|private[_-]?key|secret[_-]?key|account[_-]?key"
    r"|secret|passw(?:or)?d|credentials?|authorization)"
    r"|(?:(?:access|api|auth|bearer|hf|id|refresh|security|service|session|user)[_-]?)?token"
    r"|apikey|bearer|cookie|auth",
    re.IGNORECASE,
)
"""Names of credentials; `eos_token`, `stop_token_ids` and `max_tokens` are none."""
_VALUE = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|ghp|hf)[-_][A-Za-z0-9_-]{16,}|\bAIza[0-9A-Za-z_-]{20,}"
    r"|\bBearer\s[A-Za-z0-9._~+/=-]{8,}",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|_PAT)S?(_?\d{1,3})?\Z", re.IGNORECASE)
_MOST_NAME = 100
"""Maximum length of a name; longer keys of settings are not names of credentials."""


def known_secrets() -> tuple[str, ...]:
    """Return the credentials in the environment."""
    return tuple(value for name, value in os.environ.items() if _VARIABLE.search(name))


def credential_in(settings: Any) -> tuple[str, ...] | None:
    """Return the place of a credential in nested settings; `None` if there is none.

    >>> credential_in({"extra_body": {"api_key": "abc"}})
    ('extra_body', 'api_key')
    >>> credential_in({"max_tokens": 5, "extra_body": {"eos_token": "</s>"}}) is None
    True
    """
    return _place(settings, tuple(s for s in known_secrets() if len(s) >= SHORTEST))


def _place(value: Any, known: tuple[str, ...]) -> tuple[str, ...] | None:
    if isinstance(value, str):
        secret = _VALUE.search(value) or any(secret in value for secret in known)
        return () if secret else None
    items: Any = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    for name, item in items:
        text = str(name)
        if isinstance(item, str) and item and len(text) <= _MOST_NAME and _NAME.fullmatch(text):
            return (text,)
        if (inner := _place(item, known)) is not None:
            return (text, *inner)
    return None
