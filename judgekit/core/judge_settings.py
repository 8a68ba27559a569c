"""The settings of a judge that go into request keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgekit.core.errors import ConfigError
from judgekit.core.request import Api
from judgekit.core.value import Json

LEAST_REASON = 20
"""Lowest maximum length of reasons, in characters: no shorter text explains a verdict."""
MOST_REASON = 20_000
"""Highest maximum length of reasons, in characters: longer ones are never stored."""


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    """What identifies the answers of a judge besides its model string; part of every key."""

    identity: str | None = None
    """The actual model, if the model string does not identify it."""
    params: Mapping[str, Json] = field(default_factory=dict)
    """Parameters of the answer, such as a temperature."""
    mode: str | None = None
    """The output mode, if the user forces one."""
    api: Api | None = None
    """The API, if it is not chat."""
    max_reason: int | None = None
    """Maximum length of a reason, in characters, if the user sets one."""
    bounds_reasons: bool = True
    """Whether a maximum length applies to this judge; not to a person. Not part of any key."""


def check_max_reason(value: object) -> None:
    """Check a maximum length of reasons.

    Raises:
        ConfigError: it is not a whole number in the range.
    """
    if value is None:
        return
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not LEAST_REASON <= value <= MOST_REASON:  # type: ignore[operator]
        bounds = f"from {LEAST_REASON} to {MOST_REASON:,}"
        raise ConfigError(f"max_reason is a whole number of characters {bounds}, not {value!r}")


NO_SETTINGS = JudgeSettings()
"""The settings of a judge that its model string identifies."""
