"""The HTTP calls of one judge: retries after outages, time limits, translated errors."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from functools import partial
from importlib import import_module
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import JsonValue

from judgekit.core.errors import (
    BudgetExceeded,
    CaseError,
    ConfigError,
    JudgekitError,
    JudgePending,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.in_flight import limited, waiting
from judgekit.core.judgment import ParsedReply, keep_parsed
from judgekit.core.request import Api, Form, Reply, Try, Usage
from judgekit.core.sanitiser import Sanitiser
from judgekit.core.shared import SharedCall
from judgekit.core.slots import outside_slots
from judgekit.judges.budget import ANSWER_TOKENS, CHARACTERS_A_TOKEN, Bill, CostMeter, largest_reply
from judgekit.judges.cut_prompt import check_whole
from judgekit.judges.endpoint import address, key_advice, own_key, secrets_of
from judgekit.judges.headers import SentHeaders, sent_headers
from judgekit.judges.late_reply import LateReply
from judgekit.judges.limits import Attempt, paced
from judgekit.judges.outcomes import ErrorBody, error_body, is_page, meaning_of
from judgekit.judges.output_mode import Mode
from judgekit.judges.parameters import Parameters
from judgekit.judges.payments import Payments
from judgekit.judges.prices import cost_of, listed_cost, saved
from judgekit.judges.prompt_cache import Marks, PromptCache, cache_rules, step_down
from judgekit.judges.providers import redirected_by
from judgekit.judges.quiet import hide
from judgekit.judges.rate_headers import REFUSED
from judgekit.judges.refusals import Refusals, RefusedRequest
from judgekit.judges.rejections import Rejections
from judgekit.judges.response import (
    chat_in,
    counts_in,
    dropped_try,
    hidden_error,
    is_stream,
    malformed_try,
    odd_error,
    page_error,
    parts_joined,
    quoted_error,
    read_response,
    reported_cost,
    stream_error,
    usage_of,
)
from judgekit.judges.sent_schema import rules_of
from judgekit.judges.system_role import SystemRole
from judgekit.judges.tier import PARAMETER as TIER
from judgekit.judges.tier import ServiceTier, flex_problem
from judgekit.judges.translation import (
    MAX_DETAIL,
    BadRequest,
    Doubtful,
    Outage,
    ServerError,
    breaks_http,
    library_error,
    status_of,
    translate,
)
from judgekit.judges.transport import NAME, Response, Sending, Server, Transport
from judgekit.judges.wire import MAX_BODY, MAX_FIGURES, Exchange

if TYPE_CHECKING:
    import asyncio

    from judgekit.judges.pace import Pace

_Params = dict[str, JsonValue]
_Send = Callable[[Sending], Awaitable[Response]]


class _Call(NamedTuple):
    """One call, which may take several attempts."""

    send: _Send
    """Makes an attempt."""
    size: int
    """Characters of the request."""
    written: float = 0.0
    """Estimated tokens of the reply."""
    limit: int = MAX_BODY
    """Maximum size of the response, in bytes."""
    fixed: Mapping[str, JsonValue] = MappingProxyType({})
    """Parameters that override those of the judge."""
    paid: Payments | None = None
    """The payments of its request; `None` if several requests share the call."""
    refusals: RefusedRequest | None = None
    """The refusals of its attempts."""
    late: LateReply | None = None
    """Answers its first attempt instead of the server."""
    tier: str | None = None
    """The service tier to ask for; `None` for the standard one."""
    messages: list[dict[str, Any]] | None = None
    """The messages of a chat, for its prompt cache."""


class CallResult(NamedTuple):
    """The result of one call."""

    data: dict[str, Any]
    """The response in OpenAI's format; for a malformed one, its JSON object."""
    params: _Params
    """The parameters that were sent."""
    malformed: Try | None
    """The attempt of a malformed response, with its fault."""
    model: str | None
    """The model's name according to the server, without keys."""
    usage: Usage | None
    cost: float | None
    """US dollars; `None` if no price is known."""
    tier: str | None
    """The service tier; `None` for the standard one."""
    saved: float | None
    """US dollars that prompt cache and tier saved; `None` without them, or if unknown."""
    parsed: tuple[str, ParsedReply] | None
    """The text and its parsed values, if the transport has parsed it."""

    def reply(self, *tries: Try, mode: Mode | None = None) -> Reply:
        """Return a reply of one or more attempts."""
        return Reply(
            tries=tries,
            model=self.model,
            mode=mode,
            effective_params=self.params,
            usage=self.usage,
            cost=self.cost,
            tier=self.tier,
            saved=self.saved,
        )


