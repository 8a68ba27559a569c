"""Send requests through instructor and litellm, to any provider that litellm knows."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

from judgekit.core.request import Form
from judgekit.judges import providers
from judgekit.judges.instructor_client import (
    ParsedText,
    cause_of,
    instructor_clients,
    request_options,
)
from judgekit.judges.output_mode import Mode, format_of
from judgekit.judges.transport import Response, Sending, Server, Via

_COMPLETIONS = "text-completion-openai/"
_COMPATIBLE = ("openai/", "hosted_vllm/", "lm_studio/", "llamafile/")
"""Providers with a completions endpoint besides the chat endpoint."""


class LiteLLMTransport:
    """Sends requests with litellm; instructor adds the schema in its modes."""

    def __init__(self, server: Server, *, reason: str) -> None:
        self.via: Via = "litellm"
        self.reason = reason
        self._server = server
        self._clients: dict[Mode, Any] = {}
        """The clients of instructor, by mode."""

    def load(self) -> None:
        """Import litellm and instructor."""
        providers.load()
        for name in ("instructor", "judgekit.judges.httpx_wire"):
            import_module(name)  # now, because it takes time
        self._clients = instructor_clients(_complete)

    def missing_keys(self) -> list[str]:
        """Return the missing environment variables of the model."""
        return providers.missing_keys(self._server.model)

    def known_parameters(self) -> frozenset[str] | None:
        """Return the parameters of the model according to litellm."""
        return providers.known_parameters(self._server.model)

    async def chat(
        self, messages: list[dict[str, Any]], form: Form, mode: Mode, sending: Sending
    ) -> Response:
        """Ask for a reply to a form."""
        options = {"messages": messages, **self._options(sending)}
        client = self._clients.get(mode)
        if client is None:
            return _response(await _complete(**options, **format_of(form, mode)))
        responses: list[Any] = []
        options |= request_options(form, mode, responses)
        parsed = failure = None
        try:
            parsed = await client.chat.completions.create(**options)
        except Exception as exc:  # noqa: BLE001 - translated by the caller, unless a response came
            failure = cause_of(exc)
        if not responses and failure is not None:
            raise failure  # outside the handler, which would replace its causes
        return _response(responses[-1], parsed)

    async def embed(self, texts: list[str], sending: Sending) -> Response:
        """Ask for the vectors of texts."""
        # Otherwise litellm decides by the model's name whether it accepts them.
        options = {"allowed_openai_params": ["dimensions"], **self._options(sending)}
        return _response(await providers.load().aembedding(input=texts, **options))

    async def echo(self, text: str, sending: Sending) -> Response:
        """Ask a completions endpoint to repeat a text."""
        options = {**self._options(sending), "model": completions_model(self._server.model)}
        return _response(await providers.complete_text(prompt=text, **options))

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
            **sending.params,
        }


async def _complete(**options: Any) -> Any:
    # A copy, because litellm changes schemas and parameters in place.
    return await providers.load().acompletion(**copy.deepcopy(options))


def _response(response: Any, parsed: Any = None) -> Response:
    """Return a response of litellm as plain data."""
    data = response.model_dump(mode="json", warnings=False)
    known = (parsed.text, parsed.parsed) if isinstance(parsed, ParsedText) else None
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    return Response(data, known, float(cost) if isinstance(cost, (int, float)) else None)


def completions_model(model: str) -> str:
    """Return the name under which litellm uses the completions endpoint of a model."""
    for provider in _COMPATIBLE:
        if model.startswith(provider):
            return _COMPLETIONS + model.removeprefix(provider)
    return model
