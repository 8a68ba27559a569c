from __future__ import annotations

import pytest

from judgekit.core.credentials import credential_in


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "apikey",
        "api-key",
        "X-Api-Key",
        "openai_api_key",
        "token",
        "access_token",
        "auth_token",
        "hf_token",
        "secret",
        "client_secret",
        "password",
        "passwd",
        "Authorization",
        "private_key",
        "credentials",
    ],
)
def test_names_of_credentials(name: str) -> None:
    assert credential_in({"extra_body": {"a": [{name: "abc"}]}}) == ("extra_body", "a", "0", name)


@pytest.mark.parametrize(
    "value",
    ["Bearer abcdefgh123", "sk-0123456789abcdef0123", "AIza" + "x" * 30, "see my-own-secret!"],
)
def test_values_that_are_credentials(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "my-own-secret")

    assert credential_in({"metadata": {"note": value}}) == ("metadata", "note")


def test_parameters_are_none() -> None:
    assert (
        credential_in(
            {
                "max_tokens": 5,
                "stop_token_ids": [1],
                "seed": 3,
                "logit_bias": {"50256": -100},
                "stop": ["token", "key:", "secret"],
                "extra_body": {
                    "eos_token": "</s>",
                    "chat_template_kwargs": {"enable_thinking": False},
                },
                "prompt_cache_key": "suite-1",
                "token": None,
                "user": "ann",
            }
        )
        is None
    )
