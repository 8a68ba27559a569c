"""The judge sees a conversation in the order of its source, in every format."""

from __future__ import annotations

import pytest

import judgekit
from judgekit.core.case import Case, Message

REPEATED = {
    "messages": [
        {"role": "user", "content": "Rome?"},
        {
            "role": "assistant",
            "content": "Rome?",
            "tool_calls": [{"id": "1", "function": {"name": "w", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "24"},
        {"role": "assistant", "content": "24 degrees."},
    ],
    "baseline": "24 degrees.",
}


def test_steps_are_shown_also_if_the_answer_repeats_their_texts():
    (case,) = judgekit.load_cases([REPEATED])
    judge = judgekit.FakeJudge()
    score = judgekit.score_sync(case, judgekit.create_metric("quality", judge=judge))

    assert "What the assistant did before it answered:" in judge.asked[0].messages[-1].content
    assert "[calls w({})]" in judge.asked[0].messages[-1].content
    assert "shown" not in score.details


def test_steps_that_were_not_read_whole_fail_the_row_also_if_the_answer_repeats_them():
    row = {**REPEATED, "unread": {"steps": "message 2 has an image"}}
    (case,) = judgekit.load_cases([row])
    failure = judgekit.score_sync(
        case, judgekit.create_metric("quality", judge=judgekit.FakeJudge())
    )

    assert (failure.kind, failure.message) == ("invalid_case", "message 2 has an image")


SHAPES = {
    "openai": {
        "messages": [
            {"role": "user", "content": "Rome?"},
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "w", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "tool_call_id": "1", "content": "24"},
            {"role": "assistant", "content": "24 degrees."},
        ]
    },
    "responses": {
        "input": "Rome?",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "function_call", "call_id": "1", "name": "w", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "24"},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "24 degrees.", "annotations": []}],
            },
        ],
    },
    "anthropic": {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Rome?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "tool_use", "id": "1", "name": "w", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "1", "content": "24"}],
            },
            {"role": "assistant", "content": "24 degrees."},
        ]
    },
    "gemini": {
        "contents": [
            {"role": "user", "parts": [{"text": "Rome?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True},
                    {"functionCall": {"name": "w", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "w", "response": "24"}}],
            },
            {"role": "model", "parts": [{"text": "24 degrees."}]},
        ]
    },
    "ai_sdk": {
        "messages": [
            {"role": "user", "parts": [{"type": "text", "text": "Rome?"}]},
            {
                "role": "assistant",
                "parts": [
                    {"type": "step-start"},
                    {"type": "reasoning", "text": "hm"},
                    {
                        "type": "tool-w",
                        "toolCallId": "1",
                        "state": "output-available",
                        "input": {},
                        "output": "24",
                    },
                    {"type": "step-start"},
                    {"type": "text", "text": "24 degrees."},
                ],
            },
        ]
    },
    "langchain": {
        "messages": [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "messages", "HumanMessage"],
                "kwargs": {"content": "Rome?", "type": "human"},
            },
            {
                "type": "ai",
                "data": {
                    "content": "",
                    "additional_kwargs": {"reasoning_content": "hm"},
                    "tool_calls": [{"name": "w", "args": {}, "id": "1", "type": "tool_call"}],
                },
            },
            {"type": "tool", "content": "24", "tool_call_id": "1"},
            {"type": "ai", "content": "24 degrees."},
        ]
    },
    "bedrock": {
        "messages": [
            {"role": "user", "content": [{"text": "Rome?"}]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                    {"toolUse": {"toolUseId": "1", "name": "w", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "1", "content": [{"text": "24"}]}}],
            },
            {"role": "assistant", "content": [{"text": "24 degrees."}]},
        ]
    },
    "inspect": {
        "input": [{"role": "user", "content": "Rome?"}],
        "messages": [
            {"id": "m1", "role": "user", "content": "Rome?", "source": "input"},
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "hm"}],
                "tool_calls": [{"id": "1", "function": "w", "arguments": {}, "type": "function"}],
            },
            {"role": "tool", "content": "24", "tool_call_id": "1", "function": "w"},
            {"role": "assistant", "content": "24 degrees."},
        ],
        "output": {"model": "m", "completion": "24 degrees."},
    },
    "sharegpt": {
        "conversations": [
            {"from": "human", "value": "Rome?"},
            {
                "from": "gpt",
                "value": '<think>hm</think><tool_call>{"name": "w", "arguments": {}}</tool_call>',
            },
            {"from": "tool", "value": "<tool_response>\n24\n</tool_response>"},
            {"from": "gpt", "value": "24 degrees."},
        ]
    },
    "mastra": {
        "input": {"inputMessages": [{"role": "user", "content": "Rome?"}]},
        "output": [
            {
                "role": "assistant",
                "content": {
                    "format": 2,
                    "parts": [
                        {"type": "reasoning", "details": [{"type": "text", "text": "hm"}]},
                        {
                            "type": "tool-invocation",
                            "toolInvocation": {
                                "state": "result",
                                "toolCallId": "1",
                                "toolName": "w",
                                "args": {},
                                "result": "24",
                            },
                        },
                        {"type": "text", "text": "24 degrees."},
                    ],
                },
            }
        ],
    },
}


