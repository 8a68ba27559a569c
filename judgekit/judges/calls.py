"""The HTTP calls of one judge: retries after outages, time limits, translated errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import JsonValue

from judgekit.core.errors import (
    CaseError,
    JudgekitError,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.judgment import keep_parsed
from judgekit.core.request import Form, Try, Usage
from judgekit.core.shared import SharedCall
from judgekit.judges import providers
from judgekit.judges.credentials import address, key_advice, own_key, secrets_in
from judgekit.judges.instructor_client import (
    NAME,
    ParsedText,
    cause_of,
    instructor_clients,
    request_options,
)
from judgekit.judges.malformed import malformed_try, metered, parts_joined
from judgekit.judges.output_mode import Mode, format_of
from judgekit.judges.parameters import Parameters
from judgekit.judges.providers import BadRequest, Outage, without
from judgekit.judges.quiet import hide
from judgekit.judges.response import cost_of, listed_cost, read_response, reported_cost, usage_of

if TYPE_CHECKING:
    from judgekit.judges.wire import Exchange

T = TypeVar("T")
_Params = dict[str, JsonValue]


class CallResult(NamedTuple):
    """The result of one call."""

    raw: Any
    """The response as litellm returns it; if it is malformed, its model and tokens."""
    params: _Params
    """The parameters that were sent."""
    malformed: Try | None
    """The attempt of a malformed response, with its fault."""
    model: str | None
    """The model's name according to the server, without keys."""
    usage: Usage | None
    cost: float | None
    """US dollars; `None` if no price is known."""


class Server(NamedTuple):
    """The server of a judge, and its limits of time and attempts."""

    model: str
    api_base: str | None
    api_key: str | None
    timeout: float
    retries: int
    max_wait: float
    price: tuple[float, float] | None


