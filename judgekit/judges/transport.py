"""The calls of one judge: made again after outages, within limits, their errors translated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, JsonValue

from judgekit.core.errors import (
    CaseError,
    JudgekitError,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.reply_schema import answer_model
from judgekit.core.request import Form, Try
from judgekit.judges import providers
from judgekit.judges.credentials import address, key_advice, own_key, secrets_in
from judgekit.judges.line import Heard
from judgekit.judges.malformed import malformed_try, metered, parts_joined
from judgekit.judges.parameters import Parameters
from judgekit.judges.providers import BadRequest, Outage, without
from judgekit.judges.quiet import hide
from judgekit.judges.response import cost_of, cost_told, listed_cost, read_response
from judgekit.judges.rung import Mode, format_of, schema_of
from judgekit.judges.shared import Shared

if TYPE_CHECKING:
    from judgekit.judges.wire import Exchange

_heard: ContextVar[list[tuple[Any, str | None]]] = ContextVar("heard")
"""The raw responses of the attempt under way in this task, each with the tool it was to call."""

_Once = Callable[[dict[str, JsonValue]], Awaitable[Heard]]
"""Makes one HTTP call with the parameters given and returns what came."""


class Server(NamedTuple):
    """Where a judge is asked, and for how long."""

    model: str
    api_base: str | None
    api_key: str | None
    timeout: float
    retries: int
    max_wait: float
    price: tuple[float, float] | None


class Transport:
    """Makes the HTTP calls of one judge."""

    def __init__(self, server: Server, *, params: Mapping[str, JsonValue]) -> None:
        self.server = server
        self.parameters = Parameters(params)
        self.ready = Shared(self._prepare)
        self.prepared = False
        """Whether the libraries are imported and a key was looked for."""
        self._clients: dict[Mode | None, Any] = {}
        self.key = server.api_key
        """The key that is sent, if one is."""
        self._secrets: tuple[str, ...] = (server.api_key or "", *secrets_in(server.api_base))
        self._answered = False

    @property
    def model(self) -> str:
        """The model, as litellm names it."""
        return self.server.model

    @property
    def answered(self) -> bool:
        """Whether any request was taken yet."""
        return self._answered

    # -- the line of judgekit.judges.verdict and judgekit.judges.direct ------------------

    async def put(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, *, retry: bool = True
    ) -> Heard:
        """Return the raw response of one chat, however many attempts it took to get it."""
        return await self._insist(partial(self._chat, messages, form, mode), retry=retry)

    async def sent(
        self, send: Callable[..., Awaitable[Any]], *, fixed: Mapping[str, JsonValue]
    ) -> Heard:
        """Return the raw response of a call instructor has no part in, with retries."""
        return await self._insist(partial(self._figures, send, fixed))

    def read(self, heard: Heard) -> Try:
        """Return what was said."""
        if heard.malformed is not None:
            return heard.malformed
        with_logprobs = bool(heard.params.get("logprobs"))
        return read_response(
            heard.response, tool=heard.tool, with_logprobs=with_logprobs, secrets=self._secrets
        )

    def named(self, model: object) -> str | None:
        """Return the name a server gave its model, without the key in it."""
        return without(model, self._secrets) if isinstance(model, str) and model else None

    def cost(self, heard: Heard) -> float | None:
        """Return the US dollars of one response; `None` when no price is known."""
        if self.server.price is not None:
            return cost_of(heard.response, price=self.server.price)
        return heard.price if self.server.api_base else listed_cost(heard.response)

    # -- getting ready -----------------------------------------------------------------

    async def _prepare(self) -> None:
        """Import the libraries and look for credentials, once."""
        import asyncio

        # In a thread: it takes seconds, and the rest of the program wants its turn meanwhile.
        await asyncio.to_thread(_import)
        litellm = providers.load()
        import instructor

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

        async def complete(**options: Any) -> Any:
            response = await litellm.acompletion(**options)
            tools = options.get("tools")
            _heard.get().append((response, tools[0]["function"]["name"] if tools else None))
            return response

        modes: dict[Mode | None, Any] = {
            None: instructor.Mode.JSON_SCHEMA,
            "json_schema": instructor.Mode.JSON_SCHEMA,
            "tools": instructor.Mode.TOOLS,
        }
        self._clients = {
            name: instructor.from_litellm(complete, mode=mode) for name, mode in modes.items()
        }
        self.prepared = True

    # -- one request, in as many calls as it takes -----------------------------------------

    async def _insist(self, once: _Once, *, retry: bool = True) -> Heard:
        """Make a call, again after outages, within the time and the waits that are allowed."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        attempts = AsyncRetrying(
            retry=retry_if_exception(lambda exc: isinstance(exc, Outage)),
            stop=stop_after_attempt(self.server.retries + 1 if retry else 1),
            wait=self._wait,
            before_sleep=self._log,
            reraise=True,
        )
        heard: Heard = await attempts(self._in_time, once)
        return heard

    async def _in_time(self, once: _Once) -> Heard:
        import asyncio

        timeout = self.server.timeout
        try:
            async with asyncio.timeout(timeout):
                return await self._taking(once)
        except TimeoutError:
            raise Outage(f"no complete answer within {timeout:g} s") from None

    def _log(self, state: Any) -> None:
        """Say of an attempt that failed when the next one follows; the error names no key."""
        import logging

        error, wait = state.outcome.exception(), state.next_action.sleep
        status = getattr(error, "status", None)
        said = f"HTTP {status}: {error}" if status else str(error)
        logging.getLogger("judgekit").info(
            "%s: attempt %d: %.200s; again in %.1f s", self.model, state.attempt_number, said, wait
        )

    def _wait(self, state: Any) -> float:
        error = state.outcome.exception()
        if isinstance(error, Outage) and error.retry_after is not None:
            return error.retry_after
        from tenacity import wait_random_exponential

        return float(wait_random_exponential(multiplier=1, max=self.server.max_wait)(state))

    async def _taking(self, once: _Once) -> Heard:
        """Make one call, and again without the parameters the model says it does not take."""
        while True:
            sent = self.parameters.sent
            try:
                return await once(sent)
            except BadRequest as exc:
                if not self.parameters.drop(exc.said, sent, reason=str(exc)):
                    raise

    # -- one call -----------------------------------------------------------------

    async def _chat(
        self,
        messages: list[dict[str, Any]],
        form: Form,
        mode: Mode,
        params: dict[str, JsonValue],
    ) -> Heard:
        """Make one chat and return what came, whatever instructor thinks of it."""
        options: dict[str, Any] = {"response_model": None}
        client = self._clients.get(mode)
        if client is not None:
            options["response_model"] = _asked(form)
        else:
            client = self._clients[None]
            if (format_ := format_of(form, mode)) is not None:
                options["response_format"] = format_
        heard: list[tuple[Any, str | None]] = []
        before = _heard.set(heard)

        async def send(**rest: Any) -> Any:
            create = client.chat.completions.create
            return await create(model=self.model, messages=messages, **rest, **options)

        try:
            return await self._call(send, params, limit=None, heard=heard)
        finally:
            _heard.reset(before)

    async def _figures(
        self,
        send: Callable[..., Awaitable[Any]],
        fixed: Mapping[str, JsonValue],
        params: dict[str, JsonValue],
    ) -> Heard:
        """Make one call that instructor has no part in, for vectors or log-probabilities."""
        from judgekit.judges.wire import MAX_FIGURES

        heard: list[tuple[Any, str | None]] = []

        async def sending(**options: Any) -> None:
            heard.append((await send(**options), None))

        called = await self._call(sending, {**params, **fixed}, limit=MAX_FIGURES, heard=heard)
        return called._replace(params=params)

    async def _call(
        self,
        send: Callable[..., Awaitable[Any]],
        params: dict[str, JsonValue],
        *,
        limit: int | None,
        heard: list[tuple[Any, str | None]],
    ) -> Heard:
        """Make one HTTP call; what came of it is in `heard`, or in the exchange.

        Raises:
            JudgekitError: the server did not answer, or not with what can be an answer.
        """
        from judgekit.judges.wire import MAX_BODY, exchange

        failure: JudgekitError | None = None
        with exchange(limit=limit or MAX_BODY) as call:
            try:
                await send(**self._address, **params)
            except Exception as exc:  # noqa: BLE001 - the edge: any foreign error is translated here, once
                if not heard:
                    failure = redirected(call) or self._translated(exc)
        if not heard and limit is None and (response := parts_joined(call.data())) is not None:
            heard.append((response, None))
        final = isinstance(failure, (CaseError, JudgeRefused))
        malformed = None if heard or final else malformed_try(call, secrets=self._secrets)
        if failure is not None and not heard and malformed is None:
            # Outside the handler: the provider's own error may quote the key and is not chained.
            raise failure
        # An answer that instructor could not parse is still an answer; read_reply judges it.
        response, tool = heard[-1] if heard else (metered(call.data()), None)
        price = cost_told(call.headers)
        call.release()
        self._answered = True
        return Heard(response, params, malformed, tool=tool, price=price)

    @property
    def _address(self) -> dict[str, Any]:
        """What every call is made with: whom to ask, and that litellm is not to ask again."""
        return {
            "api_base": self.server.api_base,
            "api_key": self.key or ("none" if self.server.api_base else None),
            "timeout": self.server.timeout,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": False,
        }

    def _translated(self, error: Exception) -> JudgekitError:
        from instructor.core.exceptions import InstructorRetryException

        cause = error.__cause__ if isinstance(error, InstructorRetryException) else None
        failure = providers.translate(cause or error, secrets=self._secrets)
        if isinstance(failure, Outage) and (failure.retry_after or 0.0) > self.server.max_wait:
            asked = f"asks to wait {failure.retry_after:g} s, more than max_wait"
            return JudgeUnavailable(f"{failure} ({asked})")
        if isinstance(failure, JudgeRejected) and providers.status_of(cause or error) in (401, 403):
            advice = key_advice(self.model, self.server.api_base, key=self.key)
            return JudgeRejected(f"{failure}{advice}")
        return failure