class Calls:
    """Makes the HTTP calls of one judge."""

    def __init__(
        self,
        server: Server,
        transport: Transport,
        *,
        params: Mapping[str, JsonValue],
        pace: Pace | None = None,
        meter: CostMeter | None = None,
    ) -> None:
        self.server = server
        self.rejections = Rejections()
        """Whether rejections are about single requests or about all."""
        self.model = server.model
        """The model, as litellm names it."""
        self.transport = transport
        self.parameters = Parameters(params)
        self.system = SystemRole(server.model)
        """Whether the model takes system messages."""
        self.ready = SharedCall(self._prepare)
        self.prepared = False
        """Whether the libraries are imported and the key is known."""
        self.key = server.api_key
        """The key to send, if there is one."""
        self.headers = SentHeaders()
        """Further headers to send, with their values."""
        self._sanitiser = Sanitiser((server.api_key or "",))
        self.schema_rules = rules_of(server, redirected=redirected_by() is not None)
        """What the server takes of JSON Schema."""
        self.api: Api | None = None
        """The API, if it is not chat."""
        self.tier = ServiceTier(server.model, server.tier, server.fallback_tier)
        """The service tier of chats."""
        rules = cache_rules(server.model) if server.caching == "auto" else None
        self.prompt_cache = None if rules is None else PromptCache(server.model, rules)
        """What requests share; `None` without such a cache, or if it is not used."""
        self.pacing = Pacing(pace, meter)
        """Makes every call wait for the pace and the budget, if there are some."""

    async def chat(
        self,
        messages: list[dict[str, Any]],
        form: Form,
        mode: Mode,
        *,
        paid: Payments,
        retry: bool = True,
        late: LateReply | None = None,
    ) -> tuple[Try, CallResult]:
        """Ask for a reply to a form; return the attempt and the result of the call."""

        async def send(sending: Sending) -> Response:
            placed = self.system.placed(messages)
            if sending.marks is not None:
                placed = sending.marks.placed(placed)
            return await self.transport.chat(placed, form, mode, sending)

        size = sum(len(str(message["content"])) for message in messages)
        written = float(ANSWER_TOKENS * max(1, len(form.questions)))
        call = _Call(
            send, size, written, paid=paid, late=late, tier=self.tier.name, messages=messages
        )
        result = await self._at_tier(call, retry=retry)
        paid.add(result.cost)
        if result.malformed is not None:
            return result.malformed, result
        check_whole(self.model, result.data, messages)
        attempt = read_response(
            result.data,
            form=form,
            tool=NAME if mode == "tools" else None,
            with_logprobs=bool(result.params.get("logprobs")),
            sanitiser=self._sanitiser,
        )
        if result.parsed is not None:
            keep_parsed(attempt, form, *result.parsed)
        return attempt, result

    def leave_strict(self) -> bool:
        """Send no `strict` from now on; return whether it was sent so far."""
        rules = self.schema_rules
        if rules is None or not rules.strict:
            return False
        self.schema_rules = rules._replace(strict=False)
        return True

    async def embed(self, texts: list[str]) -> CallResult:
        """Ask for the vectors of texts."""
        send = partial(self.transport.embed, texts)
        return await self._answered(_Call(send, sum(map(len, texts)), limit=MAX_FIGURES))

    async def echo(
        self, text: str, *, fixed: Mapping[str, JsonValue], paid: Payments
    ) -> CallResult:
        """Ask for the log-probabilities of a text.

        Args:
            text: the text.
            fixed: parameters that override those of the judge.
            paid: receives the cost.
        """
        send = partial(self.transport.echo, text)
        call = _Call(send, len(text), limit=MAX_FIGURES, fixed=fixed, paid=paid)
        result = await self._answered(call)
        paid.add(result.cost)
        return result

    async def raw(self, send: _Send, *, size: int, paid: Payments) -> tuple[Try, CallResult]:
        """Make a call; return the raw body of its response as the attempt, and the result.

        Args:
            send: makes the call; its response has the text `body`.
            size: characters of the request.
            paid: receives the cost.
        """
        result = await self._answered(_Call(send, size, paid=paid))
        paid.add(result.cost)
        return result.malformed or Try(text=result.data.get("body"), finish="stop"), result

    # -- getting ready -----------------------------------------------------------------

    async def _prepare(self) -> None:
        """Import the libraries and look for credentials, once."""
        import asyncio

        # In a thread, because it takes seconds and would block the event loop.
        await asyncio.to_thread(self._load)
        model, base = self.model, self.server.api_base
        if self.tier.name is not None and (problem := flex_problem(model, base)) is not None:
            raise JudgeRejected(problem)
        if self.parameters.sent.get("n") not in (None, 1):
            raise JudgeRejected(
                f"{model}: params.n asks for several answers in one; leave it out and ask for "
                "`samples` in the metric"
            )
        if self.key is None and base is not None:
            self.key = own_key(model)
        elif self.key is None and (missing := self.transport.missing_keys()):
            raise JudgeRejected(f"{model}: set {' and '.join(missing)} in the environment")
        try:
            self.headers = sent_headers(self.server.headers)
        except ConfigError as exc:
            raise JudgeRejected(f"{model}: {exc}") from None
        secrets = (*secrets_of(self.key, base), *self.headers.secrets)
        self._sanitiser = Sanitiser(secrets)
        hide(secrets)
        if base is None:
            self.parameters.keep(self.transport.known_parameters())
        self.prepared = True
        way = f"{self.transport.via}: {self.transport.reason}"
        logging.getLogger("judgekit").info("%s: %s", self.model, way)

    def _load(self) -> None:
        """Import the libraries of calls and of retries: later, files may be short."""
        self.transport.load()
        import_module("tenacity")

    # -- one call, in several attempts if necessary -----------------------------------------

    async def _at_tier(self, call: _Call, *, retry: bool) -> CallResult:
        """Make a call at the tier of the judge, and at its fallback where the tier has no room.

        Raises:
            JudgeRejected: the server takes no such tier.
            JudgekitError: the call failed for another reason.
        """
        if call.tier is None:
            return await self._answered(call, retry=retry)
        try:
            result = await self._answered(call, retry=retry)
        except BadRequest as exc:
            if not self.tier.rejected(exc.detail):
                raise
            if not self.tier.usable:
                problem = f"the server takes no {call.tier} tier: {exc}; remove the tier"
                raise JudgeRejected(problem) from None
            reason: JudgekitError = Outage(str(exc), status=exc.status)
        except Outage as exc:
            if not self.tier.lacks_room(exc.status):
                raise
            reason = exc
        else:
            self.tier.accept()
            return result
        if not self.tier.falls_back:
            raise reason
        self.tier.note(str(reason))
        return await self._answered(call._replace(tier=None), retry=retry)

    async def _answered(self, call: _Call, *, retry: bool = True) -> CallResult:
        """Make a call, with retries after outages and within the limits of time.

        Raises:
            JudgekitError: the server did not answer, or answered with an error.
        """
        refusals = RefusedRequest(self.pacing.refusals)
        try:
            return await self._attempts(call._replace(refusals=refusals), refusals, retry=retry)
        except Doubtful as exc:
            again = retry and not self.rejections.taken
            raise BadRequest(str(exc), status=exc.status, again=again) from None
        finally:
            refusals.end()

    async def _attempts(self, call: _Call, refusals: RefusedRequest, *, retry: bool) -> CallResult:
        try:
            return await self._in_time(call)
        except Doubtful as exc:
            # While nothing is taken, other requests and a probe decide before another attempt.
            if not self.rejections.taken:
                raise
            outages: list[Outage] = [exc]
        except Outage as exc:
            outages = [exc]
        from tenacity import AsyncRetrying, retry_if_exception_type

        async def again() -> CallResult:
            if outages:
                raise outages.pop()
            return await self._in_time(call)

        async def pause(seconds: float) -> None:
            with waiting():
                async with outside_slots() if refusals.leaves else nullcontext():
                    await _pause(seconds)

        def wait(state: Any) -> float:
            return self._wait(state, refusals.alone)

        lost = 0 if call.paid is None else call.paid.lost
        attempts = AsyncRetrying(
            retry=retry_if_exception_type(Outage),
            stop=self.pacing.stop(self.server.retries + 1 - lost if retry else 1),
            wait=wait,
            sleep=pause,
            before_sleep=self._log,
            reraise=True,
        )
        result: CallResult = await attempts(again)
        return result

    async def _in_time(self, call: _Call) -> CallResult:
        """Make one attempt within the time limit; repeat it without rejected parameters."""
        import asyncio

        timeout = self.server.timeout
        try:
            with limited():
                async with asyncio.timeout(timeout) as limit:
                    while True:
                        sent, without = self.parameters.sent, bool(self.system.refused)
                        caching = self.prompt_cache is not None and not self.prompt_cache.refused
                        try:
                            return await self._once(call, sent, limit)
                        except BadRequest as exc:
                            known = exc.about_form and self.parameters.drop(
                                exc.detail, sent, reason=str(exc)
                            )
                            if caching and not known and self._leaves_cache(exc.detail):
                                continue
                            if not known and (without or not self.system.leave(exc.detail)):
                                raise
                        except Outage as exc:
                            # Servers that render a chat template answer 500 to its error.
                            failed = exc.status is not None and exc.status >= 500
                            if without or not failed or not self.system.leave(str(exc)):
                                raise
        except TimeoutError:
            if call.paid is not None and self.pacing.meter is None and self.server.price:
                # The server may have replied, so a wrapper that charges the request counts it.
                read, written = call.size / CHARACTERS_A_TOKEN, call.written
                call.paid.add(self.server.price.estimate(read, written))
            raise Outage(f"no complete answer within {timeout:g} s") from None

    def _leaves_cache(self, error: str) -> bool:
        """Send nothing for the prompt cache any more, if an error is about it; return if it is."""
        return self.prompt_cache is not None and self.prompt_cache.leave(error)

    def _log(self, state: Any) -> None:
        """Log a failed attempt and the wait before the next one; the error contains no key."""
        error, wait = state.outcome.exception(), state.next_action.sleep
        text = f"HTTP {error.status}: {error}" if error.status else str(error)
        logging.getLogger("judgekit").info(
            "%s: attempt %d: %.200s; again in %.1f s", self.model, state.attempt_number, text, wait
        )

    async def pause(self, attempt: int) -> None:
        """Wait before another attempt of a request that the server neither answered nor rejected.

        Args:
            attempt: its number, counted from 0.
        """
        await _pause(min(self.server.max_wait, 2.0 ** min(attempt, 30)))

    def _wait(self, state: Any, alone: bool) -> float:
        """Return the seconds before the next attempt: the server's value, or an exponential one.

        Args:
            state: of the attempt.
            alone: whether the server accepts other requests, so that longer waits do not help it.
        """
        error = state.outcome.exception()
        if error.retry_after is not None:
            return float(error.retry_after)
        from tenacity import wait_random_exponential

        most = min(_LONGEST_ALONE, self.server.max_wait) if alone else self.server.max_wait
        return float(wait_random_exponential(multiplier=1, max=most)(state))

    async def _once(self, call: _Call, params: _Params, limit: asyncio.Timeout) -> CallResult:
        """Make one HTTP call, when pace and budget allow it."""
        sent = {**params, **call.fixed}
        late = call.late if call.late is not None and call.late.open else None
        if call.tier is not None and late is None:
            sent[TIER] = call.tier
        with Exchange(limit=call.limit, sanitiser=self._sanitiser) as exchange:
            if late is not None:  # no server is asked, and its job is paid for
                marks = self._marks(call, in_job=True)
                if marks is not None:
                    sent = marks.added_to(sent)
                result = await self._exchanged(exchange, call, sent, params, late=late, marks=marks)
                late.paid(result.cost)
                return result
            async with self.pacing.turn(exchange, call, sent, limit) as bill:
                marks = self._marks(call)  # after the waits, when more requests are known
                if marks is not None:
                    sent = marks.added_to(sent)
                result = await self._exchanged(exchange, call, sent, params, marks=marks)
                bill.dollars, bill.replied = result.cost, True
        if marks is not None:
            marks.note(result.usage)
        return result

    def _marks(self, call: _Call, *, in_job: bool = False) -> Marks | None:
        """Return what a call sends for the prompt cache, if it is about a request that may."""
        # The system message is part of another one where the server does not take it.
        if self.prompt_cache is None or call.messages is None or self.system.refused:
            return None
        return self.prompt_cache.marks(call.messages, in_job=in_job)

    async def _exchanged(
        self,
        exchange: Exchange,
        call: _Call,
        sent: _Params,
        params: _Params,
        *,
        late: LateReply | None = None,
        marks: Marks | None = None,
    ) -> CallResult:
        failure: JudgekitError | None = None
        raised: Exception | None = None
        response: Response | None = None
        try:
            sending = Sending(
                sent, self.key, exchange, self.schema_rules, self.headers.values, late, marks
            )
            response = await call.send(sending)
            if self.pacing.pace and (usage := usage_of(response.data)):
                exchange.tokens = usage.input_tokens, usage.output_tokens
        except (JudgePending, BudgetExceeded, ConfigError):
            raise  # of the late reply
        except Exception as exc:  # noqa: BLE001 - the edge: any foreign error is translated here, once
            raised = exc
            failure = redirected(exchange) or self._translated(exc, exchange)
        malformed = None
        if response is None:
            malformed = dropped_try(exchange)
        if (
            response is None
            and malformed is None
            and not isinstance(failure, (CaseError, JudgeRefused))
        ):
            data = exchange.data() if call.limit == MAX_BODY else None
            # A library may refuse a response that has all that is needed.
            if (read := parts_joined(data) or chat_in(data)) is not None:
                response = Response(read)
            else:
                unread = None if raised is None else library_error(raised)
                malformed = malformed_try(exchange, unread=unread)
        if response is None and malformed is None and failure is not None:
            # Raised outside the handler, because the provider's error may quote the key.
            raise failure
        data, parsed, listed = response or Response(exchange.data() or {})
        exchange.release()
        model = data.get("model")
        name = model if isinstance(model, str) and model else None
        if self.server.api_base:
            listed = reported_cost(exchange.headers)
        cost, tier, kept = self._price(data, listed, late)
        return CallResult(data, params, malformed, name, usage_of(data), cost, tier, kept, parsed)

    def _price(
        self, data: dict[str, Any], listed: float | None, late: LateReply | None
    ) -> tuple[float | None, str | None, float | None]:
        """Return the cost of a response, its tier, and what cache and tier saved."""
        price, hosted = self.server.price, self.server.api_base is None
        tokens = counts_in(data)
        tier = None if tokens is None else tokens.tier
        cost, kept = listed, None
        if price is not None:
            cost = cost_of(data, price=price)
        elif tier is not None and hosted:
            # litellm prices some tiers as the one that was asked for, and others as the standard.
            cost = listed_cost(self.model, data)
        if tokens is not None and (price or hosted):
            kept = saved(self.model, tokens, price)
        if late is None:
            return cost, tier, kept
        # A response that names its tier is priced at it.
        if cost is not None and tier is None:
            full, cost = cost, cost * late.share
            kept = (kept or 0.0) + full - cost
        return cost, late.tier, kept

    def _translated(self, error: Exception, exchange: Exchange) -> JudgekitError:
        # The table reads what the server sent: libraries change statuses and leave out codes.
        meaning, doubtful, quoted = None, False, ""
        if exchange.status is not None:
            received = exchange.json()
            quoted = quoted_error(received)
            body = error_body(received)
            if received is None and is_page(exchange.text):
                body, error, doubtful = ErrorBody(), page_error(exchange), exchange.good
            elif not 200 <= exchange.status <= 599:
                error = odd_error(exchange)  # libraries treat such a response in several ways
            elif received is None and exchange.good and is_stream(exchange):
                error = stream_error(exchange)
            elif received is None:
                body = ErrorBody(message=exchange.text[:MAX_DETAIL])
            if exchange.good and isinstance(received, dict):
                hidden = hidden_error(received, exchange)
                error = error if hidden is None else hidden
                doubtful = hidden is not None and hidden.status is None
            if not exchange.good or isinstance(error, ServerError):
                meaning = meaning_of(exchange.status, body)
        else:
            doubtful = breaks_http(error)
        failure = translate(
            error,
            sanitiser=self._sanitiser,
            meaning=meaning,
            doubtful=doubtful,
            quoted=quoted,
        )
        if isinstance(failure, Outage) and (failure.retry_after or 0.0) > self.server.max_wait:
            asked = f"asks to wait {failure.retry_after:g} s, more than max_wait"
            return JudgeUnavailable(f"{failure} ({asked})")
        about_key = meaning == "account" and status_of(error) == 400
        if isinstance(failure, JudgeRejected) and (about_key or status_of(error) in (401, 403)):
            advice = key_advice(self.model, self.server.api_base, key=self.key)
            if isinstance(failure, BadRequest):
                return failure.advised(advice)
            return JudgeRejected(f"{failure}{advice}")
        return failure


