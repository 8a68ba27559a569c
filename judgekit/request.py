"""What a judge is asked: messages, the form it fills in, and the key that names the request."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from pydantic import ConfigDict, Field, JsonValue

from judgekit.canonical import canonical_json, digest
from judgekit.value import Value

FORMAT = 1
"""Format of the canonical request; part of every key."""

Kind = Literal["score", "boolean", "choice", "checklist"]


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
    json_schema: dict[str, JsonValue] | None = None

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
    params: dict[str, JsonValue] = Field(default_factory=dict)
    """Parameters that shape the answer: temperature, top_p, max_tokens, seed, stop, ..."""
    sample: int = 0
    """Index among repeated asks of the same thing."""
    mode: str | None = None
    """Output mode, only when the author forces one."""
    about: About = About()

    @cached_property
    def canonical(self) -> str:
        """The canonical JSON that the key is the digest of."""
        parts = [
            f'{{"form":{self.form.canonical},"format":{FORMAT},"identity":',
            canonical_json(self.identity),
            ',"messages":',
            canonical_json([{"content": m.content, "role": m.role} for m in self.messages]),
            ',"mode":',
            canonical_json(self.mode),
            ',"model":',
            canonical_json(self.model),
            ',"params":',
            canonical_json(self.params),
            f',"sample":{self.sample}}}',
        ]
        return "".join(parts)

    @cached_property
    def key(self) -> str:
        """The sha256 of the canonical request: 64 hexadecimal characters."""
        return digest(self.canonical)


class Usage(Value):
    """Tokens a reply took, all tries together."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)


class Try(Value):
    """One raw answer of a judge, exactly as it came."""

    text: str | None = None
    finish: str | None = None
    """Why the model stopped: `stop`, `length`, `content_filter`, ... as the server said it."""
    refusal: str | None = None
    logprobs: JsonValue = None


class Reply(Value):
    """What a judge said: the only thing that is recorded."""

    tries: tuple[Try, ...] = Field(min_length=1)
    """Every answer given for this request, oldest first; the last one counts."""
    model: str | None = None
    """The model's name as the server reported it."""
    mode: str | None = None
    """Output mode that was used."""
    effective_params: dict[str, JsonValue] = Field(default_factory=dict)
    """The parameters that were really sent."""
    usage: Usage | None = None
    """`None` when the server did not say."""
    cost: float | None = Field(default=None, ge=0)
    """US dollars for all tries; `None` when no price is known."""


def request_from(data: dict[str, Any]) -> Request:
    """Build a request back from its canonical JSON value."""
    fields = {name: value for name, value in data.items() if name != "format"}
    return Request.model_validate(fields)
