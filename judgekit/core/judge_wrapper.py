"""The full judge interface, wrappers around judges, and the request builder."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from inspect import isroutine
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError
from judgekit.core.foreign_errors import foreign_errors
from judgekit.core.judge_settings import NO_SETTINGS, JudgeSettings
from judgekit.core.key_rules import keyed_params, verdict_identity
from judgekit.core.protocols import Judge, JudgeLike, ServerKnowledge, TextStore
from judgekit.core.request import About, ChatMessage, Form, Reply, Request
from judgekit.core.value import Json, described, is_coroutine, trusted

_KEYED = ("identity", "params", "mode", "api", "max_reason")
_LEARNT = ("identified", "findings", "keep_in")


class _DeclaredSettings:
    """The default of `settings`: those that older judges declare as attributes of their own.

    Not a data descriptor, so an attribute or a property of a subclass replaces it.
    """

    def __get__(self, judge: "BaseJudge | None", owner: object = None) -> JudgeSettings:
        return NO_SETTINGS if judge is None else _declared_settings(judge)


class _DeclaredKnowledge:
    """The default of `knowledge`: the methods with which older judges declare it."""

    def __get__(self, judge: "BaseJudge | None", owner: object = None) -> ServerKnowledge | None:
        return None if judge is None else _declared_knowledge(judge)


class BaseJudge(ABC):
    """Base class of judges: `model` and `ask` are required, the other members have defaults.

    An object that is not a subclass needs `model` and `ask`; `as_judge` adds the rest.
    """

    if TYPE_CHECKING:  # read-only for type checkers, so a subclass may use attributes

        @property
        def settings(self) -> JudgeSettings:
            """What goes into keys besides the model."""

        @property
        def knowledge(self) -> ServerKnowledge | None:
            """What the judge learns about its server; `None` without a server."""

        @property
        def synchronous(self) -> bool:
            """Whether `ask` never waits, for example in a replay."""

    else:
        settings = _DeclaredSettings()
        knowledge = _DeclaredKnowledge()
        synchronous = False

        def __getattr__(self, name: str) -> Any:
            """Return a member under the name that it had before `settings` and `knowledge`."""
            if name in _KEYED:
                _warn_of(f"judge.{name} is now judge.settings.{name}", level=3)
                return getattr(self.settings, name)
            if name in _LEARNT:
                _warn_of(f"judge.{name}() is now judge.knowledge.{name}()", level=3)
                return getattr(self.knowledge or _OlderKnowledge({}, None), name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    @abstractmethod
    def model(self) -> str:
        """The model string. Part of every key."""

    @abstractmethod
    async def ask(self, request: Request) -> Reply:
        """Return the reply to a request (see `judgekit.protocols.Judge`)."""

    def close(self) -> None:  # noqa: B027 - a default
        """Release the resources of the judge."""


class NamedJudge(BaseJudge):
    """A judge with a model string that does not change."""

    def __init__(self, model: str) -> None:
        self._model = model

    @property
    def model(self) -> str:
        """The model string. Part of every key."""
        return self._model


class PlainJudge(BaseJudge):
    """The adapter for an object with `model` and `ask`; it uses further members if they exist."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        if (close := getattr(judge, "close", None)) is not None:
            self.close = close  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return repr(self.judge)

    @property
    def model(self) -> str:
        """The model of the object."""
        return self.judge.model

    @property
    def settings(self) -> JudgeSettings:
        """The settings of the object."""
        settings = getattr(self.judge, "settings", None)
        return settings if isinstance(settings, JudgeSettings) else _declared_settings(self.judge)

    @property
    def knowledge(self) -> ServerKnowledge | None:
        """What the object learns about its server."""
        knowledge: ServerKnowledge | None = getattr(self.judge, "knowledge", None)
        return knowledge if knowledge is not None else _declared_knowledge(self.judge)

    async def ask(self, request: Request) -> Reply:
        """Ask the object.

        Raises:
            JudgeUnavailable: it raised an exception that is not one of judgekit.
        """
        with foreign_errors(self.model):
            return await self.judge.ask(request)


class _OlderKnowledge:
    """The knowledge of a judge that has methods instead of the member `knowledge`."""

    def __init__(self, methods: Mapping[str, Any], inner: ServerKnowledge | None) -> None:
        self._methods = methods
        self._inner = inner

    async def identified(self, reply: Reply) -> Reply:
        if (method := self._methods.get("identified")) is not None:
            named: Reply = await method(reply)
            return named
        return reply if self._inner is None else await self._inner.identified(reply)

    def findings(self) -> dict[str, Json]:
        if (method := self._methods.get("findings")) is not None:
            return dict(method())
        return {} if self._inner is None else dict(self._inner.findings())

    def keep_in(
        self, store: Callable[[], TextStore | None], *, ignore_stored: bool = False
    ) -> None:
        if (method := self._methods.get("keep_in")) is not None:
            method(store, anew=ignore_stored)
        elif self._inner is not None:
            self._inner.keep_in(store, ignore_stored=ignore_stored)


