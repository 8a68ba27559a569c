"""Any hosted or OpenAI-compatible model as a judge, through instructor and litellm."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Literal

from pydantic import BaseModel, JsonValue

from judgekit import providers
from judgekit.errors import (
    CaseError,
    ConfigError,
    InvalidReply,
    JudgekitError,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.judgment import answer_model, read_reply
from judgekit.providers import BadRequest, Outage, without
from judgekit.request import Form, Reply, Request, Try, Usage

Mode = Literal["json_schema", "tools", "json_object", "text"]
MODES: tuple[Mode, ...] = ("json_schema", "tools", "json_object", "text")

_SCHEMA_NOTE = (
    "Answer with one JSON object and nothing else. It must be valid under this JSON schema:\n"
)
_ASK_AGAIN = (
    "That is not a valid answer: {fault}.\n"
    "Answer again with the whole JSON object, corrected, and nothing else."
)
MAX_ECHO = 20_000
"""Characters of an invalid answer that are handed back with what is wrong with it."""

_NOT_PARAMETERS = frozenset({
    "api_base", "api_key", "api_version", "base_url", "client", "context", "default_headers",
    "extra_headers", "functions", "headers", "hooks", "max_retries", "messages", "mock_response",
    "model", "num_retries", "organization", "response_format", "response_model", "stream",
    "strict", "timeout", "tool_choice", "tools",
})  # fmt: skip
"""What would change who is asked, or what judgekit itself sets. Parameters are recorded."""

_heard: ContextVar[list[Any]] = ContextVar("heard")
"""The raw responses of the attempt under way in this task."""


class LiteLLMJudge:
    """A model behind any provider litellm knows, or any OpenAI-compatible server.

    Args:
        model: litellm's name of it, such as `openai/gpt-4o-mini` or `ollama_chat/qwen3:8b`.
        api_base: address of an OpenAI-compatible server. Not part of any key.
        api_key: never written anywhere; the provider's environment variable by default.
        params: parameters that shape the answer (temperature, max_tokens, seed, ...).
        identity: what really answers, where the server takes any model name.
        mode: how the form is asked for: `json_schema` (constrained output), `tools` (a forced
            tool call), `json_object` or `text` (the schema stands in the prompt). Part of the
            key only when the author forces it.
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
        for name in params or ():
            if name in _NOT_PARAMETERS:
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
        self._client: Any = None
        self._litellm: Any = None
        self._effective: dict[str, JsonValue] = {}
        self._secrets: tuple[str, ...] = (api_key or "",)
        self._answered = False

    def __repr__(self) -> str:
        return f"LiteLLMJudge({self._model!r})"

    @property
    def model(self) -> str:
        """The model string, as given."""
        return self._model

    async def ask(self, request: Request) -> Reply:
        """Ask the model, again after an outage, and once more after an invalid answer.

        Raises:
            JudgeUnavailable: no answer after every retry.
            JudgeRejected: credentials, unknown model, parameters or format not taken.
            JudgeRefused: the provider's policy stopped the request.
            CaseError: the request is too long for the model.
        """
        self._ready()
        mode = self.mode or "json_schema"
        messages = _messages(request, mode)
        tries: list[Try] = []
        total = _Total()
        model: str | None = None
        while True:
            response = await self._call(messages, request.form, mode)
            latest = self._read(response)
            tries.append(latest)
            total.add(response, self._cost(response))
            model = getattr(response, "model", None) or model
            fault = _fault(latest, request)
            if fault is None or len(tries) > self.reasks:
                break
            messages = _again(messages, latest.text or "", fault)
        return Reply(
            tries=tuple(tries),
            model=None if model is None else without(model, self._secrets),
            mode=mode,
            effective_params=self._effective,
            usage=total.usage,
            cost=total.cost,
        )

    def _ready(self) -> None:
        """Import the libraries and look for credentials, once."""
        if self._client is not None:
            return
        litellm = providers.load()
        import instructor

        if self._api_key is None and self.api_base is None:
            missing = providers.missing_keys(self._model)
            if missing:
                names = " and ".join(missing)
                raise JudgeRejected(f"{self._model}: set {names} in the environment")
        self._secrets = (self._api_key or "", *providers.secrets_known())
        self._effective = self._taken()

        async def complete(**options: Any) -> Any:
            response = await litellm.acompletion(**options)
            _heard.get().append(response)
            return response

        modes = {"tools": instructor.Mode.TOOLS}
        self._client = instructor.from_litellm(
            complete, mode=modes.get(self.mode or "", instructor.Mode.JSON_SCHEMA)
        )

    def _taken(self) -> dict[str, JsonValue]:
        """Return the parameters that are sent: all, but for those a hosted model does not take."""
        known = providers.known_parameters(self._model) if self.api_base is None else None
        if known is None:
            return self.params
        return {
            name: value
            for name, value in self.params.items()
            if name in known or name not in _OPENAI_PARAMETERS
        }

    async def _call(self, messages: list[dict[str, Any]], form: Form, mode: Mode) -> Any:
        """Return the raw response of one answer, however many attempts it took to get it."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        attempts = AsyncRetrying(
            retry=retry_if_exception(lambda exc: isinstance(exc, Outage)),
            stop=stop_after_attempt(self.retries + 1),
            wait=self._wait,
            reraise=True,
        )
        async for attempt in attempts:
            with attempt:
                try:
                    async with asyncio.timeout(self.timeout):
                        return await self._once(messages, form, mode)
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

    async def _once(self, messages: list[dict[str, Any]], form: Form, mode: Mode) -> Any:
        """Make one HTTP call and return what came, whatever instructor thinks of it."""
        options: dict[str, Any] = {"response_model": None}
        if mode in ("json_schema", "tools"):
            options["response_model"] = _asked(form)
        elif mode == "json_object":
            # instructor has no mode of this kind that leaves the messages alone
            options["response_format"] = {"type": "json_object"}
        heard: list[Any] = []
        before = _heard.set(heard)
        failure: JudgekitError | None = None
        try:
            await self._client.chat.completions.create(
                model=self._model,
                messages=messages,
                api_base=self.api_base,
                api_key=self._api_key or ("none" if self.api_base else None),
                timeout=self.timeout,
                max_retries=0,
                num_retries=0,
                drop_params=False,
                **self._effective,
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

    def _translated(self, error: Exception) -> JudgekitError:
        from instructor.core.exceptions import InstructorRetryException

        cause = error.__cause__ if isinstance(error, InstructorRetryException) else None
        failure = providers.translate(cause or error, secrets=self._secrets)
        if isinstance(failure, Outage) and (failure.retry_after or 0.0) > self.max_wait:
            asked = f"asks to wait {failure.retry_after:g} s, more than max_wait"
            return JudgeUnavailable(f"{failure} ({asked})")
        if isinstance(failure, BadRequest) and self._answered:
            return CaseError(f"the judge took other requests but not this one: {failure}")
        return failure

    def _read(self, response: Any) -> Try:
        """Return what was said, without the key in it, should a gateway have put it there."""
        said = _read(response, with_logprobs=bool(self._effective.get("logprobs")))
        texts = {"text": said.text, "refusal": said.refusal}
        clean = {
            name: _storable(without(text, self._secrets)) for name, text in texts.items() if text
        }
        return said.model_copy(update=clean)

    def _cost(self, response: Any) -> float | None:
        if self.price is not None:
            usage = _usage(response)
            if usage is None:
                return None
            paid = usage.input_tokens * self.price[0] + usage.output_tokens * self.price[1]
            return paid / 1_000_000
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        return float(cost) if isinstance(cost, (int, float)) and self.api_base is None else None


_OPENAI_PARAMETERS = {
    "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "logprobs",
    "top_logprobs", "presence_penalty", "frequency_penalty", "reasoning_effort", "n",
}  # fmt: skip


class _Total:
    """Tokens and dollars of all tries; unknown as soon as one of them is."""

    def __init__(self) -> None:
        self.usage: Usage | None = Usage()
        self.cost: float | None = 0.0

    def add(self, response: Any, cost: float | None) -> None:
        usage = _usage(response)
        if usage is None or self.usage is None:
            self.usage = None
        else:
            self.usage = Usage(
                input_tokens=self.usage.input_tokens + usage.input_tokens,
                output_tokens=self.usage.output_tokens + usage.output_tokens,
            )
        self.cost = None if cost is None or self.cost is None else self.cost + cost


def _usage(response: Any) -> Usage | None:
    """Return the tokens of one response; litellm says 0 and 0 where the server said nothing."""
    usage = getattr(response, "usage", None)
    counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
    given, made = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return Usage(input_tokens=given, output_tokens=made) if given or made else None


def _messages(request: Request, mode: Mode) -> list[dict[str, Any]]:
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    if mode in ("json_object", "text"):
        # As it comes, not sorted: a judge gives its reasons before its verdict.
        plain = json.dumps(_asked(request.form).model_json_schema(), ensure_ascii=False)
        schema = _SCHEMA_NOTE + plain
        messages[-1] = {**messages[-1], "content": f"{messages[-1]['content']}\n\n{schema}"}
    return messages


def _again(messages: list[dict[str, Any]], said: str, fault: str) -> list[dict[str, Any]]:
    """Return the messages that ask once more, with the answer that was wrong."""
    note = _ASK_AGAIN.format(fault=fault)
    if not said.strip():
        # Some providers refuse an empty turn, and two turns of one role in a row.
        last = messages[-1]
        return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{note}"}]
    said = said if len(said) <= MAX_ECHO else said[:MAX_ECHO] + "…"
    return [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": note}]


def _asked(form: Form) -> type[BaseModel]:
    """Return the model instructor asks for, made once a form.

    instructor derives a class from any other model, and its schema, anew for every call.
    """
    cached: type[BaseModel] | None = form.__dict__.get("_asked")
    if cached is None:
        from instructor import response_schema

        answer: type[BaseModel] = _Free if form.json_schema is not None else answer_model(form)
        schema = form.json_schema or answer.model_json_schema()

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


def _read(response: Any, *, with_logprobs: bool) -> Try:
    choices = getattr(response, "choices", None)
    if not choices:
        return Try(text=None, finish=None)
    choice = choices[0]
    message = choice.message
    text = message.content
    calls = getattr(message, "tool_calls", None)
    if calls:
        text = calls[0].function.arguments
    refusal = getattr(message, "refusal", None)
    if refusal is None:
        refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    logprobs = getattr(choice, "logprobs", None) if with_logprobs else None
    dumped = logprobs.model_dump(mode="json") if isinstance(logprobs, BaseModel) else logprobs
    return Try(
        text=text if isinstance(text, str) else None,
        finish=choice.finish_reason,
        refusal=refusal if isinstance(refusal, str) else None,
        logprobs=dumped,
    )


def _storable(text: str) -> str:
    """Return a text with U+FFFD for halves of surrogate pairs, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _fault(latest: Try, request: Request) -> str | None:
    """Return what is wrong with an answer that asking again might mend."""
    try:
        read_reply(Reply(tries=(latest,)), form=request.form, request_key="")
    except JudgeRefused:
        return None
    except InvalidReply as exc:
        return None if exc.kind == "truncated" else str(exc)
    return None
