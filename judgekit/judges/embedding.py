"""What a raw response of an embeddings endpoint holds: a vector for each text, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from judgekit.errors import InvalidReply
from judgekit.judges.response import usage_of
from judgekit.replies.vector import vector_text
from judgekit.request import Reply, Try


class Share:
    """What one text of a call gets of its response: a reply, or what is wrong with its vector."""

    def __init__(self, reply: Reply | None, fault: InvalidReply | None = None) -> None:
        self._reply = reply
        self._fault = fault

    @property
    def reply(self) -> Reply:
        """The reply for this text.

        Raises:
            InvalidReply: its vector cannot be used.
        """
        if self._reply is None:
            raise InvalidReply(str(self._fault))
        return self._reply


def read_embeddings(
    response: Any,
    texts: Sequence[str],
    *,
    model: str | None,
    params: Mapping[str, JsonValue],
    cost: float | None,
) -> list[Share]:
    """Return the share of each text.

    The server says what all texts of a call took together: the tokens are only known where the
    text was alone; the cost is shared out by length, so that all shares are what was paid.

    Raises:
        InvalidReply: there is not one vector for each text.
    """
    vectors = _in_order(getattr(response, "data", None), len(texts))
    usage = usage_of(response) if len(texts) == 1 else None
    characters = sum(map(len, texts)) or 1
    shares = []
    for text, numbers in zip(texts, vectors, strict=True):
        try:
            told = vector_text(numbers)
        except InvalidReply as exc:
            shares.append(Share(None, exc))
            continue
        reply = Reply(
            tries=(Try(text=told, finish="stop"),),
            model=model,
            effective_params=dict(params),
            usage=usage,
            cost=None if cost is None else cost * len(text) / characters,
        )
        shares.append(Share(reply))
    return shares


def _in_order(data: object, count: int) -> list[object]:
    """Return the vectors in the order of the texts; a server may give them in any."""
    if not isinstance(data, (list, tuple)) or len(data) != count:
        found = len(data) if isinstance(data, (list, tuple)) else "no"
        raise InvalidReply(f"the server gave {found} embeddings for {count} texts")
    vectors: dict[object, object] = {}
    for place, entry in enumerate(data):
        index = _field(entry, "index")
        vectors[place if index is None else index] = _field(entry, "embedding")
    if set(vectors) != set(range(count)):
        raise InvalidReply("the server numbers its embeddings in a way that fits no order")
    return [vectors[place] for place in range(count)]


def _field(entry: object, name: str) -> object:
    return entry.get(name) if isinstance(entry, dict) else getattr(entry, name, None)
