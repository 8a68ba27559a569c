"""Any hosted or OpenAI-compatible model as a judge, through instructor and litellm."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, JsonValue

from judgekit import providers
from judgekit.errors import ConfigError, JudgekitError, JudgeRejected, JudgeUnavailable
from judgekit.filledform import answer_model
from judgekit.judges.batch import Batch
from judgekit.judges.direct import Direct
from judgekit.judges.embedding import Share
from judgekit.judges.endpoint import Naming, address, endpoint
from judgekit.judges.ladder import Ladder
from judgekit.judges.line import Heard
from judgekit.judges.parameters import NOT_PARAMETERS, Parameters
from judgekit.judges.response import cost_of, listed_cost, read_response
from judgekit.judges.rung import MODES, Mode, format_of, schema_of
from judgekit.judges.shared import Shared
from judgekit.judges.verdict import Verdicts
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
        self._api_key = api_key
        self._clients: dict[Mode | None, Any] = {}
        self._parameters = Parameters(self.params)
        self._secrets: tuple[str, ...] = (api_key or "",)
        self._answered = False
        self._ready = Shared(self._prepare)
        self._naming = Naming(api_base, model=model, api_key=api_key)
        ladder = Ladder(model=model, endpoint=endpoint(api_base))
        self._verdicts = Verdicts(self, ladder=ladder, mode=mode, reasks=reasks)
        self._other = Direct(self)

    def __repr__(self) -> str:
        return f"LiteLLMJudge({self._model!r})"

    @property
    def model(self) -> str:
        """The model string, as given."""
        return self._model

    @property
    def ladder(self) -> Ladder:
        """The ways of asking for a form, and the one that is used."""
        return self._verdicts.ladder

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
        self._verdicts.keep_in(store, anew=anew)

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
            asking = self._verdicts if request.form.want == "verdict" else self._other
            reply = await asking.reply(request)
        except (JudgeUnavailable, JudgeRejected) as exc:
            raise providers.about(self.shown, exc) from None
        if not self._naming.done:
            await self._naming.ask()
        name = self._naming.name
        return reply if name is None else reply.model_copy(update={"server": name})

    # -- the line of judgekit.judges.verdict and judgekit.judges.direct ------------------

    async def put(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, *, retry: bool = True
    ) -> Heard:
        """Return the raw response of one chat, however many attempts it took to get it."""
        return await self._insist(partial(self._once, messages, form, mode), retry=retry)

    def read(self, heard: Heard) -> Try:
        """Return what was said."""
        with_logprobs = bool(heard.params.get("logprobs"))
        return read_response(heard.response, with_logprobs=with_logprobs, secrets=self._secrets)

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

    async def _insist(self, once: _Once, *, retry: bool = True) -> Heard:
        """Make a call, again after outages, within the time and the waits that are allowed."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        attempts = AsyncRetrying(
            retry=retry_if_exception(lambda exc: isinstance(exc, Outage)),
            stop=stop_after_attempt(self.retries + 1 if retry else 1),
            wait=self._wait,
            before_sleep=self._log,
            reraise=True,
        )
        heard: Heard = await attempts(self._in_time, once)
        return heard

    async def _in_time(self, once: _Once) -> Heard:
        import asyncio

        try:
            async with asyncio.timeout(self.timeout):
                return await self._taking(once)
        except TimeoutError:
            raise Outage(f"no complete answer within {self.timeout:g} s") from None

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

    def cost(self, response: Any) -> float | None:
        """Return the US dollars of one response; `None` when no price is known."""
        if self.price is not None:
            return cost_of(response, price=self.price)
        return listed_cost(response) if self.api_base is None else None


def _import() -> None:
    providers.load()
    import instructor
    import tenacity

    assert instructor, tenacity  # noqa: S101 - imported for the time it takes


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
