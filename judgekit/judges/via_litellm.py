"""Send requests with instructor and litellm, to any provider that litellm supports."""

from __future__ import annotations

import copy
import os
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

from pydantic import BaseModel

from judgekit.core.judgment import parse_reply
from judgekit.core.request import Form
from judgekit.judges import connections
from judgekit.judges.late_reply import LateReply
from judgekit.judges.outcomes import finish_in, finish_means, refusal_in
from judgekit.judges.output_mode import Mode, format_of
from judgekit.judges.quiet import asking, keep_quiet
from judgekit.judges.response import hidden_error
from judgekit.judges.sent_schema import SentSchema, sent_schema
from judgekit.judges.transport import NAME, Response, Sending, Server, Via
from judgekit.judges.wire import Exchange, LateResponse, LiveCall

_COMPATIBLE = ("openai", "hosted_vllm", "lm_studio", "llamafile")
"""Providers with a completions endpoint besides the chat endpoint."""


class LiteLLMTransport:
    """Sends requests with litellm; instructor adds the schema in its modes."""

    def __init__(self, server: Server, *, reason: str) -> None:
        self.via: Via = "litellm"
        self.reason = reason
        self._server = server
        self._clients: dict[str, Any] = {}
        """The clients of instructor, by mode; those with `strict` before it send that field."""

    def load(self) -> None:
        """Import litellm and instructor."""
        load_litellm()
        import_module("judgekit.judges.httpx_wire")  # imported early, because it takes time
        with suppress(ImportError):  # litellm imports it with its first error
            import_module("litellm.proxy.guardrails.exception_utils")
        import instructor

        modes: dict[Mode, Any] = {
            "json_schema": instructor.Mode.JSON_SCHEMA,
            "tools": instructor.Mode.TOOLS,
        }
        for name, mode in modes.items():
            self._clients[name] = instructor.from_litellm(_complete, mode=mode)
            strictly = instructor.from_litellm(_complete_strictly, mode=mode)
            self._clients[f"strict {name}"] = strictly

    def missing_keys(self) -> list[str]:
        """Return the missing environment variables of a hosted model."""
        checked = load_litellm().validate_environment(self._server.model)
        return [name for name in checked.get("missing_keys", ()) if not name.endswith("_API_BASE")]

    def known_parameters(self) -> frozenset[str] | None:
        """Return the parameters of the model; `None` if litellm does not know them."""
        try:
            known = load_litellm().get_supported_openai_params(self._server.model)
        except Exception:  # noqa: BLE001 - a question about the model, not a call; any answer but yes is "unknown"
            return None
        return frozenset(known) if known else None

    async def chat(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, sending: Sending
    ) -> Response:
        """Ask for a reply to a form."""
        if sending.late is None:
            return await self._chat(messages, form, mode, sending)
        sending.call.late = late = _LateCalls(sending.late)
        try:
            return await self._chat(messages, form, mode, sending)
        except Exception:
            if late.raised is None:
                raise
            raise late.raised from None  # libraries replace errors that they do not know

    async def _chat(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, sending: Sending
    ) -> Response:
        options = {"messages": messages, **self._options(sending)}
        sent = sent_schema(form, sending.rules)
        strict = sent.strict if mode == "json_schema" else sent.strict_tools
        client = self._clients.get(f"strict {mode}" if strict else mode)
        if client is None:
            received = await _complete(**options, **format_of(sent.json_schema, mode))
            return _as_sent(_response(received, sending.call), sending.call)
        from instructor.core.hooks import Hooks

        # instructor's exceptions do not always carry the response: after a refusal they do not.
        responses: list[Any] = []
        hooks = Hooks()
        hooks.on("completion:response", responses.append)
        options |= {"response_model": instructor_model(form, mode, sent), "hooks": hooks}
        parsed = failure = None
        try:
            parsed = await client.chat.completions.create(**options)
        except Exception as exc:  # noqa: BLE001 - translated by the caller, unless a response came
            failure = cause_of(exc)
        if not responses and failure is not None:
            raise failure  # outside the handler, which would replace its causes
        return _as_sent(_response(responses[-1], sending.call, parsed), sending.call)

    async def embed(self, texts: list[str], sending: Sending) -> Response:
        """Ask for the vectors of texts."""
        # Otherwise litellm decides by the model's name whether to send them.
        options = {"allowed_openai_params": ["dimensions"], **self._options(sending)}
        return _response(await load_litellm().aembedding(input=texts, **options), sending.call)

    async def echo(self, text: str, sending: Sending) -> Response:
        """Ask a completions endpoint to repeat a text."""
        options = self._options(sending)
        provider, slash, name = self._server.model.partition("/")
        if slash and provider in _COMPATIBLE:
            options["model"] = f"text-completion-openai/{name}"  # its completions endpoint
        return _response(await _complete_text(prompt=text, **options), sending.call)

    def _options(self, sending: Sending) -> dict[str, Any]:
        """Return the options of every call: the server, and no retries by litellm."""
        server = self._server
        return {
            "model": server.model,
            "api_base": server.api_base,
            "api_key": sending.key or ("none" if server.api_base else None),
            "timeout": server.timeout,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": False,
            **({"extra_headers": dict(sending.headers)} if sending.headers else {}),
            **sending.params,
        }


class _LateCalls:
    """Answers every request of one call alike: a library that repeats it never reaches a server."""

    def __init__(self, reply: LateReply) -> None:
        self._reply = reply
        self.raised: Exception | None = None

    def __call__(self, call: LiveCall) -> LateResponse:
        if self.raised is not None:
            raise self.raised
        try:
            return self._reply.answer(call)
        except Exception as exc:
            self.raised = exc
            raise


