"""Base of judges behind a server: address, key, limits of a call, the server's model name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from judgekit.core.errors import ConfigError, JudgeRejected, JudgeUnavailable
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.request import Reply, Request
from judgekit.judges.calls import Calls
from judgekit.judges.endpoint import Naming, address, check_address
from judgekit.judges.parameters import NOT_PARAMETERS
from judgekit.judges.providers import check_provider
from judgekit.judges.translation import about
from judgekit.judges.transport import Server, Transport

if TYPE_CHECKING:
    from judgekit.judges.pace import Pace


class ServerJudge(NamedJudge):
    """A judge behind a server; subclasses create the transport and make replies from calls."""

    params: dict[str, JsonValue]
    identity: str | None

    def __init__(
        self, server: Server, *, params: Mapping[str, JsonValue] | None, identity: str | None
    ) -> None:
        if server.timeout <= 0 or server.retries < 0:
            raise ConfigError("timeout must be positive, retries not negative")
        check_provider(server.model)
        if server.api_base is not None:
            check_address(server.api_base)
        for name in params or ():
            if name in NOT_PARAMETERS:
                raise ConfigError(f"params shape the answer; {name!r} is not one of them")
        super().__init__(server.model)
        self.api_base = server.api_base
        self.timeout = server.timeout
        self.retries = server.retries
        self.max_wait = server.max_wait
        self.price = server.price
        self.params = dict(params or {})
        self.identity = identity
        transport = self._transport_to(server)
        self.via = f"{transport.via} ({transport.reason})"
        """The transport (judgekit's HTTP or litellm) and the reason for it."""
        self._calls = Calls(server, transport, params=self.params)
        self._naming = Naming(self._calls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"

    @abstractmethod
    def _transport_to(self, server: Server) -> Transport:
        """Return the transport that sends the requests.

        Raises:
            ConfigError: no transport can reach this server.
        """

    @abstractmethod
    async def _reply(self, request: Request) -> Reply:
        """Return the reply to a request, after the libraries and the key are loaded."""

    @property
    def shown(self) -> str:
        """The model and the address it is asked at, for messages; no credentials."""
        where = address(self.api_base)
        return self._model if where is None else f"{self._model} at {where}"

    def follow(self, pace: Pace) -> bool:
        """Make every HTTP call wait for a pace."""
        self._calls.pacing.pace = pace
        return True

    def findings(self) -> dict[str, JsonValue]:
        """Return facts that this process learnt about the judge; empty before the first request."""
        findings: dict[str, JsonValue] = {
            "dropped_params": dict(self._calls.parameters.dropped),
            "server": self._naming.name,
        }
        return {name: value for name, value in findings.items() if value}

    async def ask(self, request: Request) -> Reply:
        """Ask the model, with retries after outages.

        A malformed or too large response has been paid for, so it becomes a reply with a `fault`;
        reading it raises `InvalidReply`.

        Raises:
            JudgeUnavailable: no answer after all retries.
            JudgeRejected: the server rejects credentials, model, parameters or format.
            JudgeRefused: the provider's policy stopped the request.
            CaseError: the request is too long for the model, or the model rejects only this
                request.
        """
        if not self._calls.prepared:
            await self._calls.ready()
        try:
            reply = await self._reply(request)
        except (JudgeUnavailable, JudgeRejected) as exc:
            raise about(self.shown, exc) from None
        return self._with_name(reply)

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the server's name for its model; the server is asked once.

        This is separate from `ask`, so a reply is stored before the server is asked.
        """
        if not self._naming.done:
            await self._naming.ask()
        return self._with_name(reply)

    def _with_name(self, reply: Reply) -> Reply:
        name = self._naming.name
        same = name is None or reply.server == name
        return reply if same else reply.model_copy(update={"server": name})
