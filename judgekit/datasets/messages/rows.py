"""Read the conversation of a row: `messages`, or `input` and `output` with messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.datasets.case_fields import CaseFields
from judgekit.datasets.field_names import field_named
from judgekit.datasets.formatting import kind, listed, quoted
from judgekit.datasets.json_text import json_fault, parse_json, to_json_or_text
from judgekit.datasets.messages.conversation import put_conversation
from judgekit.datasets.messages.reader import MessageReader, SourceTurn, looks_like_messages
from judgekit.datasets.messages.tables import find, tables
from judgekit.datasets.row_builder import RowFault

INPUT_KEYS = (
    *("inputMessages", "messages", "prompt", "text", "content", "input", "user"),
    *("systemMessages", "taggedSystemMessages", "rememberedMessages"),
)
"""The keys of an input object, as in Mastra's scorer runs; first those for the user's text."""

OUTPUT_KEYS = ("text", "content", "body", "parts", "role")
"""The keys of an output object that is a message."""

EXTRAS = frozenset({"runId", "requestContext", "runtimeContext", "additionalContext"})
"""Keys of a scorer run that are kept in `metadata`."""


def from_cell(value: Any) -> Any:
    """Return the messages that are JSON in the cell of a table; any other value is left as it is.

    A cell with other JSON is a text: an answer may be JSON.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        parsed = to_json_or_text(value)
        keys = {*tables().systems, *INPUT_KEYS[-3:], "inputMessages", "parts"}
        if looks_like_messages(parsed) or (isinstance(parsed, dict) and keys & parsed.keys()):
            return parsed
    return value


