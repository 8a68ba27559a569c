"""Read the response of an embeddings endpoint: one vector for each text."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.core.errors import InvalidReply
from judgekit.core.replies.vector import vector_text
from judgekit.core.request import Fault, Reply, Try
from judgekit.judges.calls import CallResult


def read_embeddings(result: CallResult, texts: Sequence[str]) -> list[Reply]:
    """Return a reply for each text; an unusable vector becomes a fault.

    The server counts the tokens of the whole call, so a reply has them only if it was the only
    one. The cost is divided by length.
    """
    characters = sum(map(len, texts)) or 1
    return [
        Reply(
            tries=(attempt,),
            model=result.model,
            effective_params=dict(result.params),
            usage=result.usage if len(texts) == 1 else None,
            cost=None if result.cost is None else result.cost * len(text) / characters,
        )
        for text, attempt in zip(texts, _tries(result, len(texts)), strict=True)
    ]


def _tries(result: CallResult, count: int) -> list[Try]:
    if result.malformed is not None:
        return [result.malformed] * count
    try:
        vectors = _in_order(result.data.get("data"), count)
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
        count_given = len(data) if isinstance(data, (list, tuple)) else "no"
        raise InvalidReply(f"the server gave {count_given} embeddings for {count} texts")
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
    return entry.get(name) if isinstance(entry, dict) else None
