"""A judge for hosted and OpenAI-compatible models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from judgekit.core.arguments import checked
from judgekit.core.errors import ConfigError, InvalidReply, JudgekitError
from judgekit.core.judge_settings import JudgeSettings, check_max_reason
from judgekit.core.request import Reply, Request, Try
from judgekit.core.suggest import suggest
from judgekit.judges.calls import CallResult
from judgekit.judges.endpoint import endpoint
from judgekit.judges.knowledge import LearntFromServer
from judgekit.judges.late_reply import Later, LateReply
from judgekit.judges.model_size import default_bound
from judgekit.judges.negotiation import Negotiation
from judgekit.judges.output_mode import MODES, Mode, messages_of, reask
from judgekit.judges.payments import Payments
from judgekit.judges.plain import PlainRequests
from judgekit.judges.price import ModelPrice, price_from
from judgekit.judges.prompt_cache import PromptCaching, check_caching
from judgekit.judges.providers import PROVIDERS, reason_for_litellm
from judgekit.judges.response import problem_of, sum_of, total
from judgekit.judges.server_judge import ServerJudge
from judgekit.judges.tier import FLEX_SECONDS, SECONDS, FallbackTier, Tier, check_tier
from judgekit.judges.translation import BadRequest, Outage
from judgekit.judges.transport import Server, Transport, Via
from judgekit.judges.via_direct import DirectTransport
from judgekit.judges.via_litellm import LiteLLMTransport

if TYPE_CHECKING:
    from judgekit.judges.budget import CostMeter
    from judgekit.judges.pace import Pace


class LiteLLMJudge(ServerJudge):
    """A model of any provider that litellm supports, or of an OpenAI-compatible server.

    The first live request probes which output mode the model supports;
    `judgekit.judges.output_mode` lists the modes, and docs/judges.md explains them. Requests for
    free answers, vectors (batched) and log-probabilities (of servers that echo the prompt) have no
    schema.

    Args:
        model: the name that litellm uses, such as `openai/NAME` or `ollama_chat/qwen3:8b`.
        api_base: address of an OpenAI-compatible server. Not part of any key.
        api_key: by default, the provider's environment variable. Never written anywhere.
        params: sampling parameters (temperature, max_tokens, seed, ...).
        identity: the model behind a server that takes any model name.
        mode: an output mode to use without probing. It is part of the key only if it is set here.
        max_reason: maximum length of a reason, a quote or another text of a reply, in characters.
            It is part of the key only if it is set here. Longer texts are cut, never invalid.
        timeout: seconds for one call, including the whole response; by default 60, and 900 with
            `tier="flex"`.
        retries: attempts after the first one, in an outage; refusals and invalid replies are not
            outages.
        max_wait: longest wait before an attempt in seconds; a server that asks for more counts as
            down.
        reasks: number of further requests after an invalid answer; each describes the error.
        price: US dollars per million input and output tokens, or a `ModelPrice`, which also has
            prices of the prompt cache; by default, those of litellm's table.
        via: `direct` or `litellm` to force the transport; by default, judgekit chooses it. Not part
            of any key.
        headers: further headers of every request, such as `{"X-Team": "${TEAM}"}`; variables are
            those of the environment. Not part of any key, and their values are never written.
        cache: `auto` sends requests as the prompt cache of the provider needs them: marked where
            they share a beginning, the first one alone. Not part of any key.
        tier: `flex` asks for the slower and cheaper tier of the provider. Not part of any key.
        fallback_tier: the tier of requests for which flex has no room, after `retries`: `standard`,
            which is the default, or `none`, so that they fail as unavailable.
        pace: every HTTP attempt waits for it; by default, attempts do not wait.
        meter: every HTTP attempt is charged to its budget.
    """

    @checked
    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        params: Mapping[str, JsonValue] | None = None,
        identity: str | None = None,
        mode: Mode | None = None,
        max_reason: int | None = None,
        timeout: float | None = None,
        retries: int = 3,
        max_wait: float = 60.0,
        reasks: int = 1,
        price: ModelPrice | tuple[float, float] | None = None,
        via: Via | None = None,
        headers: Mapping[str, str] | None = None,
        cache: PromptCaching = "none",
        tier: Tier = "standard",
        fallback_tier: FallbackTier | None = None,
        pace: Pace | None = None,
        meter: CostMeter | None = None,
    ) -> None:
        if mode is not None and mode not in MODES:
            raise ConfigError(f"no output mode {mode!r}{suggest(mode, MODES)}")
        if reasks < 0:
            raise ConfigError("reasks must not be negative")
        check_caching(cache, params or {})
        check_tier(tier, fallback_tier, params or {})
        self._forced_via = via
        server = Server(
            model,
            api_base,
            api_key,
            (FLEX_SECONDS if tier == "flex" else SECONDS) if timeout is None else timeout,
            retries,
            max_wait,
            price_from(price),
            dict(headers or {}),
            cache,
            tier,
            fallback_tier,
        )
        check_max_reason(max_reason)
        settings = JudgeSettings(
            identity=identity, params=dict(params or {}), mode=mode, max_reason=max_reason
        )
        super().__init__(server, settings=settings, pace=pace, meter=meter)
        self.reasks = reasks
        self._default_bound = default_bound(model, identity)
        self.negotiation = Negotiation(self._calls, endpoint=endpoint(api_base), forced=mode)
        """The output mode in use, and how it was found."""
        self.knowledge = LearntFromServer(self._calls, self.negotiation)
        self._plain = PlainRequests(self._calls)
        self.batch = self._plain.batch
        """Collects texts to embed them in one call."""
        self.later: Later | None = None
        """Answers requests for a verdict instead of the server, where a job has them."""

    def _transport_to(self, server: Server) -> Transport:
        via = self._forced_via
        needs_litellm = reason_for_litellm(server, self.settings.params)
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

    async def _reply(self, request: Request, paid: Payments) -> Reply:
        """Ask for a verdict in the current output mode, which a failure may change."""
        if request.form.want != "verdict":
            return await self._plain.reply(request, paid)
        asked = request
        late = None if self.later is None else await self.later(request)
        while True:
            known = late.mode if late is not None and late.open else None
            mode = known or await self.negotiation.mode_for(request, paid)
            if late is not None:
                late.mode = mode
            # Only what is sent has the default bound: the key is that of the request as it was.
            request = self._with_default_bound(asked)
            try:
                reply, valid = await self._ask_in(mode, request, paid, late=late)
            except BadRequest as exc:
                if request is not asked and exc.about_form:
                    self._default_bound = None  # before another mode is tried
                elif not await self.negotiation.rejected(mode, exc, request, paid):
                    raise
            except Outage as exc:
                if not self.negotiation.failed(mode, exc):
                    raise
            else:
                if await self.negotiation.confirmed(mode, request, paid, valid=valid):
                    return reply if valid else await self._weaker(mode, request, reply, paid)

    def _with_default_bound(self, request: Request) -> Request:
        bounded = request.form.max_reason is not None or request.form.json_schema is not None
        if self._default_bound is None or bounded:
            return request
        form = request.form.bounded(self._default_bound)
        return request if form is request.form else request.model_copy(update={"form": form})

    async def _takes_probe(self, request: Request, paid: Payments) -> bool:
        if request.form.want == "verdict":
            return await self.negotiation.takes_form(request, paid)
        return await self._plain.takes_probe(request, paid)

    async def _weaker(self, mode: Mode, request: Request, reply: Reply, paid: Payments) -> Reply:
        """Ask once more in the next weaker mode, if the mode answers this request with nothing.

        Some servers answer long requests with nothing as soon as the output is constrained. The
        mode of other requests does not change.
        """
        problem = problem_of(reply.tries[-1], request.form)
        if self.settings.mode is not None or problem is None or problem.kind != "empty":
            return reply
        for other in MODES[MODES.index(mode) + 1 :]:
            if other == "json_object_schema":
                continue  # the same constraint as that of json_schema, in another syntax
            try:
                more, _ = await self._ask_in(other, request, paid, reasks=0)
            except BadRequest as exc:
                if not exc.about_form:
                    break
                continue  # the server does not have this mode
            except JudgekitError:
                break  # the reply so far has been paid for
            usage, cost = total([(reply.usage, reply.cost), (more.usage, more.cost)])
            changes = {"usage": usage, "cost": cost, "saved": sum_of([reply.saved, more.saved])}
            return more.model_copy(update={"tries": (*reply.tries, *more.tries), **changes})
        return reply

    async def _ask_in(
        self,
        mode: Mode,
        request: Request,
        paid: Payments,
        *,
        reasks: int | None = None,
        late: LateReply | None = None,
    ) -> tuple[Reply, bool]:
        """Send, read and validate, and re-ask while the answer is invalid.

        Args:
            mode: the output mode.
            request: the request.
            paid: the payments of this request.
            reasks: number of further requests; by default, that of the judge.
            late: answers the first of them instead of the server.

        Returns:
            The reply with all attempts, and whether its last one is valid or has to be taken.
        """
        import asyncio

        most = self.reasks if reasks is None else reasks
        messages = messages_of(request, mode)
        problem: InvalidReply | None = None
        tries: list[Try] = []
        results: list[CallResult] = []
        while True:
            try:
                attempt, result = await self._calls.chat(
                    messages, request.form, mode, paid=paid, late=late
                )
            except asyncio.CancelledError:
                if not tries:
                    raise
                problem = None  # the run stops; the invalid reply so far has been paid for
                break
            self._calls.rejections.take()
            tries.append(attempt)
            results.append(result)
            problem = problem_of(attempt, request.form)
            if problem is None or len(tries) > most:
                break
            # The body of a malformed response is not the model's text.
            answer = "" if attempt.fault else attempt.text or ""
            messages = reask(messages, answer, str(problem))
        model = next((result.model for result in reversed(results) if result.model), None)
        usage, cost = total([(result.usage, result.cost) for result in results])
        kept = sum_of([result.saved for result in results])
        whole = result._replace(model=model, usage=usage, cost=cost, saved=kept)
        return whole.reply(*tries, mode=mode), problem is None
