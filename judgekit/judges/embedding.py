"""What a raw response of an embeddings endpoint holds: a vector for each text, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.core.errors import InvalidReply
from judgekit.core.replies.vector import vector_text
from judgekit.core.request import Fault, Reply, Try
from judgekit.judges.line import Heard
from judgekit.judges.response import usage_of


def read_embeddings(
    heard: Heard, texts: Sequence[str], *, model: str | None, cost: float | None
) -> list[Reply]:
    """Return a reply for each text; one whose vector cannot be used says what is wrong.

    The server says what all texts of a call took together: the tokens are only known where the
    text was alone; the cost is divided by length, so that all parts are what was paid.
    """
    usage = usage_of(heard.response) if len(texts) == 1 else None
    characters = sum(map(len, texts)) or 1
    return [
        Reply(
            tries=(told,),
            model=model,
            effective_params=dict(heard.params),
            usage=usage,
            cost=None if cost is None else cost * len(text) / characters,
        )
        for text, told in zip(texts, _tries(heard, len(texts)), strict=True)
    ]


def _tries(heard: Heard, count: int) -> list[Try]:
    if heard.malformed is not None:
        return [heard.malformed] * count
    try:
        vectors = _in_order(getattr(heard.response, "data", None), count)
    except InvalidReply as exc:
        return [Try(fault=Fault.of(exc))] * count
    return [_try_of(numbers) for numbers in vectors]


def _try_of(numbers: object) -> Try:
    try:
        return Try(text=vector_text(numbers), finish="stop")
    except InvalidReply as exc:
        return Try(fault=Fault.of(exc))


def _in_order(data: object, count: int) -> list[object]:
    """Return the vectors in the order of the texts; a server may give them in any.

    Raises:
        InvalidReply: there is not one vector for each text.
    """
    if not isinstance(data, (list, tuple)) or len(data) != count:
        found = len(data) if isinstance(data, (list, tuple)) else "no"
        raise InvalidReply(f"the server gave {found} embeddings for {count} texts")
    vectors: dict[int, object] = {}
    for place, entry in enumerate(data):
        index = _field(entry, "index")
        index = place if index is None else index
        if type(index) is not int:
            break
        vectors[index] = _field(entry, "embedding")
    if set(vectors) != set(range(count)):
        raise InvalidReply("the server numbers its embeddings in a way that fits no order")
    return [vectors[place] for place in range(count)]


def _field(entry: object, name: str) -> object:
    return entry.get(name) if isinstance(entry, dict) else getattr(entry, name, None)
