"""Any hosted or OpenAI-compatible model as a judge, through instructor and litellm."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, JsonValue

from judgekit import providers
from judgekit.errors import (
    CaseError,
    ConfigError,
    JudgekitError,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.filledform import answer_model
from judgekit.judges.batch import Batch
from judgekit.judges.direct import Direct, Heard
from judgekit.judges.embedding import Share
from judgekit.judges.endpoint import Naming, address, endpoint
from judgekit.judges.ladder import Ladder
from judgekit.judges.parameters import NOT_PARAMETERS, Parameters
from judgekit.judges.response import Total, fault_of, read_response, usage_of
from judgekit.judges.rung import (
    MODES,
    PROBE,
    Mode,
    again,
    format_of,
    messages_of,
    names_format,
    probe_request,
    schema_of,
)
from judgekit.judges.shared import Shared
from judgekit.providers import BadRequest, Outage, without
from judgekit.request import Form, Reply, Request, Try

if TYPE_CHECKING:
    from judgekit.store import Store

_heard: ContextVar[list[Any]] = ContextVar("heard")
"""The raw responses of the attempt under way in this task."""


_Once = Callable[[dict[str, JsonValue]], Awaitable[Any]]
"""Makes one HTTP call with the parameters given and returns what came."""


class LiteLLMJudge:
    """A model behind any provider litellm knows, or any OpenAI-compatible server.

    How the form is asked for is found out by probing, at the first request that is really asked:
    see `judgekit.judges.rung` for the rungs and docs/judges.md for what that means. Requests that
    want no verdict are asked without a form: answers as they come, vectors many to a call, and
    log-probabilities of a server that echoes them.

    Args:
        model: litellm's name of it, such as `openai/gpt-4o-mini` or `ollama_chat/qwen3:8b`.
        api_base: address of an OpenAI-compatible server. Not part of any key.
        api_key: never written anywhere; the provider's environment variable by default.
        params: parameters that shape the answer (temperature, max_tokens, seed, ...).
        identity: what really answers, where the server takes any model name.
        mode: a rung of the ladder to stay on, probed or not. Part of the key only when the
            author forces it here.
        timeout: seconds for one call, first byte to last.
        retries: further attempts after an outage; refusals and invalid replies are not outages.
        max_wait: longest wait in seconds before an attempt; a server that asks for more is down.
        reasks: how often an invalid answer is handed back with what is wrong with it.
        price: US dollars per million input and output tokens; litellm's own table by default.
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        params: Mapping[str, JsonValue] | None = None,
        identity: str | None = None,
        mode: Mode | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        max_wait: float = 60.0,
        reasks: int = 1,
        price: tuple[float, float] | None = None,
    ) -> None:
        if mode is not None and mode not in MODES:
            raise ConfigError(f"no output mode {mode!r}; known: {', '.join(MODES)}")
        if timeout <= 0 or retries < 0 or reasks < 0:
            raise ConfigError("timeout must be positive, retries and reasks not negative")
        if api_base is not None and not api_base.startswith(("http://", "https://")):
            raise ConfigError(f"the address {api_base!r} must begin with http:// or https://")
        for name in params or ():
            if name in NOT_PARAMETERS:
                raise ConfigError(f"params shape the answer; {name!r} is not one of them")
        self._model = model
        self.api_base = api_base
        self.params = dict(params or {})
        self.identity = identity
        self.mode = mode
        self.timeout = timeout
        self.retries = retries
        self.max_wait = max_wait
        self.reasks = reasks
        self.price = price
        self.ladder = Ladder(model=model, endpoint=endpoint(api_base))
        self._api_key = api_key
        self._clients: dict[Mode | None, Any] = {}
        self._parameters = Parameters(self.params)
        self._secrets: tuple[str, ...] = (api_key or "",)
        self._answered = False
        self._ready = Shared(self._prepare)
        self._naming = Naming(api_base, model=model, api_key=api_key)
        self._probing = Shared(self._probe)
        self._doubting = Shared(self._doubt)
        self._like: Request | None = None
        self._anew = False
        self._store: Callable[[], Store | None] | None = None
        self._other = Direct(self)

    def __repr__(self) -> str:
        return f"LiteLLMJudge({self._model!r})"

    @property
    def model(self) -> str:
        """The model string, as given."""
        return self._model

    @property
    def batch(self) -> Batch[Share]:
        """What gathers texts to be embedded in one call."""
        return self._other.batch

    @property
    def answered(self) -> bool:
        """Whether any request was taken yet."""
        return self._answered

    @property
    def shown(self) -> str:
        """The model and the address it is asked at, for messages; no credentials."""
        where = address(self.api_base)
        return self._model if where is None else f"{self._model} at {where}"

    def keep_in(self, store: Callable[[], Store | None], *, anew: bool = False) -> None:
        """Keep what is learned of this judge in a store; it is opened when something is asked.

        What the store holds is taken for granted, unless it is to be learned anew.
        """
        self._store = self._store or store
        self._anew = anew

    def findings(self) -> dict[str, JsonValue]:
        """Return what was found out about this judge in this process; empty if nothing was."""
        if not self._clients:
            return {}
        ladder = self.ladder
        found: dict[str, JsonValue] = {
            "mode": self.mode or ladder.mode,
            "mode_from": "suite" if self.mode else ladder.source,
            "steps": list(ladder.steps),
            "probes": ladder.probes,
            "dropped_params": dict(self._parameters.dropped),
            "server": self._naming.name,
        }
        return {name: value for name, value in found.items() if value}

    async def ask(self, request: Request) -> Reply:
        """Ask the model, again after an outage, and once more after an invalid answer.

        Raises:
            JudgeUnavailable: no answer after every retry.
            JudgeRejected: credentials, unknown model, parameters or format not taken.
            JudgeRefused: the provider's policy stopped the request.
            CaseError: the request is too long for the model, or is the one it does not take.
        """
        if not self._clients:
            await self._ready()
        try:
            if request.form.want == "verdict":
                reply = await self._verdict(request)
            else:
                reply = await self._other.reply(request)
        except (JudgeUnavailable, JudgeRejected) as exc:
            raise _about(self.shown, exc) from None
        if not self._naming.done:
            await self._naming.ask()
        name = self._naming.name
        return reply if name is None else reply.model_copy(update={"server": name})

    async def _verdict(self, request: Request) -> Reply:
        while True:
            mode = self.mode or self.ladder.mode or await self._rung(request)
            try:
                reply = await self._ask_in(mode, request)
            except BadRequest as exc:
                if not await self._lower(mode, exc, request):
                    raise
                continue
            if await self._holds(mode, reply, request):
                return reply

    async def _ask_in(self, mode: Mode, request: Request) -> Reply:
        messages = messages_of(request, mode)
        tries: list[Try] = []
        total = Total()
        model: str | None = None
        while True:
            response, params = await self._call(messages, request.form, mode)
            latest = self._read(response, params)
            tries.append(latest)
            total.add(response, self.cost(response))
            model = getattr(response, "model", None) or model
            fault = fault_of(latest, request.form)
            if fault is None or len(tries) > self.reasks:
                break
            messages = again(messages, latest.text or "", fault)
        return Reply(
            tries=tuple(tries),
            model=self.named(model),
            mode=mode,
            effective_params=params,
            usage=total.usage,
            cost=total.cost,
        )

    # -- what is no verdict: see judgekit.judges.direct --------------------------------

    async def said(self, request: Request) -> Heard:
        """Return the raw response to a chat without a form."""
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        return await self._call(messages, request.form, "text")

    def read(self, heard: Heard) -> Try:
        """Return what was said."""
        return self._read(*heard)

    def named(self, model: object) -> str | None:
        """Return the name a server gave its model, without the key in it."""
        return without(model, self._secrets) if isinstance(model, str) and model else None

    async def sent(
        self, send: Callable[..., Awaitable[Any]], *, fixed: Mapping[str, JsonValue]
    ) -> Heard:
        """Return the raw response of a call instructor has no part in, with retries."""
        return await self._insist(partial(self._direct, send, fixed))

    async def _direct(
        self,
        send: Callable[..., Awaitable[Any]],
        fixed: Mapping[str, JsonValue],
        params: dict[str, JsonValue],
    ) -> Any:
        """Make one HTTP call that instructor has no part in."""
        failure: JudgekitError
        try:
            response = await send(**self._address, **{**params, **fixed})
        except Exception as exc:  # noqa: BLE001 - the edge: any foreign error is translated here, once
            failure = self._translated(exc)
        else:
            self._answered = True
            return response
        raise failure

    # -- the ladder ---------------------------------------------------------------

    async def _rung(self, request: Request) -> Mode:
        """Return the rung to ask on: the one the store keeps, else the one a probe finds."""
        if self._store is not None and self.ladder.store is None:
            self.ladder.store = self._store()
        known = None if self._anew else self.ladder.recall()
        if known is not None:
            return known
        self._like = request
        return await self._probing()

    async def _probe(self) -> Mode:
        return await self.ladder.find(self._put_probe)

    async def _doubt(self) -> None:
        await self.ladder.doubt(self._put_probe)

    async def _put_probe(self, mode: Mode, retry: bool) -> Try:
        assert self._like is not None  # noqa: S101 - set before any probe
        messages = messages_of(probe_request(self._like), mode)
        response, params = await self._call(messages, PROBE, mode, retry=retry)
        return self._read(response, params)

    async def _lower(self, mode: Mode, error: BadRequest, request: Request) -> bool:
        """Leave a rung that is refused in use; return whether to ask again on another.

        Raises:
            CaseError: the judge takes other requests, so it is this one that is wrong.
        """
        if names_format(error.said, mode):
            if self.mode is not None:
                advice = f"the suite forces judge.mode {mode}; left out, a way it takes is found"
                raise JudgeRejected(f"{error} ({advice})") from None
            return self.ladder.refused(mode, str(error))
        if error.status not in (400, 422):
            return False
        if not self._answered:
            self._like = request
            try:
                await self._put_probe(mode, False)
            except (JudgeRejected, JudgeUnavailable):
                return False
        raise CaseError(f"the judge took other requests but not this one: {error}") from None

    async def _holds(self, mode: Mode, reply: Reply, request: Request) -> bool:
        """Return whether an answer shows its rung to hold, as far as an answer can."""
        if self.mode is not None:
            return True
        if fault_of(reply.tries[-1], request.form) is None:
            self.ladder.valid()
            return True
        if not self.ladder.invalid(mode):
            return True
        self._like = request
        if mode == self.ladder.mode:
            await self._doubting()
        return mode == self.ladder.mode

    # -- one call -----------------------------------------------------------------

    async def _prepare(self) -> None:
        """Import the libraries and look for credentials, once."""
        import asyncio

        # In a thread: it takes seconds, and the rest of the program wants its turn meanwhile.
        await asyncio.to_thread(_import)
        litellm = providers.load()
        import instructor

        if self._api_key is None and self.api_base is None:
            missing = providers.missing_keys(self._model)
            if missing:
                names = " and ".join(missing)
                raise JudgeRejected(f"{self._model}: set {names} in the environment")
        self._secrets = (self._api_key or "", *providers.secrets_known())
        if self.api_base is None:
            self._parameters.keep(providers.known_parameters(self._model))

        async def complete(**options: Any) -> Any:
            response = await litellm.acompletion(**options)
            _heard.get().append(response)
            return response

        modes: dict[Mode | None, Any] = {
            None: instructor.Mode.JSON_SCHEMA,
            "json_schema": instructor.Mode.JSON_SCHEMA,
            "tools": instructor.Mode.TOOLS,
        }
        self._clients = {
            name: instructor.from_litellm(complete, mode=mode) for name, mode in modes.items()
        }

    async def _call(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, *, retry: bool = True
    ) -> Heard:
        """Return the raw response of one answer, however many attempts it took to get it."""
        return await self._insist(partial(self._once, messages, form, mode), retry=retry)

    async def _insist(self, once: _Once, *, retry: bool = True) -> Heard:
        """Make a call, again after outages, within the time and the waits that are allowed."""
        import asyncio

        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        attempts = AsyncRetrying(
            retry=retry_if_exception(lambda exc: isinstance(exc, Outage)),
            stop=stop_after_attempt(self.retries + 1 if retry else 1),
            wait=self._wait,
            reraise=True,
        )
        async for attempt in attempts:
            with attempt:
                try:
                    async with asyncio.timeout(self.timeout):
                        return await self._taking(once)
                except TimeoutError:
                    late = f"no complete answer within {self.timeout:g} s"
                    raise Outage(late) from None
        raise AssertionError("unreachable")  # pragma: no cover

    def _wait(self, state: Any) -> float:
        error = state.outcome.exception()
        if isinstance(error, Outage) and error.retry_after is not None:
            return error.retry_after
        from tenacity import wait_random_exponential

        return float(wait_random_exponential(multiplier=1, max=self.max_wait)(state))

    async def _taking(self, once: _Once) -> Heard:
        """Make one call, and again without the parameters the model says it does not take."""
        while True:
            sent = self._parameters.sent
            try:
                return Heard(await once(sent), sent)
            except BadRequest as exc:
                if not self._parameters.drop(exc.said, sent, reason=str(exc)):
                    raise

    async def _once(
        self,
        messages: list[dict[str, Any]],
        form: Form,
        mode: Mode,
        params: dict[str, JsonValue],
    ) -> Any:
        """Make one HTTP call and return what came, whatever instructor thinks of it."""
        options: dict[str, Any] = {"response_model": None}
        client = self._clients.get(mode)
        if client is not None:
            options["response_model"] = _asked(form)
        else:
            client = self._clients[None]
            if (format_ := format_of(form, mode)) is not None:
                options["response_format"] = format_
        heard: list[Any] = []
        before = _heard.set(heard)
        failure: JudgekitError | None = None
        try:
            await client.chat.completions.create(
                model=self._model,
                messages=messages,
                **self._address,
                **params,
                **options,
            )
        except Exception as exc:  # noqa: BLE001 - the edge: any foreign error is translated here, once
            # An answer that instructor could not parse is still an answer; read_reply judges it.
            failure = None if heard else self._translated(exc)
        finally:
            _heard.reset(before)
        if failure is not None:
            # Outside the handler: the provider's own error may quote the key and is not chained.
            raise failure
        self._answered = True
        return heard[-1]

    @property
    def _address(self) -> dict[str, Any]:
        """What every call is made with: whom to ask, and that litellm is not to ask again."""
        return {
            "api_base": self.api_base,
            "api_key": self._api_key or ("none" if self.api_base else None),
            "timeout": self.timeout,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": False,
        }

    def _translated(self, error: Exception) -> JudgekitError:
        from instructor.core.exceptions import InstructorRetryException

        cause = error.__cause__ if isinstance(error, InstructorRetryException) else None
        failure = providers.translate(cause or error, secrets=self._secrets)
        if isinstance(failure, Outage) and (failure.retry_after or 0.0) > self.max_wait:
            asked = f"asks to wait {failure.retry_after:g} s, more than max_wait"
            return JudgeUnavailable(f"{failure} ({asked})")
        return failure

    def _read(self, response: Any, params: Mapping[str, Any]) -> Try:
        return read_response(
            response, with_logprobs=bool(params.get("logprobs")), secrets=self._secrets
        )

    def cost(self, response: Any) -> float | None:
        """Return the US dollars of one response; `None` when no price is known."""
        if self.price is not None:
            usage = usage_of(response)
            if usage is None:
                return None
            paid = usage.input_tokens * self.price[0] + usage.output_tokens * self.price[1]
            return paid / 1_000_000
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        return float(cost) if isinstance(cost, (int, float)) and self.api_base is None else None


def _import() -> None:
    providers.load()
    import instructor
    import tenacity

    assert instructor, tenacity  # noqa: S101 - imported for the time it takes


def _about(judge: str, error: JudgekitError) -> JudgekitError:
    """Return an error that says which judge it is about."""
    text = str(error)
    if text.startswith(judge.partition(" at ")[0]):
        return error
    named = type(error)(f"{judge}: {text}")
    if isinstance(error, BadRequest) and isinstance(named, BadRequest):
        named.said, named.status = error.said, error.status
    return named


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
