"""A cache of vectors in the store, as text that is validated when it is read."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | NDArray[np.float64]

MAX_DIMENSIONS = 65_536
"""Maximum length of a vector; no model has more."""
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

    Stored records are untrusted: one of another form or length, or with a number that is not
    finite, counts as missing and is written again.
    """

    def __init__(self, store: Callable[[], TextStore], *, identity: str) -> None:
        self._open = store
        # An identity may have any length and any characters.
        self._prefix = f"vector/1/{text_digest(identity)}/"

    def get(self, digest: str, *, dimensions: int | None) -> Vector | None:
        """Return the vector of a text by its digest, or `None`.

        Args:
            digest: of the text, by `text_digest`.
            dimensions: the length of the vectors of the model, if known.
        """
        text = self._store.get(self._prefix + digest)
        vector = None if text is None else read_vector(text)
        if vector is None or (dimensions is not None and len(vector) != dimensions):
            return None
        return vector

    def put(self, digest: str, vector: Vector) -> None:
        """Keep the vector of a text."""
        self._store.put(self._prefix + digest, write_vector(vector))

    @cached_property
    def _store(self) -> TextStore:
        return self._open()


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, which may contain lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_vector(vector: Vector) -> str:
    """Return a vector as text: type of number, length, and the bytes in base 64."""
    import numpy as np

    kind = "f4" if vector.dtype == np.float32 else "f8"
    data = np.ascontiguousarray(vector, dtype=f"<{kind}").tobytes()
    return f"{kind} {len(vector)} {base64.b64encode(data).decode('ascii')}"


def read_vector(text: str) -> Vector | None:
    """Return the vector in a text, or `None` if `write_vector` did not write the text."""
    import numpy as np

    kind, _, rest = text[:20].partition(" ")
    count, space, _ = rest.partition(" ")
    # Check the length before decoding, so that a hostile record allocates nothing.
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