class Calls:
    """Makes the HTTP calls of one judge."""

    def __init__(self, server: Server, *, params: Mapping[str, JsonValue]) -> None:
        self.server = server
        self.parameters = Parameters(params)
        self.ready = SharedCall(self._prepare)
        self.prepared = False
        """Whether the libraries are imported and the key is known."""
        self._clients: dict[Mode, Any] = {}
        """The clients of instructor, by mode."""
        self.key = server.api_key
        """The key to send, if there is one."""
        self._secrets: tuple[str, ...] = (server.api_key or "", *secrets_in(server.api_base))
        self._answered = False

    @property
    def model(self) -> str:
        """The model, as litellm names it."""
        return self.server.model

    @property
    def answered(self) -> bool:
        """Whether the server has accepted a request."""
        return self._answered

    async def chat(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, *, retry: bool = True
    ) -> tuple[Try, CallResult]:
        """Ask for a reply to a form; return the attempt and the result of the call."""
        return await self._retried(partial(self._chat, messages, form, mode), retry=retry)

    async def other(
        self, send: Callable[..., Awaitable[Any]], *, fixed: Mapping[str, JsonValue]
    ) -> CallResult:
        """Make a call without instructor, for vectors or log-probabilities.

        Args:
            send: makes the call.
            fixed: parameters that override those of the judge.
        """
        return await self._retried(partial(self._other, send, fixed))

    # -- getting ready -----------------------------------------------------------------

    async def _prepare(self) -> None:
        """Import the libraries and look for credentials, once."""
        import asyncio

        # In a thread, because it takes seconds and would block the event loop.
        await asyncio.to_thread(_import)
        litellm = providers.load()
        model, base = self.server.model, self.server.api_base
        if self.parameters.sent.get("n") not in (None, 1):
            raise JudgeRejected(
                f"{model}: params.n asks for several answers in one; leave it out and ask for "
                "`samples` in the metric"
            )
        if self.key is None and base is None:
            missing = providers.missing_keys(model)
            if missing:
                names = " and ".join(missing)
                raise JudgeRejected(f"{model}: set {names} in the environment")
        if self.key is None and base is not None:
            self.key = own_key(model)
        self._secrets = (self.key or "", *secrets_in(base), *providers.secrets_known())
        hide(self._secrets)
        if base is None:
            self.parameters.keep(providers.known_parameters(model))

        self._clients = instructor_clients(litellm.acompletion)
        self.prepared = True

    # -- one request, in several attempts if necessary --------------------------------------

    async def _retried(self, call: Callable[[_Params], Awaitable[T]], *, retry: bool = True) -> T:
        """Make a call, with retries after outages and within the limits of time."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        attempts = AsyncRetrying(
            retry=retry_if_exception(lambda exc: isinstance(exc, Outage)),
            stop=stop_after_attempt(self.server.retries + 1 if retry else 1),
            wait=self._wait,
            before_sleep=self._log,
            reraise=True,
        )
        result: T = await attempts(self._in_time, call)
        return result

    async def _in_time(self, call: Callable[[_Params], Awaitable[T]]) -> T:
        import asyncio

        timeout = self.server.timeout
        try:
            async with asyncio.timeout(timeout):
                return await self._without_refused_parameters(call)
        except TimeoutError:
            raise Outage(f"no complete answer within {timeout:g} s") from None

    def _log(self, state: Any) -> None:
        """Log a failed attempt and the wait before the next one; the error contains no key."""
        import logging

        error, wait = state.outcome.exception(), state.next_action.sleep
        status = getattr(error, "status", None)
        text = f"HTTP {status}: {error}" if status else str(error)
        logging.getLogger("judgekit").info(
            "%s: attempt %d: %.200s; again in %.1f s", self.model, state.attempt_number, text, wait
        )

    def _wait(self, state: Any) -> float:
        error = state.outcome.exception()
        if isinstance(error, Outage) and error.retry_after is not None:
            return error.retry_after
        from tenacity import wait_random_exponential

        return float(wait_random_exponential(multiplier=1, max=self.server.max_wait)(state))

    async def _without_refused_parameters(self, call: Callable[[_Params], Awaitable[T]]) -> T:
        """Make one call, and repeat it without parameters that the model rejects."""
        while True:
            sent = self.parameters.sent
            try:
                return await call(sent)
            except BadRequest as exc:
                if not self.parameters.drop(exc.said, sent, reason=str(exc)):
                    raise

    # -- one call -----------------------------------------------------------------

    async def _chat(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, params: _Params
    ) -> tuple[Try, CallResult]:
        client = self._clients.get(mode)
        send: Callable[..., Awaitable[Any]]
        responses: list[Any] = []
        if client is None:
            send = partial(_complete, responses, **format_of(form, mode))
        else:
            options = request_options(form, mode, responses)
            send = partial(client.chat.completions.create, **options)
        send = partial(send, model=self.model, messages=messages)
        verdict, result = await self._call(send, params, responses, limit=None)
        if result.malformed is not None:
            return result.malformed, result
        attempt = read_response(
            result.raw,
            tool=NAME if mode == "tools" else None,
            with_logprobs=bool(params.get("logprobs")),
            secrets=self._secrets,
        )
        if isinstance(verdict, ParsedText):
            keep_parsed(attempt, form, verdict.text, verdict.reply)
        return attempt, result

    async def _other(
        self,
        send: Callable[..., Awaitable[Any]],
        fixed: Mapping[str, JsonValue],
        params: _Params,
    ) -> CallResult:
        from judgekit.judges.wire import MAX_FIGURES

        responses: list[Any] = []

        async def sending(**options: Any) -> None:
            responses.append(await send(**options))

        _, result = await self._call(sending, {**params, **fixed}, responses, limit=MAX_FIGURES)
        return result._replace(params=params)

    async def _call(
        self,
        send: Callable[..., Awaitable[Any]],
        params: _Params,
        responses: list[Any],
        *,
        limit: int | None,
    ) -> tuple[Any, CallResult]:
        """Make one HTTP call; return the result of `send`, if any, and the result of the call.

        Args:
            send: makes the call and puts the response in `responses`.
            params: the parameters of the judge.
            responses: receives the response; `send` may fail to parse it.
            limit: bytes that the response may have, if it is not a chat.

        Raises:
            JudgekitError: the server did not answer, or answered with an error.
        """
        from judgekit.judges.wire import MAX_BODY, exchange

        failure: JudgekitError | None = None
        returned = None
        with exchange(limit=limit or MAX_BODY) as call:
            try:
                returned = await send(**self._address, **params)
            except Exception as exc:  # noqa: BLE001 - the edge: any foreign error is translated here, once
                if not responses:
                    failure = redirected(call) or self._translated(exc)
        if not responses and limit is None and (joined := parts_joined(call.data())) is not None:
            responses.append(joined)
        malformed = None
        if not responses:
            if not isinstance(failure, (CaseError, JudgeRefused)):
                malformed = malformed_try(call, secrets=self._secrets)
            if failure is not None and malformed is None:
                # Outside the handler: the provider's error may quote the key and is not chained.
                raise failure
        raw = responses[-1] if responses else metered(call.data())
        price = reported_cost(call.headers)
        call.release()
        self._answered = True
        return returned, CallResult(
            raw, params, malformed, self._name_of(raw), usage_of(raw), self._cost(raw, price)
        )

    def _name_of(self, response: Any) -> str | None:
        model = getattr(response, "model", None)
        return without(model, self._secrets) if isinstance(model, str) and model else None

    def _cost(self, response: Any, reported: float | None) -> float | None:
        """Return the US dollars of one response; `reported` is the amount in its headers."""
        if self.server.price is not None:
            return cost_of(response, price=self.server.price)
        return reported if self.server.api_base else listed_cost(response)

    @property
    def _address(self) -> dict[str, Any]:
        """Options of every call: the server, and no retries by litellm."""
        return {
            "api_base": self.server.api_base,
            "api_key": self.key or ("none" if self.server.api_base else None),
            "timeout": self.server.timeout,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": False,
        }

    def _translated(self, error: Exception) -> JudgekitError:
        cause = cause_of(error)
        failure = providers.translate(cause, secrets=self._secrets)
        if isinstance(failure, Outage) and (failure.retry_after or 0.0) > self.server.max_wait:
            asked = f"asks to wait {failure.retry_after:g} s, more than max_wait"
            return JudgeUnavailable(f"{failure} ({asked})")
        if isinstance(failure, JudgeRejected) and providers.status_of(cause) in (401, 403):
            advice = key_advice(self.model, self.server.api_base, key=self.key)
            return JudgeRejected(f"{failure}{advice}")
        return failure


def redirected(call: Exchange) -> Outage | None:
    """Return the error for a redirect; `None` if the server did not redirect."""
    if call.status is None or not 300 <= call.status < 400:
        return None
    target = address(call.headers.get("location", "").partition("?")[0])
    where = f" to {target}" if target else ""
    return Outage(
        f"the server redirects{where}, and redirects are not followed; "
        "set api_base to the address that answers itself",
        status=call.status,
    )


async def _complete(responses: list[Any], **options: Any) -> None:
    responses.append(await providers.load().acompletion(**options))


def _import() -> None:
    providers.load()
    for name in ("instructor", "tenacity", "judgekit.judges.wire"):
        import_module(name)  # now, because it takes time
