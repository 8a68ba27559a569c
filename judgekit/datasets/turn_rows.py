"""Rows with one turn of a session each: `{"session_id", "turn_index", "role", "text"}`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.core.suggest import suggest
from judgekit.datasets.case_fields import CaseFields
from judgekit.datasets.chat_rows import put_chat
from judgekit.datasets.field_path import FieldPath, PathMissing
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.ids import IdSet
from judgekit.datasets.message_reader import ROLES

NEEDED = ("session_id", "role", "text")
TURN = (*NEEDED, "turn_index")
"""The keys of a turn; all turns of a session may omit the index."""
SESSION_KEYS = ("tags", "persona_id", "model", "labels", "metadata")
"""Optional keys of a turn; they go to the case of its session."""
MAX_TURNS = 100_000
"""Limit of one session, because it is kept in memory."""

Placed = Iterator[tuple[str | int, Any]]


class SessionTurn(NamedTuple):
    """One turn of a session."""

    session: str
    number: int | None
    role: str
    text: str
    tags: tuple[str, ...]
    extra: dict[str, Any]
    where: str


class TurnBuilder:
    """Turns rows into turns of sessions.

    >>> row = {"session_id": "s1", "turn_index": 1, "role": "user", "text": "Hi"}
    >>> TurnBuilder(fields=None).build(row, where="row 1").text
    'Hi'
    """

    plain = False

    def __init__(self, *, fields: Mapping[str, str] | None, cells: Container[str] = ()) -> None:
        self._cells = bool(cells)
        self._paths = {}
        for name, place in (fields or {}).items():
            if name not in TURN and not name.startswith("metadata."):
                known = f"; the fields are {', '.join(TURN)}, and names like metadata.topic"
                hint = suggest(name, TURN, otherwise=known)
                raise ConfigError(f"fields: {quoted(name)} is not a field of a turn{hint}")
            self._paths[name] = FieldPath.parse(place)

    def build(self, row: Any, *, where: str) -> SessionTurn:
        """Return the turn in a row.

        Raises:
            DatasetError: the row is not an object, or something in it is wrong.
        """
        if not isinstance(row, dict):
            message = f"expected an object with {', '.join(TURN)}, found {kind(row)}"
            raise DatasetError(f"{message}; write one turn per line", where=where)
        if "session_id" not in row and "session_id" not in self._paths:
            raise DatasetError(self._lacks("session_id", row), where=where, field="session_id")
        values, extra = self._values(row, where)
        for name in NEEDED:
            if values.get(name) is None:
                raise DatasetError(self._lacks(name, row), where=where, field=name)
        role, text = values["role"], values["text"]
        if not isinstance(role, str) or role not in ROLES:
            shown = quoted(role) if isinstance(role, str) else kind(role)
            message = f"expected one of {', '.join(ROLES)}, found {shown}; correct the role"
            raise DatasetError(message, where=where, field="role")
        if not isinstance(text, str):
            message = f"expected text, found {kind(text)}; write the message as text"
            raise DatasetError(message, where=where, field="text")
        return SessionTurn(
            session=_session(values["session_id"], where),
            number=_index(values.get("turn_index"), where, cells=self._cells),
            role=role,
            text=text,
            tags=_tags(extra.pop("tags", None), where),
            extra=extra,
            where=where,
        )

    def _values(self, row: dict[str, Any], where: str) -> tuple[dict[str, Any], dict[str, Any]]:
        values: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        roots = set()
        for name, path in self._paths.items():
            roots.add(path.keys[0])
            try:
                value = path.find(row, cells=self._cells)
            except PathMissing as exc:
                message = f"{exc}; correct the path, or end it with ? if rows may lack it"
                raise DatasetError(message, where=where, field=name) from exc
            if value is not None:
                (values if name in TURN else extra)[name] = value
        for key, value in row.items():
            if key in roots or value is None or key in values:
                continue
            if key in TURN:
                values[key] = value
            elif key in SESSION_KEYS or key.startswith("metadata."):
                extra[key] = value
            else:
                hint = suggest(key, TURN + SESSION_KEYS, otherwise=";")
                raise DatasetError(
                    f"unknown key{hint} rename it, or keep it as metadata with"
                    f" fields: {{{quoted('metadata.' + key)}: {quoted(key)}}}",
                    where=where,
                    field=key[:60],
                )
        return values, extra

    def _lacks(self, name: str, row: Mapping[str, Any]) -> str:
        usual = {"session_id": "conversation_id", "role": "speaker", "text": "content"}[name]
        here = f"; the row has {', '.join(map(quoted, list(row)[:6]))}" if row else ""
        whole = not {"input", "output", "messages"}.isdisjoint(row)
        other = ", or leave format: turns out if each row is a whole case" if whole else ""
        return (
            f"a turn needs it{here}; add it, say where it is with"
            f" fields: {{{name!r}: {usual!r}}}{other}"
        )


def sessions(turns: Placed) -> Iterator[tuple[str | int, Case]]:
    """Yield one case per session, with the place of its first turn, when the session is complete.

    The case has the id of the session. The turns of a session must be adjacent, in order of
    `turn_index`.

    Raises:
        DatasetError: a session comes back after another one, or its turns are not in order.
    """
    started = IdSet()
    first: str | int = 0
    session: list[SessionTurn] = []
    for at, turn in turns:
        if isinstance(turn, Case):
            message = "a whole case among turns; read cases without format='turns'"
            raise DatasetError(message, where=str(at))
        if session and turn.session != session[-1].session:
            yield first, _case(session)
            session = []
        if not session:
            if not started.add(turn.session):
                raise DatasetError(
                    f"the session {quoted(turn.session)} comes back after another one; sort the"
                    " rows so that its turns are adjacent",
                    where=turn.where,
                    field="session_id",
                )
            first = at
        else:
            _check_order(session[-1], turn)
        session.append(turn)
        if len(session) > MAX_TURNS:
            message = f"a session of more than {MAX_TURNS:,} turns; check its session_id"
            raise DatasetError(message, where=turn.where, field="session_id")
    if session:
        yield first, _case(session)


def _check_order(before: SessionTurn, turn: SessionTurn) -> None:
    if before.number is None and turn.number is None:
        return
    if before.number is None or turn.number is None:
        message = "only some turns of this session have one; give it to all of them, or to none"
        raise DatasetError(message, where=turn.where, field="turn_index")
    if turn.number > before.number:
        return
    what = "appears twice" if turn.number == before.number else f"comes after {before.number}"
    message = (
        f"{turn.number} {what} in the session {quoted(turn.session)}; sort its turns, each once"
    )
    raise DatasetError(message, where=turn.where, field="turn_index")


def _case(turns: list[SessionTurn]) -> Case:
    fields = CaseFields(where=turns[0].where)
    fields.put("id", turns[0].session, source="session_id")
    put_chat([{"role": turn.role, "content": turn.text} for turn in turns], fields)
    if tags := list(dict.fromkeys(tag for turn in turns for tag in turn.tags)):
        fields.put_inside("metadata", "tags", tags, source="tags")
    own: dict[str, Any] = {}
    for turn in turns:
        for key, value in turn.extra.items():
            if key in own and own[key] != value:
                message = f"differs from an earlier turn of the session {quoted(turn.session)};"
                message += " give all turns of a session the same value"
                raise DatasetError(message, where=turn.where, field=key)
            own[key] = value
    for key, value in own.items():
        if key in ("labels", "metadata"):
            fields.put(key, value, source=key)
        else:
            fields.put_inside("metadata", key.removeprefix("metadata."), value, source=key)
    return fields.case()


def _session(value: Any, where: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    shown = "a blank text" if isinstance(value, str) else kind(value)
    message = f"expected text or a whole number, found {shown}; name the session"
    raise DatasetError(message, where=where, field="session_id")


def _index(value: Any, where: str, *, cells: bool) -> int | None:
    if value is None or (cells and value == ""):
        return None
    if cells and isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"expected a whole number, found {kind(value)}; number the turns"
        raise DatasetError(message, where=where, field="turn_index")
    return value


def _tags(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(tag, str) for tag in listed):
        message = f"expected a list of texts, found {kind(value)}; write tags as texts"
        raise DatasetError(message, where=where, field="tags")
    return tuple(listed)


def grouped(read: Callable[[], Placed]) -> Callable[[], Iterator[tuple[str | int, Case]]]:
    """Return a function that reads sessions from the turns of `read`."""
    return lambda: sessions(read())
