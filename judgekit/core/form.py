"""The form of a reply: the questions to a judge, and the valid answers."""

from functools import cached_property
from typing import Literal

from pydantic import ConfigDict

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.value import Json, Value

Kind = Literal["score", "boolean", "choice", "checklist"]
Want = Literal["verdict", "text", "embedding", "logprobs"]
Api = Literal["decisions", "systemone", "recorded"]
"""A form of replies other than the text of a chat: see `judgekit.core.replies`."""


class Detail(Value):
    """Additional information in a verdict; shown, never scored."""

    name: str
    kind: Literal["text", "boolean", "list"] = "text"
    text: str = ""


class Question(Value):
    """One criterion for the judge: the question and the valid answers."""

    id: str
    kind: Kind
    text: str
    minimum: float = 0.0
    """Lowest valid number of a `score`."""
    maximum: float = 1.0
    """Highest valid number of a `score`."""
    labels: tuple[str, ...] = ()
    """The valid words: levels of a `score`, options of a `choice`."""
    items: tuple[str, ...] = ()
    """The items of a `checklist`; if empty, the judge lists them itself."""
    nullable: bool = False
    """Whether the judge may abstain."""
    quotes: bool = False
    """Whether the judge must quote its evidence."""
    details: tuple[Detail, ...] = ()
    descriptions: tuple[str, ...] = ()
    """Label -> description, for an API that does not read it in the messages; else empty."""


class Form(Value):
    """The form of a reply: questions, or a custom JSON schema."""

    model_config = ConfigDict(ignored_types=(cached_property,))

    questions: tuple[Question, ...] = ()
    details: tuple[Detail, ...] = ()
    """Details about the whole verdict, after the questions."""
    json_schema: dict[str, Json] | None = None
    want: Want = "verdict"
    """The kind of reply: a verdict, or one of three kinds without questions.

    `text` is a free answer. `embedding` is the vector of the only message. `logprobs` are the
    log-probabilities of the tokens of the last message, which is an assistant's, given the message
    before it. `judgekit.core.replies` describes these replies.
    """

    api: Api | None = None
    """The API, if it is not chat."""
    max_reason: int | None = None
    """Maximum length of a reason, a quote or another text in the reply, in characters. It is sent
    to the judge; a longer text is valid and cut."""
    partial: bool = False
    """Whether a reply may lack answers, or have invalid ones; the metric asks for these again."""

    def bounded(self, max_reason: int | None) -> "Form":
        """Return the same form with a maximum length of reasons.

        Only forms with questions in a chat have reasons; others are returned unchanged.
        """
        if max_reason is None or self.api is not None or not self.questions:
            return self
        forms: dict[int, Form] = self.__dict__.setdefault("_bounded", {})
        if max_reason not in forms:
            fields = {name: self.__dict__[name] for name in Form.model_fields}
            forms[max_reason] = Form(**{**fields, "max_reason": max_reason})
        return forms[max_reason]

    def of_api(self, api: Api | None) -> "Form":
        """Return the same form for another API."""
        if api == self.api:
            return self
        forms: dict[Api | None, Form] = self.__dict__.setdefault("_of_api", {})
        if api not in forms:
            fields = {name: self.__dict__[name] for name in Form.model_fields}
            forms[api] = Form(**{**fields, "api": api})
        return forms[api]

    @cached_property
    def canonical(self) -> str:
        """The canonical JSON of this form, computed once for all cases that share it."""
        return canonical_json(self.model_dump(exclude_defaults=True))

    @cached_property
    def digest(self) -> str:
        """The digest by which tapes identify this form."""
        return digest(self.canonical)
