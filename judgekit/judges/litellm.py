"""Any hosted or OpenAI-compatible model as a judge, through instructor and litellm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from judgekit.core.errors import ConfigError, JudgeRejected, JudgeUnavailable
from judgekit.core.request import Reply, Request
from judgekit.core.suggest import suggest
from judgekit.judges import providers
from judgekit.judges.batch import Batch
from judgekit.judges.credentials import address, check_address
from judgekit.judges.direct import Direct
from judgekit.judges.endpoint import Naming, endpoint
from judgekit.judges.ladder import Ladder
from judgekit.judges.parameters import NOT_PARAMETERS
from judgekit.judges.providernames import check_provider
from judgekit.judges.rung import MODES, Mode
from judgekit.judges.transport import Server, Transport
from judgekit.judges.verdict import Verdicts

if TYPE_CHECKING:
    from judgekit.cassette.store import Store


class LiteLLMJudge:
    """A model behind any provider litellm knows, or any OpenAI-compatible server.

    How the form is asked for is found out by probing, at the first request that is really asked:
    see `judgekit.judges.rung` for the rungs and docs/judges.md for what that means. Requests that
    want no verdict are asked without a form: answers as they come, vectors many to a call, and
    log-probabilities of a server that echoes them.

    Args:
        model: the name that litellm uses, such as `openai/NAME` or `ollama_chat/qwen3:8b`.
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
        self._transport = Transport(server, params=self.params)
        self._naming = Naming(api_base, model=model, key=lambda: self._transport.key)
        ladder = Ladder(model=model, endpoint=endpoint(api_base))
        self._verdicts = Verdicts(self._transport, ladder=ladder, mode=mode, reasks=reasks)
        self._other = Direct(self._transport)

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
    def batch(self) -> Batch[Reply]:
        """What gathers texts to be embedded in one call."""
        return self._other.batch

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
        if not self._transport.prepared:
            return {}
        ladder = self.ladder
        found: dict[str, JsonValue] = {
            "mode": self.mode or ladder.mode,
            "mode_from": "suite" if self.mode else ladder.source,
            "steps": list(ladder.steps),
            "probes": ladder.probes,
            "dropped_params": dict(self._transport.parameters.dropped),
            "server": self._naming.name,
        }
        return {name: value for name, value in found.items() if value}

    async def ask(self, request: Request) -> Reply:
        """Ask the model, again after an outage, and once more after an invalid answer.

        A response that is malformed or too large was paid for: it is a reply whose `fault` says
        what is wrong, and reading it raises `InvalidReply`.

        Raises:
            JudgeUnavailable: no answer after every retry.
            JudgeRejected: credentials, unknown model, parameters or format not taken.
            JudgeRefused: the provider's policy stopped the request.
            CaseError: the request is too long for the model, or is the one it does not take.
        """
        if not self._transport.prepared:
            await self._transport.ready()
        asking = self._verdicts if request.form.want == "verdict" else self._other
        try:
            reply = await asking.reply(request)
        except (JudgeUnavailable, JudgeRejected) as exc:
            raise providers.about(self.shown, exc) from None
        return self._with_name(reply)

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the name the server gives its model, which is asked once.

        Apart from `ask`, so that a reply can be stored before the server is asked for its name.
        """
        if not self._naming.done:
            await self._naming.ask()
        return self._with_name(reply)

    def _with_name(self, reply: Reply) -> Reply:
        name = self._naming.name
        return reply if name is None else reply.model_copy(update={"server": name})
