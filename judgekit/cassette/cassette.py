"""The cassette: a judge wrapper that replays recorded replies and records live ones."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.cassette.ledger import Ledger
from judgekit.cassette.mode import RecordChoice, RecordMode
from judgekit.cassette.record import PART_NAMED, encode, share_line
from judgekit.cassette.recordings import MAX_OLDER, Hit, Recordings, confirmed, failed
from judgekit.cassette.tape import MAX_LINE, Tape, in_order, laid_out, merge_into, write_lines
from judgekit.core.arguments import checked
from judgekit.core.errors import (
    CaseError,
    CassetteError,
    CassetteMiss,
    ConfigError,
    InvalidReply,
    JudgeRefused,
)
from judgekit.core.generation import newest
from judgekit.core.judge_wrapper import BaseJudge, JudgeWrapper, as_judge
from judgekit.core.miss import NOT_OLDER, Miss, RequestMiss
from judgekit.core.output_file import check_room, is_link, nameless_file
from judgekit.core.protocols import Judge, JudgeLike
from judgekit.core.replies.text import kept_of
from judgekit.core.request import Reply, Request

if TYPE_CHECKING:
    from judgekit.cassette.explain import Explainer
    from judgekit.cassette.new_replies import NewLines, StoreWriter
    from judgekit.cassette.store import Store
    from judgekit.core.shared import SharedCall


MAX_MISSES = 1_000
"""Maximum number of missed requests to keep for `cassette explain`."""
EXPLAINED = 2_000
"""Maximum number of records on a tape for which the message of a miss explains it."""


_REPLAYED, _OLDER = 1, 2


class Cassette(JudgeWrapper):
    """Replays recorded replies, and calls the judge only if the record mode allows it.

    Every live reply is stored immediately. With a tape, only the tape counts as recorded, so a run
    that passes locally also passes in CI. A reply that is only in the store is copied to the tape
    instead of requested again.
    """

    @checked
    def __init__(
        self,
        judge: JudgeLike,
        *,
        tape: Path | None = None,
        store: Store | Callable[[], Store] | None = None,
        record: RecordMode | str = RecordMode.NONE,
        redact: Callable[[str], str] | None = None,
        again: frozenset[str] = frozenset(),
        keeps_tape: bool = False,
        generation: int | None = None,
    ) -> None:
        super().__init__(judge)
        self.record = RecordMode.parse(record)
        self.keeps_tape = keeps_tape
        """Whether `flush` does not change the tape: another process adds the records, or none."""
        self.path = tape
        self.tape = Tape(tape) if tape is not None else None
        self._generation = generation
        """The generation of a tape in a run folder, if there is no tape to replay."""
        self.ledger = Ledger()
        self.misses: list[Miss] = []
        """The first misses."""
        self._explainer: Explainer | None = None
        self._others: list[CassetteJudge] = []
        self._redact = redact
        self.recordings = Recordings(tape=self.tape, store=store, record=self.record, again=again)
        self._used = bytearray(len(self.tape) if self.tape else 0)
        """For each record of the tape: 0, or `_REPLAYED`, or `_OLDER` if only by an older key."""
        self._renewed: set[str] = set()
        """Keys of records that the tape has under an older form; the run folder gets new ones."""
        self.older_keys: dict[str, str] = {}
        """Key -> the older key of its record, for the first `MAX_OLDER` of them."""
        self._superseded: set[int] = set()
        self._from_store: set[str] = set()
        self._added = self.recordings.added
        self._can_store = False
        """Whether the store was checked before the first call."""
        self._checked: SharedCall[None] | None = None
        self._new_lines: NewLines | None = None
        self._stored_keys: set[str] = set()
        """Keys of live replies that are stored but not counted yet."""
        self._calls: dict[str, SharedCall[Reply]] = {}
        """The live calls, by key; equal requests share one."""
        if self.record is not RecordMode.NONE:
            self._prepare_to_record()
        self._share_store(self)

    def _share_store(self, judge: BaseJudge) -> None:
        """Let a judge keep what it learns about its server in the store."""
        if (knowledge := judge.knowledge) is not None:
            knowledge.keep_in(lambda: self.store)

    def _prepare_to_record(self) -> None:
        if not self.recordings.has_store:
            raise ConfigError("recording needs a store")
        if self.path is None:
            return
        if is_link(self.path):
            message = "is a link, which can only be replayed; to record, name its target"
            raise ConfigError(message, where=str(self.path))
        from judgekit.cassette.new_replies import NewLines  # a replay does not need it

        self._new_lines = NewLines(self.path.parent)

    @classmethod
    @checked
    def open(
        cls,
        path: str | Path,
        judge: JudgeLike,
        *,
        record: RecordChoice = RecordMode.NONE,
        redact: Callable[[str], str] | None = None,
        store: str | Path | None = None,
    ) -> Cassette:
        """Open a tape for a judge; use it in a `with` statement, which writes the tape.

        Args:
            path: the tape; it does not have to exist when recording.
            judge: the judge to call if a request has no recording and `record` allows it.
            record: `none`, `new_episodes` or `all`.
            redact: applied to every message before the key is computed.
            store: folder of the private store. By default, `JUDGEKIT_HOME`, or else `.judgekit` in
                the tape's project, or else next to the tape.

        Raises:
            ConfigError: the record mode is unknown, or the tape to replay does not exist.
            CassetteCorrupt: the tape is damaged.
        """
        tape = Path(path)
        if RecordMode.parse(record) is RecordMode.NONE and not tape.exists():
            raise ConfigError(f"{tape}: no such cassette; record it with record='new_episodes'")
        return cls(
            judge,
            tape=tape,
            store=store_opener(tape.parent, folder=Path(store) if store is not None else None),
            record=record,
            redact=redact,
        )

    def __enter__(self) -> Cassette:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def generation(self) -> int:
        """The generation of the built-in rubrics under which the tape was begun."""
        return (self._generation or newest()) if self.tape is None else self.tape.generation

    @property
    def store(self) -> Store | None:
        """The store, opened on first use."""
        return self.recordings.store

    @property
    def notes(self) -> list[str]:
        """Messages about the store for users, for example that a damaged store was moved aside."""
        return self.recordings.notes

    @property
    def synchronous(self) -> bool:
        """Whether this is a replay, which never waits."""
        return self.record is RecordMode.NONE

    def for_judge(self, judge: JudgeLike) -> CassetteJudge:
        """Return a wrapper of another judge with the same tape, store and ledger."""
        other = CassetteJudge(self, judge)
        self._share_store(other)
        self._others.append(other)
        return other

    async def ask(self, request: Request, *, of: Judge | None = None) -> Reply:
        """Return the recorded reply, or a live one if the record mode allows it.

        Args:
            request: the request.
            of: the judge to ask; the judge of this cassette by default.

        Raises:
            CassetteMiss: there is no recording, and the record mode does not allow calls.
            CassetteCorrupt: the recording was changed.
        """
        request = self.as_asked(request)
        key = request.key
        call = self._calls.get(key)
        if call is None or not call.running:
            judge = as_judge(of or self.judge)
            hit = self._recorded_reply(request)
            if hit is not None and (not hit.shared or await confirmed(hit.reply, request, judge)):
                return self._taken(request, hit)
            if self.record is RecordMode.NONE:
                self.ledger.miss(request)
                miss = self._missed(request, refused=hit is not None)
                if len(self.misses) < MAX_MISSES:
                    self.misses.append(miss)
                raise RequestMiss(miss)
            from judgekit.core.shared import SharedCall

            call = SharedCall(partial(self._live, request, judge))
            self._calls[key] = call
        try:
            return await call()
        finally:
            if self._calls.get(key) is call and not call.running:
                del self._calls[key]

    def as_asked(self, request: Request) -> Request:
        """Return a request in its recorded form: redacted, if redaction is on."""
        return request if self._redact is None else request.redacted(self._redact)

    def _recorded_reply(self, request: Request) -> Hit | None:
        """Return the recorded reply of a request; note if it has an older one, too."""
        hit = self.recordings.find(request)
        if hit is not None and hit.supersedes:
            self._supersede(request)
        return hit

    def _is_recorded(self, request: Request) -> bool:
        return self.recordings.has(self.as_asked(request))

    def _taken(self, request: Request, hit: Hit) -> Reply:
        """Count a recorded reply, and keep it under the present key if it has an older one."""
        key, reply = request.key, hit.reply
        if hit.rule is not None:
            self.ledger.older[hit.rule.name] += 1
            if len(self.older_keys) < MAX_OLDER:
                self.older_keys[key] = hit.key
        if hit.number >= 0:
            if hit.rule is None:
                self._used[hit.number] = _REPLAYED
            else:
                self._used[hit.number] = self._used[hit.number] or _OLDER
                self._renew(request, reply)
            self.ledger.add("tape", request, reply)
            return reply
        if self.record is RecordMode.NONE and self.tape is not None and key not in self._added:
            self.ledger.replayed(request, reply)  # `looks_in_store`
            return reply
        if hit.rule is not None and (store := self.store) is not None:
            line, shared, parts = encode(request, reply)
            store.put(key, line)
            if self._new_lines is not None:
                self._new_lines.put(key, shared, parts)
        self._from_store.add(key)
        if self.tape is not None:
            self._added.add(key)
        self.ledger.add("store", request, reply)
        return reply

    def _renew(self, request: Request, reply: Reply) -> None:
        """Keep a record of the tape under the present key, for the tape of the run folder."""
        if request.key not in self._renewed:
            self._keep_line(request.key, *encode(request, reply)[1:])

    def _keep_line(self, key: str, line: str, parts: Mapping[str, str]) -> None:
        if self._new_lines is None:
            from judgekit.cassette.new_replies import NewLines

            # Not in the folder of the tape: a replay must not need to write there.
            self._new_lines = NewLines(Path(tempfile.gettempdir()))
        self._new_lines.put(key, line, parts)
        self._renewed.add(key)

    def _supersede(self, request: Request) -> None:
        number = int(request.key[:16], 16)
        if number not in self._superseded:
            self._superseded.add(number)
            self.ledger.superseded += 1

    def _missed(self, request: Request, *, refused: bool) -> Miss:
        from judgekit.cassette.explain import NOTHING, OF_ANOTHER, Explainer

        if self.tape is None:
            differs = "not recorded in the store"
        elif len(self.tape) == 0:
            differs = NOTHING
        elif len(self.tape) > EXPLAINED:
            differs = "not recorded (`judgekit cassette explain` shows what differs)"
        else:
            if self._explainer is None:
                self._explainer = Explainer(self.tape.records())
            differs = self._explainer.explain(request).line()
        # Without a tape to search, only an older version that hits is worth a word.
        older = OF_ANOTHER if refused else NOT_OLDER if self.tape else ""
        return Miss(request=request, differs=differs, recorded=self._is_recorded, older=older)

    async def _live(self, request: Request, judge: BaseJudge) -> Reply:
        """Ask a judge and store the reply before any other await."""
        # A cancelled waiter may have stored it.
        if request.key in self._added and (stored := self._recorded_reply(request)) is not None:
            return self._taken(request, stored)
        from judgekit.core.in_flight import land

        await self._ready_to_store()
        landed = await land(judge.ask(request))
        cancelled = landed.cancelled
        try:
            reply = kept_of(landed.task.result(), want=request.form.want)
        except (CaseError, JudgeRefused, InvalidReply) as exc:
            reply = failed(exc)  # a replay repeats it
        except BaseException:
            if cancelled is not None:
                raise cancelled from None
            raise
        reply, lines = _encoded(request, reply)
        try:
            await self._save(request, lines)
            if cancelled is not None:
                raise cancelled
            if (knowledge := judge.knowledge) is not None:
                # After the reply is stored, because this may ask the server.
                identified = await knowledge.identified(reply)
                if identified is not reply:
                    reply, lines = _encoded(request, identified)
                    await self._save(request, lines)
        finally:
            if request.key in self._stored_keys:
                self._stored_keys.discard(request.key)
                self._count_live(request, reply)
        return reply

    def _store_writer(self) -> StoreWriter:
        from judgekit.cassette.new_replies import store_writer

        store = self.store
        assert store is not None  # noqa: S101 - the constructor checks it
        return store_writer(store)

    async def _ready_to_store(self) -> None:
        """Check, before the first call, that its reply can be stored."""
        if self._can_store:
            return
        if self._checked is None:
            from judgekit.core.shared import SharedCall

            # Shared, so that requests that are made together also reach the judge together.
            self._checked = SharedCall(self._check_storing)
        await self._checked()

    async def _check_storing(self) -> None:
        await self._store_writer().check()
        if self.path is not None:
            try:
                check_room(self.path.parent)
            except OSError as exc:
                message = f"cannot be written: {exc.strerror}; make room"
                raise CassetteError(f"{self.path}: {message}") from exc
        self._can_store = True

    async def _save(self, request: Request, lines: _Lines) -> None:
        """Store a reply, even if the caller is cancelled in the meantime."""
        import asyncio

        line, shared, parts = lines
        if len(line) * 4 > MAX_LINE and len(line.encode()) > MAX_LINE:
            raise InvalidReply(f"the reply needs more than the {MAX_LINE:,} bytes of a record")
        writer = self._store_writer()
        try:
            await writer.put(request.key, line)
        except asyncio.CancelledError:
            # The first write continues; a second one of the same text ends after it.
            stored = writer.put(request.key, line)
            await asyncio.wait([stored])
            if stored.exception() is None:
                self._keep(request.key, shared, parts)
            raise
        except CassetteError:
            if self._new_lines is not None:
                # Paid for, and the tape may be on another disk than the store.
                self._new_lines.put(request.key, shared, parts)
                self._added.add(request.key)
            raise
        self._keep(request.key, shared, parts)

    def _keep(self, key: str, line: str, parts: Mapping[str, str]) -> None:
        self._stored_keys.add(key)
        if self._new_lines is not None:
            self._new_lines.put(key, line, parts)

    def _count_live(self, request: Request, reply: Reply) -> None:
        self._added.add(request.key)
        self._from_store.add(request.key)
        self.ledger.add("live", request, reply)

    @property
    def not_from_tape(self) -> frozenset[str]:
        """Keys of replies that were live or from the store."""
        return frozenset(self._from_store)

    def take_over(self, key: str, *, earlier: Tape | None = None, older: str = "") -> None:
        """Mark the record of a result of an earlier run as used.

        Args:
            key: the key in the result.
            earlier: the tape of the earlier run, which may have the record if this tape has it
                under an older key.
            older: the older key.
        """
        number = self.tape.find(key) if self.tape is not None else -1
        if number >= 0:
            self._used[number] = _REPLAYED
            return
        if self.store is not None and self.store.get(key) is not None:
            self._from_store.add(key)
            return
        if earlier is not None and (record := earlier.record(key)) is not None:
            self._renew(record.request, record.reply)
        number = self.tape.find(older) if self.tape is not None and older else -1
        if number >= 0:
            self._used[number] = self._used[number] or _OLDER
            self.older_keys[key] = older

    def used(self, number: int) -> bool:
        """Return whether a record of the tape was replayed."""
        return bool(self._used[number])

    @property
    def added(self) -> int:
        """Number of new replies; `close` writes them to the tape."""
        return len(self._added)

    @property
    def unused(self) -> int:
        """Number of records of the tape that were not replayed."""
        return self._used.count(0)

    def unused_keys(self) -> Iterator[str]:
        """Yield the keys of records that were not replayed."""
        return (line[8:72] for line in self._lines(0))

    def write_used(self, path: Path) -> None:
        """Write a tape with only the used records.

        Raises:
            CassetteError: the file cannot be written.
        """
        parts: dict[str, str] = {}
        try:
            new = self._from_store | self._renewed
            with nameless_file(path.parent) if new else StringIO() as stored:
                for key in sorted(new):
                    line, named = self._stored(key)
                    parts.update(named)
                    stored.write(f"{line}\n")
                stored.seek(0)
                for line in self._lines(_REPLAYED):  # read twice to save memory
                    for encoded in PART_NAMED.findall(line.encode()):
                        name = encoded.decode()
                        if name not in parts and self.tape is not None:
                            parts[name] = self.tape.part_line(name)
                lines = (line[:-1] for line in stored)
                ordered = in_order(self._lines(_REPLAYED), lines)
                generation = self.generation
                write_lines(path, laid_out(parts, ordered, generation=generation))
        except OSError as exc:
            raise CassetteError(f"{path}: cannot be written: {exc.strerror}") from exc

    def _lines(self, use: int) -> Iterator[str]:
        """Yield the lines of the tape with this mark in `_used`."""
        if self.tape is not None:
            for number, mark in enumerate(self._used):
                if mark == use:
                    yield self.tape.line(number)

    def _stored(self, key: str) -> tuple[str, Mapping[str, str]]:
        if self._new_lines is not None and (new := self._new_lines.get(key)) is not None:
            return new
        store = self.store
        line = store.get(key) if store is not None else None
        if line is None or store is None:
            raise CassetteMiss("the store lost a reply during the run", key=key)
        return share_line(line, key=key, where=f"{store.folder}: record {key[:12]}")

    def flush(self) -> None:
        """Write new recordings to the tape."""
        if self.path is not None and self._added and not self.keeps_tape:
            merge_into(self.path, self._added, self._stored)

    def close(self) -> None:
        """Write new recordings to the tape; close it, the store and the judges."""
        # Closed first, because Windows cannot replace an open file.
        if self.tape is not None:
            self.tape.close()
        try:
            self.flush()
            super().close()
            for judge in self._others:
                judge.close()
        finally:
            if self._new_lines is not None:
                self._new_lines.close()
            if self._can_store and (store := self.recordings.store) is not None:
                from judgekit.cassette.new_replies import close_writers

                close_writers(store)
            self.recordings.close()


class CassetteJudge(JudgeWrapper):
    """Another judge that uses a cassette."""

    def __init__(self, cassette: Cassette, judge: JudgeLike) -> None:
        self.cassette = cassette
        super().__init__(judge)

    @property
    def synchronous(self) -> bool:
        """Whether this is a replay, which never waits."""
        return self.cassette.synchronous

    async def ask(self, request: Request) -> Reply:
        """Return the recorded reply, or a live one of this judge."""
        return await self.cassette.ask(request, of=self.judge)


_Lines = tuple[str, str, dict[str, str]]
"""The lines of a record; see `encode`."""


def _encoded(request: Request, reply: Reply) -> tuple[Reply, _Lines]:
    """Return a reply and the lines of its record.

    A judge of a user may return values that no file can hold: they are sanitised, because the reply
    may have been paid for.
    """
    try:
        return reply, encode(request, reply)
    except (TypeError, ValueError):
        from judgekit.core.sanitiser import Sanitiser

        reply = Sanitiser().reply(reply)
        return reply, encode(request, reply)


def store_opener(near: Path | None, *, folder: Path | None = None) -> Callable[[], Store]:
    """Return a function that opens a store.

    Args:
        near: the folder where the search for the project's store starts.
        folder: the folder of the store, if it is known.
    """

    def open_store() -> Store:
        from judgekit.cassette.store import Store, store_folder

        return Store(folder if folder is not None else store_folder(near))

    return open_store
