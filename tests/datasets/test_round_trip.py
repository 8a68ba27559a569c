from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.datasets import load_cases
from tests.written import MESSAGES, OBJECT, TEXT


def cases(text=TEXT):
    maybe = st.none() | text
    texts = st.lists(TEXT, max_size=3)
    return st.builds(
        Case,
        id=TEXT.filter(bool),
        input=maybe,
        output=maybe,
        system=maybe,
        history=st.lists(MESSAGES, max_size=3),
        reference=texts,
        context=texts,
        baseline=maybe,
        choices=texts,
        expected=OBJECT,
        parent=maybe,
        labels=OBJECT,
        metadata=OBJECT,
    )


def read_back(name, data, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return list(load_cases(path, **options))


def distinct(some):
    return list({case.id: case for case in some}.values())


@settings(deadline=None)
@given(st.lists(cases(), min_size=1, max_size=3).map(distinct))
def test_cases_survive_json_lines(given_cases):
    lines = "".join(case.model_dump_json() + "\n" for case in given_cases)

    assert read_back("a.jsonl", lines.encode()) == given_cases


@settings(deadline=None)
@given(st.lists(cases(), min_size=1, max_size=3).map(distinct))
def test_cases_survive_a_json_list(given_cases):
    rows = [case.model_dump(mode="json") for case in given_cases]

    assert read_back("a.json", json.dumps(rows).encode()) == given_cases


@settings(deadline=None)
@given(cases())
def test_the_fast_path_reads_what_the_careful_one_does(case):
    line = case.model_dump_json().encode()

    (fast,) = read_back("a.jsonl", line)
    # A mapping of nothing new takes the careful path.
    (careful,) = read_back("a.jsonl", line, fields={"id": "id"})

    assert fast == careful == case


# An empty cell is a missing value, and a table holds no NUL bytes.
CELL = TEXT.filter(lambda text: text and "\x00" not in text)


@settings(deadline=None)
@given(st.lists(cases(CELL), min_size=1, max_size=3).map(distinct))
def test_cases_survive_csv(given_cases):
    given_cases = [case for case in given_cases if "\x00" not in case.id]
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, list(Case.model_fields))
    table.writeheader()
    for case in given_cases:
        row = case.model_dump(mode="json")
        cells = {
            key: json.dumps(value) if isinstance(value, list | dict) else value
            for key, value in row.items()
        }
        table.writerow(cells)

    read = read_back("a.csv", file.getvalue().encode()) if given_cases else []

    assert read == given_cases


@pytest.mark.parametrize("reverse", [False, True])
def test_derived_ids_do_not_depend_on_the_order_of_keys(reverse):
    row = {"input": "x", "metadata": {"b": 1, "a": 2}, "output": "y"}
    turned = dict(sorted(row.items(), reverse=reverse))

    assert next(load_cases([turned])).id == next(load_cases([row])).id