async def _complete(**options: Any) -> Any:
    # A copy, because litellm changes schemas and parameters in place.
    return await load_litellm().acompletion(**copy.deepcopy(options))


async def _complete_strictly(**options: Any) -> Any:
    if tools := options.get("tools"):
        functions = [{**tool, "function": {**tool["function"], "strict": True}} for tool in tools]
        return await _complete(**{**options, "tools": functions})
    asked = options["response_format"]
    schema = {**asked["json_schema"], "strict": True}
    return await _complete(**{**options, "response_format": {**asked, "json_schema": schema}})


def _response(response: Any, call: Exchange, parsed: Any = None) -> Response:
    """Return a response of litellm as plain data."""
    try:
        data = response.model_dump(mode="json", warnings=False)
    except ValueError:  # half of a surrogate pair
        data = response.model_dump(warnings=False)
    data = call.sanitiser.value(data)
    known = (parsed.text, parsed.parsed) if isinstance(parsed, ParsedText) else None
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    return Response(data, known, float(cost) if isinstance(cost, (int, float)) else None)


def _as_sent(response: Response, call: Exchange) -> Response:
    """Return a response with what the server sent where litellm changes its meaning.

    litellm turns unknown finish reasons into `stop`, and drops refusals of the Responses API.

    Raises:
        ServerError: the response is an error with a success status.
    """
    raw = call.data()
    if raw is None:
        return response
    if (hidden := hidden_error(raw, call)) is not None:
        raise hidden
    finish, refusal = finish_means(finish_in(raw)), refusal_in(raw)
    if finish not in ("length", "content_filter") and refusal is None:
        return response
    choices = [dict(choice) for choice in response.data.get("choices") or ()]
    for choice in choices[:1]:
        if finish in ("length", "content_filter"):
            choice["finish_reason"] = finish
        if refusal is not None:
            choice["message"] = {**(choice.get("message") or {}), "refusal": refusal}
    return response._replace(data={**response.data, "choices": choices})


def load_litellm() -> Any:
    """Import litellm on first use, without its network access, retries and prints.

    This setup affects only judgekit's calls: other users of litellm in this process keep their
    clients, logs and warnings.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm

    litellm.suppress_debug_info = True  # it would print advice on standard output
    if not isinstance(litellm.in_memory_llm_clients_cache, _Clients):
        litellm.in_memory_llm_clients_cache = _Clients(litellm.in_memory_llm_clients_cache)
    keep_quiet()
    return litellm


class _Clients:
    """Replaces litellm's cache of HTTP clients to give judgekit's calls their own clients.

    These clients limit the bodies that they read and do not follow redirects. Other users get
    litellm's clients.
    """

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    def get_cache(self, key: str, **options: Any) -> Any:
        if not asking():
            return self._theirs.get_cache(key, **options)
        return connections.shared(key)

    def set_cache(self, key: str, value: Any, **options: Any) -> None:
        if not asking():
            self._theirs.set_cache(key, value, **options)
            return
        _bound(value)
        connections.share(key, value)


def _bound(client: Any) -> None:
    """Limit the bodies that a client of litellm or of the OpenAI SDK reads."""
    import httpx

    from judgekit.judges import httpx_wire

    inner = getattr(client, "_client", None)
    if not isinstance(inner, httpx.AsyncClient):
        return
    httpx_wire.bound(inner)
    if not hasattr(client, "create_client"):
        return
    make = client.create_client

    def bounded(*args: Any, **options: Any) -> Any:
        new = make(*args, **options)
        httpx_wire.bound(new)
        return new

    client.create_client = bounded  # litellm's own client may connect anew


async def _complete_text(**options: Any) -> Any:
    """Call a completions endpoint through litellm, with a shared client that is closed at the end.

    litellm itself opens a client for every call and does not close it.
    """
    import httpx
    import openai

    key = ("completions", options["api_base"], options["api_key"])
    client = connections.shared(key)
    if client is None:
        client = openai.AsyncOpenAI(
            base_url=options["api_base"],
            api_key=options["api_key"],
            timeout=options["timeout"],
            max_retries=0,
            http_client=httpx.AsyncClient(),
        )
        _bound(client)
        connections.share(key, client)
    return await load_litellm().atext_completion(client=client, **options)


class ParsedText(BaseModel):
    """The result of instructor: a text, and the values that `parse_reply` reads from it."""

    text: str
    parsed: Any


def instructor_model(form: Form, mode: Mode, sent: SentSchema) -> type[ParsedText]:
    """Return the response model, built once per form and mode.

    For any other model, instructor would derive a class and its schema in every call.
    """
    name = f"_instructor_{mode}_{sent.of}"
    cached: type[ParsedText] | None = form.__dict__.get(name)
    if cached is None:
        from instructor import response_schema

        schema = sent.json_schema
        if mode == "tools":  # instructor takes the name of the tool from the title
            schema = {**schema, "title": NAME}

        # Without a docstring, because instructor would send it.
        class VerdictText(ParsedText):
            @classmethod
            def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
                return dict(schema)

            @classmethod
            def model_validate_json(cls, json_data: Any, **_: Any) -> Any:
                return cls.model_construct(text=json_data, parsed=parse_reply(json_data, form))

        VerdictText.__name__ = NAME  # instructor sends the name of the class
        cached = form.__dict__[name] = response_schema(VerdictText)
    return cached


def cause_of(error: BaseException) -> BaseException:
    """Return the error that instructor wrapped in its own, else the error itself."""
    from instructor.core.exceptions import InstructorRetryException

    wrapped = isinstance(error, InstructorRetryException)
    return error.__cause__ if wrapped and error.__cause__ is not None else error
