"""An embedder as metrics use it: each text once, the texts of several rows in one batch."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from judgekit.core.errors import (
    BudgetExceeded,
    CassetteCorrupt,
    ConfigError,
    JudgeAway,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.protocols import AsyncEmbedder, Embedder
from judgekit.embedders.cache import TextStore, VectorCache, text_digest

if TYPE_CHECKING:
    import asyncio

    import numpy as np
    from numpy.typing import NDArray

    from judgekit.embedders.cache import Vector

    Vectors = NDArray[np.float32] | NDArray[np.float64]
else:
    Vectors = Any  # importing numpy takes longer than scoring a dozen cases

BATCH = 256
"""Texts handed to an embedder at once, at most."""
MEMORY = 32 << 20
"""Bytes of vectors kept at hand, so that what every case is compared with is embedded once."""
_OF_ALL = (
    BudgetExceeded, CassetteCorrupt, ConfigError, JudgeAway, JudgeRejected, JudgeUnavailable,
)  # fmt: skip
"""Errors that are no single text's fault."""


class SharedEmbedder:
    """Stands between the rows of a run and one embedder.

    - Identical texts are embedded once: while they are under way, and as long as they are among
      the last 32 MB of vectors. With a `store`, a local model's vectors are kept between runs,
      by (identity, digest of the text).
    - What several rows ask for at the same time goes to the embedder together, up to 256 texts,
      the shortest first. A local embedder (`embed`) works on a thread, one batch at a time; a
      hosted one (`aembed`) is awaited, and bounds and records its calls itself. One that says
      `at_once` is done on the spot, with no event loop, and is never stored.
    - A batch that fails is halved until the text at fault stands alone, so that a bad text costs
      its own rows. Outages, limits and wrong settings are nobody's own: all who wait get them.
    """

    def __init__(
        self,
        embedder: Embedder | AsyncEmbedder,
        *,
        store: Callable[[], TextStore] | None = None,
    ) -> None:
        self.embedder = embedder
        self.at_once = bool(getattr(embedder, "at_once", False))
        self.semantic = bool(getattr(embedder, "semantic", True))
        self._store = store
        self._cache: VectorCache | None = None
        self._near: OrderedDict[str, Vector] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._queues: WeakKeyDictionary[Any, _Queue] = WeakKeyDictionary()

    @property
    def identity(self) -> str:
        """Name and version of the embedder; a model's holds the digest of its files."""
        return self.embedder.identity

    def __repr__(self) -> str:
        return f"SharedEmbedder({self.identity})"

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return what `vectors` does without waiting, for synchronous code; nothing is shared.

        Raises:
            ValueError: the embedder gave something else than a row of numbers per text.
            ConfigError: the embedder is asked over a network; await `vectors`.
        """
        digests, found, missing = self._known(texts)
        if missing:
            found |= self._on_the_spot(missing) if self.at_once else self._locally(missing)
        return cast("Sequence[Sequence[float]]", _table(found, digests))

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return a row of finite numbers for every text, in order.

        Raises:
            ValueError: the embedder gave something else.
            JudgekitError: what the embedder raises.
        """
        digests, found, missing = self._known(texts)
        if missing and self.at_once:
            found |= self._on_the_spot(missing)
        elif missing:
            found |= await self._queue().ask(missing)
        return _table(found, digests)

    def _known(self, texts: Sequence[str]) -> tuple[list[str], dict[str, Vector], dict[str, str]]:
        """Return the digests of texts, the vectors at hand, and the texts there are none for."""
        digests = [text_digest(text) for text in texts]
        found: dict[str, Vector] = {}
        missing: dict[str, str] = {}
        with self._lock:
            for digest, text in zip(digests, texts, strict=True):
                vector = self._near.get(digest)
                if vector is None:
                    missing[digest] = text
                else:
                    self._near.move_to_end(digest)
                    found[digest] = vector
        return digests, found, missing

    # -- what is kept ---------------------------------------------------------------

    def _keep(self, made: dict[str, Vector]) -> None:
        with self._lock:
            for digest, vector in made.items():
                if digest not in self._near:
                    self._near[digest] = vector
                    self._held += vector.nbytes
            while self._held > MEMORY:
                _, oldest = self._near.popitem(last=False)
                self._held -= oldest.nbytes

    def _kept(self) -> VectorCache | None:
        if self._cache is None and self._store is not None:
            self._cache = VectorCache(self._store, identity=self.identity)
        return self._cache

    # -- what is made ---------------------------------------------------------------

    def _on_the_spot(self, wanted: dict[str, str]) -> dict[str, Vector]:
        made = self._embedded(wanted)
        self._keep(made)
        return made

    def _embedded(self, wanted: dict[str, str]) -> dict[str, Vector]:
        embed = getattr(self.embedder, "embed", None)
        if embed is None:
            raise ConfigError(f"embedder {self.identity} has to be awaited; use vectors()")
        rows = _checked(embed(list(wanted.values())), len(wanted))
        return dict(zip(wanted, rows, strict=True))

    def _queue(self) -> _Queue:
        import asyncio

        loop = asyncio.get_running_loop()
        with self._lock:
            queue = self._queues.get(loop)
            if queue is None:
                queue = self._queues[loop] = _Queue(self._made)
        return queue

    async def _made(self, wanted: dict[str, str]) -> dict[str, Vector]:
        """Embed texts, shortest first: texts of one length share a batch without padding."""
        import asyncio

        in_order = dict(sorted(wanted.items(), key=lambda item: (len(item[1]), item[0])))
        aembed = getattr(self.embedder, "aembed", None)
        if aembed is None:
            return await asyncio.to_thread(self._locally, in_order)
        rows = _checked(await aembed(list(in_order.values())), len(in_order))
        made = dict(zip(in_order, rows, strict=True))
        self._keep(made)
        return made

    def _locally(self, wanted: dict[str, str]) -> dict[str, Vector]:
        with self._working:
            cache = self._kept()
            known: dict[str, Vector] = {}
            if cache is not None:
                dimensions = getattr(self.embedder, "dimensions", None)
                for digest in wanted:
                    vector = cache.get(digest, dimensions=dimensions)
                    if vector is not None:
                        known[digest] = vector
            left = {digest: text for digest, text in wanted.items() if digest not in known}
            if left:
                made = self._embedded(left)
                if cache is not None:
                    for digest, vector in made.items():
                        cache.put(digest, vector)
                known |= made
            self._keep(known)
            return known


