"""The contract of a judge in full, judges that wrap another, and what builds their requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import isroutine
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Judge, JudgeLike
from judgekit.core.request import About, ChatMessage, Form, Reply, Request
from judgekit.core.value import Json, trusted


class BaseJudge(ABC):
    """All members of a judge: `model` and `ask` are required, the others have a default.

    An object that is not a subclass needs `model` and `ask`; `as_judge` adds the rest.
    """

    if TYPE_CHECKING:  # read-only to a type checker, so that a subclass may use attributes

        @property
        def identity(self) -> str | None:
            """The model that really answers, where `model` does not say it. Part of every key."""

        @property
        def params(self) -> Mapping[str, Json]:
            """Parameters that shape the answer. Part of every key."""

        @property
        def mode(self) -> str | None:
            """The output mode, if the author forces one. Part of every key."""

        @property
        def synchronous(self) -> bool:
            """Whether `ask` never waits, as in a replay."""

    else:
        identity = None
        params = MappingProxyType({})
        mode = None
        synchronous = False

    @property
    @abstractmethod
    def model(self) -> str:
        """The model string. Part of every key."""

    @abstractmethod
    async def ask(self, request: Request) -> Reply:
        """Return the reply to a request (see `judgekit.protocols.Judge`)."""

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the name that the server gives its model, if it can be asked."""
        return reply

    def findings(self) -> dict[str, Json]:
        """Return what this process learnt about the server; empty where it learnt nothing."""
        return {}

    def keep_in(self, store: Callable[[], Any], *, anew: bool = False) -> None:  # noqa: B027 - a default
        """Take a store for what is learnt about the server.

        Args:
            store: opens the store.
            anew: do not read what the store knows already.
        """

    def close(self) -> None:  # noqa: B027 - a default
        """Close what the judge holds open."""


class PlainJudge(BaseJudge):
    """The adapter around an object with `model` and `ask`; it takes over the members it has."""

    _OPTIONAL = ("identity", "params", "mode", "identified", "findings", "keep_in", "close")

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


def as_judge(given: object) -> BaseJudge:
    """Return a judge with all members of the contract.

    Args:
        given: a judge, a model string such as `openai/NAME`, or an async function of a request.

    Raises:
        ConfigError: it is none of these, or no judge has that name.
    """
    if isinstance(given, BaseJudge):
        return given
    if not isinstance(given, type) and isinstance(given, Judge):
        return PlainJudge(given)
    if isinstance(given, str) or isroutine(given):
        # By name, because the judges are packages above this one.
        named = import_module("judgekit.judges.named")
        return as_judge(named.judge_of(given))
    raise ConfigError(_no_judge(given))


class JudgeWrapper(BaseJudge):
    """A judge around another: it passes on everything but `ask`."""

    def __init__(self, judge: JudgeLike) -> None:
        self._judge = as_judge(judge)

    @property
    def judge(self) -> BaseJudge:
        """The inner judge."""
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

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the name that the inner judge learns from its server."""
        return await self.judge.identified(reply)

    def findings(self) -> dict[str, Json]:
        """Return what the inner judge learnt about its server."""
        return dict(self.judge.findings())

    def keep_in(self, store: Callable[[], Any], *, anew: bool = False) -> None:
        """Offer the inner judge a store."""
        self.judge.keep_in(store, anew=anew)

    def close(self) -> None:
        """Close the inner judge."""
        self.judge.close()


def _no_judge(given: object) -> str:
    kind = "class" if isinstance(given, type) else type(given).__name__
    return (
        f"judge is a {kind}; a judge is a model string such as 'openai/NAME', an "
        "async function of a request, or an object with `model` and `async ask(request)`"
    )


class RequestBuilder:
    """Builds requests to one judge; what they have in common is read once.

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
                "form": form,
                **self._common,
                "sample": sample,
                "mode": self._mode,
                "about": about,
            },
        )
