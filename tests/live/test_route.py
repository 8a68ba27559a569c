"""Which way a judge is asked, its prices, and what a direct run imports."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import ConfigError
from judgekit.judges import via_litellm
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.prices import listed_cost
from judgekit.judges.providers import PROVIDERS

from .asking import judge_of, run, tokens, write_suite
from .server import Server
from .test_replies import ask, request

LOCAL = "http://127.0.0.1:1/v1"


def way(model: str, **options: Any) -> str:
    return LiteLLMJudge(model, **options).via.partition(" ")[0]


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("anthropic/claude-sonnet-4-5", {}),
        ("ollama_chat/qwen3:8b", {"api_base": LOCAL}),
        ("hosted_vllm/judge", {}),
        ("openai/judge", {}),
        ("openai/o3-mini", {"api_base": LOCAL}),
        ("openai/gpt-5-codex", {}),
        ("openai/gpt-5-mini", {"params": {"temperature": 1}}),
        ("openai/judge", {"api_base": LOCAL, "params": {"reasoning_effort": "low"}}),
        ("openai/judge", {"api_base": LOCAL + "?version=1"}),
    ],
)
def test_requests_that_litellm_changes_go_through_litellm(
    model: str, options: dict[str, Any]
) -> None:
    assert way(model, **options) == "litellm"
    with pytest.raises(ConfigError, match=f"via: direct cannot be used for {model}: .*remove via"):
        LiteLLMJudge(model, via="direct", **options)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("openai/gpt-4o-mini", {}),
        ("openai/gpt-4.1-2025-04-14", {"params": {"temperature": 0}}),
        ("openai/gpt-5-mini", {"params": {"max_completion_tokens": 500}}),
        ("openai/judge", {"api_base": LOCAL}),
        ("hosted_vllm/org/model-7b", {"api_base": LOCAL, "params": {"top_k": 1}}),
    ],
)
def test_other_requests_are_sent_directly(
    model: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert way(model, **options) == "direct"
    assert way(model, via="litellm", **options) == "litellm"
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    assert way(model, **options) == ("direct" if "api_base" in options else "litellm")


def test_addresses_and_keys_are_those_of_litellm() -> None:
    litellm = via_litellm.load_litellm()

    for name, provider in PROVIDERS.items():
        if provider.address is None:
            continue
        assert name == "openai", "compare the address of a further provider"
        client = litellm.OpenAIChatCompletion()._get_openai_client(is_async=True, api_key="k")
        assert str(client.base_url).rstrip("/") == provider.address
        assert litellm.validate_environment(f"{name}/gpt-4o")["missing_keys"] == [provider.key]


USAGES: tuple[dict[str, Any], ...] = (
    {"prompt_tokens": 1000, "completion_tokens": 50},
    {"prompt_tokens": 9000, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}},
    {
        "prompt_tokens": 10,
        "completion_tokens": 900,
        "completion_tokens_details": {"reasoning_tokens": 800},
    },
)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_costs_are_those_of_litellm() -> None:
    litellm = via_litellm.load_litellm()

    compared = 0
    for model, entry in litellm.model_cost.items():
        named = f"openai/{model}"
        if entry.get("litellm_provider") != "openai" or entry.get("mode") != "chat":
            continue
        if "/" in model or way(named) != "direct":
            continue
        for usage in USAGES:
            data = {"usage": usage}
            response = litellm.ModelResponse(
                model=model, usage={**usage, "total_tokens": 0}, choices=[{}]
            )
            theirs = litellm.completion_cost(response, model=named)
            ours = listed_cost(named, data)
            assert ours == pytest.approx(theirs, rel=1e-9), (model, usage)
            compared += 1
    assert compared >= 60


def test_costs_with_other_prices_are_unknown() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    audio = {**usage, "prompt_tokens_details": {"audio_tokens": 5}}

    assert listed_cost("openai/gpt-4o", {"usage": audio}) is None
    assert listed_cost("openai/gpt-4o", {"usage": usage, "service_tier": "scale"}) is None
    assert listed_cost("openai/no-such-model", {"usage": usage}) is None


@pytest.mark.loopback
def test_a_direct_run_imports_neither_litellm_nor_its_libraries(
    server: Server, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, server, tokens(2))
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from judgekit.suite.overrides import Overrides\n"
        "from judgekit.suite.run import run_suite\n"
        "from judgekit.suite.suite import load_suite\n"
        "suite = load_suite(Path(sys.argv[1]), Overrides(record='new_episodes'))\n"
        "asyncio.run(run_suite(suite))\n"
        "names = ('litellm', 'instructor', 'openai', 'httpx')\n"
        "print('loaded', [name for name in names if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(suite)], capture_output=True, text=True, check=False
    )

    assert "loaded []" in done.stdout, done.stdout + done.stderr
    assert server.calls() > 2  # the probe and two cases


@pytest.mark.loopback
@pytest.mark.filterwarnings("error::ResourceWarning")
def test_connections_are_kept_in_a_run_and_closed_after_it(server: Server, tmp_path: Path) -> None:
    run(judge_of(server), tokens(8), tmp_path, concurrency=2)

    assert server.calls() == 8
    assert len(server._connections) == 0
    ask(judge_of(server), request())  # a call outside of a run closes its connection, too


@pytest.mark.loopback
def test_keys_do_not_depend_on_the_way(server: Server) -> None:
    replies = [
        asyncio.run(judge_of(server, via=via).ask(request())) for via in ("direct", "litellm")
    ]

    assert replies[0] == replies[1]
