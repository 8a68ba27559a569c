"""The recorded replies of a cassette: looked up on its tape and in its store."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from judgekit.cassette.mode import RecordMode
from judgekit.cassette.record import decode_reply, has_unkeyed
from judgekit.core.errors import CaseError, InvalidReply, JudgekitError, JudgeRefused
from judgekit.core.judge_wrapper import BaseJudge, JudgeWrapper
from judgekit.core.key_rules import PARAMETERS, KeyRule, all_keys, newest_key, older_forms
from judgekit.core.request import Fault, Reply, Request, Try

if TYPE_CHECKING:
    from judgekit.cassette.store import Store
    from judgekit.cassette.tape import Tape

MAX_OLDER = 100_000
"""Maximum number of older keys to keep, for `run.json`, and of records to search for them."""


class Hit(NamedTuple):
    """A recorded reply that a look-up returned."""

    reply: Reply
    key: str
    """The key under which it is recorded."""
    number: int = -1
    """Its number on the tape; -1 in the store."""
    rule: KeyRule | None = None
    """The rule by which the key is older than that of the request, if it is."""
    shared: bool = False
    """Whether the record may belong to another request with the same older key."""
    supersedes: bool = False
    """Whether an older form of the request is recorded, too."""


class Recordings:
    """The replies that a cassette can return. Looking up counts and changes nothing.

    Args:
        tape: the tape.
        store: the store, or a function that opens it.
        record: the record mode, which decides what counts as recorded.
        again: keys of requests that are asked again.
    """

    def __init__(
        self,
        *,
        tape: Tape | None,
        store: Store | Callable[[], Store] | None,
        record: RecordMode,
        again: frozenset[str],
    ) -> None:
        self._tape, self._store, self._record, self._again = tape, store, record, again
        self._opened: Store | None = None
        self.looks_in_store = False
        """Whether a replay of the tape also takes replies from the store, as a run that may call
        judges would; nothing is written."""
        self.added: set[str] = set()
        """Keys of the replies that the tape gets at the end."""

    @property
    def has_store(self) -> bool:
        """Whether there is a store, opened or not."""
        return self._store is not None

    @property
    def store(self) -> Store | None:
        """The store, opened on first use."""
        if self._opened is None and self._store is not None:
            self._opened = self._store() if callable(self._store) else self._store
        return self._opened

    def forget_store(self) -> None:
        """Use no store; opening one would create it."""
        self._store = None

    @property
    def notes(self) -> list[str]:
        """Messages about the store for users, for example that a damaged store was moved aside."""
        return [] if self._opened is None else self._opened.notes

    def find(self, request: Request) -> Hit | None:
        """Return the recorded reply under the newest form of a key; count nothing."""
        fresh = request.key in self.added
        if fresh or self._record is RecordMode.NONE:
            asked_again = False
        else:
            again = self._again
            asked_again = self._record is RecordMode.ALL or (
                bool(again) and any(key in again for key in all_keys(request))
            )
        if asked_again:
            return None
        hit = self._record_of(request.key, fresh=fresh)
        for form in () if fresh else older_forms(request):
            older = self._record_of(form.request.key)
            if older is not None and hit is not None:
                hit = hit._replace(supersedes=True)
                break
            if older is not None:
                hit = older._replace(rule=form.rule, shared=form.shared)
        if hit is None and not fresh and (key := self._other_params.get(request.key)):
            other = self._record_of(key)
            hit = other._replace(rule=PARAMETERS) if other is not None else None
        return hit

    @cached_property
    def _other_params(self) -> dict[str, str]:
        """Present key -> key on the tape, of records with parameters that are not keyed any more.

        Their values may be others than those of today. The tape is read once, at the first miss.
        """
        tape = self._tape
        if tape is None or len(tape) > MAX_OLDER:
            return {}
        found: dict[str, str] = {}
        for line in tape.lines():
            if has_unkeyed(line) and (record := tape.record(line[8:72])) is not None:
                key = newest_key(record.request)
                if key != record.key:
                    found.setdefault(key, record.key)
        return found

    def _record_of(self, key: str, *, fresh: bool = False) -> Hit | None:
        """Return the recorded reply of exactly this key."""
        tape = self._tape
        number, line = (-1, "") if tape is None or fresh else tape.look_up(key)
        if tape is not None and number >= 0:
            return Hit(decode_reply(line, key=key, where=tape.spot(number, key)), key, number)
        only_tape = tape is not None and self._record is RecordMode.NONE and not fresh
        if only_tape and not self.looks_in_store:
            return None
        store = self.store
        stored = store.get(key) if store is not None else None
        if stored is None or store is None:
            return None
        return Hit(decode_reply(stored, key=key, where=f"{store.folder}: record {key[:12]}"), key)

    def has(self, request: Request) -> bool:
        """Return whether a request has a recorded reply, by any form of its key; count nothing."""
        # A record with a shared key may be of another case; only a look-up with a judge tells.
        older = (form.request.key for form in older_forms(request) if not form.shared)
        if any(self._has(key) for key in (request.key, *older)):
            return True
        return request.key in self._other_params

    def _has(self, key: str) -> bool:
        if self._tape is not None and self._tape.find(key) >= 0:
            return True
        if self._tape is not None and self._record is RecordMode.NONE and not self.looks_in_store:
            return False
        return self.store is not None and self.store.get(key) is not None

    def close(self) -> None:
        """Close the store."""
        if self._opened is not None:
            self._opened.close()


async def confirmed(recorded: Reply, request: Request, judge: BaseJudge) -> bool:
    """Return whether a local judge gives the reply that is recorded under a shared key."""
    # Limits around the judge may wait, which a replay cannot; only a file is read here.
    while isinstance(judge, JudgeWrapper):
        judge = judge.judge
    try:
        reply = await judge.ask(request)
    except (CaseError, JudgeRefused, InvalidReply) as exc:
        reply = failed(exc)
    except JudgekitError:
        return False
    return recorded.tries == reply.tries


def failed(error: CaseError | JudgeRefused | InvalidReply) -> Reply:
    """Return the reply to record for an error that depends on the request; it is not billed."""
    return Reply(tries=(Try(fault=Fault.of(error)),), cost=0.0)
