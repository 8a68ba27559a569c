"""Messages in the cells of a table, and what a row holds beside them."""

from __future__ import annotations

import csv
import json

import pytest

import judgekit

SYSTEM = {"parts": [{"text": "Be brief."}]}
CONTENTS = [
    {"role": "user", "parts": [{"text": "Rome?"}]},
    {"role": "model", "parts": [{"text": "24 degrees."}]},
]


def read(tmp_path, *rows):
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
        table.writeheader()
        table.writerows(
            {k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()} for row in rows
        )
    return list(judgekit.load_cases(path))


def test_a_system_instruction_is_read_in_a_cell_and_may_be_missing(tmp_path):
    whole, bare = read(tmp_path, {"systemInstruction": SYSTEM, "contents": CONTENTS},
                       {"contents": CONTENTS})  # fmt: skip

    assert (whole.system, whole.input, whole.output) == ("Be brief.", "Rome?", "24 degrees.")
    assert (bare.system, bare.output) == (None, "24 degrees.")


def test_a_system_instruction_of_null_is_missing():
    (case,) = judgekit.load_cases([{"systemInstruction": None, "contents": CONTENTS}])

    assert case.system is None


@pytest.mark.parametrize(
    "output",
    [
        [{"role": "assistant", "content": "24 degrees."}],
        [{"type": "message", "role": "assistant",
          "content": [{"type": "output_text", "text": "24 degrees."}]}],
    ],
)  # fmt: skip
def test_messages_in_cells_of_input_and_output_are_read(tmp_path, output):
    (case,) = read(tmp_path, {"input": [{"role": "user", "content": "Rome?"}], "output": output})

    assert (case.input, case.output) == ("Rome?", "24 degrees.")


@pytest.mark.parametrize("text", ['{"city": "Rome"}', '["a", "b"]', "[1]", "{not JSON", "[x]"])
def test_an_answer_that_is_json_stays_a_text(tmp_path, text):
    (case,) = read(tmp_path, {"input": "Where?", "output": text})

    assert case.output == text


def test_media_beside_the_value_of_a_result_are_not_lost():
    response = {"name": "f", "response": {"ok": 1}, "scheduling": "SILENT",
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "aa"}}]}  # fmt: skip
    row = {"contents": [*CONTENTS[:1], {"role": "user", "parts": [{"functionResponse": response}]},
                        CONTENTS[1]]}  # fmt: skip
    (case,) = judgekit.load_cases([row])

    assert case.unread == {"steps": "message 2 has an image"}
    assert case.metadata["message_fields"] == {
        "message 2": {"functionResponse.scheduling": "SILENT"}
    }
