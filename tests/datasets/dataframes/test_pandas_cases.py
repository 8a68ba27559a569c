"""Cases from a pandas data frame, as people have them."""

from __future__ import annotations

import datetime
import decimal
import sys
import uuid

import numpy
import pytest

import judgekit
from judgekit.core.errors import ConfigError, DatasetError, MissingExtra
from tests.later import Later

pandas = Later("pandas")


def only(frame, **options):
    (case,) = judgekit.datasets.from_pandas(frame, **options)
    return case


@pytest.mark.parametrize("name", ["None", "nan", "NA", "NaT"])
@pytest.mark.parametrize("dtype", [object, "string", "str"])
def test_every_kind_of_nothing_is_a_missing_value(name, dtype):
    missing = {"None": None, "nan": numpy.nan, "NA": pandas.NA, "NaT": pandas.NaT}[name]
    frame = pandas.DataFrame({"input": ["q", "r"], "output": pandas.Series([missing, "a"])})
    frame["output"] = frame["output"].astype(dtype)

    first, second = judgekit.datasets.from_pandas(frame)

    assert (first.output, second.output) == (None, "a")


def test_numbers_of_numpy_are_plain():
    frame = pandas.DataFrame(
        {
            "id": numpy.array([7], dtype="int64"),
            "input": ["q"],
            "metadata.small": numpy.array([3], dtype="int8"),
            "metadata.share": numpy.array([0.5], dtype="float32"),
            "metadata.seen": numpy.array([True]),
            "metadata.maybe": pandas.array([None], dtype="Int64"),
            "metadata.late": pandas.array([2], dtype="Int64"),
            "metadata.kind": pandas.Categorical(["a"]),
        }
    )

    case = only(frame)

    assert case.id == "7"
    assert case.metadata == {"small": 3, "share": 0.5, "seen": True, "late": 2, "kind": "a"}
    assert {type(value) for value in case.metadata.values()} == {int, float, bool, str}


def test_objects_are_read_as_they_are():
    frame = pandas.DataFrame(
        {
            "input": ["q"],
            "reference": [["x", "y"]],
            "context": [numpy.array(["p", "q"], dtype=object)],
            "metadata": [
                {"n": numpy.int64(1), "none": None, "nan": float("nan"), "in": ({"a": 1},)}
            ],
            "expected": ['{"facts": ["f"]}'],
        }
    )

    case = only(frame)

    assert (case.reference, case.context) == (("x", "y"), ("p", "q"))
    assert case.metadata == {"n": 1, "none": None, "nan": None, "in": [{"a": 1}]}
    assert case.expected == {"facts": ["f"]}


def test_times_and_the_like_are_texts():
    frame = pandas.DataFrame(
        {
            "input": ["q"],
            "metadata.day": pandas.to_datetime(["2025-01-31 10:00"]),
            "metadata.took": pandas.to_timedelta(["90s"]),
            "metadata.when": [datetime.date(2025, 1, 31)],
            "metadata.price": [decimal.Decimal("1.50")],
            "metadata.key": [uuid.UUID(int=1)],
            "metadata.days": [numpy.array(["2025-01-31", "NaT"], dtype="datetime64[ns]")],
        }
    )

    assert only(frame).metadata == {
        "day": "2025-01-31T10:00:00",
        "took": "0 days 00:01:30",
        "when": "2025-01-31",
        "price": 1.5,
        "key": "00000000-0000-0000-0000-000000000001",
        "days": ["2025-01-31T00:00:00.000000000", None],
    }


def test_lists_of_a_parquet_file_come_as_arrays(tmp_path):
    messages = [
        {"role": "user", "content": "Hi", "name": None},
        {"role": "assistant", "content": "Hello!", "name": "bot"},
    ]
    path = tmp_path / "chats.parquet"
    pandas.DataFrame({"messages": [messages], "contexts": [["p", "q"]]}).to_parquet(path)

    frame = pandas.read_parquet(path)

    assert type(frame["contexts"][0]) is numpy.ndarray
    case = only(frame)
    assert (case.input, case.output, case.context) == ("Hi", "Hello!", ("p", "q"))
    assert [case] == list(judgekit.load_cases(path))


def test_a_mapping_reads_inside_columns():
    frame = pandas.DataFrame({"q": [{"text": "Hi"}], "tags": ['["a", "b"]'], "seed": [1]})

    case = only(frame, fields={"input": "q.text", "metadata.tag": "tags.0"})

    assert (case.input, case.metadata) == ("Hi", {"tag": "a", "seed": 1})


def test_named_levels_of_the_index_are_columns():
    frame = pandas.DataFrame({"id": ["a", "b"], "input": ["q", "r"]})

    cases = list(judgekit.datasets.from_pandas(frame.set_index("id")))

    assert [case.id for case in cases] == ["a", "b"]
    assert cases == list(judgekit.datasets.from_pandas(frame))


