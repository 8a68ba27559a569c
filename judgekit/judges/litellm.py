"""A judge for hosted and OpenAI-compatible models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from judgekit.core.errors import ConfigError
from judgekit.core.request import Reply, Request, Try
from judgekit.core.suggest import suggest
from judgekit.judges.calls import CallResult
from judgekit.judges.endpoint import endpoint
from judgekit.judges.negotiation import Negotiation
from judgekit.judges.output_mode import MODES, Mode, messages_of, reask
from judgekit.judges.plain import PlainRequests
from judgekit.judges.providers import PROVIDERS, reason_for_litellm
from judgekit.judges.response import problem_of, total
from judgekit.judges.server_judge import ServerJudge
from judgekit.judges.translation import BadRequest, Outage
from judgekit.judges.transport import Server, Transport, Via
from judgekit.judges.via_direct import DirectTransport
from judgekit.judges.via_litellm import LiteLLMTransport

if TYPE_CHECKING:
    from judgekit.cassette.store import Store


class LiteLLMJudge(ServerJudge):
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
        if reasks < 0:
            raise ConfigError("reasks must not be negative")
        self._forced_via = via
        server = Server(model, api_base, api_key, timeout, retries, max_wait, price)
        super().__init__(server, params=params, identity=identity)
        self.mode = mode
        self.reasks = reasks
        self.negotiation = Negotiation(self._calls, endpoint=endpoint(api_base), forced=mode)
        """The output mode in use, and how it was found."""
        self._plain = PlainRequests(self._calls)
        self.batch = self._plain.batch
        """What gathers texts to be embedded in one call."""

    def _transport_to(self, server: Server) -> Transport:
        via = self._forced_via
        needs_litellm = reason_for_litellm(server, self.params)
        if via == "litellm":
            return LiteLLMTransport(server, reason="set by via")
        if needs_litellm is None:
            provider = PROVIDERS[server.model.partition("/")[0]]
            reason = "set by via" if via else "the server speaks OpenAI's protocol"
            return DirectTransport(server, provider, reason=reason)
        if via == "direct":
            reason = f"{server.model}: {needs_litellm}"
            raise ConfigError(f"via: direct cannot be used for {reason}; remove via")
        return LiteLLMTransport(server, reason=needs_litellm)

    @property
    def ladder(self) -> Negotiation:
        """Deprecated name of `negotiation`."""
        import warnings

        message = "LiteLLMJudge.ladder is now LiteLLMJudge.negotiation"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.negotiation

    def keep_in(self, store: Callable[[], Store | None], *, anew: bool = False) -> None:
        """Keep the output mode in a store, which is opened with the first request.

        Args:
            store: opens the store.
            anew: probe even where the store knows the mode.
        """
        self.negotiation.keep_in(store, anew=anew)

    def findings(self) -> dict[str, JsonValue]:
        """Return what this process learnt about the judge; empty before the first request."""
        if not self._calls.prepared:
            return {}
        findings: dict[str, JsonValue] = {
            "mode": self.mode or self.negotiation.mode,
            "mode_from": "suite" if self.mode else self.negotiation.source,
            "steps": list(self.negotiation.steps),
            "probes": self.negotiation.probes,
        }
        return {name: value for name, value in findings.items() if value} | super().findings()

    async def _reply(self, request: Request) -> Reply:
        """Ask for a verdict in the mode that the model takes, which a failure may change."""
        if request.form.want != "verdict":
            return await self._plain.reply(request)
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
        results: list[CallResult] = []
        while True:
            attempt, result = await self._calls.chat(messages, request.form, mode)
            tries.append(attempt)
            results.append(result)
            problem = problem_of(attempt, request.form)
            if problem is None or len(tries) > self.reasks:
                break
            # The body of a malformed response is not what the model said.
            answer = "" if attempt.fault else attempt.text or ""
            messages = reask(messages, answer, str(problem))
        model = next((result.model for result in reversed(results) if result.model), None)
        usage, cost = total([(result.usage, result.cost) for result in results])
        whole = result._replace(model=model, usage=usage, cost=cost)
        return whole.reply(*tries, mode=mode), problem is None
