"""A judge that answers typed questions with probabilities instead of text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue

from judgekit.core.arguments import checked
from judgekit.core.decisions import DECISION_APIS, Decision, decisions_of
from judgekit.core.errors import ConfigError, JudgeRejected
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.replies.decisions import level_text
from judgekit.core.request import ChatMessage, Reply, Request, Try
from judgekit.core.suggest import suggest
from judgekit.judges.calls import CallResult
from judgekit.judges.payments import Payments
from judgekit.judges.price import ModelPrice, price_from
from judgekit.judges.providers import PROVIDERS, Provider, redirected_by
from judgekit.judges.rejections import PROBE, taken
from judgekit.judges.server_judge import ServerJudge
from judgekit.judges.transport import Server, Transport
from judgekit.judges.via_direct import DirectTransport

if TYPE_CHECKING:
    from judgekit.judges.budget import CostMeter
    from judgekit.judges.pace import Pace

_FIXED = ("input", "questions", "state")
"""Fields of a body that are set by the request."""


class DecisionJudge(ServerJudge):
    """A model behind a decision endpoint: `POST {api_base}/decisions` or `/systemone`.

    One request sends all criteria of a rubric as typed questions about the case; the reply has a
    probability for each answer. Free numbers, free lists, quotes, details and reasons are not
    supported. Both APIs are beta, so replies are validated strictly.

    Args:
        model: the names of the provider and the model, such as `openai/NAME`.
        api: `decisions` (OpenAI) or `systemone` (System One).
        api_base: address of the server, which ends in /v1; only `openai/NAME` has a default.
        api_key: by default, the provider's environment variable. Never written anywhere.
        params: additional fields of the body.
        identity: the model behind a server that takes any model name.
        timeout: seconds for one call, including the whole response.
        retries: attempts after the first one, in an outage; refusals and invalid replies are not
            outages.
        max_wait: longest wait before an attempt in seconds; a server that asks for more counts as
            down.
        price: US dollars per million input and output tokens.
        pace: every HTTP attempt waits for it; by default, attempts do not wait.
        meter: every HTTP attempt is charged to its budget.

    Raises:
        ConfigError: an argument is out of range, or the address is missing.
    """

    @checked
    def __init__(
        self,
        model: str,
        *,
        api: Literal["decisions", "systemone"] = "decisions",
        api_base: str | None = None,
        api_key: str | None = None,
        params: Mapping[str, JsonValue] | None = None,
        identity: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        max_wait: float = 60.0,
        price: ModelPrice | tuple[float, float] | None = None,
        headers: Mapping[str, str] | None = None,
        pace: Pace | None = None,
        meter: CostMeter | None = None,
    ) -> None:
        if api not in DECISION_APIS:
            raise ConfigError(f"no api {api!r}{suggest(str(api), DECISION_APIS)}")
        for name in params or ():
            if name in _FIXED:
                raise ConfigError(f"params: {name!r} is set by the request; remove it")
        self._api = api
        server = Server(
            model,
            api_base,
            api_key,
            timeout,
            retries,
            max_wait,
            price_from(price),
            dict(headers or {}),
        )
        settings = JudgeSettings(identity=identity, params=dict(params or {}), api=api)
        super().__init__(server, settings=settings, pace=pace, meter=meter)
        self._calls.api = api

    def _transport_to(self, server: Server) -> Transport:
        name, _, model = server.model.partition("/")
        if not model:
            advice = f"write openai/{server.model}"
            raise ConfigError(f"model {server.model!r} has no provider; {advice}")
        provider = PROVIDERS.get(name, Provider())
        if server.api_base is None and provider.address is None:
            needs = f"a decision endpoint of {name} needs api_base, which ends in /v1"
            raise ConfigError(f"{server.model}: {needs}")
        self._direct = DirectTransport(server, provider, reason="a decision endpoint")
        return self._direct

    async def _reply(self, request: Request, paid: Payments) -> Reply:
        if request.form.want != "verdict" or not request.form.questions:
            raise JudgeRejected("a decision endpoint answers the criteria of rubrics alone")
        if self.api_base is None and (changed := redirected_by()):
            raise JudgeRejected(f"{changed} is set in the environment; set api_base instead")
        attempt, result = await self._decided(request, paid)
        return result.reply(attempt)

    async def _takes_probe(self, request: Request, paid: Payments) -> bool:
        message = ChatMessage(role="user", content=PROBE)
        return await taken(self._decided(request.model_copy(update={"messages": (message,)}), paid))

    async def _decided(self, request: Request, paid: Payments) -> tuple[Try, CallResult]:
        body = body_of(request)
        send = partial(self._direct.decide, f"/{self._api}", body)
        return await self._calls.raw(send, size=len(json.dumps(body)), paid=paid)


def body_of(request: Request) -> dict[str, Any]:
    """Return the body of a request, without its model.

    OpenAI accepts only user messages, so the messages are sent as one text.
    """
    text = "\n\n".join(message.content for message in request.messages)
    decisions = decisions_of(request.form)
    if request.form.api == "decisions":
        return {"input": text, "questions": [_listed(decision) for decision in decisions]}
    return {"state": text, "questions": {d.name: _named(d) for d in decisions}}


def _listed(decision: Decision) -> dict[str, Any]:
    """Return a question in OpenAI's format."""
    question: dict[str, Any] = {
        "type": decision.kind,
        "name": decision.name,
        "instructions": decision.instructions,
    }
    if decision.kind == "predicate":
        return question
    field, name = ("levels", "label") if decision.kind == "score" else ("choices", "value")
    question[field] = [{name: one, **_described(decision, one)} for one in decision.options]
    return question


def _described(decision: Decision, option: str) -> dict[str, str]:
    text = decision.descriptions.get(option)
    return {"description": text} if text else {}


def _named(decision: Decision) -> dict[str, Any]:
    """Return a question in System One's format."""
    criteria: Any = [level_text(decision, option) for option in decision.options]
    if decision.kind == "predicate":
        criteria = {"true": "yes", "false": "no"}
    elif decision.kind == "choice":
        criteria = {option: decision.descriptions.get(option) for option in decision.options}
    kind = "noul" if decision.kind == "predicate" else decision.kind
    return {"type": kind, "instructions": decision.instructions, "criteria": criteria}
