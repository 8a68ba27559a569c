from __future__ import annotations

import sys
from datetime import date
from decimal import Decimal

import pytest

from judgekit.core.case import Message, ToolCall
from judgekit.core.errors import DatasetError, MissingExtra
from judgekit.datasets import load_cases
from tests.later import Later

pyarrow, parquet = Later("pyarrow"), Later("pyarrow.parquet")


def saved(tmp_path, rows, **options):
    path = tmp_path / "cases.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows, **options), path)
    return path


def test_rows_are_read_in_batches_in_order(tmp_path):
    path = saved(tmp_path, [{"id": number, "input": f"q{number}"} for number in range(1200)])

    cases = list(load_cases(path))

    assert [case.id for case in cases] == [str(number) for number in range(1200)]
    assert next(load_cases(path, limit=1)).input == "q0"


def test_columns_of_every_kind_become_fields(tmp_path):
    path = saved(
        tmp_path,
        [
            {
                "id": "a",
                "reference": ["x", "y"],
                "metadata": {"day": date(2025, 1, 31), "price": Decimal("1.50")},
                "labels": '{"quality": 1}',
                "__index_level_0__": 7,
                "input": b"bytes",
            }
        ],
    )

    (case,) = load_cases(path)

    assert case.reference == ("x", "y")
    assert case.metadata == {"day": "2025-01-31", "price": 1.5}
    assert (case.labels, case.input) == ({"quality": 1}, "bytes")


def test_the_nulls_that_columns_of_messages_are_padded_with_are_dropped(tmp_path):
    calls = [{"name": "f", "arguments": {"a": "1"}, "id": None}]
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": calls}]
    kind = pyarrow.schema(
        [
            ("id", pyarrow.string()),
            (
                "history",
                pyarrow.list_(
                    pyarrow.struct(
                        [
                            ("role", pyarrow.string()),
                            ("content", pyarrow.string()),
                            (
                                "tool_calls",
                                pyarrow.list_(
                                    pyarrow.struct(
                                        [
                                            ("name", pyarrow.string()),
                                            (
                                                "arguments",
                                                pyarrow.struct([("a", pyarrow.string())]),
                                            ),
                                            ("id", pyarrow.string()),
                                        ]
                                    )
                                ),
                            ),
                        ]
                    )
                ),
            ),
        ]
    )

    (case,) = load_cases(saved(tmp_path, [{"id": "a", "history": history}], schema=kind))

    assert case.history == (
        Message(role="user", content="Hi"),
        Message(role="assistant", tool_calls=(ToolCall(name="f", arguments={"a": "1"}),)),
    )


def test_chats_are_read(tmp_path):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]

    (case,) = load_cases(saved(tmp_path, [{"messages": messages}]))

    assert (case.input, case.output) == ("Hi", "Hello!")


def test_a_mapping_reads_inside_columns(tmp_path):
    path = saved(tmp_path, [{"q": {"text": "Hi"}, "seed": 1}])

    (case,) = load_cases(path, fields={"input": "q.text"})

    assert (case.input, case.metadata) == ("Hi", {"seed": 1})


def test_a_fault_names_the_row_and_field(tmp_path):
    path = saved(tmp_path, [{"id": "a", "score": 0.5}, {"id": "b", "score": float("nan")}])

    with pytest.raises(DatasetError, match="nan is not a JSON number") as caught:
        list(load_cases(path, fields={"id": "id"}))

    assert caught.value.where == f"{path}: row 2"
    assert caught.value.field == "score"


def test_a_file_that_is_not_parquet_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"nothing of the kind")

    with pytest.raises(DatasetError, match="cannot be read as Parquet") as caught:
        list(load_cases(path))

    assert len(str(caught.value).splitlines()) == 1


def test_an_empty_table_is_refused(tmp_path):
    path = saved(tmp_path, [], schema=pyarrow.schema([("id", pyarrow.string())]))

    with pytest.raises(DatasetError, match="there are no cases in it"):
        list(load_cases(path))


def test_a_missing_pyarrow_names_the_extra(tmp_path, monkeypatch):
    path = saved(tmp_path, [{"id": "a"}])
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtra, match=r"reading Parquet needs an extra: .*\[parquet\]"):
        list(load_cases(path))
