"""A vector, as a reply keeps it: `{"dimensions": 384, "float32": "..."}`.

The numbers stand as the base64 of little-endian 32-bit floats. That is what models compute in
and what the OpenAI wire carries, so nothing is lost; it takes a third of the room of decimals;
and one vector has one text, however a machine writes its floats.
"""

import base64
import math
from array import array
from collections.abc import Sequence
from sys import byteorder

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import InvalidReply
from judgekit.core.replies.text import stored_object
from judgekit.core.request import Reply

MAX_DIMENSIONS = 65_536
"""Numbers a vector may have; the largest models in use give some 4,096."""


def vector_text(numbers: object) -> str:
    """Return the text that keeps a vector.

    Raises:
        InvalidReply: not a list of numbers, an empty or too long one, or one that is not finite
            as 32-bit floats.
    """
    if not isinstance(numbers, (list, tuple)):
        raise InvalidReply("the embedding is not a list of numbers")
    if not all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in numbers):
        raise InvalidReply("the embedding holds something that is not a number")
    _check_length(len(numbers))
    try:
        floats = array("f", numbers)
    except OverflowError as exc:
        raise InvalidReply("the embedding holds a number that is too large") from exc
    _check_finite(floats)
    if byteorder == "big":
        floats.byteswap()
    data64 = base64.b64encode(floats.tobytes()).decode()
    return canonical_json({"dimensions": len(floats), "float32": data64})


def read_vector(reply: Reply) -> tuple[float, ...]:
    """Return the vector of a reply, live or recorded.

    Raises:
        InvalidReply: it is no vector, or not finite.
    """
    last = reply.tries[-1]
    if last.fault is not None:
        raise last.fault.error()
    text = last.text or ""
    if len(text) > 6 * MAX_DIMENSIONS:
        raise InvalidReply("the vector is too long")
    data = stored_object(text, missing="the reply holds no vector")
    size, data64 = data.get("dimensions"), data.get("float32")
    if not isinstance(size, int) or isinstance(size, bool) or not isinstance(data64, str):
        raise InvalidReply("the reply holds no vector")
    _check_length(size)
    if len(data64) != 4 * math.ceil(4 * size / 3):
        raise InvalidReply(f"the vector does not have the {size} numbers it says")
    try:
        raw = base64.b64decode(data64, validate=True)
    except ValueError as exc:
        raise InvalidReply("the vector is not base64") from exc
    if len(raw) != 4 * size:
        raise InvalidReply(f"the vector does not have the {size} numbers it says")
    floats = array("f")
    floats.frombytes(raw)
    if byteorder == "big":
        floats.byteswap()
    _check_finite(floats)
    return tuple(floats)


def _check_length(size: int) -> None:
    if not 1 <= size <= MAX_DIMENSIONS:
        raise InvalidReply(f"the vector has {size} numbers; 1 to {MAX_DIMENSIONS:,} are taken")


def _check_finite(floats: Sequence[float]) -> None:
    if not all(map(math.isfinite, floats)):
        raise InvalidReply("the vector holds a number that is not finite")
