"""Read messages in any known format, in order, without losing a part of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Message, ToolCall
from judgekit.core.thoughts import split_thoughts
from judgekit.core.value import is_json
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.json_text import parse_json
from judgekit.datasets.messages.tables import (
    Block,
    Inline,
    MessageKey,
    Role,
    RoleWord,
    find,
    tables,
)
from judgekit.datasets.row_builder import RowFault

MAX_NESTED = 20
"""Maximum depth of parts inside parts."""


@dataclass
class SourceTurn:
    """One message; a message with the results of tools becomes several turns."""

    role: Role
    place: str
    """Its place for people, such as `message 2`."""
    content: str = ""
    name: str | None = None
    calls: list[ToolCall] = field(default_factory=list)
    whole: bool = True
    """Whether it is a message; False for a call that stands alone in the list."""

    def message(self) -> Message:
        """Return the message of a case."""
        return Message(
            role=self.role, content=self.content, name=self.name, tool_calls=tuple(self.calls)
        )


@dataclass
class Conversation:
    """The turns of a row in the order of its source, and what is not in them."""

    turns: list[SourceTurn] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    unread: list[tuple[SourceTurn | None, str]] = field(default_factory=list)
    """SourceTurn -> why it cannot be read whole; `None` if that concerns the whole conversation."""
    kept: dict[str, Any] = field(default_factory=dict)
    """Place and key -> value of a key that no table names."""
    shapes: Counter[str] = field(default_factory=Counter)

    @property
    def shape(self) -> str:
        """The name of the format for people; `messages` if only words occur that all share."""
        known = [tables().titles[name] for name, _ in self.shapes.most_common()]
        return " and ".join(known[:2]) or "messages"


class MessageReader:
    """Reads the messages of one row in order; tool results get the name of the called tool.

    Args:
        keep_thoughts: whether thoughts stay in the texts, between marks.
    """

    def __init__(self, *, keep_thoughts: bool = False) -> None:
        self._keep = keep_thoughts
        self._called: dict[str, str] = {}
        self._tables = tables()
        self.conversation = Conversation()

    def read(
        self, items: Any, *, field: str, label: str = "message", role: Role | None = None
    ) -> list[SourceTurn]:
        """Read a list of messages, and return their turns.

        Args:
            items: the messages; also a single one.
            field: the key of the row, for errors.
            label: the noun for a place; numbers from 1 follow.
            role: the role of messages without one.

        Raises:
            RowFault: the value is not a list of messages.
        """
        before = len(self.conversation.turns)
        for index, item in enumerate(items):
            self._item(item, f"{field}.{index}", f"{label} {index + 1}", role)
        return self.conversation.turns[before:]

    def _item(self, item: Any, at: str, place: str, role: Role | None) -> None:
        if not isinstance(item, dict):
            raise _fault(f"expected a message, found {kind(item)}", at)
        item, word = _unwrapped(item)
        block = None
        if "role" not in item and "from" not in item and word is None:
            block = self._tables.block(item)
        known = RoleWord(role) if word is None and role else self._role(word)
        alone = block is not None and (
            role is not None or ("type" in item and block.kind not in ("text", "json", "blocks"))
        )
        if block is not None and alone:
            self._single(item, block, at, place, role)
        elif known is None:
            if word is None or not isinstance(word, str):
                shown = "null" if word is None else kind(word)
                raise _fault(f"expected a role such as 'user', found {shown}", f"{at}.role")
            problem = f"{place} has the unknown role {quoted(word)}"
            self.conversation.unread.append((None, problem))
        else:
            self._message(item, known, at, place)

    def _role(self, word: Any) -> RoleWord | None:
        known = self._tables.roles.get(word.casefold()) if isinstance(word, str) else None
        self._saw(known.shape if known else "")
        return known

    def _saw(self, shape: str) -> None:
        if shape:
            self.conversation.shapes[shape] += 1

    def _single(
        self, item: dict[str, Any], block: Block, at: str, place: str, role: Role | None
    ) -> None:
        """Read a part that stands in the place of a message."""
        sides: dict[str, Role] = {"result": "tool"}
        author = sides.get(block.kind) or role or "assistant"
        last = self.conversation.turns[-1] if self.conversation.turns else None
        joined = last is not None and not last.whole and last.role == author == "assistant"
        writer = _Writer(self, author, place, at, turn=last if joined else None)
        writer.block(item, block, at, 0)
        writer.close(whole=False)

    def _message(self, item: dict[str, Any], known: RoleWord, at: str, place: str) -> None:
        writer = _Writer(self, known.role, place, at)
        contents = [key for key in self._tables.contents if item.get(key) is not None]
        chosen = _content_key(item, contents)
        for key, value in item.items():
            meaning = self._tables.keys.get(key)
            if meaning is not None and value not in (None, "", [], {}):
                use = "" if key in contents else meaning.use
                if key == chosen or use not in ("", "name", "call_id"):
                    self._saw(meaning.shape)
        for key, meaning in self._tables.keys.items():
            if meaning.use == "thought" and key in item and key != chosen:
                writer.thought(item[key])
        if chosen is not None and known.content == "calls":
            writer.called(_parsed(item[chosen]), at)
        elif chosen is not None:
            writer.content(item[chosen], f"{at}.{chosen}", inline="from" in item)
        writer.others(item, chosen)
        writer.close(whole=True)

    def _name_of(self, call_id: Any) -> str | None:
        return self._called.get(call_id, call_id) if isinstance(call_id, str) else None


class _Writer:
    """Writes the turns of one message, in the order of its parts."""

    def __init__(
        self, reader: MessageReader, role: Role, place: str, at: str, turn: SourceTurn | None = None
    ) -> None:
        self._reader = reader
        self._tables = reader._tables
        self._into = reader.conversation
        self._role: Role = role
        self._place = place
        self._at = at
        self._turn: SourceTurn | None = turn
        self._wrote = turn is not None
        self._start = len(self._into.turns)
        self._problems: list[str] = []

    def close(self, *, whole: bool) -> None:
        """End the message; an empty one is a turn, too."""
        if not self._wrote and whole:
            self._open()
        if self._turn is not None and not whole:
            self._turn.whole = False
        self._blame()

    def _blame(self) -> None:
        """Attach the problems so far to the turn at hand."""
        if self._problems:
            turn = self._turn or (self._into.turns[-1] if self._wrote else self._open())
            self._into.unread += [(turn, problem) for problem in self._problems]
            self._problems = []

    def _open(self) -> SourceTurn:
        if self._turn is None:
            self._turn = SourceTurn(self._role, self._place)
            self._into.turns.append(self._turn)
            self._wrote = True
        return self._turn

    def _end(self) -> None:
        """End the turn at hand; what follows is a further one."""
        self._blame()
        self._turn = None

    def text(self, text: str) -> None:
        """Add a text."""
        if not text:
            return
        if self._turn is not None and self._turn.calls:
            self._end()  # a text after a call is a further step
        turn = self._open()
        if turn.role == "assistant" and not turn.content and not self._reader._keep:
            thoughts, text = split_thoughts(text)
            self._into.thoughts += thoughts
        turn.content += text

    def thought(self, value: Any) -> None:
        """Add a thought: a text, or texts in objects and lists."""
        for text in _thoughts_in(value):
            if text in self._into.thoughts:
                continue  # some servers send a thought in two keys
            self._into.thoughts.append(text)
            if self._reader._keep:
                self._open().content += f"<think>\n{text}\n</think>\n"

    def unread(self, noun: str) -> None:
        """Add something that cannot be shown to a judge."""
        self._problems.append(f"{self._place} has {noun}")

    def aside(self, key: str, value: Any) -> None:
        """Keep a value that is not part of the conversation."""
        if value not in (None, "", [], {}, False):
            self._into.kept.setdefault(self._place, {})[key] = value

    def call(self, name: str, arguments: Any, call_id: Any, *, free: bool = False) -> None:
        """Add a call; arguments that are text must be JSON unless they may be `free`."""
        if isinstance(arguments, str) and not free:
            try:
                arguments = parse_json(arguments) if arguments.strip() else {}
            except ValueError:
                self.unread(f"a call of {quoted(name)} with arguments that are not JSON")
        if not is_json(arguments) and not _finite(arguments):
            self.unread(f"a call of {quoted(name)} with a number that JSON lacks")
            arguments = None
        call_id = None if call_id is None else str(call_id)
        self._open().calls.append(ToolCall(name=name, arguments=arguments, id=call_id))
        if call_id:
            self._reader._called[call_id] = name

    def called(self, value: Any, at: str) -> None:
        """Add the calls of `tool_calls` or `function_call`."""
        for index, call in enumerate(value if isinstance(value, list) else [value]):
            where = f"{at}.{index}" if isinstance(value, list) else at
            if not isinstance(call, dict):
                raise _fault(f"expected a tool call, found {kind(call)}", where)
            paths = self._tables.calls
            names = (find(call, [path]) for path in paths["name"])
            name = next((name for name in names if isinstance(name, str)), None)
            if name is None:
                raise _fault("a tool call without the name of a function", where)
            free = find(call, paths["free"])
            arguments = find(call, paths["arguments"]) if free is None else free
            if "args" in call:
                self._reader._saw("langchain")
            self.call(name, arguments, find(call, paths["id"]), free=free is not None)

    def result(
        self, value: Any, *, name: str | None, at: str, depth: int, more: Any = None
    ) -> None:
        """Add the result of a tool as a turn, with further parts of it."""
        self._end()
        self._turn = SourceTurn("tool", self._place, name=name)
        self._into.turns.append(self._turn)
        self._wrote = True
        role, self._role = self._role, "tool"
        self._value(value, at, depth)
        if more:
            self._value(more, at, depth)
        self._end()
        self._role = role

    def _value(self, value: Any, at: str, depth: int) -> None:
        """Add the value of a result: a text, parts, or any JSON as canonical text."""
        if value is None:
            return
        if isinstance(value, str):
            self._open().content += value
        elif isinstance(value, dict) and self._tables.block(value) is not None:
            self._parts([value], at, depth + 1)
        elif isinstance(value, list) and value and all(map(self._is_part, value)):
            self._parts(value, at, depth + 1)
        else:
            self._open().content += canonical_json(value)

    def _is_part(self, value: Any) -> bool:
        return isinstance(value, dict) and self._tables.block(value) is not None

    def content(self, value: Any, at: str, *, inline: bool = False, depth: int = 0) -> None:
        """Add the content of a message: a text, parts, or an object with parts."""
        if depth > MAX_NESTED:
            raise _fault(f"parts are nested more than {MAX_NESTED} levels deep", at)
        if isinstance(value, str):
            if inline:
                self._inline(value)
            else:
                self._part_text(value)
        elif isinstance(value, list):
            self._parts(value, at, depth)
        elif isinstance(value, dict):
            self._content_object(value, at, depth)
        elif value is not None and self._role == "tool":
            self._open().content += canonical_json(value)
        elif value is not None:
            raise _fault(f"expected text or a list of parts, found {kind(value)}", at)

    def _content_object(self, value: Mapping[str, Any], at: str, depth: int) -> None:
        inner = _content_key(value, [key for key in self._tables.contents if value.get(key)])
        if self._tables.block(value) is not None and "parts" not in value:
            self._parts([value], at, depth)
        elif inner is not None:
            self.content(value[inner], f"{at}.{inner}", depth=depth + 1)
            self.others(value, inner)
        else:
            raise _fault(f"expected text or a list of parts, found {kind(value)}", at)

    def _inline(self, text: str) -> None:
        """Add a text that may hold calls and results between tags."""
        if self._role == "tool":
            result = next(form for form in self._tables.inline if form.kind == "result")
            self._part_text(_between(text, result))
            return
        rest = text
        while True:
            at, form = min(
                ((rest.find(form.open), form) for form in self._tables.inline if form.open in rest),
                default=(-1, None),
            )
            if form is None:
                break
            end = rest.find(form.close, at)
            inner = rest[at + len(form.open) : end if end >= 0 else len(rest)].strip()
            value = _parsed(inner)
            if form.kind == "call" and not isinstance(value, dict | list):
                break
            if rest[:at].strip():
                self.text(rest[:at].strip())
            self._reader._saw("sharegpt")
            if form.kind == "call":
                self.called(value, self._at)
            else:
                self.result(inner, name=None, at=self._at, depth=0)
            rest = rest[end + len(form.close) :].lstrip() if end >= 0 else ""
        if rest:
            self.text(rest)

    def _parts(self, parts: Sequence[Any], at: str, depth: int) -> None:
        if depth > MAX_NESTED:
            raise _fault(f"parts are nested more than {MAX_NESTED} levels deep", at)
        for index, part in enumerate(parts):
            where = f"{at}.{index}"
            if isinstance(part, str):
                self._part_text(part)
                continue
            if not isinstance(part, dict):
                raise _fault(f"expected a part with a type, found {kind(part)}", where)
            block = self._tables.block(part)
            if block is None:
                sort = part.get("type")
                named = quoted(sort) if isinstance(sort, str) else "without a type"
                shown = f"of the unknown type {named}" if isinstance(sort, str) else named
                self.unread(f"a part {shown}")
                continue
            self.block(part, block, where, depth)

    def _part_text(self, text: str) -> None:
        if self._role == "tool":
            self._open().content += text
        else:
            self.text(text)

    def block(self, part: Mapping[str, Any], block: Block, at: str, depth: int) -> None:
        """Add one part."""
        self._reader._saw(block.shape)
        value = find(part, block.text)
        if block.kind == "thought" or (block.thought and part.get(block.thought) is True):
            self.thought(value)
        elif block.kind == "text":
            if isinstance(value, dict):
                value = value.get("value")  # a text with annotations
            if not isinstance(value, str):
                raise _fault(f"expected text, found {kind(value)}", f"{at}.{block.text[0]}")
            self._part_text(value)
        elif block.kind == "json":
            self._part_text(value if isinstance(value, str) else canonical_json(value))
        elif block.kind == "blocks":
            self.content(value, at, depth=depth + 1)
            self.aside(block.aside, find(part, [block.aside]))
        elif block.kind == "call":
            self._call_block(part, block, at, depth)
        elif block.kind == "result":
            name = find(part, block.tool) or block.called
            name = name or self._reader._name_of(find(part, block.id))
            more = find(part, block.more)
            self.result(value, name=name or None, at=at, depth=depth, more=more)
        elif block.kind == "unread":
            self.unread(_noun(part, block))
        elif block.kind == "aside":
            self.aside(block.name, dict(part))
        if block.kind not in ("aside", "nothing", "unread"):
            self._rest(part, block)

    def _call_block(self, part: Mapping[str, Any], block: Block, at: str, depth: int) -> None:
        name = find(part, block.tool) or block.called
        if not isinstance(name, str) or not name:
            raise _fault("a tool call without the name of a tool", at)
        call_id = find(part, block.id)
        self.call(name, find(part, block.arguments), call_id, free=block.free)
        error = find(part, block.error)
        value = find(part, block.result)
        value = error if value is None else value
        if value is not None:
            self.result(value, name=name, at=at, depth=depth)

    def _rest(self, part: Mapping[str, Any], block: Block) -> None:
        """Keep the keys of a part that were not read."""
        paths = {*block.paths, block.aside}
        read = {path.partition(".")[0] for path in paths} | {block.name}
        for key, value in part.items():
            if key not in read and key not in self._tables.neutral:
                self.aside(key, value)
        inner = part.get(block.name)
        inside = {path.split(".")[1] for path in paths if path.startswith(f"{block.name}.")}
        if isinstance(inner, dict) and not inside.isdisjoint(inner):
            for key, value in inner.items():
                if key not in inside and key not in self._tables.neutral:
                    self.aside(f"{block.name}.{key}", value)

    def others(self, item: Mapping[str, Any], content: str | None) -> None:
        """Read the keys of a message beside its content."""
        for key, value in item.items():
            meaning = self._tables.keys.get(key, _UNKNOWN)
            if key == content or value is None or meaning.use == "thought":
                continue
            if value in ("", [], {}) and meaning.use != "calls":
                continue
            _READ_KEY[meaning.use](self, item, key, value)

    def _other(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        if key not in self._tables.neutral:
            self.aside(key, value)

    def _calls(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        one = key == "function_call"
        if one and not value:
            return
        if not isinstance(value, dict if one else list):
            raise _fault(f"expected a list, found {kind(value)}", f"{self._at}.{key}")
        self._message_calls(value, key)

    def _invocations(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        made = {call.id for turn in self._into.turns[self._start :] for call in turn.calls}
        for one in value if isinstance(value, list) else ():
            if isinstance(one, dict) and one.get("toolCallId") in made:
                continue  # Mastra repeats the parts here
            part = {"type": "tool-invocation", "toolInvocation": one}
            self.block(part, self._tables.typed["tool-invocation"], self._at, 0)

    def _refusal(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        if isinstance(value, str) and not any(item.get(k) for k in self._tables.contents):
            self.text(value)
        else:
            self.aside(key, value)

    def _unread_key(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        self.unread(self._tables.keys[key].noun)

    def _error(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        if self._role == "tool":
            self._open().content += value if isinstance(value, str) else canonical_json(value)
        else:
            self.aside(key, value)

    def _more(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        """Read the keys that a client keeps as received from the server."""
        for name, more in value.items() if isinstance(value, dict) else ():
            meaning = self._tables.keys.get(name, _UNKNOWN)
            if meaning.use == "thought":
                self.thought(more)
            elif more not in (None, "", [], {}) and not item.get(
                "tool_calls" if meaning.use == "calls" else name
            ):
                _READ_KEY[meaning.use](self, item, name, more)

    def _name(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        if not isinstance(value, str):
            raise _fault(f"expected text, found {kind(value)}", f"{self._at}.{key}")
        turn = self._turn or (None if self._wrote else self._open())
        if turn is not None:
            turn.name = value

    def _call_id(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        turn = self._turn or (None if self._wrote else self._open())
        if turn is not None and turn.role == "tool" and turn.name is None:
            turn.name = self._reader._name_of(value)

    def _second_content(self, item: Mapping[str, Any], key: str, value: Any) -> None:
        """Keep a second content, unless it repeats the first."""
        shown = "".join(turn.content for turn in self._into.turns[self._start :])
        if not isinstance(value, str) or "".join(value.split()) not in "".join(shown.split()):
            self.aside(key, value)

    def _message_calls(self, value: Any, key: str) -> None:
        made = {call.id for turn in self._into.turns[self._start :] for call in turn.calls}
        listed = value if isinstance(value, list) else [value]
        # LangChain repeats the calls of the content in `tool_calls`.
        if not made or not all(isinstance(one, dict) and one.get("id") in made for one in listed):
            self.called(value, f"{self._at}.{key}")


_UNKNOWN = MessageKey("", "")
_READ_KEY: dict[str, Callable[[_Writer, Mapping[str, Any], str, Any], None]] = {
    "": _Writer._other,
    "content": _Writer._second_content,
    "calls": _Writer._calls,
    "invocations": _Writer._invocations,
    "refusal": _Writer._refusal,
    "unread": _Writer._unread_key,
    "error": _Writer._error,
    "message": _Writer._more,
    "name": _Writer._name,
    "call_id": _Writer._call_id,
}


def _unwrapped(item: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return a message without its envelope, and the word for its role."""
    for key in ("kwargs", "data", "message"):
        inner = item.get(key)
        if "role" not in item and isinstance(inner, dict):
            outer = item.get("id") if key == "kwargs" else item.get("type")
            word = outer[-1] if isinstance(outer, list) and outer else outer
            word = inner.get("role", word)
            if isinstance(word, str) and word.casefold() in tables().roles:
                return inner, word
    for key in ("role", "from", "author", "type"):
        word = item.get(key)
        word = word.get("role") if isinstance(word, dict) else word
        if word is not None and (key != "type" or _is_role(word)):
            return item, word
    return item, None


