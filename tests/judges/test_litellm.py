from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

import judgekit
from judgekit.core.errors import ConfigError
from judgekit.core.reply_schema import reply_schema
from judgekit.core.request import ChatMessage, Form, Question, Request
from judgekit.judges.output_mode import messages_of, reask
from judgekit.judges.sent_schema import sent_schema
from judgekit.judges.via_litellm import instructor_model

FORM = Form(questions=(Question(id="points", kind="checklist", text="Which?", items=("a", "b")),))


def request(form: Form = FORM) -> Request:
    messages = (ChatMessage(role="user", content="Judge this."),)
    return Request(messages=messages, form=form, model="openai/x")


def test_local_model_is_one_line() -> None:
    judge = judgekit.LiteLLMJudge("ollama_chat/qwen3:8b", api_base="http://localhost:11434")

    assert judge.model == "ollama_chat/qwen3:8b"
    assert repr(judge) == "LiteLLMJudge('ollama_chat/qwen3:8b')"
    assert judge.shown == "ollama_chat/qwen3:8b at localhost:11434"
    assert judgekit.LiteLLMJudge("openai/gpt-4o").shown == "openai/gpt-4o"


def test_making_a_judge_imports_no_library() -> None:
    program = (
        "import sys, judgekit; judgekit.LiteLLMJudge('openai/x', api_key='k');"
        "print([n for n in ('litellm', 'instructor', 'tenacity', 'openai') if n in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "yaml"},
        {"timeout": 0},
        {"retries": -1},
        {"reasks": -1},
        {"params": {"api_key": "sk-canary"}},
        {"params": {"api_base": "http://elsewhere"}},
        {"params": {"extra_headers": {"Authorization": "x"}}},
        {"params": {"stream": True}},
    ],
)
def test_impossible_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        judgekit.LiteLLMJudge("openai/x", **options)

    assert "canary" not in str(caught.value)


def test_response_model_is_built_once_a_form() -> None:
    first = instructor_model(FORM, "json_schema", sent_schema(FORM, None))

    assert first is instructor_model(FORM, "json_schema", sent_schema(FORM, None))
    assert first.model_json_schema() == reply_schema(FORM).json_schema


@pytest.mark.parametrize("mode", ["json_schema", "tools"])
def test_schema_of_an_author_is_sent_as_it_is(mode: Any) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"value": {"type": "number", "maximum": 1}},
        "required": ["value"],
    }

    form = Form(json_schema=schema)
    model = instructor_model(form, mode, sent_schema(form, None))

    sent = model.model_json_schema()
    assert sent == (schema if mode == "json_schema" else {"title": "Verdict", **schema})
    assert model.model_validate_json('{"anything": 1}').parsed.data == {"anything": 1}


@pytest.mark.parametrize("mode", ["json_object", "text"])
def test_schema_in_the_prompt_keeps_its_order(mode: Any) -> None:
    (message,) = messages_of(request(), mode)

    told, _, schema = message["content"].partition("JSON schema:\n")
    assert told.startswith("Judge this.\n\nAnswer with one JSON object")
    item = json.loads(schema)["$defs"]["Item0"]
    assert list(item["properties"]) == ["item", "reason", "met"]


def test_schema_is_not_in_the_prompt_when_it_is_sent_beside_it() -> None:
    assert messages_of(request(), "json_schema") == [{"role": "user", "content": "Judge this."}]


def test_second_ask_after_a_blank_answer_extends_the_last_message() -> None:
    messages = [{"role": "user", "content": "Judge this."}]

    (only,) = reask(messages, " \n", "the reply is empty")

    assert only["content"].startswith("Judge this.\n\nThat is not a valid answer: the reply is")
    assert messages == [{"role": "user", "content": "Judge this."}]


def test_judge_without_a_server_opens_nothing() -> None:
    judge = judgekit.LiteLLMJudge("openai/gpt-6-luna")

    with pytest.raises(judgekit.JudgekitError, match="set OPENAI_API_KEY"):
        asyncio.run(judge.ask(request()))
