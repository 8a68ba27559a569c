"""Record modes: which requests a cassette may send to its judge."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import closest


class RecordMode(StrEnum):
    """The requests that a cassette may send to its judge."""

    NONE = "none"
    """No requests: replay only. The default."""
    NEW_EPISODES = "new_episodes"
    """Requests without a recording."""
    ALL = "all"
    """All requests, once a run; new replies replace recorded ones."""

    @classmethod
    def parse(cls, text: str) -> RecordMode:
        """Return the mode with a name.

        Raises:
            ConfigError: no mode has the name.
        """
        try:
            return cls(text)
        except ValueError as exc:
            close = closest(text, [mode.value for mode in cls], alike=0.8)
            hint = f"; did you mean {close[0]!r}?" if close else f"; write {_MEANINGS}"
            raise ConfigError(f"no record mode {text!r}{hint}") from exc


RecordChoice = RecordMode | Literal["none", "new_episodes", "all"] | str
"""A record mode, or its name. Editors complete the names; a variable of type `str` is one, too."""
_MEANINGS = "none (replay only), new_episodes (ask what is missing) or all (ask everything again)"
