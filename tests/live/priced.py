"""Draws tokens of responses and compares their costs with those of litellm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from random import Random
from typing import Any

from judgekit.judges.prices import listed_cost
from judgekit.judges.via_litellm import load_litellm

MODELS = (
    "openai/gpt-4o", "openai/gpt-4.1-mini", "openai/gpt-5", "openai/gpt-5.6", "openai/gpt-6-luna",
    "openai/o3", "azure/gpt-5", "anthropic/claude-sonnet-5", "anthropic/claude-sonnet-4-5",
    "anthropic/claude-haiku-4-5", "anthropic/claude-opus-4-5", "gemini/gemini-2.5-pro",
    "gemini/gemini-2.5-flash", "xai/grok-4.5", "mistral/mistral-large-latest",
    "deepseek/deepseek-chat", "dashscope/qwen3-max", "perplexity/sonar-pro",
    "together_ai/deepseek-ai/DeepSeek-V3", "cerebras/gpt-oss-120b",
)  # fmt: skip
_PROMPTS = (1, 50, 1023, 4000, 128_000, 128_001, 200_000, 200_001, 272_000, 272_001, 900_000)
_TIERS = (None, None, "default", "flex", "priority")


def responses(random: Random, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield models and responses with drawn tokens: long prompts, caches, thoughts, tiers."""
    for number in range(count):
        prompt, completion = random.choice(_PROMPTS), random.randint(0, 20_000)
        read: dict[str, Any] = {}
        if random.random() < 0.6:
            read["cached_tokens"] = random.randint(0, prompt)
        if random.random() < 0.5:
            kind = random.choice(("cache_creation_tokens", "cache_write_tokens"))
            written = read[kind] = random.randint(0, prompt - read.get("cached_tokens", 0))
            if random.random() < 0.4:
                long = random.randint(0, written)
                read["cache_creation_token_details"] = {
                    "ephemeral_5m_input_tokens": written - long,
                    "ephemeral_1h_input_tokens": long,
                }
        usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
        if read:
            usage["prompt_tokens_details"] = read
        if random.random() < 0.3:
            thoughts = {"reasoning_tokens": random.randint(0, completion)}
            usage["completion_tokens_details"] = thoughts
        tier = random.choice(_TIERS)
        yield MODELS[number % len(MODELS)], {"usage": usage, "service_tier": tier}


def differences(random: Random, count: int) -> list[tuple[str, dict[str, Any], Any, Any]]:
    """Return the responses for which our cost is not that of litellm's `completion_cost`."""
    litellm = load_litellm()
    different = []
    for model, data in responses(random, count):
        usage = dict(data["usage"])
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        response = litellm.ModelResponse(model=model.partition("/")[2], usage=usage, choices=[{}])
        if data["service_tier"]:
            response.service_tier = data["service_tier"]
        with redirect_stdout(StringIO()):  # it prints advice
            theirs = litellm.completion_cost(response, model=model)
        ours = listed_cost(model, data)
        if ours is None or not math.isclose(ours, theirs, rel_tol=1e-9):
            different.append((model, data, ours, theirs))
    return different