async def _pause(seconds: float) -> None:
    import asyncio

    step_down()
    with waiting():
        await asyncio.sleep(seconds)


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


_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after", "date")
_MOST_HEADERS = 32
_MOST_TOKENS = ("max_tokens", "max_completion_tokens")
_FREE = 10
"""Maximum number of refused attempts of a request that do not count as retries."""
_LONGEST_ALONE = 8.0
"""Most seconds between attempts of a request that is refused alone, unless the server asks for
more: rows behind it wait for its row."""


class Pacing:
    """Makes every HTTP call of a judge wait for a pace and a budget, if there are some."""

    def __init__(self, pace: Pace | None, meter: CostMeter | None = None) -> None:
        self.pace, self.meter = pace, meter
        self.refusals = Refusals()
        self._written = float(ANSWER_TOKENS)
        """Mean tokens of the replies."""

    @asynccontextmanager
    async def turn(
        self, exchange: Exchange, call: _Call, sent: Mapping[str, Any], limit: asyncio.Timeout
    ) -> AsyncIterator[Bill]:
        """Wait for the pace, then for the budget; the body makes the call and fills in the bill.

        Args:
            exchange: receives status, headers and tokens in the body.
            call: the call.
            sent: the parameters of the request.
            limit: the time limit of the call, without the waits.

        Raises:
            BudgetExceeded: the money is spent.
        """
        import asyncio

        pace, meter = self.pace, self.meter
        if pace is None and meter is None:
            with self._noted(exchange, call, Attempt()):
                yield Bill()
            return
        writes = call.limit == MAX_BODY  # for vectors and log-probabilities, no text is generated
        most = largest_reply(sent)
        named = any(isinstance(sent.get(name), int) for name in _MOST_TOKENS)
        written = float(most) if named else self._written
        read = call.size / CHARACTERS_A_TOKEN
        tokens = read + (written if writes else 0.0)
        now = asyncio.get_running_loop().time
        left = (limit.when() or math.inf) - now()
        limit.reschedule(None)
        charged: AbstractAsyncContextManager[Bill] = nullcontext(Bill())
        if meter is not None:
            charged = meter.charged(read, min(call.written, most), most=most if call.written else 0)
        again = call.refusals is not None and call.refusals.refused
        turn = paced(pace, tokens, again=again) if pace else nullcontext(Attempt())
        async with AsyncExitStack() as admitted:
            with waiting():
                attempt = await admitted.enter_async_context(turn)
                bill = await admitted.enter_async_context(charged)
            limit.reschedule(now() + left)
            attempt.send()
            with self._noted(exchange, call, attempt):
                yield bill

    @contextmanager
    def _noted(self, exchange: Exchange, call: _Call, attempt: Attempt) -> Iterator[None]:
        """Count the end of an attempt, which the body makes, and report it to the pace."""
        refused = None
        try:
            yield
        except Outage as exc:
            refused = exc.status if exc.status in REFUSED else None  # also told in a 200
            raise
        finally:
            attempt.status = refused or exchange.status
            if call.refusals is not None:
                call.refusals.note(attempt.status)
                attempt.alone = call.refusals.alone
                attempt.explained = call.refusals.explained
            if exchange.tokens is not None and call.limit == MAX_BODY:
                self._written += 0.1 * (exchange.tokens[1] - self._written)
            received = exchange.headers.items()
            about_limits = ((name, value) for name, value in received if name.startswith(_PREFIXES))
            attempt.headers = dict(islice(about_limits, _MOST_HEADERS))
            attempt.tokens = None if exchange.tokens is None else float(sum(exchange.tokens))

    def stop(self, most: int) -> Callable[[Any], bool]:
        """Return a stop condition for tenacity.

        While the server accepts other calls, a refusal only means that the pace is still learning,
        so up to `_FREE` refused attempts do not count.

        Args:
            most: maximum number of attempts that count.
        """
        free, seen = 0, self.refusals.accepted

        def stop(state: Any) -> bool:
            nonlocal free, seen
            refused = state.outcome.exception().status in REFUSED
            accepted = self.refusals.accepted
            if self.pace is not None and refused and accepted > seen and free < _FREE:
                free, seen = free + 1, accepted
            return bool(state.attempt_number - free >= most)

        return stop
