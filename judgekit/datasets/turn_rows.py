"""Rows with one turn of a session each: `{"session_id", "turn_index", "role", "text"}`."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.core.suggest import suggest
from judgekit.datasets.case_fields import CaseFields
from judgekit.datasets.field_names import MESSAGES
from judgekit.datasets.field_path import FieldPath, values_by_path
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.ids import IdSet
from judgekit.datasets.messages.conversation import put_conversation
from judgekit.datasets.messages.reader import MessageReader, role_problem
from judgekit.datasets.row_builder import RowBuilder, RowFault, row_at

NEEDED = ("session_id", "role", "text")
TURN = (*NEEDED, "turn_index")
"""The keys of a turn; all turns of a session may omit the index."""
SESSION_KEYS = ("tags", "persona_id", "model", "labels", "metadata")
"""Optional keys of a turn; they are added to the case of its session."""
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
    where: str = ""


class TurnBuilder(RowBuilder):
    """Converts rows to turns of sessions.

    >>> row = {"session_id": "s1", "turn_index": 1, "role": "user", "text": "Hi"}
    >>> TurnBuilder(fields=None).build(row, where="row 1").text
    'Hi'
    """

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
        """Return the turn in a row, with its location."""
        turn: SessionTurn = super().build(row, where=where)
        return turn._replace(where=where)

    def read(self, row: Any) -> SessionTurn:
        """Return the turn in a row."""
        if not isinstance(row, dict):
            problem = f"expected an object with {', '.join(TURN)}, found {kind(row)}"
            raise RowFault(f"{problem}; write one turn per line")
        if "session_id" not in row and "session_id" not in self._paths:
            raise _lacks("session_id", row)
        values = self._values(row)
        for name in NEEDED:
            if values.get(name) is None:
                raise _lacks(name, row)
        role, text = values["role"], values["text"]
        if wrong := role_problem(role):
            raise RowFault(f"{wrong}; correct the role", "role")
        if not isinstance(text, str):
            raise RowFault(f"expected text, found {kind(text)}; write the message as text", "text")
        return SessionTurn(
            session=_session(values["session_id"]),
            number=_index(values.get("turn_index"), cells=self._cells),
            role=role,
            text=text,
            tags=_tags(values.pop("tags", None)),
            extra={name: value for name, value in values.items() if name not in TURN},
        )

    def _values(self, row: dict[str, Any]) -> dict[str, Any]:
        values = values_by_path(self._paths, row, cells=self._cells)
        roots = {path.keys[0] for path in self._paths.values()}
        for key, value in row.items():
            if key in roots or value is None or (key in values and key in TURN):
                continue
            if key not in TURN + SESSION_KEYS and not key.startswith("metadata."):
                hint = suggest(key, TURN + SESSION_KEYS, otherwise=";")
                fields = f"fields: {{{quoted('metadata.' + key)}: {quoted(key)}}}"
                raise RowFault(
                    f"unknown key{hint} rename it, or keep it as metadata with {fields}", key[:60]
                )
            values[key] = value
        return values


def _lacks(name: str, row: Mapping[str, Any]) -> RowFault:
    usual = {"session_id": "conversation_id", "role": "speaker", "text": "content"}[name]
    here = f"; the row has {', '.join(map(quoted, list(row)[:6]))}" if row else ""
    whole = not {"input", "output", "messages"}.isdisjoint(row)
    other = ", or leave format: turns out if each row is a whole case" if whole else ""
    remedy = f"add it, say where it is with fields: {{{name!r}: {usual!r}}}{other}"
    return RowFault(f"a turn needs it{here}; {remedy}", name)


def sessions(turns: Placed) -> Iterator[tuple[str | int, Case]]:
    """Yield one case per session, with the location of its first turn, when it is complete.

    The case has the id of the session. The turns of a session must be adjacent, in order of
    `turn_index`.

    Raises:
        DatasetError: the turns of a session are not adjacent or not in order.
    """
    started = IdSet()
    first: str | int = 0
    session: list[SessionTurn] = []
    for at, turn in turns:
        if isinstance(turn, Case):
            problem = "a whole case among turns; read cases without format='turns'"
            raise DatasetError(problem, where=str(at))
        if session and turn.session != session[-1].session:
            yield first, _session_case(session)
            session = []
        with row_at(turn.where):
            _check_turn(turn, session, started)
        first = first if session else at
        session.append(turn)
    if session:
        yield first, _session_case(session)


def _check_turn(turn: SessionTurn, session: Sequence[SessionTurn], started: IdSet) -> None:
    """Check that a turn follows the previous ones of its session."""
    if not session:
        if not started.add(turn.session):
            raise RowFault(
                f"the session {quoted(turn.session)} comes back after another one; sort the"
                " rows so that its turns are adjacent",
                "session_id",
            )
        return
    if len(session) == MAX_TURNS:
        problem = f"a session of more than {MAX_TURNS:,} turns; check its session_id"
        raise RowFault(problem, "session_id")
    before, number = session[-1].number, turn.number
    if (before is None) != (number is None):
        problem = "only some turns of this session have one; give it to all of them, or to none"
        raise RowFault(problem, "turn_index")
    if before is not None and number is not None and number <= before:
        what = "appears twice" if number == before else f"comes after {before}"
        place = f"{number} {what} in the session {quoted(turn.session)}"
        raise RowFault(f"{place}; sort its turns, each once", "turn_index")


def _session_case(turns: Sequence[SessionTurn]) -> Case:
    with row_at(turns[0].where):
        return _case(turns)


def _case(turns: Sequence[SessionTurn]) -> Case:
    fields = CaseFields()
    fields.put("id", turns[0].session, source="session_id")
    reader = MessageReader()
    messages = [{"role": turn.role, "content": turn.text} for turn in turns]
    reader.read(messages, field=MESSAGES, label="turn")
    put_conversation(reader.conversation, fields, source=MESSAGES)
    if tags := list(dict.fromkeys(tag for turn in turns for tag in turn.tags)):
        fields.put_inside("metadata", "tags", tags, source="tags")
    own: dict[str, Any] = {}
    for turn in turns:
        for key, value in turn.extra.items():
            if key in own and own[key] != value:
                problem = f"differs from an earlier turn of the session {quoted(turn.session)}"
                remedy = "give all turns of a session the same value"
                raise DatasetError(f"{problem}; {remedy}", where=turn.where, field=key)
            own[key] = value
    for key, value in own.items():
        if key in ("labels", "metadata"):
            fields.put(key, value, source=key)
        else:
            fields.put_inside("metadata", key.removeprefix("metadata."), value, source=key)
    return fields.case()


def _session(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    shown = "a blank text" if isinstance(value, str) else kind(value)
    problem = f"expected text or a whole number, found {shown}; name the session"
    raise RowFault(problem, "session_id")


def _index(value: Any, *, cells: bool) -> int | None:
    if value is None or (cells and value == ""):
        return None
    if cells and isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        problem = f"expected a whole number, found {kind(value)}; number the turns"
        raise RowFault(problem, "turn_index")
    return value


def _tags(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(tag, str) for tag in listed):
        problem = f"expected a list of texts, found {kind(value)}; write tags as texts"
        raise RowFault(problem, "tags")
    return tuple(listed)
