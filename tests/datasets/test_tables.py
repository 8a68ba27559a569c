"""Tables as Excel, pandas and other tools write them."""

from __future__ import annotations

import pytest

from judgekit.core.errors import ConfigError, DatasetError
from judgekit.datasets import load_cases

HEADER = "id,question,answer\n"


def cases_of(tmp_path, data, name="a.csv", **settings):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(load_cases(path, **settings))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", "id;question;answer\na;When?;At nine, always.\n"),
        ("a.csv", "sep=;\nid;question;answer\na;When?;At nine, always.\n"),
        ("a.csv", "id\tquestion\tanswer\na\tWhen?\tAt nine, always.\n"),
        ("a.tsv", "id\tquestion\tanswer\na\tWhen?\tAt nine, always.\n"),
        ("a.csv", f'{HEADER}a,When?,"At nine, always."\n,,\n,,\n'),
        ("a.csv", f'{HEADER}a,When?,"At nine, always."\n'.encode("utf-16")),
        ("a.csv", f'{HEADER}a,When?,"At nine, always."\n'.encode("utf-8-sig")),
        ("a.yaml", "- {id: a, question: When?, answer: 'At nine, always.'}\n"),
        (
            "a.json",
            '{"examples": [{"id": "a", "question": "When?", "answer": "At nine, always."}]}',
        ),
    ],
)
def test_the_form_of_a_file_is_found(tmp_path, name, data):
    (case,) = cases_of(tmp_path, data, name)

    assert (case.id, case.input, case.output) == ("a", "When?", "At nine, always.")


def test_a_delimiter_and_an_encoding_may_be_named(tmp_path):
    data = "id|question|answer\na|Où?|Là.\n".encode("cp1252")

    (case,) = cases_of(tmp_path, data, delimiter="|", encoding="cp1252")

    assert (case.input, case.output) == ("Où?", "Là.")


def test_a_byte_of_another_encoding_is_named_with_its_line(tmp_path):
    data = f'{HEADER}a,"two\nlines",x\nb,Où,y\n'.encode("cp1252")

    with pytest.raises(DatasetError, match=r"a\.csv:4: byte .* \(0xf9\) is not UTF-8.*cp1252"):
        cases_of(tmp_path, data)


@pytest.mark.parametrize("settings", [{"delimiter": "ab"}, {"encoding": "morse"}])
def test_a_wrong_setting_is_refused(tmp_path, settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        cases_of(tmp_path, f"{HEADER}a,b,c\n", **settings)


def test_a_list_as_pandas_prints_it_is_a_list(tmp_path):
    (case,) = cases_of(tmp_path, "id,contexts\na,\"['We open at nine.', 'It''s late.']\"\n")

    assert case.context == ("We open at nine.", "Its late.")


def test_a_text_in_brackets_stays_a_text(tmp_path):
    (case,) = cases_of(tmp_path, 'id,contexts\na,"[see the map]"\n')

    assert case.context == ("[see the map]",)


def test_all_unknown_keys_are_named_at_once():
    rows = [{"id": "a", "input": "x", "one": 1, "two": 2}]

    with pytest.raises(DatasetError, match=r"unknown keys 'one', 'two'.*metadata: rest"):
        list(load_cases(rows))
    (case,) = load_cases(rows, fields={"metadata": "rest"})
    assert case.metadata == {"one": 1, "two": 2}


def test_siblings_of_a_mapped_path_are_kept():
    row = {"inputs": {"question": "When?", "locale": "de"}, "outputs": {"answer": "At nine."}}

    (case,) = load_cases([row], fields={"input": "inputs.question", "output": "outputs.answer"})

    assert (case.input, case.output) == ("When?", "At nine.")
    assert case.metadata == {"inputs": {"locale": "de"}}


def test_documents_are_their_texts():
    documents = [{"page_content": "We open at nine.", "metadata": {"source": "a.md"}}]

    (case,) = load_cases([{"id": "a", "output": "x", "documents": documents}])
    (mapped,) = load_cases(
        [{"id": "a", "docs": [{"text": "One."}, {"text": "Two."}]}],
        fields={"context": "docs[*].text"},
    )

    assert case.context == ("We open at nine.",)
    assert case.metadata == {"context_fields": [{"metadata": {"source": "a.md"}}]}
    assert mapped.context == ("One.", "Two.")


def test_a_key_twice_is_an_error(tmp_path):
    with pytest.raises(DatasetError, match=r"a\.jsonl:1: the key 'output' is there twice"):
        cases_of(tmp_path, '{"id": "a", "output": "y", "output": "z"}\n', "a.jsonl")


def test_a_number_too_large_is_an_error(tmp_path):
    with pytest.raises(DatasetError, match="a number too large"):
        cases_of(tmp_path, '{"id": "a", "output": 1e400}\n', "a.jsonl")


def test_an_object_as_output_is_its_json():
    (case,) = load_cases([{"id": "a", "output": {"b": 1, "a": [2]}}])

    assert case.output == '{"a":[2],"b":1}'


def test_thoughts_of_an_answer_are_metadata_unless_they_are_kept():
    row = {"id": "a", "output": "<think>Nine?</think>\nAt nine."}

    (case,) = load_cases([row])
    (kept,) = load_cases([row], thoughts="keep")

    assert (case.output, case.metadata) == ("At nine.", {"thoughts": ["Nine?"]})
    assert kept.output == row["output"]
