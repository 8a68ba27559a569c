"""A vector in the format of a reply: `{"dimensions": 384, "float32": "..."}`.

The numbers are stored as base64 of little-endian 32-bit floats. Models and OpenAI's API use the
same precision, so nothing is lost. The text is a third as long as decimals, and equal vectors have
equal texts on every machine.
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
"""Maximum number of dimensions; the largest common models have about 4,096."""


def vector_text(numbers: object) -> str:
    """Return the reply text of a vector.

    Raises:
        InvalidReply: not a list of numbers, empty, too long, or not finite as 32-bit floats.
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
        InvalidReply: the text is not a vector, or a number is not finite.
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
