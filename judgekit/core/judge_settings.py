"""The settings of a judge that go into request keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgekit.core.request import Api
from judgekit.core.value import Json


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


NO_SETTINGS = JudgeSettings()
"""The settings of a judge that its model string identifies."""
