"""Files of rows as tools write them: each value is in its field, or a line names what is not read.

`expected.json` has the cases of each file without their empty fields, up to the error of a row.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import DatasetError
from judgekit.datasets import load_cases

ROWS = Path(__file__).parents[2] / "data" / "rows"
EXPECTED = ROWS / "expected.json"
FILES = sorted(path.name for path in ROWS.iterdir() if path != EXPECTED)


def outcomes(path: Path) -> list[Any]:
    """Return each case without its empty fields, up to the error of a row, if there is one."""
    read: list[Any] = []
    try:
        for case in load_cases(path):
            read.append(case.model_dump(mode="json", exclude_defaults=True))
    except DatasetError as exc:
        read.append(str(exc).replace(f"{path}", path.name))
    return read


@pytest.mark.parametrize("name", FILES)
def test_every_value_of_a_row_is_in_its_field_or_named(name):
    assert outcomes(ROWS / name) == json.loads(EXPECTED.read_text("utf-8"))[name]


def test_every_file_of_rows_has_its_cases():
    if os.environ.get("JUDGEKIT_UPDATE_GOLDEN"):
        read = {name: outcomes(ROWS / name) for name in FILES}
        lines = (
            f"{json.dumps(name)}: [\n"
            + ",\n".join(f" {json.dumps(one, ensure_ascii=False)}" for one in each)
            + "\n]"
            for name, each in read.items()
        )
        EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")

    assert sorted(json.loads(EXPECTED.read_text("utf-8"))) == FILES


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"prompt": "When do you close?"}, "given twice, by 'messages' and by 'prompt'"),
        ({"response": "At ten."}, "given twice, by 'messages' and by 'response'"),
        ({"system_prompt": "Be long."}, "given twice, by 'messages' and by 'system_prompt'"),
        ({"prompt": "Hi", "question": "Hello"}, "given twice, by 'messages' and by 'prompt'"),
    ],
)
def test_a_value_that_is_not_in_the_messages_is_given_twice(row, problem):
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "When do you open?"},
        {"role": "assistant", "content": "At nine."},
    ]

    with pytest.raises(DatasetError, match=problem):
        list(load_cases([{"messages": messages, **row}]))