class _Queue:
    """What the rows of one event loop wait for."""

    def __init__(self, made: Callable[[dict[str, str]], Any]) -> None:
        self._made = made
        self._under_way: dict[str, asyncio.Future[Vector | Exception]] = {}
        self._fresh: dict[str, str] = {}
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, wanted: dict[str, str]) -> dict[str, Vector]:
        """Return vectors by digest; raise what went wrong with any of them."""
        import asyncio

        loop = asyncio.get_running_loop()
        futures: dict[str, asyncio.Future[Vector | Exception]] = {}
        for digest, text in wanted.items():
            if digest not in self._under_way:
                self._under_way[digest] = loop.create_future()
                self._fresh[digest] = text
            futures[digest] = self._under_way[digest]
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        # A row that is cancelled leaves the vectors to the others that wait for them.
        await asyncio.wait(futures.values())
        found: dict[str, Vector] = {}
        for digest, future in futures.items():
            outcome = future.result()
            if isinstance(outcome, Exception):
                raise outcome
            found[digest] = outcome
        return found

    async def _work(self) -> None:
        import asyncio

        try:
            while self._fresh:
                await asyncio.sleep(0)  # rows that are about to ask come into this batch
                batch = dict(list(self._fresh.items())[:BATCH])
                for digest in batch:
                    del self._fresh[digest]
                for digest, outcome in (await self._outcomes(batch)).items():
                    self._under_way.pop(digest).set_result(outcome)
        finally:
            # Nothing is left unless the loop is being shut down.
            for future in self._under_way.values():
                future.cancel()
            self._under_way.clear()
            self._fresh.clear()

    async def _outcomes(self, batch: dict[str, str]) -> dict[str, Vector | Exception]:
        try:
            return dict(await self._made(batch))
        except Exception as exc:  # noqa: BLE001 - raised again, in the rows that asked
            if len(batch) == 1 or isinstance(exc, _OF_ALL):
                return dict.fromkeys(batch, exc)
        items = list(batch.items())
        half = len(items) // 2
        first = await self._outcomes(dict(items[:half]))
        return first | await self._outcomes(dict(items[half:]))


def _table(found: dict[str, Vector], digests: Sequence[str]) -> Vectors:
    """Return the vectors of texts as rows."""
    import numpy as np

    rows = [found[digest] for digest in digests]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the embedder gave vectors of several lengths")
    return cast("Vectors", np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32))


def _checked(rows: Any, count: int) -> list[Vector]:
    """Return the rows an embedder gave, each an array of its own that nobody changes."""
    import numpy as np

    try:
        table = np.asarray(rows)
        if table.dtype != np.float32:
            table = table.astype(np.float64)
    except (TypeError, ValueError) as exc:
        raise ValueError("the embedder gave vectors of several lengths, or no numbers") from exc
    if table.ndim != 2 or len(table) != count or not table.shape[1]:
        raise ValueError(f"the embedder gave vectors of shape {table.shape} for {count} texts")
    if not np.isfinite(table).all():
        raise ValueError("the embedder gave a vector with a number that is not finite")
    vectors = []
    for row in table:
        own = row.copy()
        own.setflags(write=False)
        vectors.append(own)
    return vectors
