from __future__ import annotations

import json

import pytest

from judgekit.core.case import Message, ToolCall
from judgekit.core.errors import DatasetError
from judgekit.datasets import load_cases
from tests.each import each

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
}


def case_of(messages, **beside):
    (case,) = load_cases([{"messages": messages, **beside}])
    return case


def turn(role, content=None, **more):
    return {"role": role, "content": content, **more}


def test_the_last_turns_become_input_and_output():
    case = case_of(
        [
            turn("system", "Be brief."),
            turn("developer", "Be kind."),
            turn("user", "Hi"),
            turn("assistant", "Hello!"),
            turn("user", "2+2?"),
            turn("assistant", "4"),
        ]
    )

    assert case.system == "Be brief.\n\nBe kind."
    assert case.history == (
        Message(role="user", content="Hi"),
        Message(role="assistant", content="Hello!"),
    )
    assert (case.input, case.output) == ("2+2?", "4")


def test_keys_of_a_case_may_stand_beside_the_messages():
    case = case_of(
        [turn("user", "2+2?"), turn("assistant", "4")],
        id=7,
        ground_truth="4",
        metadata={"topic": "sums"},
        tools=[{"name": "sum"}],
    )

    assert (case.id, case.reference) == ("7", ("4",))
    assert case.metadata == {"topic": "sums", "tools": [{"name": "sum"}]}


def test_an_answer_beside_messages_that_end_with_the_user_is_the_output():
    case = case_of([turn("user", "2+2?")], answer="4")

    assert (case.input, case.output, case.history) == ("2+2?", "4", ())


def test_messages_without_an_answer_have_no_output():
    assert case_of([turn("user", "2+2?")]).output is None


def test_messages_without_a_user_have_no_input():
    case = case_of([turn("system", "Greet."), turn("assistant", "Hello!")])

    assert (case.input, case.output) == (None, "Hello!")


def test_two_outputs_are_refused():
    with pytest.raises(DatasetError, match="given twice, by 'messages' and by 'answer'"):
        case_of([turn("user", "2+2?"), turn("assistant", "4")], answer="5")


def test_a_system_message_in_the_middle_keeps_its_place():
    case = case_of([turn("user", "Hi"), turn("system", "Be kind."), turn("user", "2+2?")])

    assert case.system is None
    assert case.history[1] == Message(role="system", content="Be kind.")


def test_texts_are_joined_as_they_are():
    parts = [{"type": "text", "text": "What is "}, {"type": "text", "text": "this"}, "?"]

    assert case_of([turn("user", parts)]).input == "What is this?"


@pytest.mark.parametrize(
    ("part", "noun"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, "an image"),
        ({"type": "input_audio", "input_audio": {}}, "audio"),
        ({"type": "file", "file": {}}, "a file"),
        ({"type": "file", "mediaType": "image/png", "data": "x"}, "an image"),
        ({"type": "hologram"}, "a part of the unknown type 'hologram'"),
    ],
)
def test_what_is_not_text_is_named_and_leaves_no_placeholder(part, noun):
    case = case_of([turn("user", "Hi"), turn("user", ["What is this?", part])])

    assert case.input == "What is this?"
    assert case.unread == {"input": f"message 2 has {noun}"}


def test_an_unknown_role_concerns_the_whole_conversation():
    case = case_of([turn("user", "Hi"), turn("wizard", "Hello")], answer="Hi")

    assert set(case.unread) == {"system", "history", "input", "steps", "output"}
    assert case.unread["output"] == "message 2 has the unknown role 'wizard'"


def test_a_refusal_is_the_output():
    assert case_of([turn("user", "x"), turn("assistant", refusal="No.")]).output == "No."


def test_tool_calls_and_results_after_the_request_are_steps():
    case = case_of(
        [
            turn("user", "Weather in Oslo?"),
            turn("assistant", tool_calls=[CALL]),
            turn("tool", "Rain", tool_call_id="call_1"),
            turn("tool", "Snow", tool_call_id="call_9"),
            turn("assistant", "It rains."),
        ]
    )

    assert (case.input, case.output, case.history) == ("Weather in Oslo?", "It rains.", ())
    assert case.steps == (
        Message(
            role="assistant",
            tool_calls=(ToolCall(name="weather", arguments={"city": "Oslo"}, id="call_1"),),
        ),
        Message(role="tool", content="Rain", name="weather"),
        Message(role="tool", content="Snow", name="call_9"),
    )


def test_messages_that_end_with_a_tool_have_no_output():
    case = case_of([turn("user", "x"), turn("assistant", tool_calls=[CALL]), turn("tool", "Rain")])

    assert case.output is None
    assert [message.role for message in case.steps] == ["assistant", "tool"]


def test_a_last_message_of_tool_calls_only_is_their_canonical_json():
    case = case_of([turn("user", "x"), turn("assistant", tool_calls=[CALL])])

    assert case.output == '[{"arguments":{"city":"Oslo"},"name":"weather"}]'
    assert case.metadata == {
        "tool_calls": [{"name": "weather", "arguments": {"city": "Oslo"}, "id": "call_1"}]
    }


