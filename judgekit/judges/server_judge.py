"""Base of judges behind a server: address, key, limits of a call, the server's model name."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING

from judgekit.core.canonical import visible
from judgekit.core.credentials import credential_in
from judgekit.core.errors import (
    CircuitOpen,
    ConfigError,
    JudgeDown,
    JudgeRejected,
    JudgeUnavailable,
    RequestRejected,
    set_cost,
)
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.request import Reply, Request
from judgekit.judges.call_slots import call_slot
from judgekit.judges.calls import Calls
from judgekit.judges.endpoint import address, check_address
from judgekit.judges.headers import check_headers
from judgekit.judges.knowledge import LearntFromServer
from judgekit.judges.parameters import NOT_PARAMETERS
from judgekit.judges.payments import Payments
from judgekit.judges.providers import check_provider
from judgekit.judges.rejections import ProbeRejected
from judgekit.judges.translation import BadRequest, about
from judgekit.judges.transport import Server, Transport

if TYPE_CHECKING:
    from judgekit.judges.budget import CostMeter
    from judgekit.judges.pace import Pace


class ServerJudge(NamedJudge):
    """A judge behind a server; subclasses create the transport and make replies from calls."""

    settings: JudgeSettings
    knowledge: LearntFromServer

    def __init__(
        self,
        server: Server,
        *,
        settings: JudgeSettings,
        pace: Pace | None,
        meter: CostMeter | None = None,
    ) -> None:
        if server.timeout <= 0 or server.retries < 0:
            raise ConfigError("timeout must be positive, retries not negative")
        check_provider(server.model)
        if server.api_base is not None:
            check_address(server.api_base)
        check_headers(server.headers)
        for name in settings.params:
            if name in NOT_PARAMETERS:
                raise ConfigError(f"params shape the answer; {name!r} is not one of them")
        if (place := credential_in(settings.params)) is not None:
            raise ConfigError(
                f"params.{'.'.join(place)} is a credential, and params are recorded; pass it as "
                "api_key, or name its environment variable in api_key_env"
            )
        super().__init__(server.model)
        self.api_base = server.api_base
        self.timeout = server.timeout
        self.retries = server.retries
        self.max_wait = server.max_wait
        self.price = server.price
        self.tier = server.tier
        self.meter = meter
        """Charges every HTTP attempt to a budget; without one, a wrapper charges the requests."""
        self.settings = settings
        transport = self._transport_to(server)
        self.via = f"{transport.via} ({transport.reason})"
        """The transport (judgekit's HTTP or litellm) and the reason for it."""
        self._calls = Calls(server, transport, params=settings.params, pace=pace, meter=meter)
        self.prompt_cache = self._calls.prompt_cache
        """What its requests share with each other; `None` if that is not used."""
        self.knowledge = LearntFromServer(self._calls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"

    @abstractmethod
    def _transport_to(self, server: Server) -> Transport:
        """Return the transport that sends the requests.

        Raises:
            ConfigError: no transport can reach this server.
        """

    @abstractmethod
    async def _reply(self, request: Request, paid: Payments) -> Reply:
        """Return the reply to a request, after the libraries and the key are loaded.

        Args:
            request: the request.
            paid: receives the cost of every response, also of those before a failure.
        """

    @abstractmethod
    async def _takes_probe(self, request: Request, paid: Payments) -> bool:
        """Send a request like another one, without the text of its case; return if it is taken.

        Args:
            request: the other request.
            paid: receives the cost.

        Raises:
            JudgeRejected: the account or the key is the problem.
        """

    @property
    def shown(self) -> str:
        """The model and the address it is asked at, for messages; no credentials."""
        where = address(self.api_base)
        return self._model if where is None else f"{self._model} at {where}"

    async def ask(self, request: Request) -> Reply:
        """Ask the model, with retries after outages.

        A malformed or too large response has been paid for, so it becomes a reply with a `fault`;
        reading it raises `InvalidReply`.

        Raises:
            JudgeUnavailable: no answer after all retries.
            RequestRejected: the server rejects this request and takes others.
            JudgeDown: the server answers no request.
            JudgeRejected: the server rejects credentials, model, parameters or format; the message
                names the case.
            JudgeRefused: the provider's policy stopped the request.
            CaseError: the server says that the content of the request is wrong, or too long.
        """
        if self.prompt_cache is None:
            return await self._in_slot(request)
        async with self.prompt_cache.turn(request):
            return await self._in_slot(request)

    async def _in_slot(self, request: Request) -> Reply:
        if not self._calls.prepared:
            await self._calls.ready()
        async with call_slot():
            return await self._asked(request)

    async def _asked(self, request: Request) -> Reply:
        paid, taken = Payments(), False
        self._calls.rejections.begin()
        try:
            reply = await self._unless_rejected(request, paid)
            taken = True
        except CircuitOpen as exc:  # of a wrapper, before another attempt
            set_cost(exc, paid.total)
            raise
        except (JudgeUnavailable, JudgeRejected) as exc:
            # A new error, because requests that waited for one probe get the same one.
            error = about(self.shown, exc)
            if isinstance(exc, JudgeRejected) and not isinstance(exc, ProbeRejected):
                case = visible(request.about.case)[:80]
                error = JudgeRejected(f"{error} (case {case})" if case else str(error))
            set_cost(error, paid.total)
            raise error from None
        except BaseException as exc:
            set_cost(exc, paid.total)
            raise
        finally:
            self._calls.rejections.end(taken=taken)
        return self.knowledge.named(reply)

    async def _unless_rejected(self, request: Request, paid: Payments) -> Reply:
        """Return the reply; if the request is rejected, find out whether all are.

        Raises:
            RequestRejected: the server takes others.
            JudgeDown: it answers none.
            JudgeRejected: it rejects all.
        """
        while True:
            try:
                return await self._reply(request, paid)
            except BadRequest as exc:
                rejection = exc
            probe = partial(self._takes_probe, request, paid)
            case = request.about.case or request.key
            reason = await self._calls.rejections.general(case, probe)
            if reason is not None and rejection.doubtful:
                raise JudgeDown(str(rejection))
            if reason is not None:
                raise JudgeRejected(f"{rejection} ({reason})")
            if not rejection.again or paid.lost >= self.retries:
                raise RequestRejected(f"{rejection} (other requests are taken; run again to retry)")
            await self._calls.pause(paid.lost)
            paid.lost += 1
