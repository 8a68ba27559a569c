"""The price of a model, and the tokens of a response by what they may cost."""

from __future__ import annotations

from typing import NamedTuple


class TokenCounts(NamedTuple):
    """The tokens of one response, by what they may cost."""

    prompt: int
    """All tokens of the request, with those of the cache."""
    completion: int
    """All tokens of the reply, with those of its thoughts."""
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    """The part of them that is kept for an hour."""
    reasoning: int = 0
    other: int = 0
    """Tokens of audio, images and video."""
    tier: str | None = None
    """The service tier of the response; `None` for the standard one."""


class ModelPrice(NamedTuple):
    """US dollars per million tokens; without prices of the cache, its tokens cost `input`."""

    input: float
    output: float
    cache_read: float | None = None
    """Tokens that the provider read from its prompt cache."""
    cache_write: float | None = None
    """Tokens that it wrote to the cache."""

    def rates(self) -> Rates:
        """Return the prices of one token."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        million = (self.input, self.output, read, write, write, self.output)
        return Rates(*(price / 1e6 for price in million))

    def estimate(self, read: float, written: float) -> float:
        """Return the US dollars of a request and its reply, by their tokens.

        The request counts at its highest price: it may all be written to the cache.
        """
        return (read * max(self.input, self.cache_write or 0.0) + written * self.output) / 1e6


class Rates(NamedTuple):
    """US dollars of one token."""

    read: float
    written: float
    cache_read: float
    cache_write: float
    cache_write_long: float
    """Written to the cache for an hour."""
    reasoning: float

    def cost(self, tokens: TokenCounts) -> float:
        """Return the cost of a response."""
        short = tokens.cache_write - tokens.cache_write_long
        fresh = max(0, tokens.prompt - tokens.cache_read - tokens.cache_write)
        reasoning = min(tokens.reasoning, tokens.completion)
        return (
            fresh * self.read
            + tokens.cache_read * self.cache_read
            + short * self.cache_write
            + tokens.cache_write_long * self.cache_write_long
            + (tokens.completion - reasoning) * self.written
            + reasoning * self.reasoning
        )


def price_from(price: ModelPrice | tuple[float, float] | None) -> ModelPrice | None:
    """Return a price that was given as two numbers, or as `ModelPrice`."""
    return None if price is None else ModelPrice(*price)
