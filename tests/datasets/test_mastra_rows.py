from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.core.case import Message
from judgekit.core.errors import DatasetError
from judgekit.datasets import load_cases
from judgekit.datasets.mastra_rows import assistant_text, system_text, user_text
from tests.each import each

VECTORS = json.loads(
    (Path(__file__).parent / "data" / "mastra_message_extraction.json").read_text("utf-8")
)["cases"]

EXTRACT = {"user": user_text, "system": system_text, "assistant": assistant_text}

USER = {"role": "user", "content": "Hi"}
ANSWER = {"role": "assistant", "content": "Hello!"}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_the_recorded_extractions_match(vector):
    extract = EXTRACT[vector["parameters"]["kind"]]

    assert extract(vector["inputs"]["value"]) == vector["expected"]["text"]


@each(
    "value",
    [
        "Hi",
        {"inputMessages": [USER], "systemMessages": []},
        {"messages": [{"role": "system", "content": "s"}, USER, {"role": "user", "content": "2"}]},
        {"prompt": "Hi"},
        {"text": "Hi"},
        {"content": "Hi"},
        {"content": [{"type": "text", "text": "no"}, {"type": "text", "text": "Hi"}]},
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
                            {"type": "text", "text": "no"},
                            {"type": "step"},
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
def test_every_input_shape_gives_the_first_user_text(value):
    assert user_text(value) == "Hi"


@pytest.mark.parametrize(
    "value",
    [
        "Hello!",
        {"text": "Hello!"},
        {"content": "Hello!"},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello!"}]},
        {"role": "assistant", "content": {"parts": [{"type": "text", "text": "Hello!"}]}},
        [USER, {"role": "assistant", "content": "First"}, ANSWER],
        [ANSWER, USER],
    ],
)
def test_every_output_shape_gives_the_last_assistant_text(value):
    assert assistant_text(value) == "Hello!"


@pytest.mark.parametrize("value", [None, 1, {}, [], {"role": "assistant"}, {"content": [1]}, [1]])
def test_a_value_without_text_gives_none(value):
    assert user_text(value) is None
    assert system_text(value) is None
    assert assistant_text(value) is None


def test_parts_of_a_system_message_are_all_kept():
    parts = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]

    assert (
        system_text({"systemMessages": [{"content": parts}, "Be."]}) == "Be brief. Be kind.\n\nBe."
    )
    assert system_text([{"role": "system", "content": "s"}, USER]) == "s"


def test_nesting_without_end_gives_none():
    value: object = "Hi"
    for _ in range(5000):
        value = {"content": value}

    assert user_text(value) is None


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