def steps_of(case):
    return [
        (message.role, message.content, [(c.name, c.arguments) for c in message.tool_calls])
        for message in case.steps
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_conversation_with_a_tool_is_the_same_case_in_every_format(shape):
    (case,) = judgekit.load_cases([{"id": "a", **SHAPES[shape]}])

    assert (case.input, case.output, case.history) == ("Rome?", "24 degrees.", ())
    assert steps_of(case) == [("assistant", "", [("w", {})]), ("tool", "24", [])]
    assert case.metadata.get("thoughts", ["hm"] if shape == "openai" else []) == ["hm"]
    assert not case.unread


CASE = Case(
    id="a",
    system="SYSTEM",
    history=[Message(role="user", content="EARLIER")],
    input="REQUEST",
    steps=[Message(role="assistant", content="STEP"), Message(role="tool", content="RESULT")],
    output="ANSWER",
)


@pytest.mark.parametrize("metric", ["quality", "prompt_alignment", "safety", "toxicity"])
def test_the_judge_sees_the_order_of_the_source(metric):
    judge = judgekit.FakeJudge()

    judgekit.score_sync(CASE, judgekit.create_metric(metric, judge=judge))

    shown = judge.asked[-1].messages[-1].content
    words = ("EARLIER", "REQUEST", "STEP", "RESULT", "ANSWER")
    places = [shown.index(word) for word in words]
    assert places == sorted(places)


def test_what_the_judge_was_not_shown_is_in_the_row():
    turns = tuple(Message(role="user", content=f"EARLIER {n}.") for n in range(12))
    case = CASE.model_copy(
        update={"history": turns, "metadata": {"message_fields": {"message 2": {"notes": "x"}}}}
    )
    metric = judgekit.create_metric("quality", judge=judgekit.FakeJudge())

    whole = judgekit.score_sync(CASE, metric)
    cut = judgekit.score_sync(case, metric)

    assert "shown" not in whole.details
    assert cut.details["shown"] == {
        "history": "2 of 12 earlier messages",
        "metadata.message_fields": "message 2: notes",
    }


def test_a_field_that_was_not_read_whole_fails_only_metrics_that_read_it():
    row = {
        "id": "a",
        "messages": [
            {"role": "user", "content": ["What is this?", {"type": "image_url"}]},
            {"role": "assistant", "content": "A cat."},
        ],
    }
    (case,) = judgekit.load_cases([row])
    judge = judgekit.FakeJudge()

    judged = judgekit.score_sync(case, judgekit.create_metric("quality", judge=judge))
    counted = judgekit.score_sync(case, judgekit.create_metric("length", maximum=10))

    assert (judged.kind, judged.message) == ("invalid_case", "message 1 has an image")
    assert judge.asked == []
    assert counted.value == 1.0
