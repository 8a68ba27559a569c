"""Record modes: what a cassette may do when nothing is recorded."""

from __future__ import annotations

from enum import StrEnum

from judgekit.errors import ConfigError
from judgekit.suggest import suggest


class RecordMode(StrEnum):
    """What may be asked of the judge behind a cassette."""

    NONE = "none"
    """Nothing: replay only. The default."""
    NEW_EPISODES = "new_episodes"
    """What is not recorded yet."""
    ALL = "all"
    """Everything anew, once a run; recorded replies are replaced."""

    @classmethod
    def parse(cls, text: str) -> RecordMode:
        """Return the mode of a word.

        Raises:
            ConfigError: there is no such mode.
        """
        try:
            return cls(text)
        except ValueError as exc:
            raise ConfigError(
                f"no record mode {text!r}{suggest(text, [m.value for m in cls])}"
            ) from exc
