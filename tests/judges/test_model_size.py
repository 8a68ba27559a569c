from __future__ import annotations

import pytest

from judgekit.judges.model_size import SHORT_REASON, billions_of, default_bound


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("ollama_chat/qwen2.5:0.5b", 0.5),
        ("openai/Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf", 0.5),
        ("gemma3:270m", 0.27),
        ("meta-llama/Llama-3.2-3B-Instruct", 3.0),
        ("qwen3:30b-a3b", 30.0),  # 3 billion are active, but it is no small model
        ("mixtral-8x7b", None),
        ("openai/gpt-6-luna", None),
        ("phi-4-4bit", None),
        ("..b", None),
        ("1.2.3b", None),
        ("9" * 400 + "b", None),
        ("٣b", None),
        ("", None),
    ],
)
def test_a_size_is_read_from_a_name(name, size):
    assert billions_of(name) == (None if size is None else pytest.approx(size))


@pytest.mark.parametrize(
    ("model", "identity", "bound"),
    [
        ("openai/local", "qwen2.5-0.5b@sha256:12", SHORT_REASON),
        ("ollama_chat/qwen3:8b", None, None),
        ("ollama_chat/qwen3:4b", None, SHORT_REASON),
        ("openai/tiny-1b", "llama-70b", None),
        ("openai/x-0b", None, None),
    ],
)
def test_only_models_known_to_be_small_have_a_default_bound(model, identity, bound):
    assert default_bound(model, identity) == bound
