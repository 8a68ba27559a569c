"""The full judge interface, wrappers around judges, and the request builder."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import isroutine
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Judge, JudgeLike
from judgekit.core.request import About, Api, ChatMessage, Form, Reply, Request
from judgekit.core.value import Json, trusted


class BaseJudge(ABC):
    """Base class of judges: `model` and `ask` are required, the other members have defaults.

    An object that is not a subclass needs `model` and `ask`; `as_judge` adds the rest.
    """

    if TYPE_CHECKING:  # read-only for type checkers, so a subclass may use attributes

        @property
        def identity(self) -> str | None:
            """The actual model, if `model` does not identify it. Part of every key."""

        @property
        def params(self) -> Mapping[str, Json]:
            """Parameters of the answer. Part of every key."""

        @property
        def mode(self) -> str | None:
            """The output mode, if the user forces one. Part of every key."""

        @property
        def api(self) -> Api | None:
            """The API, if it is not chat. Part of every key."""

        @property
        def synchronous(self) -> bool:
            """Whether `ask` never waits, for example in a replay."""

    else:
        identity = None
        params = MappingProxyType({})
        mode = None
        api = None
        synchronous = False

    @property
    @abstractmethod
    def model(self) -> str:
        """The model string. Part of every key."""

    @abstractmethod
    async def ask(self, request: Request) -> Reply:
        """Return the reply to a request (see `judgekit.protocols.Judge`)."""

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the name that the server gives its model, if known."""
        return reply

    def findings(self) -> dict[str, Json]:
        """Return facts about the server that this process has learnt."""
        return {}

    def keep_in(self, store: Callable[[], Any], *, anew: bool = False) -> None:  # noqa: B027 - a default
        """Use a store for facts about the server.

        Args:
            store: opens the store.
            anew: ignore the facts that are already in the store.
        """

    def follow(self, pace: Any) -> bool:
        """Make every call to the server wait for a pace (see `judgekit.judges.pace`).

        Returns:
            Whether this judge paces its calls itself; if not, the caller paces `ask`.
        """
        return False

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

    _OPTIONAL = ("identity", "params", "mode", "api", "identified", "findings", "keep_in", "close")

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        for name in self._OPTIONAL:
            member = getattr(judge, name, None)
            if member is not None:
                setattr(self, name, member)

    def __repr__(self) -> str:
        return repr(self.judge)

    @property
    def model(self) -> str:
        """The model of the object."""
        return self.judge.model

    async def ask(self, request: Request) -> Reply:
        """Ask the object."""
        return await self.judge.ask(request)


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
    def identity(self) -> str | None:
        """The identity of the inner judge."""
        return self.judge.identity

    @property
    def params(self) -> dict[str, Json]:
        """The parameters of the inner judge."""
        return dict(self.judge.params)

    @property
    def mode(self) -> str | None:
        """The forced output mode of the inner judge."""
        return self.judge.mode

    @property
    def api(self) -> Api | None:
        """The API of the inner judge."""
        return self.judge.api

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the name that the inner judge learns from its server."""
        return await self.judge.identified(reply)

    def findings(self) -> dict[str, Json]:
        """Return the facts about the inner judge's server."""
        return dict(self.judge.findings())

    def keep_in(self, store: Callable[[], Any], *, anew: bool = False) -> None:
        """Offer the inner judge a store."""
        self.judge.keep_in(store, anew=anew)

    def follow(self, pace: Any) -> bool:
        """Pass a pace on to the inner judge."""
        return self.judge.follow(pace)

    def close(self) -> None:
        """Close the inner judge."""
        self.judge.close()


def _no_judge(judge: object) -> str:
    kind = "class" if isinstance(judge, type) else type(judge).__name__
    return (
        f"judge is a {kind}; a judge is a model string such as 'openai/NAME', an "
        "async function of a request, or an object with `model` and `async ask(request)`"
    )


class RequestBuilder:
    """Builds the requests to one judge; their common fields are computed once.

    Raises:
        ConfigError: the object is no judge.
    """

    def __init__(self, judge: JudgeLike) -> None:
        self.judge = as_judge(judge)
        """The judge, with all members of the contract."""
        self._common: dict[str, Any] = {
            "model": self.judge.model,
            "identity": self.judge.identity,
            "params": dict(self.judge.params),
        }
        self._mode = self.judge.mode
        self._api = self.judge.api
        # Validate the judge's settings once, so that requests are built without checks.
        Request(messages=(), form=Form(), mode=self._mode, **self._common)

    def request(
        self, *, messages: tuple[ChatMessage, ...], form: Form, sample: int, about: About
    ) -> Request:
        """Return the request for one sample."""
        return trusted(
            Request,
            {
                "messages": messages,
                "form": form if self._api is None else form.of_api(self._api),
                **self._common,
                "sample": sample,
                "mode": self._mode,
                "about": about,
            },
        )
