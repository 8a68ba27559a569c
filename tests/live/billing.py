"""A provider with a prompt cache that keeps a bill: minimum, lifetime, and prices of each token."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .server import Fault

CHARACTERS = 4
"""Characters of a token."""


@dataclass
class Provider:
    """The rule of a server: it answers, counts tokens and adds them to its bill.

    A prefix is in the cache when the first response with it has been sent, as at real providers.
    """

    mark: str | None = "cache_control"
    """Field of a part after which a prefix is kept; `None` if whole prompts are kept."""
    charges_writes: bool = True
    minimum: int = 1024
    seconds: float = 300.0
    price: tuple[float, float, float, float] = (1.0, 2.0, 0.1, 1.25)
    """Dollars per million tokens: input, output, read, written."""
    tiers: dict[str, float] = field(default_factory=lambda: {"flex": 0.5})
    """Service tier -> its share of the price."""
    answer: Callable[[dict[str, Any], int], Fault | None] = lambda body, number: None
    """Refuses a request by its body and number, counted from 1."""
    clock: Callable[[], float] = time.monotonic
    delay: float = 0.0
    dollars: float = 0.0
    plain: float = 0.0
    """What the same tokens would have cost without cache and tier."""
    read: int = 0
    written: int = 0
    calls: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    _kept: dict[str, float] = field(default_factory=dict)
    """Prefix -> the time until which it is kept."""

    @property
    def prefixes(self) -> list[int]:
        """Tokens of each prefix that was kept."""
        return [len(prefix) // CHARACTERS for prefix in self._kept]

    def __call__(self, body: dict[str, Any]) -> Fault:
        self.calls += 1
        self.bodies.append(body)
        refusal = self.answer(body, self.calls)
        if refusal is not None:
            return refusal
        prompt, ends = self._prompt(body)
        now = self.clock()
        hits = [end for end in ends if self._kept.get(prompt[:end], 0.0) > now]
        if self.mark is None:  # the provider finds the longest beginning itself
            lengths = (_common(text, prompt) for text in self._kept)
            hits = [length for length in lengths if self._long(length)]
        read = max(hits, default=0)
        written = max(ends, default=read) - read if self.charges_writes else 0

        def bill(reply: dict[str, Any]) -> None:
            end = self.clock() + self.seconds
            self._kept.update((prompt[:place], end) for place in (*ends, *hits))
            self._charge(body, reply, len(prompt), read, written)

        return Fault(change=bill, delay=self.delay)

    def _long(self, characters: int) -> bool:
        return characters // CHARACTERS >= self.minimum

    def _prompt(self, body: dict[str, Any]) -> tuple[str, list[int]]:
        """Return the text of a prompt, and the characters after which its prefixes are kept."""
        text, ends = "", list[int]()
        for message in body["messages"]:
            content = message["content"]
            parts = [{"text": content}] if isinstance(content, str) else content
            for part in parts:
                text += part["text"]
                if self.mark is not None and self.mark in part:
                    ends.append(len(text))
        whole = self.mark is None or (
            self.mark == "prompt_cache_breakpoint"
            and (body.get("prompt_cache_options") or {}).get("mode") != "explicit"
        )
        return text, [end for end in ([len(text)] if whole else ends) if self._long(end)]

    def _charge(
        self, body: dict[str, Any], reply: dict[str, Any], prompt: int, read: int, written: int
    ) -> None:
        fresh, read, written = ((n // CHARACTERS) for n in (prompt - read - written, read, written))
        out = reply["usage"]["completion_tokens"]
        costs = self.price
        share = self.tiers.get(body.get("service_tier", ""), 1.0)
        details = {"cached_tokens": read, "cache_write_tokens": written}
        reply["usage"] = {
            "prompt_tokens": fresh + read + written,
            "completion_tokens": out,
            "total_tokens": fresh + read + written + out,
            "prompt_tokens_details": details,
        }
        reply["service_tier"] = body["service_tier"] if share != 1.0 else "default"
        self.read += read
        self.written += written
        million = fresh * costs[0] + out * costs[1] + read * costs[2] + written * costs[3]
        self.dollars += share * million / 1e6
        self.plain += ((fresh + read + written) * costs[0] + out * costs[1]) / 1e6


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
