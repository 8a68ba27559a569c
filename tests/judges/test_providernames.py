from __future__ import annotations

import pytest

from judgekit.core.errors import ConfigError
from judgekit.judges.kinds import KINDS
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.provider_names import KNOWN_PROVIDERS
from judgekit.judges.providers import check_provider


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("opnai/gpt-4o", "openai/gpt-4o"),
        ("OpenAI/gpt-4o", "openai/gpt-4o"),
        ("antropic/claude/x", "anthropic/claude/x"),
        ("ollama-chat/qwen3:8b", "ollama_chat/qwen3:8b"),
        ("manuel/ann", "manual/ann"),
        ("openai:gpt-4o", "openai/gpt-4o"),
        ("fake:judge", "fake/judge"),
        ("mistral:7b", "ollama_chat/mistral:7b"),
    ],
)
def test_a_misspelled_provider_is_suggested(model, meant):
    with pytest.raises(ConfigError) as caught:
        LiteLLMJudge(model)

    assert str(caught.value).endswith(f"did you mean '{meant}'?")


@pytest.mark.parametrize(
    "model", ["openai/x", "acme/x", "gpt-4o", "v0/x", "x/y", "hosted_vllm/a/b"]
)
def test_other_models_are_let_through(model):
    check_provider(model)


def test_litellm_knows_the_providers():
    import litellm

    theirs = {getattr(provider, "value", provider) for provider in litellm.provider_list}

    assert theirs >= KNOWN_PROVIDERS
    # A provider of litellm must never count as the misspelling of another.
    for provider in theirs | set(filter(None, KINDS)):
        check_provider(f"{provider}/model")