def is_conversation(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds messages."""
    if any(key in row for key in tables().conversations):
        return True
    return any(isinstance(row.get(key), dict | list) for key in ("input", "output"))


def put_rows_messages(
    row: Mapping[str, Any], fields: CaseFields, *, keep_thoughts: bool, runs: bool = False
) -> tuple[frozenset[str], frozenset[str]]:
    """Add the fields of a case from the messages of a row.

    Args:
        row: the row.
        fields: the fields to add to.
        keep_thoughts: whether thoughts stay in the texts.
        runs: whether the rows are scorer runs, whose output is never JSON text.

    Returns:
        The keys that were read, and the keys that go to the metadata.

    Raises:
        RowFault: the row has no messages, or they cannot be read.
    """
    reader = MessageReader(keep_thoughts=keep_thoughts)
    read = _RowConversation(row, reader, fields, runs=runs).read()
    put_conversation(reader.conversation, fields, source=read[0])
    extras = EXTRAS if read[0] in ("input", "output") else EXTRAS | tables().extras
    return frozenset(read), extras


class _RowConversation:
    def __init__(
        self, row: Mapping[str, Any], reader: MessageReader, fields: CaseFields, *, runs: bool
    ) -> None:
        self._row = row
        self._reader = reader
        self._fields = fields
        self._runs = runs

    def read(self) -> list[str]:
        """Read all messages; return the keys that were read, the one with the messages first."""
        row = self._row
        places = [key for key in tables().conversations if row.get(key) is not None]
        if len(places) > 1:
            problem = f"given twice, by {quoted(places[0])} and by {quoted(places[1])}; remove one"
            raise RowFault(problem, places[1])
        empty = [key for key in tables().conversations if key in row and row[key] is None]
        read = [*places, *empty]
        structured = any(isinstance(row.get(key), dict | list) for key in ("input", "output"))
        for key, shape in tables().systems.items():
            if row.get(key) is not None and (shape != "responses" or structured or places):
                self._system(row[key], key, shape)
                read.append(key)
            elif key in row and row[key] is None and (structured or places):
                read.append(key)
        if isinstance(row.get("system"), list):
            self._system(row["system"], "system", "")
            read.append("system")
        if places:
            key = places[0]
            if shape := tables().conversations[key]:
                self._reader.conversation.shapes[shape] += 1
            self._reader.read(_list_of(row[key], key), field=key)
            read += self._beside()
        else:
            self._question(row.get("input"))
            self._answer(row.get("output"))
            read = ["input", "output", *read]
        if self._reader.conversation.shapes:
            self._fields.note("row-format", None, f"{self._reader.conversation.shape} messages")
        return read

    def _system(self, value: Any, key: str, shape: str) -> None:
        if shape:
            self._reader.conversation.shapes[shape] += 1
        items = value if isinstance(value, list) else [value]
        messages = [{"content": item} if isinstance(item, str) else item for item in items]
        self._reader.read(messages, field=key, label=key, role="system")

    def _beside(self) -> list[str]:
        """Return the keys that only repeat what the messages say, or add the answer to them."""
        keys = {key: field_named(key) for key in self._row}
        repeated = [key for key, field in keys.items() if field == "output" and self._answers(key)]
        turns = self._reader.conversation.turns
        for key, field in keys.items():
            role = {"input": "user", "system": "system"}.get(str(field))
            said = [turn.content.strip() for turn in turns if turn.role == role]
            value = self._row[key]
            if isinstance(value, str):
                if role is not None and value.strip() in said:
                    repeated.append(key)
            elif role == "user" and isinstance(value, list) and looks_like_messages(value):
                other = MessageReader()
                other.read(value, field=key)
                start = [turn.message() for turn in other.conversation.turns]
                if start == [turn.message() for turn in turns[: len(start)]]:
                    repeated.append(key)
        return repeated

    def _answers(self, key: str) -> bool:
        """Return whether a key repeats the last message, or is the answer to the messages."""
        turns, answer = self._reader.conversation.turns, self._row[key]
        last = turns[-1].content if turns and turns[-1].role == "assistant" else None
        if isinstance(answer, str):
            return last is not None and answer.strip() == last.strip()
        if not isinstance(answer, dict | list):
            return False
        if last is None:
            self._answer(answer)
            return True
        other = MessageReader()
        _RowConversation({}, other, CaseFields(), runs=self._runs)._answer(answer)
        text = find(answer, ["completion"])  # Inspect
        if not isinstance(text, str):
            text = "".join(turn.content for turn in other.conversation.turns[-1:])
        return text.strip() == last.strip()

    def _question(self, value: Any) -> None:
        reader = self._reader
        if isinstance(value, str):
            reader.conversation.turns.append(SourceTurn("user", "the input", content=value))
        elif isinstance(value, list):
            reader.read(value, field="input")
        elif isinstance(value, dict) and any(key in value for key in INPUT_KEYS):
            self._run_input(value)
        elif value is not None:
            raise _no_conversation(value, "input", INPUT_KEYS)

    def _run_input(self, value: Mapping[str, Any]) -> None:
        reader = self._reader
        if any(key in value for key in ("inputMessages", *INPUT_KEYS[-3:])):
            reader.conversation.shapes["mastra"] += 1
        self._system(_list(value.get("systemMessages")), "input.systemMessages", "")
        tagged = value.get("taggedSystemMessages")
        for name, messages in (tagged if isinstance(tagged, dict) else {}).items():
            self._system(_list(messages), f"input.taggedSystemMessages.{name}", "")
        remembered = _list(value.get("rememberedMessages"))
        reader.read(remembered, field="input.rememberedMessages", label="remembered message")
        for key in ("inputMessages", "messages"):
            if isinstance(value.get(key), list):
                reader.read(value[key], field=f"input.{key}")
        if any(turn.role == "user" for turn in reader.conversation.turns[len(remembered) :]):
            return
        for key in INPUT_KEYS[2:7]:
            item = value.get(key)
            if isinstance(item, str | list) and item:
                reader.read([{"content": item}], field=f"input.{key}", role="user")
                return
            if isinstance(item, dict):
                reader.read([item], field=f"input.{key}", role="user")
                return

    def _answer(self, value: Any) -> None:
        reader = self._reader
        if value is None:
            return
        if isinstance(value, str):
            reader.conversation.turns.append(SourceTurn("assistant", "the output", content=value))
            return
        if isinstance(value, list) and (looks_like_messages(value) or not value):
            reader.read(value, field="output", label="output message", role="assistant")
            return
        if isinstance(value, dict):
            for path, shape in tables().answers:
                inner = find(value, [path])
                if isinstance(inner, dict) or (inner and looks_like_messages(inner)):
                    reader.conversation.shapes[shape] += 1
                    items = inner if isinstance(inner, list) else [inner]
                    reader.read(items, field=f"output.{path}", label="output", role="assistant")
                    self._others(value, path)
                    return
            if any(key in value for key in OUTPUT_KEYS) and (self._runs or _is_message(value)):
                reader.read([value], field="output", label="output", role="assistant")
                return
        if self._runs:
            raise _no_conversation(value, "output", OUTPUT_KEYS)
        text = canonical_json(value)
        self._fields.note("converted", "output", f"{kind(value)}: its JSON is the text")
        reader.conversation.turns.append(SourceTurn("assistant", "the output", content=text))

    def _others(self, value: Mapping[str, Any], path: str) -> None:
        """Keep what a server returned beside its answer."""
        first, _, rest = path.partition(".")
        kept = {k: v for k, v in value.items() if k != first and k not in tables().neutral}
        kept = {k: v for k, v in kept.items() if v not in (None, "", [], {})}
        listed = value[first] if isinstance(value[first], list) else []
        if rest.startswith("0.") and len(listed) > 1:
            kept[first] = listed[1:]
        if kept:
            self._reader.conversation.kept["output"] = kept


def _is_message(value: Mapping[str, Any]) -> bool:
    """Return whether an object holds only keys of a message; others make it an answer in JSON."""
    known = tables().keys
    return all(key in known or key in tables().neutral for key in value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _list_of(messages: Any, field: str) -> list[Any]:
    if isinstance(messages, str):
        try:
            messages = parse_json(messages)
        except ValueError as exc:
            what = json_fault(exc, messages.encode()).what
            problem = f"the text is not JSON ({what}); write a list of messages"
            raise RowFault(problem, field) from exc
    if not isinstance(messages, list):
        raise RowFault(
            f"expected a list of messages, found {kind(messages)}; a chat row is"
            ' {"messages": [{"role": "user", "content": "..."}]}',
            field,
        )
    if not messages:
        raise RowFault("an empty list; remove the row, or give it messages", field)
    return messages


def _no_conversation(value: Any, field: str, keys: tuple[str, ...]) -> RowFault:
    shown = f"an object with the keys {listed(value)}" if isinstance(value, dict) else kind(value)
    return RowFault(
        f"expected text, messages or an object with one of {', '.join(keys)}; found {shown};"
        f" choose the part that is meant with fields: {{{field!r}: 'dotted.path'}}",
        field,
    )


def put_ground_truth(value: Any, fields: CaseFields) -> None:
    """Add a run's `groundTruth`: a text becomes a reference, other values become `expected`."""
    if isinstance(value, str):
        fields.put("reference", value, source="groundTruth")
    elif value is not None:
        fields.put_inside("expected", "ground_truth", value, source="groundTruth")
