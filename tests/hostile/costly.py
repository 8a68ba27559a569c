"""A server whose replies cost far more than their estimate."""

from __future__ import annotations

import threading
from typing import Any

from tests.live.server import Fault


class Costly:
    """A rule of the server: every reply has so many tokens. It counts the replies that it gives.

    Args:
        tokens: tokens of a reply.
        usage: whether the replies tell their tokens.
    """

    def __init__(self, tokens: int, *, usage: bool = True) -> None:
        self.tokens, self.usage = tokens, usage
        self.served = 0
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Fault:
        with self._lock:
            self.served += 1
        return Fault(change=self._change)

    def _change(self, body: dict[str, Any]) -> None:
        tokens = self.tokens
        if self.usage:
            body["usage"] = {"prompt_tokens": 0, "completion_tokens": tokens,
                             "total_tokens": tokens}  # fmt: skip
        else:
            del body["usage"]
