"""Requests and replies: messages, and the key of a request."""

import hashlib
from collections.abc import Callable
from copy import deepcopy
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field
from pydantic_core import PydanticSerializationError, to_json

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import CaseError, InvalidReply, JudgekitError, JudgeRefused
from judgekit.core.form import Api as Api
from judgekit.core.form import Detail as Detail
from judgekit.core.form import Form as Form
from judgekit.core.form import Question as Question
from judgekit.core.form import Want as Want
from judgekit.core.reply_schema import reply_schema
from judgekit.core.value import Json, Value

FORMAT = 1
"""Format of the canonical request; part of every key."""

FaultKind = Literal["invalid_reply", "invalid_case", "refused"]
SCHEMA_NOTE = (
    "Answer with one JSON object and nothing else. It must be valid under this JSON schema:\n"
)
"""What stands before the schema in a prompt."""
MAX_MESSAGE = 2_000
"""Maximum length of a fault's message, in characters."""


class ChatMessage(Value):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str
    shared: int = Field(default=0, exclude=True, repr=False)
    """Characters at its start that other requests about the case have, too; for prompt caches.
    Never sent, never recorded, and no part of a key."""

    def redacted(self, redact: Callable[[str], str]) -> "ChatMessage":
        """Return the message with its content redacted."""
        content = redact(self.content)
        start = redact(self.content[: self.shared]) if self.shared else ""
        # What is redacted may lie across the end of the shared part.
        shared = len(start) if content.startswith(start) else 0
        return self.model_copy(update={"content": content, "shared": shared})


class About(Value):
    """The origin of a request: never sent, never recorded.

    It is part of the key only for recorded verdicts, as a digest (see `core.key_rules`).
    """

    case: str = ""
    metric: str = ""
    rubric: str = ""
    output: str | None = None
    """The output of the case."""
    order: str = "written"
    """The order of criteria and options in the request."""


class _Head(NamedTuple):
    text: str
    state: Any
    """SHA-256 state of the text; copied to hash the rest."""
    holds_message: bool


class Request(Value):
    """All inputs that determine the answer of a judge.

    The key does not depend on case ids, file names, endpoints, credentials, time-outs, retries or
    library versions.
    """

    model_config = ConfigDict(ignored_types=(cached_property,))

    messages: tuple[ChatMessage, ...]
    form: Form
    model: str
    identity: str | None = None
    """The model behind this model name, for servers that accept any name."""
    params: dict[str, Json] = Field(default_factory=dict)
    """Sampling parameters: temperature, top_p, max_tokens, seed, stop, ..."""
    unkeyed: dict[str, Json] = Field(default_factory=dict)
    """Parameters of the judge that cannot change a reply: not part of the key, never recorded."""
    sample: int = 0
    """Index among several samples of the same request."""
    mode: str | None = None
    """Output mode, only if the user forces one."""
    about: About = About.model_construct()

    @property
    def canonical(self) -> str:
        """The canonical JSON of the request. Its digest is the key."""
        head = self._head()
        return head.text + self._tail(head)

    @property
    def key(self) -> str:
        """The SHA-256 of the canonical request: 64 hexadecimal characters.

        Raises:
            CaseError: a text contains half of a surrogate pair, which has no bytes.
        """
        # Cached by hand: up to Python 3.11, `cached_property` takes a lock.
        key: str | None = self.__dict__.get("_key")
        if key is None:
            try:
                head = self._head()
                state = head.state.copy()
                state.update(self._tail(head).encode())
            except UnicodeEncodeError as exc:
                half = f"half a character (\\u{ord(exc.object[exc.start]):04x})"
                message = f"the request contains {half}; remove it from the template or the case"
                raise CaseError(message) from exc
            key = self.__dict__["_key"] = state.hexdigest()
        return key

    @property
    def schema(self) -> dict[str, Any]:  # type: ignore[override] # pydantic's, deprecated
        """The JSON schema of the reply, a new dict; empty if the reply is not a JSON object."""
        if self.form.want != "verdict" or self.form.api is not None:
            return {}
        return deepcopy(reply_schema(self.form).json_schema)

    @property
    def instructions(self) -> str:
        """The text that tells a model to reply with JSON of `schema`; empty if that is empty.

        It goes after the last message, unless the client passes `schema` to the server.
        """
        if self.form.want != "verdict" or self.form.api is not None:
            return ""
        return f"{SCHEMA_NOTE}{reply_schema(self.form).text}"

    def redacted(self, redact: Callable[[str], str]) -> "Request":
        """Return the request with every message redacted."""
        messages = [m.redacted(redact) for m in self.messages]
        return self.model_copy(update={"messages": tuple(messages)})

    def _head(self) -> _Head:
        """The beginning of the canonical JSON, up to and including a first system message."""
        first = self.messages[0] if self.messages else None
        system = first.content if first is not None and first.role == "system" else None
        return _head(self.form.canonical, self.identity, system)

    def _tail(self, head: _Head) -> str:
        """The rest, with keys in sorted order; a test compares it with `canonical_json`."""
        tail: str | None = self.__dict__.get("_tail_text")
        if tail is not None:
            return tail
        rest = self.messages[1:] if head.holds_message else self.messages
        messages = ",".join(
            f'{{"content":{_json_text(m.content)},"role":"{m.role}"}}' for m in rest
        )
        comma = "," if head.holds_message and rest else ""
        params = canonical_json(self.params) if self.params else "{}"
        tail = self.__dict__["_tail_text"] = (
            f'{comma}{messages}],"mode":{_text(self.mode)},"model":{_text(self.model)}'
            f',"params":{params},"sample":{self.sample}}}'
        )
        return tail


