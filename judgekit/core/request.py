"""What is asked: messages, the form to fill in, and the key that names the request."""

import hashlib
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import CaseError, InvalidReply, JudgekitError, JudgeRefused
from judgekit.core.value import Json, Value

FORMAT = 1
"""Format of the canonical request; part of every key."""

Kind = Literal["score", "boolean", "choice", "checklist"]
Want = Literal["verdict", "text", "embedding", "logprobs"]
FaultKind = Literal["invalid_reply", "invalid_case", "refused"]
MAX_MESSAGE = 2_000
"""Characters that are kept of what is wrong with an answer."""


class Detail(Value):
    """A further thing to report beside a verdict: shown, never scored."""

    name: str
    kind: Literal["text", "boolean", "list"] = "text"
    text: str = ""


class Question(Value):
    """One criterion as the judge sees it: what to decide, and in which words to answer."""

    id: str
    kind: Kind
    text: str
    minimum: float = 0.0
    """Lowest number a `score` may take."""
    maximum: float = 1.0
    """Highest number a `score` may take."""
    labels: tuple[str, ...] = ()
    """The words to choose from: levels of a `score`, options of a `choice`."""
    items: tuple[str, ...] = ()
    """The items of a `checklist`; none means the judge lists them itself."""
    nullable: bool = False
    """Whether the judge may abstain."""
    quotes: bool = False
    """Whether the judge must quote its evidence."""
    details: tuple[Detail, ...] = ()


class Form(Value):
    """What the judge fills in: questions, or a JSON schema of the author's own."""

    model_config = ConfigDict(ignored_types=(cached_property,))

    questions: tuple[Question, ...] = ()
    details: tuple[Detail, ...] = ()
    """Asked once for the whole verdict, after the questions."""
    json_schema: dict[str, Json] | None = None
    want: Want = "verdict"
    """What is wanted: the form filled in, or something that is no verdict and has no questions.

    `text` is an answer in the model's own words; `embedding` the vector of the one message;
    `logprobs` the log-probabilities of the tokens of the last message, an assistant's, after the
    text of the one before it. See `judgekit.core.replies` for what the replies then hold.
    """

    @cached_property
    def canonical(self) -> str:
        """The canonical JSON of this form, computed once however many cases share it."""
        return canonical_json(self.model_dump(exclude_defaults=True))

    @cached_property
    def digest(self) -> str:
        """The digest under which tapes keep this form."""
        return digest(self.canonical)


class ChatMessage(Value):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


class About(Value):
    """What a request is for. Never sent, never part of the key, never recorded."""

    case: str = ""
    metric: str = ""
    rubric: str = ""
    output: str | None = None
    """The output of the case."""


class _Head(NamedTuple):
    text: str
    state: Any
    """sha256 of the text, to be copied and carried on."""
    holds_message: bool


class Request(Value):
    """Everything that decides what a judge will say, and nothing else.

    The key leaves out who asks and how: case ids, file names, endpoints, credentials,
    time-outs, retries, library versions.
    """

    model_config = ConfigDict(ignored_types=(cached_property,))

    messages: tuple[ChatMessage, ...]
    form: Form
    model: str
    identity: str | None = None
    """What really answers under this model name, where a server serves anything under any."""
    params: dict[str, Json] = Field(default_factory=dict)
    """Parameters that shape the answer: temperature, top_p, max_tokens, seed, stop, ..."""
    sample: int = 0
    """Index among repeated asks of the same thing."""
    mode: str | None = None
    """Output mode, only when the author forces one."""
    about: About = About.model_construct()

    @property
    def canonical(self) -> str:
        """The canonical JSON that the key is the digest of."""
        head = self._head()
        return head.text + self._tail(head)

    @property
    def key(self) -> str:
        """The sha256 of the canonical request: 64 hexadecimal characters."""
        # Kept like a cached property, without the lock that one takes up to Python 3.11.
        key: str | None = self.__dict__.get("_key")
        if key is None:
            head = self._head()
            state = head.state.copy()
            state.update(self._tail(head).encode())
            key = self.__dict__["_key"] = state.hexdigest()
        return key

    def _head(self) -> _Head:
        """The beginning of the canonical JSON, up to the first message if it is the system's."""
        first = self.messages[0] if self.messages else None
        system = first.content if first is not None and first.role == "system" else None
        return _head(self.form.canonical, self.identity, system)

    def _tail(self, head: _Head) -> str:
        """The rest of it. The keys stand in sorted order; a test compares with canonical_json."""
        rest = self.messages[1:] if head.holds_message else self.messages
        messages = ",".join(
            f'{{"content":{canonical_json(m.content)},"role":"{m.role}"}}' for m in rest
        )
        comma = "," if head.holds_message and rest else ""
        params = canonical_json(self.params) if self.params else "{}"
        return (
            f'{comma}{messages}],"mode":{_text(self.mode)},"model":{_text(self.model)}'
            f',"params":{params},"sample":{self.sample}}}'
        )


