"""SystemRole: whether a model takes system messages, and where their text goes if it does not."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

from judgekit.core.sourced import read_tables

_DATA = Path(__file__).with_name("data") / "system_role.json"


class SystemRole:
    """The messages of one judge, with system messages or without.

    What is sent is not part of keys: a recording replays whatever the server takes.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self.refused = ""
        """The error of the server; empty as long as it takes the role."""

    def placed(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the messages to send.

        Without the role, the text of a system message is the beginning of the next user message.
        """
        if not self.refused:
            return messages
        sent: list[dict[str, Any]] = []
        before: list[str] = []
        for message in messages:
            if message["role"] == "system":
                before.append(str(message["content"]))
            elif message["role"] == "user" and before:
                content = "\n\n".join([*before, str(message["content"])])
                sent.append({**message, "content": content})
                before = []
            else:
                sent.append(message)
        if before:
            sent.append({"role": "user", "content": "\n\n".join(before)})
        return sent

    def leave(self, error: str) -> bool:
        """Send no system message from now on, if an error is about the role; return if it is.

        Another call may have left it in the meantime: the request is then sent again, once.
        """
        if not _is_about_role(error):
            return False
        if not self.refused:
            self.refused = error
            logging.getLogger("judgekit").info(
                "%s: its system message is sent in the first user message (%.200s)",
                self._model,
                error,
            )
        return True


@cache
def _errors() -> tuple[tuple[str, ...], ...]:
    rows = read_tables(_DATA)["errors"]
    return tuple(tuple(row["words"]) for row in rows)


def _is_about_role(error: str) -> bool:
    text = error.casefold()
    return any(all(word in text for word in words) for words in _errors())
