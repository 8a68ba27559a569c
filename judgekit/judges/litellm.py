"""Any hosted or OpenAI-compatible model as a judge, through instructor and litellm."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, JsonValue

from judgekit import providers
from judgekit.canonical import canonical_json
from judgekit.errors import ConfigError, InvalidReply, JudgeRefused, JudgeRejected, JudgeUnavailable
from judgekit.judgment import answer_model, read_reply
from judgekit.providers import Outage
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
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        schema_text = _SCHEMA_NOTE + canonical_json(_schema(request.form))
        if mode in ("json_object", "text"):
            messages[-1] = {
                **messages[-1],
                "content": f"{messages[-1]['content']}\n\n{schema_text}",
            }
        tries: list[Try] = []
        total = _Total()
        model: str | None = None
        while True:
            response = await self._call(messages, request.form, mode)
            latest = _read(response, with_logprobs=bool(self._effective.get("logprobs")))
            tries.append(latest)
            total.add(response, self._cost(response))
            model = getattr(response, "model", None) or model
            fault = _fault(latest, request)
            if fault is None or len(tries) > self.reasks:
                break
            messages = [
                *messages,
                {"role": "assistant", "content": latest.text or ""},
                {"role": "user", "content": _ASK_AGAIN.format(fault=fault)},
            ]
        return Reply(
            tries=tuple(tries),
            model=model,
            mode=mode,
            effective_params=self._effective,
            usage=total.usage,
            cost=total.cost,
        )

    def _ready(self) -> None:
        """Import the libraries and look for credentials, once."""
        if self._client is not None:
            return
        self._litellm = providers.load()
        import instructor

        if self._api_key is None and self.api_base is None:
            missing = providers.missing_keys(self._model)
            if missing:
                raise JudgeRejected(
                    f"{self._model}: set {' and '.join(missing)} in the environment"
                )
        known = providers.known_parameters(self._model)
        dropped = known is not None and self.api_base is None
        self._effective = {
            name: value for name, value in self.params.items()
            if not dropped or known is None or name in known or name not in _OPENAI_PARAMETERS
        }  # fmt: skip
        modes = {"tools": instructor.Mode.TOOLS}
        self._client = instructor.from_litellm(
            self._litellm.acompletion,
            mode=modes.get(self.mode or "", instructor.Mode.JSON_SCHEMA),
        )

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
                except TimeoutError as exc:
                    raise Outage(f"no complete answer within {self.timeout:g} s") from exc
        raise AssertionError("unreachable")  # pragma: no cover

    def _wait(self, state: Any) -> float:
        error = state.outcome.exception()
        if isinstance(error, Outage) and error.retry_after is not None:
            if error.retry_after > self.max_wait:
                raise JudgeUnavailable(
                    f"{error} (asks to wait {error.retry_after:g} s, more than max_wait)"
                ) from error
            return error.retry_after
        from tenacity import wait_exponential_jitter

        return float(wait_exponential_jitter(initial=0.5, max=self.max_wait)(state))

    async def _once(self, messages: list[dict[str, Any]], form: Form, mode: Mode) -> Any:
        from instructor.core.exceptions import IncompleteOutputException, InstructorRetryException

        extra: dict[str, Any] = {}
        if mode in ("json_schema", "tools"):
            create = self._client.chat.completions.create_with_completion
            extra["response_model"] = _asked(form)
        else:
            # instructor has no mode of this kind that leaves the messages alone
            create = self._client.chat.completions.create
            extra["response_model"] = None
            if mode == "json_object":
                extra["response_format"] = {"type": "json_object"}
        try:
            result = await create(
                model=self._model,
                messages=messages,
                api_base=self.api_base,
                api_key=self._api_key or ("none" if self.api_base else None),
                timeout=self.timeout,
                max_retries=0,
                num_retries=0,
                drop_params=False,
                **self._effective,
                **extra,
            )
        except (IncompleteOutputException, InstructorRetryException) as exc:
            completion = _completion(exc)
            if completion is not None:
                return completion
            cause = exc.__cause__ or exc
            raise providers.translate(cause, secrets=(self._api_key or "",)) from exc
        except (TimeoutError, asyncio.CancelledError, JudgeRejected):
            raise
        except Exception as exc:
            raise providers.translate(exc, secrets=(self._api_key or "",)) from exc
        return result[1] if isinstance(result, tuple) else result

    def _cost(self, response: Any) -> float | None:
        if self.price is not None:
            usage = getattr(response, "usage", None)
            if usage is None:
                return None
            paid = usage.prompt_tokens * self.price[0] + usage.completion_tokens * self.price[1]
            return float(paid) / 1_000_000
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
        usage = getattr(response, "usage", None)
        if usage is None or self.usage is None:
            self.usage = None
        else:
            self.usage = Usage(
                input_tokens=self.usage.input_tokens + int(usage.prompt_tokens or 0),
                output_tokens=self.usage.output_tokens + int(usage.completion_tokens or 0),
            )
        self.cost = None if cost is None or self.cost is None else self.cost + cost


def _asked(form: Form) -> type[BaseModel]:
    """Return the model instructor asks for; a schema of the author's own is passed on as it is."""
    if form.json_schema is None:
        return answer_model(form)
    cached: type[BaseModel] | None = form.__dict__.get("_schema_model")
    if cached is None:
        schema = form.json_schema

        class Verdict(BaseModel):
            model_config = {"extra": "allow"}

            @classmethod
            def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
                return dict(schema)

        cached = Verdict
        form.__dict__["_schema_model"] = cached
    return cached


def _schema(form: Form) -> dict[str, Any]:
    return _asked(form).model_json_schema()


def _completion(error: Any) -> Any:
    """Return the response an instructor error holds, if the server gave one at all."""
    failed = getattr(error, "failed_attempts", None)
    if failed:
        return failed[-1].completion
    return getattr(error, "last_completion", None)


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


def _fault(latest: Try, request: Request) -> str | None:
    """Return what is wrong with an answer that asking again might mend."""
    try:
        read_reply(Reply(tries=(latest,)), form=request.form, request_key="")
    except JudgeRefused:
        return None
    except InvalidReply as exc:
        return None if exc.kind == "truncated" else str(exc)
    return None
