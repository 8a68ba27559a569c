"""A judge for hosted and OpenAI-compatible models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from judgekit.core.errors import ConfigError, JudgeRejected, JudgeUnavailable
from judgekit.core.judge_wrapper import BaseJudge
from judgekit.core.request import Reply, Request, Try
from judgekit.core.suggest import suggest
from judgekit.judges.batch import Batch
from judgekit.judges.calls import Calls
from judgekit.judges.credentials import address, check_address
from judgekit.judges.endpoint import Naming, endpoint
from judgekit.judges.negotiation import Negotiation
from judgekit.judges.output_mode import MODES, Mode, messages_of, reask
from judgekit.judges.parameters import NOT_PARAMETERS
from judgekit.judges.plain import PlainRequests
from judgekit.judges.providernames import check_provider
from judgekit.judges.response import Total, problem_of
from judgekit.judges.route import transport_of
from judgekit.judges.translation import BadRequest, Outage, about
from judgekit.judges.transport import Server, Via

if TYPE_CHECKING:
    from judgekit.cassette.store import Store
    from judgekit.judges.pace import Pace


class LiteLLMJudge(BaseJudge):
    """A model behind any provider litellm knows, or any OpenAI-compatible server.

    The first live request probes which output mode the model takes: `judgekit.judges.output_mode`
    lists the modes, docs/judges.md says what they mean. Requests that want no verdict have no
    schema: plain answers, vectors (many in one call), and log-probabilities of a server that
    echoes them.

    Args:
        model: the name that litellm uses, such as `openai/NAME` or `ollama_chat/qwen3:8b`.
        api_base: address of an OpenAI-compatible server. Not part of any key.
        api_key: never written anywhere; the provider's environment variable by default.
        params: parameters that shape the answer (temperature, max_tokens, seed, ...).
        identity: the model behind a server that takes any model name.
        mode: an output mode to use without probing. It is part of the key only when it is set
            here.
        timeout: seconds for one call, first byte to last.
        retries: further attempts after an outage; refusals and invalid replies are not outages.
        max_wait: longest wait in seconds before an attempt; a server that asks for more is down.
        reasks: how often to ask again after an invalid answer, saying what is wrong with it.
        price: US dollars per million input and output tokens; litellm's own table by default.
        via: `direct` or `litellm` to force a way to the model; chosen by default. Not part of
            any key.
    """

    params: dict[str, JsonValue]
    identity: str | None
    mode: Mode | None

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
        via: Via | None = None,
    ) -> None:
        if mode is not None and mode not in MODES:
            raise ConfigError(f"no output mode {mode!r}{suggest(mode, MODES)}")
        if timeout <= 0 or retries < 0 or reasks < 0:
            raise ConfigError("timeout must be positive, retries and reasks not negative")
        check_provider(model)
        if api_base is not None:
            check_address(api_base)
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
        server = Server(model, api_base, api_key, timeout, retries, max_wait, price)
        transport = transport_of(server, self.params, via=via)
        self.via = f"{transport.via} ({transport.reason})"
        """The way to the model, HTTP of judgekit or litellm, and the reason."""
        self._calls = Calls(server, transport, params=self.params)
        self._naming = Naming(api_base, model=model, key=lambda: self._calls.key)
        self.negotiation = Negotiation(self._calls, endpoint=endpoint(api_base), forced=mode)
        """The output mode in use, and how it was found."""
        self._plain = PlainRequests(self._calls)

    def __repr__(self) -> str:
        return f"LiteLLMJudge({self._model!r})"

    @property
    def model(self) -> str:
        """The model string, as given."""
        return self._model

    @property
    def ladder(self) -> Negotiation:
        """Deprecated name of `negotiation`."""
        import warnings

        message = "LiteLLMJudge.ladder is now LiteLLMJudge.negotiation"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.negotiation

    @property
    def batch(self) -> Batch[Reply]:
        """What gathers texts to be embedded in one call."""
        return self._plain.batch

    @property
    def shown(self) -> str:
        """The model and the address it is asked at, for messages; no credentials."""
        where = address(self.api_base)
        return self._model if where is None else f"{self._model} at {where}"

    def keep_in(self, store: Callable[[], Store | None], *, anew: bool = False) -> None:
        """Keep the output mode in a store, which is opened with the first request.

        Args:
            store: opens the store.
            anew: probe even where the store knows the mode.
        """
        self.negotiation.keep_in(store, anew=anew)

    def follow(self, pace: Pace) -> bool:
        """Let every HTTP call wait for a pace."""
        self._calls.pacing.pace = pace
        return True

    def findings(self) -> dict[str, JsonValue]:
        """Return what this process learnt about the judge; empty before the first request."""
        if not self._calls.prepared:
            return {}
        negotiation = self.negotiation
        findings: dict[str, JsonValue] = {
            "mode": self.mode or negotiation.mode,
            "mode_from": "suite" if self.mode else negotiation.source,
            "steps": list(negotiation.steps),
            "probes": negotiation.probes,
            "dropped_params": dict(self._calls.parameters.dropped),
            "server": self._naming.name,
        }
        return {name: value for name, value in findings.items() if value}

    async def ask(self, request: Request) -> Reply:
        """Ask the model, again after an outage, and once more after an invalid answer.

        A response that is malformed or too large was paid for: it is a reply with a `fault`, and
        reading it raises `InvalidReply`.

        Raises:
            JudgeUnavailable: no answer after every retry.
            JudgeRejected: credentials, unknown model, parameters or format not taken.
            JudgeRefused: the provider's policy stopped the request.
            CaseError: the request is too long for the model, or is the only one it does not take.
        """
        if not self._calls.prepared:
            await self._calls.ready()
        wants_verdict = request.form.want == "verdict"
        try:
            reply = await (self._verdict(request) if wants_verdict else self._plain.reply(request))
        except (JudgeUnavailable, JudgeRejected) as exc:
            raise about(self.shown, exc) from None
        return self._with_name(reply)

    async def _verdict(self, request: Request) -> Reply:
        """Ask in the mode that the model takes, which a failure may change."""
        while True:
            mode = await self.negotiation.mode_for(request)
            try:
                reply, valid = await self._ask_in(mode, request)
            except BadRequest as exc:
                if not await self.negotiation.rejected(mode, exc, request):
                    raise
            except Outage as exc:
                if not self.negotiation.failed(mode, exc):
                    raise
            else:
                if await self.negotiation.confirmed(mode, request, valid=valid):
                    return reply

    async def _ask_in(self, mode: Mode, request: Request) -> tuple[Reply, bool]:
        """Send, read and validate, and re-ask while the answer is invalid.

        Returns:
            The reply with all attempts, and whether its last one is valid.
        """
        messages = messages_of(request, mode)
        tries: list[Try] = []
        total = Total()
        model: str | None = None
        while True:
            attempt, result = await self._calls.chat(messages, request.form, mode)
            tries.append(attempt)
            total.add(result.usage, result.cost)
            model = result.model or model
            problem = problem_of(attempt, request.form)
            if problem is None or len(tries) > self.reasks:
                break
            # The body of a malformed response is not what the model said.
            answer = "" if attempt.fault else attempt.text or ""
            messages = reask(messages, answer, str(problem))
        reply = Reply(
            tries=tuple(tries),
            model=model,
            mode=mode,
            effective_params=result.params,
            usage=total.usage,
            cost=total.cost,
        )
        return reply, problem is None

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the name that the server gives its model; the server is asked once.

        This is separate from `ask`, so that a reply is stored before the server is asked.
        """
        if not self._naming.done:
            await self._naming.ask()
        return self._with_name(reply)

    def _with_name(self, reply: Reply) -> Reply:
        name = self._naming.name
        same = name is None or reply.server == name
        return reply if same else reply.model_copy(update={"server": name})
