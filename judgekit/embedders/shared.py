"""The embedder that metrics use: it embeds each text once, batches texts, and keeps vectors."""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from judgekit.core import errors
from judgekit.core.protocols import AsyncEmbedder, Embedder, TextStore

if TYPE_CHECKING:
    import asyncio

    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | NDArray[np.float64]
    """One row."""
    Vectors = Vector
    """A table of rows."""
else:
    Vectors = Any  # importing numpy takes longer than scoring a dozen cases


MAX_DIMENSIONS = 65_536
"""Maximum length of a vector; no model has more."""
_KINDS = {"f4": 4, "f8": 8}
"""Numbers of 32 and of 64 bits, little-endian -> their size in bytes."""
_RECORD = re.compile(r"(f4|f8) ([0-9]{1,16}) (.*)", re.DOTALL)


class VectorCache:
    """The vectors of one model, by the digest of their text.

    Stored records are untrusted. A record with another form or length, or with a number that is not
    finite, counts as missing and is overwritten.
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
        """Store the vector of a text."""
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

    match = _RECORD.fullmatch(text)
    if match is None:
        return None
    kind, count, body = match.groups()
    size = int(count) * _KINDS[kind]
    # Check the length before decoding, so that a hostile record allocates nothing.
    if not 1 <= int(count) <= MAX_DIMENSIONS or len(body) != 4 * ((size + 2) // 3):
        return None
    try:
        data = base64.b64decode(body, validate=True)
    except ValueError:
        return None
    if len(data) != size:
        return None
    vector: Vector = np.frombuffer(data, dtype=f"<{kind}")
    return vector if bool(np.isfinite(vector).all()) else None


BATCH = 256
"""Maximum number of texts in a batch."""
MEMORY = 32 << 20
"""Bytes of vectors in memory, so a text that every case needs is embedded once."""
_SHARED_ERRORS = (
    errors.BudgetExceeded, errors.CassetteCorrupt, errors.ConfigError,
    errors.JudgeAway, errors.JudgeRejected, errors.JudgeUnavailable,
)  # fmt: skip
"""Errors that do not depend on a single text."""


class SharedEmbedder:
    """Shares one embedder between the rows of a run.

    - It embeds identical texts once, while a request is pending and as long as the vector is among
      the last 32 MB. With a `store`, it keeps the vectors of a local model between runs, by
      identity and digest of the text.
    - It puts the texts that several rows need at the same time in one batch of up to 256 texts,
      shortest first. A local embedder (`embed`) runs on a thread, one batch at a time. A hosted
      embedder (`aembed`) is awaited; it limits and records its calls itself. A synchronous embedder
      (`synchronous`) is called directly, without an event loop, and is never stored.
    - If a batch fails, it is halved until only the faulty text remains, so a bad text fails only
      its own rows. Outages, limits and wrong settings fail all waiting rows.
    """

    def __init__(
        self, embedder: Embedder | AsyncEmbedder, *, store: Callable[[], TextStore] | None = None
    ) -> None:
        self.embedder = embedder
        # An embedder of the user may lack these; `at_once` is the older name.
        at_once = getattr(embedder, "at_once", False)
        self.synchronous = bool(getattr(embedder, "synchronous", at_once))
        self.semantic = bool(getattr(embedder, "semantic", True))
        self._store = None if self.synchronous else store
        self._recent: OrderedDict[str, Vector] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._queues: WeakKeyDictionary[Any, _Queue] = WeakKeyDictionary()

    @property
    def identity(self) -> str:
        """Name and version of the embedder; for a model, with the digest of its files."""
        return self.embedder.identity

    def __repr__(self) -> str:
        return f"SharedEmbedder({self.identity})"

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return what `vectors` returns, for synchronous code; batches are not shared.

        Raises:
            ValueError: the embedder did not return one row of numbers per text.
            ConfigError: the embedder is asynchronous; await `vectors`.
        """
        digests, vectors, missing = self._known(texts)
        if missing:
            vectors |= self._locally(missing)
        return cast("Sequence[Sequence[float]]", _table(vectors, digests))

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return a row of finite numbers for every text, in order.

        A hosted embedder never gets a blank text: many refuse it, which would stop the run. Its
        vector is zero, as with local embedders.

        Raises:
            ValueError: the embedder returned something else.
            JudgekitError: raised by the embedder.
        """
        digests, vectors, missing = self._known(texts)
        blank = [digest for digest, text in missing.items() if not text.strip()]
        if blank and isinstance(self.embedder, AsyncEmbedder):
            for digest in blank:
                del missing[digest]
            if missing:
                vectors |= await self._queue().ask(missing)
            return _table(vectors | _zeros(blank, like=vectors), digests)
        if missing and self.synchronous:
            vectors |= self._locally(missing)
        elif missing:
            vectors |= await self._queue().ask(missing)
        return _table(vectors, digests)

    def _known(self, texts: Sequence[str]) -> tuple[list[str], dict[str, Vector], dict[str, str]]:
        """Return the digests of texts, the known vectors, and the texts without a vector."""
        digests = [text_digest(text) for text in texts]
        known: dict[str, Vector] = {}
        missing: dict[str, str] = {}
        with self._lock:
            for digest, text in zip(digests, texts, strict=True):
                vector = self._recent.get(digest)
                if vector is None:
                    missing[digest] = text
                else:
                    self._recent.move_to_end(digest)
                    known[digest] = vector
        return digests, known, missing

    def _keep(self, vectors: dict[str, Vector]) -> dict[str, Vector]:
        with self._lock:
            for digest, vector in vectors.items():
                if digest not in self._recent:
                    self._recent[digest] = vector
                    self._cached_bytes += vector.nbytes
            while self._cached_bytes > MEMORY:
                _, oldest = self._recent.popitem(last=False)
                self._cached_bytes -= oldest.nbytes
        return vectors

    @cached_property
    def _vector_cache(self) -> VectorCache | None:
        return None if self._store is None else VectorCache(self._store, identity=self.identity)

    def _queue(self) -> _Queue:
        import asyncio

        with self._lock:
            return self._queues.setdefault(asyncio.get_running_loop(), _Queue(self._embed_batch))

    async def _embed_batch(self, texts: dict[str, str]) -> dict[str, Vector]:
        """Embed texts, shortest first: texts of one length share a batch without padding."""
        import asyncio

        in_order = dict(sorted(texts.items(), key=lambda item: (len(item[1]), item[0])))
        if not isinstance(self.embedder, AsyncEmbedder):
            return await asyncio.to_thread(self._locally, in_order)
        rows = await self.embedder.aembed(list(in_order.values()))
        return self._keep(_by_digest(rows, in_order))

    def _locally(self, texts: dict[str, str]) -> dict[str, Vector]:
        with self._working:
            known: dict[str, Vector] = {}
            if self._vector_cache is not None:
                # Reading the identity may load the model, so it is not read earlier.
                dimensions = getattr(self.embedder, "dimensions", None)
                for digest in texts:
                    vector = self._vector_cache.get(digest, dimensions=dimensions)
                    if vector is not None:
                        known[digest] = vector
            if left := {digest: text for digest, text in texts.items() if digest not in known}:
                fresh = self._embed_texts(left)
                if self._vector_cache is not None:
                    for digest, vector in fresh.items():
                        self._vector_cache.put(digest, vector)
                known |= fresh
            return self._keep(known)

    def _embed_texts(self, texts: dict[str, str]) -> dict[str, Vector]:
        if not isinstance(self.embedder, Embedder):
            raise errors.ConfigError(f"embedder {self.identity} is asynchronous; await vectors()")
        return _by_digest(self.embedder.embed(list(texts.values())), texts)


class _Queue:
    """The texts that rows of one event loop wait for."""

    def __init__(self, embed_batch: Callable[[dict[str, str]], Any]) -> None:
        self._embed_batch = embed_batch
        self._under_way: dict[str, asyncio.Future[Vector | Exception]] = {}
        self._fresh: dict[str, str] = {}
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, texts: dict[str, str]) -> dict[str, Vector]:
        """Return vectors by digest; raise the error of any of them."""
        import asyncio

        loop = asyncio.get_running_loop()
        futures: dict[str, asyncio.Future[Vector | Exception]] = {}
        for digest, text in texts.items():
            if digest not in self._under_way:
                self._under_way[digest] = loop.create_future()
                self._fresh[digest] = text
            futures[digest] = self._under_way[digest]
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        # A row that is cancelled leaves the vectors to the others that wait for them.
        await asyncio.wait(futures.values())
        vectors: dict[str, Vector] = {}
        for digest, future in futures.items():
            outcome = future.result()
            if isinstance(outcome, Exception):
                raise outcome
            vectors[digest] = outcome
        return vectors

    async def _work(self) -> None:
        import asyncio

        try:
            while self._fresh:
                await asyncio.sleep(0)  # lets other rows add to this batch
                batch = dict(list(self._fresh.items())[:BATCH])
                for digest in batch:
                    del self._fresh[digest]
                for digest, outcome in (await self._outcomes(batch)).items():
                    self._under_way.pop(digest).set_result(outcome)
        finally:
            # Futures are left only when the loop shuts down.
            for future in self._under_way.values():
                future.cancel()
            self._under_way.clear()
            self._fresh.clear()

    async def _outcomes(self, batch: dict[str, str]) -> dict[str, Vector | Exception]:
        try:
            return dict(await self._embed_batch(batch))
        except Exception as exc:  # noqa: BLE001 - raised again in the waiting rows
            if len(batch) == 1 or isinstance(exc, _SHARED_ERRORS):
                return dict.fromkeys(batch, exc)
        items = list(batch.items())
        half = len(items) // 2
        first = await self._outcomes(dict(items[:half]))
        return first | await self._outcomes(dict(items[half:]))


def _table(vectors: dict[str, Vector], digests: Sequence[str]) -> Vectors:
    """Return the vectors of texts as rows."""
    import numpy as np

    rows = [vectors[digest] for digest in digests]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the embedder returned vectors of several lengths")
    return cast("Vectors", np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32))


def _zeros(digests: Sequence[str], *, like: dict[str, Vector]) -> dict[str, Vector]:
    """Return zero vectors of the length of others; of length 1 if there are no others."""
    import numpy as np

    length = max(map(len, like.values()), default=1)
    return dict.fromkeys(digests, np.zeros(length, dtype=np.float32))


def _by_digest(rows: Any, texts: dict[str, str]) -> dict[str, Vector]:
    """Return the rows of an embedder by digest of their text, each a separate read-only array."""
    import numpy as np

    try:
        table = np.asarray(rows)
        if table.dtype != np.float32:
            table = table.astype(np.float64)
    except (TypeError, ValueError) as exc:
        raise ValueError("the embedder returned vectors of several lengths, or no numbers") from exc
    if table.ndim != 2 or len(table) != len(texts) or not table.shape[1]:
        shape, count = table.shape, len(texts)
        raise ValueError(f"the embedder returned vectors of shape {shape} for {count} texts")
    if not np.isfinite(table).all():
        raise ValueError("the embedder returned a vector with a number that is not finite")
    vectors = {}
    for digest, row in zip(texts, table, strict=True):
        vectors[digest] = row.copy()
        vectors[digest].setflags(write=False)
    return vectors