def _declared_settings(judge: object, inner: JudgeSettings = NO_SETTINGS) -> JudgeSettings:
    given = {name: value for name in _KEYED if (value := _own(judge, name)) is not None}
    if not given:
        return inner
    names = ", ".join(given)
    advice = f"give it `settings = JudgeSettings(...)` with {names}"
    _warn_of(f"{type(judge).__name__} has attributes {names}; {advice}", level=4)
    return replace(inner, **given)


def _declared_knowledge(
    judge: object, inner: ServerKnowledge | None = None
) -> ServerKnowledge | None:
    methods = {name: one for name in _LEARNT if (one := _own(judge, name)) is not None}
    if not methods:
        return inner
    advice = "give it an object with these methods as `knowledge`"
    _warn_of(f"{type(judge).__name__} has methods {', '.join(methods)}; {advice}", level=4)
    return _OlderKnowledge(methods, inner)


def _own(judge: object, name: str) -> Any:
    """Return an attribute that a judge itself has, not an alias of `BaseJudge.__getattr__`."""
    if not isinstance(judge, BaseJudge):
        return getattr(judge, name, None)
    try:
        return object.__getattribute__(judge, name)
    except AttributeError:
        return None


def _warn_of(message: str, *, level: int) -> None:
    import warnings

    warnings.warn(message, DeprecationWarning, stacklevel=level)


def as_judge(judge: object) -> BaseJudge:
    """Return a judge with all members of the contract.

    Args:
        judge: a judge, a model string such as `openai/NAME`, or an async function of a request.

    Raises:
        ConfigError: it is none of these, or no judge has that name.
    """
    if isinstance(judge, BaseJudge):
        return judge
    if not isinstance(judge, type) and isinstance(judge, Judge):
        return PlainJudge(judge)
    if isinstance(judge, str) or isroutine(judge):
        # Imported by name, because `judges` is a higher layer than `core`.
        named = import_module("judgekit.judges.named")
        return as_judge(named.judge_of(judge))
    raise ConfigError(_no_judge(judge))


class JudgeWrapper(BaseJudge):
    """A judge that wraps another one; subclasses override `ask`."""

    def __init__(self, judge: JudgeLike) -> None:
        self._judge = as_judge(judge)

    @property
    def judge(self) -> BaseJudge:
        """The inner judge; assigned values are converted by `as_judge`."""
        return self._judge

    @judge.setter
    def judge(self, judge: JudgeLike) -> None:
        self._judge = as_judge(judge)

    @property
    def model(self) -> str:
        """The model of the inner judge."""
        return self.judge.model

    @property
    def settings(self) -> JudgeSettings:
        """The settings of the inner judge."""
        return _declared_settings(self, self.judge.settings)

    @property
    def knowledge(self) -> ServerKnowledge | None:
        """What the inner judge learns about its server."""
        return _declared_knowledge(self, self.judge.knowledge)

    def close(self) -> None:
        """Close the inner judge."""
        self.judge.close()


def _no_judge(judge: object) -> str:
    if isinstance(judge, type):
        return f"judge is the class {judge.__name__}; create one: {judge.__name__}(...)"
    if is_coroutine(judge):
        name = judge.__name__
        judge.close()
        return f"judge is a coroutine of {name}; give the function, without a call: judge={name}"
    return (
        f"judge is {described(judge)}; a judge is a model string such as 'openai/NAME', an "
        "async function of a request, or an object with `model` and `async ask(request)`"
    )


class RequestBuilder:
    """Builds the requests to one judge; their common fields are computed once.

    Args:
        judge: the judge.
        max_reason: maximum length of reasons, in characters; by default, that of the judge.

    Raises:
        ConfigError: the object is no judge.
    """

    def __init__(self, judge: JudgeLike, *, max_reason: int | None = None) -> None:
        self.judge = as_judge(judge)
        """The judge, with all members of the contract."""
        self.settings = self.judge.settings
        """The settings of the judge, read once."""
        model, params = self.judge.model, self.settings.params
        keyed = keyed_params(model, params)
        self._common: dict[str, Any] = {
            "model": model,
            "identity": self.settings.identity,
            "params": keyed,
            "unkeyed": {name: value for name, value in params.items() if name not in keyed},
        }
        self._mode = self.settings.mode
        self._api = self.settings.api
        own = self.settings.max_reason if max_reason is None else max_reason
        self._max_reason = own if self.settings.bounds_reasons and self._api is None else None
        # Validate the judge's settings once, so that requests are built without checks.
        Request(messages=(), form=Form(), mode=self._mode, **self._common)

    def request(
        self, *, messages: tuple[ChatMessage, ...], form: Form, sample: int, about: About
    ) -> Request:
        """Return the request for one sample."""
        form = form.bounded(self._max_reason) if self._api is None else form.of_api(self._api)
        return trusted(
            Request,
            {
                "messages": messages,
                "form": form,
                **self._common,
                "identity": self._identity(about),
                "sample": sample,
                "mode": self._mode,
                "about": about,
            },
        )

    def _identity(self, about: About) -> str | None:
        identity = self.settings.identity
        return verdict_identity(identity, about) if self._api == "recorded" else identity