def test_rows_without_an_id_get_one_from_what_they_hold():
    frame = pandas.DataFrame({"input": ["q", "r"]})

    ids = [case.id for case in judgekit.datasets.from_pandas(frame)]

    assert ids == [case.id for case in judgekit.load_cases([{"input": "q"}, {"input": "r"}])]
    assert ids == [case.id for case in judgekit.datasets.from_pandas(frame[::-1])][::-1]


def test_limit_and_the_general_door():
    frame = pandas.DataFrame({"input": [f"q{n}" for n in range(3000)]})

    assert len(list(judgekit.load_cases(frame))) == 3000
    assert [case.input for case in judgekit.datasets.from_pandas(frame, limit=2)] == ["q0", "q1"]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({"id": ["a", "b", "a"], "input": "q"}, "row 12: field 'id': 'a' was used before at row"),
        ({"input": "q", "parent": ["q", "r", 3.5]}, "row 12: field 'parent': expected text, found"),
        ({"input": "q", "id": ["a", "b", None], "metadata.x": [1, 2, ...]},
         "row 12: field 'metadata.x': a Python ellipsis is not a JSON value"),
        ({"input": "q", "id": ["a", "b", "c"], "grade": 1}, "row 10: field 'grade': unknown key"),
        ({"input": "q", "id": ["a", "b", "c"], "metadata": ["{}", "{", "{}"]},
         "row 11: field 'metadata': the cell is not JSON"),
        ({"input": "q", "id": [1.0, 2.0, None]}, "row 10: field 'id': expected text"),
    ],
)  # fmt: skip
def test_a_fault_names_the_row_by_its_label(frame, said):
    with pytest.raises(DatasetError) as caught:
        list(judgekit.datasets.from_pandas(pandas.DataFrame(frame, index=[10, 11, 12])))

    assert str(caught.value).startswith(said)
    assert len(str(caught.value).splitlines()) == 1


def test_a_label_of_words_is_quoted():
    frame = pandas.DataFrame({"input": "q", "parent": ["q", 5]}, index=["first\nrow", "second"])

    with pytest.raises(DatasetError, match=r"^row 'second': field 'parent'"):
        list(judgekit.datasets.from_pandas(frame))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pandas.DataFrame({0: ["q"]}), "the column 0 has no text for a name"),
        (lambda: pandas.DataFrame([["q", "r"]], columns=["a", "a"]), "two columns are named 'a'"),
        (
            lambda: pandas.DataFrame({("a", "b"): ["q"]}),
            "the column ('a', 'b') has no text for a name",
        ),
        (lambda: pandas.DataFrame({"input": []}), "the DataFrame: there are no rows in it"),
        (lambda: pandas.Series(["q"]), "expected a pandas DataFrame, found a pandas Series"),
    ],
)
def test_what_is_no_table_of_cases_is_refused_in_a_line(make, said):
    with pytest.raises(DatasetError) as caught:
        list(judgekit.datasets.from_pandas(make()))

    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("door", ["from_pandas", "from_polars", "from_hf"])
def test_a_door_takes_what_it_is_called_after(door):
    with pytest.raises(ConfigError, match="not 'list'"):
        getattr(judgekit.datasets, door)([{"input": "q"}])


def test_columns_that_no_case_uses_are_left_out():
    frame = judgekit.datasets.to_pandas([judgekit.Case(id="a", input="q", metadata={"n": 1})])

    assert list(frame.columns) == ["id", "input", "output", "metadata"]
    assert frame["metadata"][0] == {"n": 1}
    assert frame["output"].isna().all()


@pytest.mark.parametrize(("library", "extra"), [
    ("pandas", "pandas"), ("polars", "polars"), ("hf", "datasets"),
])  # fmt: skip
def test_a_missing_library_names_the_extra(library, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, extra, None)

    with pytest.raises(MissingExtra, match=rf"pip install 'judgekit-rubrics\[{extra}\]'"):
        getattr(judgekit.datasets, f"to_{library}")([judgekit.Case(id="a")])


def test_half_a_character_does_not_keep_cases_out_of_a_table():
    case = judgekit.Case.model_construct(**{**judgekit.Case(id="a").__dict__, "input": "x"})
    broken = case.model_copy(update={"input": "x\ud800", "reference": ("y\udfff",)})

    assert judgekit.datasets.to_pandas([broken])["input"][0] == "x?"
    assert judgekit.datasets.to_polars([broken])["input"][0] == "x?"
    assert judgekit.datasets.to_hf([broken])["reference"][0] == ["y?"]
