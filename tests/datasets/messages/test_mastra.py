from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.core.case import Message
from judgekit.core.errors import DatasetError
from judgekit.datasets import load_cases
from tests.each import each

VECTORS = json.loads(
    (Path(__file__).parent.parent / "data" / "mastra_message_extraction.json").read_text("utf-8")
)["cases"]

USER = {"role": "user", "content": "Hi"}
ANSWER = {"role": "assistant", "content": "Hello!"}
FIELDS = {"user": "input", "system": "system", "assistant": "output"}


def case_of(**row):
    (case,) = load_cases([{"id": "a", **row}], format="mastra")
    return case


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_the_recorded_extractions_match(vector):
    kind = vector["parameters"]["kind"]
    side = "output" if kind == "assistant" else "input"

    case = case_of(**{side: vector["inputs"]["value"]})

    assert getattr(case, FIELDS[kind]) == vector["expected"]["text"]


@each(
    "value",
    [
        "Hi",
        {"inputMessages": [USER], "systemMessages": []},
        {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "1"}, USER]},
        {"prompt": "Hi"},
        {"text": "Hi"},
        {"content": "Hi"},
        {"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]},
        {"input": "Hi"},
        {"input": {"text": "Hi"}},
        {"user": "Hi"},
        {"user": {"body": "Hi"}},
        [USER],
        {"inputMessages": [], "prompt": "Hi"},
        {
            "messages": [
                {
                    "role": "user",
                    "content": {
                        "format": 2,
                        "parts": [
                            {"type": "step-start"},
                            {"type": "text", "text": "Hi"},
                        ],
                    },
                }
            ]
        },
        {
            "messages": [
                {
                    "role": "user",
                    "content": {"content": "", "parts": [{"type": "text", "text": "Hi"}]},
                }
            ]
        },
    ],
)
def test_every_input_shape_gives_the_last_user_text(value):
    assert case_of(input=value).input == "Hi"


@pytest.mark.parametrize(
    "value",
    [
        "Hello!",
        {"text": "Hello!"},
        {"content": "Hello!"},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello!"}]},
        {"role": "assistant", "content": {"parts": [{"type": "text", "text": "Hello!"}]}},
        [USER, {"role": "assistant", "content": "First"}, ANSWER],
    ],
)
def test_every_output_shape_gives_the_last_assistant_text(value):
    assert case_of(output=value).output == "Hello!"


def test_parts_of_a_system_message_are_all_kept():
    parts = [{"type": "text", "text": "Be brief. "}, {"type": "text", "text": "Be kind."}]

    case = case_of(input={"systemMessages": [{"content": parts}, "Be."]})

    assert case.system == "Be brief. Be kind.\n\nBe."


def test_parts_without_end_are_refused():
    value: object = "Hi"
    for _ in range(150):
        value = {"content": value}

    with pytest.raises(DatasetError, match="nested more than"):
        case_of(input=value)


def test_parts_of_several_steps_keep_their_order():
    invocation = {"toolCallId": "1", "toolName": "f", "args": {"a": 1}, "result": {"b": 2}}
    parts = [
        {"type": "text", "text": "Let me look."},
        {"type": "tool-invocation", "toolInvocation": invocation},
        {"type": "text", "text": "Two."},
    ]
    content = {"format": 2, "parts": parts, "toolInvocations": [invocation], "content": "Two."}

    case = case_of(input=[USER], output=[{"role": "assistant", "content": content}])

    assert [(m.role, m.content, len(m.tool_calls)) for m in case.steps] == [
        ("assistant", "Let me look.", 1),
        ("tool", '{"b":2}', 0),
    ]
    assert (case.output, case.metadata) == ("Two.", {})


def test_a_run_becomes_a_case():
    row = {
        "input": {
            "inputMessages": [USER],
            "systemMessages": [{"role": "system", "content": "Be brief."}],
            "rememberedMessages": [
                {"role": "user", "content": {"parts": [{"type": "text", "text": "Before"}]}}
            ],
        },
        "output": [ANSWER],
        "groundTruth": "Hello!",
        "runId": "r1",
        "labels": {"quality": 1},
    }

    (case,) = load_cases([row])

    assert (case.input, case.output, case.system) == ("Hi", "Hello!", "Be brief.")
    assert case.history == (Message(role="user", content="Before"),)
    assert case.reference == ("Hello!",)
    assert case.metadata == {"runId": "r1"}


def test_a_ground_truth_that_is_no_text_is_expected():
    row = {"input": "Hi", "output": "Hello!", "groundTruth": {"tone": "kind"}}

    (case,) = load_cases([row], format="mastra")

    assert case.expected == {"ground_truth": {"tone": "kind"}}


def test_expected_keeps_the_order_of_the_row():
    row = {"input": "q", "output": "a", "expected.a": 1, "groundTruth": {"x": 1}}

    (case,) = load_cases([row], format="mastra")

    assert list(case.expected) == ["a", "ground_truth"]


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_runs_are_read_from_every_kind_of_file(tmp_path, ending):
    run = {"id": "a", "input": {"messages": [USER]}, "output": {"text": "Hello!"}}
    path = tmp_path / f"runs.{ending}"
    cells = [json.dumps(run[key]).replace('"', '""') for key in ("input", "output")]
    path.write_text(
        {
            "jsonl": json.dumps(run),
            "json": json.dumps([run], indent=1),
            "csv": f'id,input,output\na,"{cells[0]}","{cells[1]}"\n',
        }[ending],
        encoding="utf-8",
    )

    (case,) = load_cases(path, format="mastra")

    assert (case.id, case.input, case.output) == ("a", "Hi", "Hello!")


def test_a_run_without_an_answer_is_a_case_without_output():
    (case,) = load_cases([{"input": "Hi", "output": [USER]}], format="mastra")

    assert case.output is None


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"input": {"question": "Hi"}, "output": "x"}, "input"),
        ({"input": "Hi", "output": {"choices": []}}, "output"),
        ({"input": 1, "output": "x"}, "input"),
    ],
)
def test_an_unknown_shape_is_refused(row, field):
    with pytest.raises(DatasetError, match=r"row 1: .* choose the part") as caught:
        list(load_cases([row], format="mastra"))

    assert caught.value.field == field
