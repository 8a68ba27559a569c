"""Choose the way to a model: HTTP of judgekit, or litellm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.errors import ConfigError
from judgekit.judges.compatible import PROVIDERS, reason_for_litellm
from judgekit.judges.transport import Server, Transport, Via
from judgekit.judges.via_direct import DirectTransport
from judgekit.judges.via_litellm import LiteLLMTransport


def transport_of(server: Server, params: Mapping[str, Any], *, via: Via | None) -> Transport:
    """Return the transport of a judge.

    Raises:
        ConfigError: `via` is `direct`, and the requests of the judge need litellm.
    """
    if via == "litellm":
        return LiteLLMTransport(server, reason="set by via")
    needs_litellm = reason_for_litellm(server, params)
    if needs_litellm is None:
        provider = PROVIDERS[server.model.partition("/")[0]]
        reason = "set by via" if via else "the server speaks OpenAI's protocol"
        return DirectTransport(server, provider, reason=reason)
    if via == "direct":
        raise ConfigError(
            f"via: direct cannot be used for {server.model}: {needs_litellm}; remove via"
        )
    return LiteLLMTransport(server, reason=needs_litellm)