def _is_role(word: Any) -> bool:
    return (
        isinstance(word, str) and word.casefold() in tables().roles and word not in tables().typed
    )


def looks_like_messages(value: Any) -> bool:
    """Return whether a value is a list of messages or of parts, whatever their format."""
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return False
    if any(key in value[0] for key in ("role", "from")):
        return True
    inner, word = _unwrapped(value[0])
    return word is not None or tables().block(inner) is not None


def _content_key(item: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """Return the key of the content; `parts` if they hold more than the text beside them."""
    if "parts" in keys and _has_content(item["parts"]):
        return "parts"
    full = [key for key in keys if item[key] not in ("", [])]
    return next(iter(full or keys), None)


def _has_content(parts: Any) -> bool:
    return isinstance(parts, list) and any(
        isinstance(part, str) or (isinstance(part, dict) and part.get("type") != "step-start")
        for part in parts
    )


def _thoughts_in(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if depth > MAX_NESTED:
        return []
    if isinstance(value, list):
        return [text for item in value for text in _thoughts_in(item, depth + 1)]
    if isinstance(value, dict):
        for key in ("text", "thinking", "reasoning", "content", "summary"):
            if value.get(key):
                return _thoughts_in(value[key], depth + 1)
    return []


def _between(text: str, form: Inline) -> str:
    """Return the text between the tags of a form, if they are all around it."""
    bare = text.strip()
    if bare.startswith(form.open) and bare.endswith(form.close):
        return bare.removeprefix(form.open).removesuffix(form.close).strip()
    return text


def _noun(part: Mapping[str, Any], block: Block) -> str:
    mime = find(part, block.mime)
    nouns = {"image": "an image", "audio": "audio", "video": "a video"}
    sort = mime.partition("/")[0] if isinstance(mime, str) else ""
    return nouns.get(sort, block.noun)


def _parsed(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return parse_json(value)
        except ValueError:
            return value
    return value


def _finite(value: Any) -> bool:
    try:
        canonical_json(value)
    except ValueError:
        return False
    return True


def _fault(message: str, field: str) -> RowFault:
    return RowFault(f"{message}; write messages as {{'role': 'user', 'content': 'text'}}", field)


def role_problem(role: Any) -> str | None:
    """Return why a value is not a role; `None` if it is a role."""
    if isinstance(role, str) and role.casefold() in tables().roles:
        return None
    shown = quoted(role) if isinstance(role, str) else kind(role)
    known = "system, developer, user, assistant, tool"
    return f"expected one of {known} or a name for one, found {shown}"


def role_of(word: str) -> Role:
    """Return the role that a word means."""
    return tables().roles[word.casefold()].role