def test_tool_calls_beside_a_last_text_are_kept():
    case = case_of([turn("user", "x"), turn("assistant", "One moment.", tool_calls=[CALL])])

    assert case.output == "One moment."
    assert case.metadata["tool_calls"][0]["name"] == "weather"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"function": {"name": "f", "arguments": ""}}, {}),
        ({"function": "f", "arguments": {"a": 1}}, {"a": 1}),
        ({"name": "f", "args": {"a": 1}}, {"a": 1}),
        ({"name": "f", "input": {"a": 1}}, {"a": 1}),
        ({"name": "f", "parameters": {"a": 1}}, {"a": 1}),
        ({"name": "f", "arguments": {"a": 1}}, {"a": 1}),
        ({"type": "custom", "custom": {"name": "f", "input": "SELECT"}}, "SELECT"),
        ({"function": {"name": "f"}}, None),
    ],
)
def test_arguments_are_parsed_or_kept_as_they_are(call, expected):
    case = case_of([turn("user", "x"), turn("assistant", tool_calls=[call]), turn("tool", "y")])

    assert case.steps[0].tool_calls[0].arguments == expected
    assert not case.unread


def test_arguments_that_are_not_json_are_named():
    call = {"function": {"name": "f", "arguments": '{"a": 1'}}
    case = case_of([turn("user", "x"), turn("assistant", tool_calls=[call]), turn("tool", "y")])

    assert case.unread == {"steps": "message 2 has a call of 'f' with arguments that are not JSON"}


def test_an_old_function_call_is_a_tool_call():
    call = {"name": "f", "arguments": "{}"}
    case = case_of([turn("assistant", function_call=call), turn("function", "y", name="f")])

    assert case.history[0].tool_calls == (ToolCall(name="f", arguments={}),)
    assert case.history[1] == Message(role="tool", content="y", name="f")


def test_a_mapping_may_say_where_the_messages_are():
    row = {"run": {"turns": [turn("user", "2+2?"), turn("assistant", "4")]}, "seed": 1}

    (case,) = load_cases([row], fields={"messages": "run.turns"})

    assert (case.input, case.output, case.metadata) == ("2+2?", "4", {"seed": 1})


def test_messages_in_a_csv_cell_are_read(tmp_path):
    path = tmp_path / "chats.csv"
    cell = json.dumps([turn("user", "2+2?"), turn("assistant", "4")]).replace('"', '""')
    path.write_text(f'id,messages\na,"{cell}"\n', encoding="utf-8")

    (case,) = load_cases(path)

    assert (case.input, case.output) == ("2+2?", "4")


@each(
    ("messages", "field", "words"),
    [
        ({}, "messages", "found an object"),
        ([], "messages", "empty list"),
        ("Hi", "messages", "not JSON"),
        (["Hi"], "messages.0", "found text"),
        ([{"content": "Hi"}], "messages.0.role", "found null"),
        ([turn("user", 1)], "messages.0.content", "found a number"),
        ([turn("user", [1])], "messages.0.content.0", "found a number"),
        ([{"text": "Hi"}], "messages.0.role", "found null"),
        ([turn("user", [{"type": "text"}])], "messages.0.content.0.text", "found null"),
        ([turn("user", "Hi", name=1)], "messages.0.name", "found a number"),
        ([turn("assistant", tool_calls={})], "messages.0.tool_calls", "found an object"),
        ([turn("assistant", tool_calls=[1])], "messages.0.tool_calls.0", "found a number"),
        ([turn("assistant", tool_calls=[{}])], "messages.0.tool_calls.0", "without the name"),
    ],
)
def test_a_broken_message_is_named(messages, field, words):
    with pytest.raises(DatasetError, match=words) as caught:
        case_of(messages)

    assert caught.value.where == "row 1"
    assert caught.value.field == field


def test_a_row_without_messages_is_refused_when_chats_are_asked_for():
    with pytest.raises(DatasetError, match="no `messages` in the row"):
        list(load_cases([{"input": "Hi"}], format="chat"))


def test_a_chat_is_refused_when_plain_rows_are_asked_for():
    with pytest.raises(DatasetError, match="read the rows with format='chat'"):
        list(load_cases([{"messages": []}], format="rows"))


def test_a_computer_call_with_several_actions_has_them_as_arguments():
    actions = [{"type": "click", "x": 1, "y": 2}, {"type": "wait"}]
    call = {"type": "computer_call", "id": "i", "call_id": "c", "actions": actions}

    case = case_of([turn("user", "Buy it."), call, turn("assistant", "Done.")])

    assert [each.arguments for each in case.steps[0].tool_calls] == [actions]


def test_a_sample_of_an_agent_in_a_log_of_inspect_is_read():
    beside = {"turn_count": 1, "token_limit": 9, "sandbox": {"type": "docker"}, "epoch": 1}

    case = case_of([turn("user", "Hi"), turn("assistant", "Hello!")], **beside)

    assert (case.input, case.output) == ("Hi", "Hello!")
    assert case.metadata == beside


def test_a_part_of_a_type_that_no_tool_writes_is_named():
    case = case_of([turn("user", "Hi"), turn("assistant", [{"type": "step", "text": "Hello!"}])])

    assert "'step'" in str(case.unread["output"])