def redirected(call: Exchange) -> Outage | None:
    """Return the error of a server that redirects; `None` where it did not."""
    if call.status is None or not 300 <= call.status < 400:
        return None
    target = address(call.headers.get("location", "").partition("?")[0])
    where = f" to {target}" if target else ""
    return Outage(
        f"the server redirects{where}, and redirects are not followed; "
        "set api_base to the address that answers itself",
        status=call.status,
    )


def _import() -> None:
    providers.load()
    import instructor
    import tenacity

    import judgekit.judges.wire

    assert instructor, tenacity  # noqa: S101 - imported for the time it takes
    assert judgekit.judges.wire  # noqa: S101


def _asked(form: Form) -> type[BaseModel]:
    """Return the model instructor asks for, made once a form.

    instructor derives a class from any other model, and its schema, anew for every call.
    """
    cached: type[BaseModel] | None = form.__dict__.get("_asked")
    if cached is None:
        from instructor import response_schema

        answer: type[BaseModel] = _Free if form.json_schema is not None else answer_model(form)
        schema = schema_of(form)

        class Verdict(answer):  # type: ignore[valid-type, misc]
            @classmethod
            def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
                return dict(schema)

        cached = response_schema(Verdict)
        form.__dict__["_asked"] = cached
    return cached


class _Free(BaseModel):
    """Any object: a schema of the author's own is checked by its own class, later."""

    model_config = {"extra": "allow"}
