"""The service tier that a judge asks for: what it sends, and what replaces it where it is refused.

A tier is no part of any key: a reply of another tier is the same reply at another price.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from judgekit.core.errors import ConfigError
from judgekit.core.sourced import read_tables
from judgekit.core.suggest import suggest
from judgekit.judges.provider_names import KNOWN_PROVIDERS
from judgekit.judges.rate_headers import REFUSED

Tier = Literal["standard", "flex", "batch"]
TIERS: tuple[Tier, ...] = ("standard", "flex", "batch")
FallbackTier = Literal["standard", "flex", "none"]
FALLBACK_TIERS: tuple[FallbackTier, ...] = ("standard", "flex", "none")
SECONDS, FLEX_SECONDS = 60.0, 900.0
"""Time limits of a call; OpenAI advises 15 minutes for flex."""
PARAMETER = "service_tier"

_DATA = Path(__file__).with_name("data") / "service_tiers.json"
_FLEX_PRICE = "input_cost_per_token_flex"


@cache
def _flex_providers() -> frozenset[str]:
    return frozenset(row["provider"] for row in read_tables(_DATA)["flex"])


def check_tier(tier: str, fallback: str | None, params: Mapping[str, Any]) -> None:
    """Check the tiers of a judge.

    Args:
        tier: the tier.
        fallback: the tier after it; `None` for the default.
        params: the parameters of the judge.

    Raises:
        ConfigError: there is no such tier, or two settings contradict.
    """
    if tier not in TIERS:
        raise ConfigError(f"no tier {tier!r}{suggest(tier, TIERS)}")
    if fallback is not None:
        if fallback not in FALLBACK_TIERS:
            raise ConfigError(f"no fallback_tier {fallback!r}{suggest(fallback, FALLBACK_TIERS)}")
        if tier == "standard":
            raise ConfigError("fallback_tier follows tier: flex or tier: batch; add one of them")
        if fallback == tier:
            raise ConfigError(f"fallback_tier: {fallback} is the tier itself; write standard")
        if tier == "batch" and fallback == "none":
            raise ConfigError("fallback_tier: none is for tier: flex; re-asks of a job are live")
    if "flex" in (tier, fallback) and PARAMETER in params:
        raise ConfigError(f"params.{PARAMETER} and the flex tier are both set; remove one")


def flex_problem(model: str, api_base: str | None) -> str | None:
    """Return why a judge cannot ask for the flex tier; `None` if it can, or if it is unknown.

    Args:
        model: its model string.
        api_base: the address of its server, which decides itself.
    """
    from judgekit.judges.prices import price_entry  # a suite without flex needs no prices

    name, slash, _ = model.partition("/")
    provider = name if slash and name in KNOWN_PROVIDERS else "openai"
    if provider not in _flex_providers():
        return f"{model}: {provider} has no flex tier; remove it"
    entry = price_entry(model) if api_base is None else {}
    if entry and _FLEX_PRICE not in entry:  # a newer model than the table may have the tier
        return f"{model}: this model has no flex tier; remove it"
    return None


class ServiceTier:
    """The tier that the live calls of one judge ask for.

    Args:
        model: the model, for messages.
        tier: the tier of the judge.
        fallback: what replaces it where the server has no room.
    """

    def __init__(self, model: str, tier: Tier, fallback: FallbackTier | None) -> None:
        self._model = model
        # Live calls of a judge with jobs are re-asks and the like.
        self._flex = "flex" in ((fallback or "standard") if tier == "batch" else tier)
        self.falls_back = fallback != "none"
        self._accepted = False
        self._noted = False

    @property
    def name(self) -> str | None:
        """The tier to send; `None` for none."""
        return "flex" if self._flex else None

    def accept(self) -> None:
        """Note that the server has replied to a request with the tier."""
        self._accepted = True

    @staticmethod
    def lacks_room(status: int | None) -> bool:
        """Return whether a status means that the tier has no room now, which costs nothing."""
        return status in REFUSED

    def rejected(self, detail: str) -> bool:
        """Return whether the error of a server is about the tier."""
        return PARAMETER in detail or "service tier" in detail.lower()

    @property
    def usable(self) -> bool:
        """Whether the server has taken the tier, so that a rejection of it is for a while."""
        return self._accepted

    def note(self, reason: str) -> None:
        """Say once that requests are sent at the standard tier."""
        if not self._noted:
            self._noted = True
            logging.getLogger("judgekit").warning(
                "%s: the flex tier has no room; such requests are sent at the standard tier, at its"
                " price: %s",
                self._model,
                reason,
            )
