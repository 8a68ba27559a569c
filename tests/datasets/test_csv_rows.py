from __future__ import annotations

from judgekit.core.case import Message
from judgekit.datasets import load_cases


def load_table(tmp_path, text):
    path = tmp_path / "cases.csv"
    path.write_bytes(text.encode())
    return list(load_cases(path))


def test_cells_that_hold_json_are_parsed(tmp_path):
    (case,) = load_table(
        tmp_path,
        "id,history,metadata,expected,labels,reference,context\n"
        '1,"[{""role"":""user"",""content"":""Hi""}]","{""a"":1}","{""b"":[2]}","{""c"":0.5}",'
        '"[""x"",""y""]",plain\n',
    )

    assert case.id == "1"
    assert case.history == (Message(role="user", content="Hi"),)
    assert (case.metadata, case.expected, case.labels) == ({"a": 1}, {"b": [2]}, {"c": 0.5})
    assert (case.reference, case.context) == (("x", "y"), ("plain",))


def test_a_reference_that_only_looks_like_json_is_text(tmp_path):
    cases = load_table(tmp_path, 'id,reference\n1,[1]\n2,"[see ""note""]"\n3,42\n')

    assert [case.reference for case in cases] == [("[1]",), ('[see "note"]',), ("42",)]


def test_texts_stay_as_they_are(tmp_path):
    cases = load_table(tmp_path, 'id,input,output\n007," two\nlines, ""q"" ",{}\n')

    assert [(case.id, case.input, case.output) for case in cases] == [
        ("007", ' two\nlines, "q" ', "{}")
    ]


def test_an_empty_cell_is_missing(tmp_path):
    (case,) = load_table(tmp_path, "id,input,metadata,metadata.a,labels.b\n,x,,,\n")

    assert len(case.id) == 12
    assert (case.metadata, case.labels) == ({}, {})


def test_dotted_columns_name_one_value(tmp_path):
    (case,) = load_table(
        tmp_path,
        'id,metadata.zip,labels.quality,labels.by,expected.facts\n1,007,0.5,Ann,"[""a""]"\n',
    )

    assert case.metadata == {"zip": "007"}
    assert case.labels == {"quality": 0.5, "by": "Ann"}
    assert case.expected == {"facts": ["a"]}


def test_spaces_around_names_in_the_header_do_not_matter(tmp_path):
    assert load_table(tmp_path, "id, input\n1,x\n")[0].input == "x"
