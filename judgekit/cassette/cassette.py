"""The cassette: a judge around a judge that plays what is recorded and records what is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.cassette.beside import Beside
from judgekit.cassette.lazystore import lazy_store
from judgekit.cassette.ledger import Ledger
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.record import PART_NAMED, Record, decode, decode_reply, encode, play, share
from judgekit.cassette.tape import MAX_LINE, Tape, in_order, laid_out, merge_into, write_lines
from judgekit.core.errors import CaseError, CassetteMiss, ConfigError, InvalidReply, JudgeRefused
from judgekit.core.judge_wrapper import BaseJudge, JudgeWrapper, as_judge
from judgekit.core.output_file import is_link
from judgekit.core.protocols import Judge
from judgekit.core.replies.kept import kept_of
from judgekit.core.request import ChatMessage, Fault, Reply, Request, Try

if TYPE_CHECKING:
    import asyncio

    from judgekit.cassette.explain import Explainer
    from judgekit.cassette.store import Store

MISSES_KEPT = 1_000
"""Missed requests that are remembered for `cassette explain`."""
EXPLAINED = 2_000
"""Records a tape may have for every miss to be explained where it happens."""


class Cassette(JudgeWrapper):
    """Plays recorded replies; asks the judge behind it only as far as the record mode allows.

    Every live reply goes to the store the moment it arrives. With a tape, only the tape counts
    as recorded, so that what passes here passes in CI; what only the store holds is copied to
    the tape instead of being asked again.
    """

    def __init__(
        self,
        judge: Judge,
        *,
        tape: Path | None = None,
        store: Store | Callable[[], Store] | None = None,
        record: RecordMode | str = RecordMode.NONE,
        redact: Callable[[str], str] | None = None,
        again: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(judge)
        self.record = RecordMode.parse(record)
        self.path = tape
        self.tape = Tape(tape) if tape is not None else None
        self.ledger = Ledger()
        self.misses: list[Request] = []
        """The first requests that were missed, for explaining."""
        self._beside: list[Beside] = []
        self._redact = redact
        self._again = again
        self._store = store
        self._opened: Store | None = None
        self._used = bytearray((len(self.tape) + 7) // 8 if self.tape else 0)
        self._from_store: set[str] = set()
        self._added: set[str] = set()
        self._kept: set[str] = set()
        """Keys of live replies that are stored and not counted yet."""
        self._explainer: Explainer | None = None
        self._flights: dict[str, asyncio.Task[Reply]] = {}
        self._waiting: Counter[asyncio.Task[Reply]] = Counter()
        if self.record is not RecordMode.NONE and store is None:
            raise ConfigError("recording needs a store")
        if self.record is not RecordMode.NONE and tape is not None and is_link(tape):
            message = "is a link, which only replays; to record, name the file that it leads to"
            raise ConfigError(message, where=str(tape))
        self._lend(judge)

    @classmethod
    def open(
        cls,
        path: str | Path,
        judge: Judge,
        *,
        record: RecordMode | str = RecordMode.NONE,
        redact: Callable[[str], str] | None = None,
        store: str | Path | None = None,
    ) -> Cassette:
        """Open a tape in front of a judge; use it in a `with` statement, so that it is written.

        Args:
            path: the tape; it need not exist when recording.
            judge: who is asked when nothing is recorded and `record` allows it.
            record: `none`, `new_episodes` or `all`.
            redact: applied to every message before the key is made.
            store: folder of the private store. By default, `JUDGEKIT_HOME`, or `.judgekit` of the
                project around the tape, or beside the tape.

        Raises:
            ConfigError: no such record mode, or no such tape to replay.
            CassetteCorrupt: the tape is damaged.
        """
        tape = Path(path)
        if RecordMode.parse(record) is RecordMode.NONE and not tape.exists():
            raise ConfigError(f"{tape}: no such cassette; record it with record='new_episodes'")
        return cls(
            judge,
            tape=tape,
            store=lazy_store(tape.parent, folder=Path(store) if store is not None else None),
            record=record,
            redact=redact,
        )

    def __enter__(self) -> Cassette:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lend(self, judge: Judge) -> None:
        """Let a judge keep in the store what it learns of its server."""
        as_judge(judge).keep_in(lambda: self.store)

    @property
    def store(self) -> Store | None:
        """The store, opened when first needed."""
        if self._opened is None and self._store is not None:
            self._opened = self._store() if callable(self._store) else self._store
        return self._opened

    @property
    def synchronous(self) -> bool:
        """Whether this is a replay, which never waits."""
        return self.record is RecordMode.NONE

    @property
    def at_once(self) -> bool:
        """Deprecated name of `synchronous`."""
        import warnings

        message = "Cassette.at_once is now Cassette.synchronous"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.synchronous

    def beside(self, judge: Judge) -> Beside:
        """Return another judge behind this cassette: same tape, same store, same ledger."""
        self._lend(judge)
        self._beside.append(Beside(self, judge))
        return self._beside[-1]

    async def ask(self, request: Request, *, of: Judge | None = None) -> Reply:
        """Return the recorded reply, or a live one if the record mode allows it.

        Args:
            request: what to ask.
            of: who is asked, where that is not the judge behind this cassette.

        Raises:
            CassetteMiss: nothing is recorded and asking is not allowed.
            CassetteCorrupt: what is recorded was changed.
        """
        request = self.as_asked(request)
        flight = self._flights.get(request.key)
        if flight is None:
            reply = self._recorded(request)
            if reply is not None:
                return reply
            if self.record is RecordMode.NONE:
                raise self._miss(request)
            import asyncio

            flight = asyncio.create_task(self._live(request, as_judge(of or self.judge)))
            self._flights[request.key] = flight
            flight.add_done_callback(lambda done: self._landed(request.key, done))
        return await self._wait_for(flight)

    def as_asked(self, request: Request) -> Request:
        """Return a request as it is asked and recorded: redacted, if anything is to be."""
        return request if self._redact is None else _redacted(request, self._redact)

    async def _wait_for(self, flight: asyncio.Task[Reply]) -> Reply:
        """Wait for a reply that others may wait for too: only the last to give up cancels it."""
        import asyncio

        self._waiting[flight] += 1
        try:
            return await asyncio.shield(flight)
        finally:
            self._waiting[flight] -= 1
            if not self._waiting[flight]:
                del self._waiting[flight]
                if not flight.done():
                    flight.cancel()
                    await asyncio.wait([flight])

    def _landed(self, key: str, flight: asyncio.Task[Reply]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # whoever waits gets it; nobody waiting is no mistake

    def _recorded(self, request: Request) -> Reply | None:
        key = request.key
        fresh = key in self._added
        asks = self.record is not RecordMode.NONE
        if not fresh and asks and (self.record is RecordMode.ALL or key in self._again):
            return None
        tape = self.tape
        number, line = (-1, b"") if tape is None or fresh else tape.look_up(key)
        if tape is not None and number >= 0:
            reply = play(line, key=key) or decode_reply(
                tape.line(number), key=key, where=tape.spot(number, key)
            )
            self._used[number >> 3] |= 1 << (number & 7)
            self.ledger.add("tape", reply)
            self.ledger.answered(request, reply)
            return reply
        if tape is not None and self.record is RecordMode.NONE and not fresh:
            return None
        store = self.store
        kept = store.get(key) if store is not None else None
        if kept is None or store is None:
            return None
        reply = decode_reply(kept, key=key, where=f"{store.folder}: record {key[:12]}")
        self._from_store.add(key)
        if tape is not None:
            self._added.add(key)
        self.ledger.add("store", reply)
        self.ledger.answered(request, reply)
        return reply

    async def _live(self, request: Request, judge: BaseJudge) -> Reply:
        """Ask; the reply is stored before anything else is waited for."""
        try:
            reply = kept_of(await judge.ask(request), want=request.form.want)
        except (CaseError, JudgeRefused, InvalidReply) as exc:
            # It is about this request, so a replay says the same. An error is not billed.
            reply = Reply(tries=(Try(fault=Fault.of(exc)),), cost=0.0)
        try:
            await self._keep(request, reply)
            if (named := await judge.identified(reply)) != reply:
                reply = named
                await self._keep(request, reply)
        finally:
            if request.key in self._kept:
                self._kept.discard(request.key)
                self._count_live(request, reply)
        return reply

    async def _keep(self, request: Request, reply: Reply) -> None:
        """Store a reply; it is stored even when nobody waits for it any more."""
        import asyncio

        store = self.store
        assert store is not None  # noqa: S101 - the constructor saw to it
        line = encode(request, reply)
        if len(line) * 4 > MAX_LINE and len(line.encode()) > MAX_LINE:
            raise InvalidReply(f"the reply takes more than the {MAX_LINE:,} bytes of a record")
        loop = asyncio.get_running_loop()
        stored = loop.run_in_executor(None, store.put, request.key, line)
        try:
            await asyncio.shield(stored)
        except asyncio.CancelledError:
            await asyncio.wait([stored])
            if stored.exception() is None:
                self._kept.add(request.key)
            raise
        self._kept.add(request.key)

    def _count_live(self, request: Request, reply: Reply) -> None:
        self._added.add(request.key)
        self._from_store.add(request.key)
        self.ledger.add("live", reply)
        self.ledger.answered(request, reply)

    def _miss(self, request: Request) -> CassetteMiss:
        self.ledger.miss(request)
        if len(self.misses) < MISSES_KEPT:
            self.misses.append(request)
        if self.tape is None:
            message = "not recorded in the store"
        elif len(self.tape) == 0:
            message = "nothing is recorded yet"
        elif len(self.tape) > EXPLAINED:
            message = "not recorded; `judgekit cassette explain` says what differs"
        else:
            from judgekit.cassette.explain import Explainer

            if self._explainer is None:
                self._explainer = Explainer(self.tape.records())
            message = self._explainer.explain(request).line()
        return CassetteMiss(message, key=request.key)

    @property
    def not_from_tape(self) -> frozenset[str]:
        """Keys of the replies that were live or came from the store."""
        return frozenset(self._from_store)

    @property
    def notes(self) -> list[str]:
        """What a person should know of the store, such as that a damaged one was moved aside."""
        return [] if self._opened is None else self._opened.notes

    def take_over(self, key: str) -> None:
        """Count a record as used that an earlier run used for a result taken over from it."""
        number = self.tape.find(key) if self.tape is not None else -1
        if number >= 0:
            self._used[number >> 3] |= 1 << (number & 7)
        elif self.store is not None and self.store.get(key) is not None:
            self._from_store.add(key)

    # -- what was used --------------------------------------------------------

    def used(self, number: int) -> bool:
        """Return whether a record of the tape was played."""
        return bool(self._used[number >> 3] & (1 << (number & 7)))

    @property
    def added(self) -> int:
        """How many replies are new on the tape; all of them are there once it is closed."""
        return len(self._added)

    @property
    def unused(self) -> int:
        """How many records of the tape were not played."""
        return len(self.tape) - sum(byte.bit_count() for byte in self._used) if self.tape else 0

    def unused_keys(self) -> Iterator[str]:
        """Yield the keys of the records that were not played."""
        if self.tape is not None:
            for number in range(len(self.tape)):
                if not self.used(number):
                    yield self.tape.line(number)[8:72]

    def write_used(self, path: Path) -> None:
        """Write a tape of exactly the records that were used."""
        parts: dict[str, str] = {}
        stored: list[str] = []
        for key in sorted(self._from_store):
            line, named = share(self._stored(key))
            parts.update(named)
            stored.append(line)
        for line in self._played():
            for found in PART_NAMED.findall(line.encode()):
                name = found.decode()
                if name not in parts and self.tape is not None:
                    parts[name] = self.tape.part_line(name)
        write_lines(path, laid_out(parts, in_order(self._played(), stored)))

    def _played(self) -> Iterator[str]:
        """Yield the lines of the tape that were played; read twice rather than held in memory."""
        if self.tape is not None:
            for number in range(len(self.tape)):
                if self.used(number):
                    yield self.tape.line(number)

    def _stored(self, key: str) -> Record:
        store = self.store
        line = store.get(key) if store is not None else None
        if line is None or store is None:
            raise CassetteMiss("the store lost a reply during the run", key=key)
        return decode(line, parts={}, where=f"{store.folder}: record {key[:12]}")

    def flush(self) -> None:
        """Write what was recorded to the tape."""
        if self.path is not None and self._added:
            merge_into(self.path, self._added, self._stored)

    def close(self) -> None:
        """Write what was recorded to the tape; close it, the store and the judges behind."""
        # First, because Windows renames nothing over a file that is open.
        if self.tape is not None:
            self.tape.close()
        try:
            self.flush()
            super().close()
            for judge in self._beside:
                judge.close()
        finally:
            if self._opened is not None:
                self._opened.close()


def _redacted(request: Request, redact: Callable[[str], str]) -> Request:
    messages = tuple(
        ChatMessage(role=message.role, content=redact(message.content))
        for message in request.messages
    )
    return request.model_copy(update={"messages": messages})
