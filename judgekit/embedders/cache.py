"""Vectors kept between runs, as text in the store, and trusted no further than text."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | NDArray[np.float64]

MAX_DIMENSIONS = 65_536
"""Numbers a vector may have: more than any model gives."""
_KINDS = {"f4": 4, "f8": 8}
"""Numbers of 32 and of 64 bits, little-endian, and their bytes."""


class TextStore(Protocol):
    """Keeps text by key, such as `judgekit.cassette.store.Store`."""

    def get(self, key: str) -> str | None:
        """Return the text of a key."""

    def put(self, key: str, text: str) -> None:
        """Keep a text."""


class VectorCache:
    """The vectors of one model, by the digest of their text.

    What is read back is data from outside: a record of another form or length than this model's,
    or with a number that is not finite, counts as absent and is written anew.
    """

    def __init__(self, store: Callable[[], TextStore], *, identity: str) -> None:
        self._open = store
        self._store: TextStore | None = None
        # The identity is hashed because it may be of any length and hold anything.
        self._prefix = f"vector/1/{text_digest(identity)}/"

    def get(self, digest: str, *, dimensions: int | None) -> Vector | None:
        """Return the vector of a text by its digest, or `None`.

        Args:
            digest: of the text, by `text_digest`.
            dimensions: what the model gives, as far as that is known.
        """
        text = self._opened().get(self._prefix + digest)
        vector = None if text is None else read_vector(text)
        if vector is None or (dimensions is not None and len(vector) != dimensions):
            return None
        return vector

    def put(self, digest: str, vector: Vector) -> None:
        """Keep the vector of a text."""
        self._opened().put(self._prefix + digest, write_vector(vector))

    def _opened(self) -> TextStore:
        if self._store is None:
            self._store = self._open()
        return self._store


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text; also of one that holds half a character."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_vector(vector: Vector) -> str:
    """Return a vector as text: kind of number, how many, and the bytes in base 64."""
    import numpy as np

    kind = "f4" if vector.dtype == np.float32 else "f8"
    data = np.ascontiguousarray(vector, dtype=f"<{kind}").tobytes()
    return f"{kind} {len(vector)} {base64.b64encode(data).decode('ascii')}"


def read_vector(text: str) -> Vector | None:
    """Return the vector a text stands for, or `None` where it is not one that was written so."""
    import numpy as np

    kind, _, rest = text[:20].partition(" ")
    count, space, _ = rest.partition(" ")
    # Bounds first: nothing is decoded, and no room made, before the length is known to fit.
    if kind not in _KINDS or not space or not (count.isascii() and count.isdigit()):
        return None
    length = int(count)
    body = text[len(kind) + len(count) + 2 :]
    size = length * _KINDS[kind]
    if not 1 <= length <= MAX_DIMENSIONS or len(body) != 4 * ((size + 2) // 3):
        return None
    try:
        data = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(data) != size:
        return None
    vector: Vector = np.frombuffer(data, dtype=f"<{kind}")
    return vector if bool(np.isfinite(vector).all()) else None
