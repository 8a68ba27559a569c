"""Record modes: when a cassette may call its judge."""

from __future__ import annotations

from enum import StrEnum

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import closest


class RecordMode(StrEnum):
    """When a cassette may call its judge."""

    NONE = "none"
    """Never: replay only. The default."""
    NEW_EPISODES = "new_episodes"
    """For missing replies."""
    ALL = "all"
    """For every reply, once a run; recorded replies are replaced."""

    @classmethod
    def parse(cls, text: str) -> RecordMode:
        """Return a mode by its name.

        Raises:
            ConfigError: there is no such mode.
        """
        try:
            return cls(text)
        except ValueError as exc:
            close = closest(text, [mode.value for mode in cls], alike=0.8)
            meant = f"; did you mean {close[0]!r}?" if close else f"; write {_MEANINGS}"
            raise ConfigError(f"no record mode {text!r}{meant}") from exc


_MEANINGS = "none (replay only), new_episodes (ask what is missing) or all (ask everything again)"