@lru_cache(maxsize=64)
def _head(form: str, identity: str | None, system: str | None) -> _Head:
    """Return what the requests of one rubric and judge begin with.

    It is several times longer than what differs from case to case, so it is put together and
    hashed once.
    """
    text = f'{{"form":{form},"format":{FORMAT},"identity":{canonical_json(identity)},"messages":['
    if system is not None:
        text += f'{{"content":{canonical_json(system)},"role":"system"}}'
    return _Head(text, hashlib.sha256(text.encode()), system is not None)


@lru_cache(maxsize=64)
def _text(text: str | None) -> str:
    return canonical_json(text)


class Usage(Value):
    """Tokens a reply took, all tries together."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)


class Omitted(Value):
    """The rest of a text that is too long to be kept."""

    bytes: int = Field(ge=0)
    """Size of the rest, as UTF-8; of a response that was stopped, as far as it was read."""
    sha256: str
    """Digest of these bytes: 64 hexadecimal characters."""


class Fault(Value):
    """What makes an answer unusable as a whole; its text is then not read."""

    kind: FaultKind = "invalid_reply"
    message: str = Field(max_length=MAX_MESSAGE)

    def error(self) -> JudgekitError:
        """Return the error that reading the answer raises."""
        if self.kind == "invalid_case":
            return CaseError(self.message)
        return (JudgeRefused if self.kind == "refused" else InvalidReply)(self.message)

    @classmethod
    def of(cls, error: CaseError | JudgeRefused | InvalidReply) -> Self:
        """Return what is recorded of an error about one request."""
        kind: FaultKind = "invalid_reply"
        if isinstance(error, CaseError):
            kind = "invalid_case"
        elif isinstance(error, JudgeRefused):
            kind = "refused"
        return cls(kind=kind, message=str(error)[:MAX_MESSAGE])


class Try(Value):
    """One raw answer of a judge, exactly as it came."""

    text: str | None = None
    """What the model said; of a malformed response the beginning of its body."""
    finish: str | None = None
    """Why the model stopped: `stop`, `length`, `content_filter`, ... as the server said it."""
    refusal: str | None = None
    logprobs: Json = None
    thought: int = Field(default=0, ge=0)
    """Characters of reasoning the server gave apart from the answer; they are not kept."""
    fault: Fault | None = None
    """What is wrong with the answer as a whole, if anything is."""
    omitted: Omitted | None = None
    """The rest of `text`, where only its beginning is kept."""


class Reply(Value):
    """What a judge said: the only thing that is recorded."""

    tries: tuple[Try, ...] = Field(min_length=1)
    """Every answer given for this request, oldest first; the last one counts."""
    model: str | None = None
    """The model's name as the server reported it."""
    server: str | None = None
    """What the server calls the model that answers, asked apart from the request."""
    mode: str | None = None
    """Output mode that was used."""
    effective_params: dict[str, Json] = Field(default_factory=dict)
    """The parameters that were really sent."""
    usage: Usage | None = None
    """`None` when the server did not say."""
    cost: float | None = Field(default=None, ge=0)
    """US dollars for all tries; `None` when no price is known."""


def request_from(data: dict[str, Any]) -> Request:
    """Build a request back from its canonical JSON value."""
    fields = {name: value for name, value in data.items() if name != "format"}
    return Request.model_validate(fields)