@lru_cache(maxsize=64)
def _head(form: str, identity: str | None, system: str | None) -> _Head:
    """Return the common beginning of the requests of one rubric and judge.

    It is several times longer than the rest, so it is built and hashed only once.
    """
    text = f'{{"form":{form},"format":{FORMAT},"identity":{canonical_json(identity)},"messages":['
    if system is not None:
        text += f'{{"content":{canonical_json(system)},"role":"system"}}'
    return _Head(text, hashlib.sha256(text.encode()), system is not None)


@lru_cache(maxsize=64)
def _text(text: str | None) -> str:
    return canonical_json(text)


def _json_text(text: str) -> str:
    """Return the canonical JSON of a text, in a third of the time of `canonical_json`."""
    try:
        return to_json(text).decode()
    except PydanticSerializationError:  # half of a surrogate pair
        return canonical_json(text)


class Usage(Value):
    """Token counts of a reply, summed over all tries."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    """The part of the input that the provider read from its prompt cache."""
    cache_write_tokens: int = Field(default=0, ge=0)
    """The part of the input that it wrote to the cache."""


class Omitted(Value):
    """The part of a long text that is not recorded."""

    bytes: int = Field(ge=0)
    """Size of the rest in UTF-8 bytes; for a response that was stopped, the bytes read."""
    sha256: str
    """Digest of these bytes: 64 hexadecimal characters."""


class Fault(Value):
    """The reason why an answer is unusable; its text is not parsed."""

    kind: FaultKind = "invalid_reply"
    message: str = Field(max_length=MAX_MESSAGE)

    def error(self) -> JudgekitError:
        """Return the error that reading the answer raises."""
        if self.kind == "invalid_case":
            return CaseError(self.message)
        return (JudgeRefused if self.kind == "refused" else InvalidReply)(self.message)

    @classmethod
    def of(cls, error: CaseError | JudgeRefused | InvalidReply) -> Self:
        """Return the fault to record for an error about one request."""
        kind: FaultKind = "invalid_reply"
        if isinstance(error, CaseError):
            kind = "invalid_case"
        elif isinstance(error, JudgeRefused):
            kind = "refused"
        return cls(kind=kind, message=str(error)[:MAX_MESSAGE])


class Try(Value):
    """One raw answer of a judge."""

    text: str | None = None
    """The model's text; for a malformed response, the beginning of its body."""
    finish: str | None = None
    """Finish reason of the server: `stop`, `length`, `content_filter`, ..."""
    refusal: str | None = None
    logprobs: Json = None
    thought: int = Field(default=0, ge=0)
    """Length of separate reasoning text, which is not recorded, in characters."""
    fault: Fault | None = None
    """The fault of the whole answer, if any."""
    omitted: Omitted | None = None
    """The rest of `text`, if only its beginning is recorded."""


class Reply(Value):
    """The reply of a judge, as recorded."""

    tries: tuple[Try, ...] = Field(min_length=1)
    """Every answer to this request, oldest first; the last one counts."""
    model: str | None = None
    """The model's name as the server reported it."""
    server: str | None = None
    """The server's name for the model, from a separate request."""
    mode: str | None = None
    """Output mode that was used."""
    effective_params: dict[str, Json] = Field(default_factory=dict)
    """The parameters that were sent."""
    usage: Usage | None = None
    """`None` if the server did not report it."""
    cost: float | None = Field(default=None, ge=0)
    """US dollars for all tries; `None` if no price is known."""
    tier: str | None = None
    """The service tier that replied, such as `flex`; `None` for the standard one."""
    saved: float | None = None
    """US dollars that prompt cache and tier saved: the same tokens at the standard tier without a
    cache, less the cost. Negative where more was written to the cache than read."""


def request_from(data: dict[str, Any]) -> Request:
    """Restore a request from its canonical JSON value."""
    fields = {name: value for name, value in data.items() if name != "format"}
    return Request.model_validate(fields)
