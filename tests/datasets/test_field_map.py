from __future__ import annotations

import pytest

from judgekit.core.errors import DatasetError
from judgekit.datasets import load_cases


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_mapping_takes_values_from_anywhere():
    row = {
        "prompt": "2+2?",
        "response": {"choices": [{"message": {"content": "4"}}]},
        "tags": ["sums"],
        "gold": "four",
        "seed": 7,
        "metadata": {"b": 1},
    }
    fields = {
        "input": "prompt",
        "output": "response.choices.0.message.content",
        "metadata.topic": "tags.0",
        "metadata.lang": "tags.1?",
        "baseline": "other?",
    }

    (case,) = load_cases([row], fields=fields)

    assert (case.input, case.output, case.reference) == ("2+2?", "4", ("four",))
    assert case.metadata == {"topic": "sums", "seed": 7, "b": 1}
    assert case.baseline is None


def test_a_mapping_wins_over_the_usual_name_which_is_kept():
    row = {"id": "a", "input": "raw", "cleaned": "clean", "question": "asked"}

    (case,) = load_cases([row], fields={"input": "cleaned"})

    assert case.input == "clean"
    assert case.metadata == {"input": "raw", "question": "asked"}


def test_a_mapped_value_and_a_kept_one_may_not_share_a_place():
    row = {"t": "sums", "topic": "other"}

    with pytest.raises(DatasetError, match="given twice, by 't' and by 'topic'"):
        list(load_cases([row], fields={"metadata.topic": "t"}))


def test_a_mapping_into_nothing_names_path_and_keys():
    row = {"id": "a", "reply": {"txt": "x", "n": 1}}

    with pytest.raises(DatasetError) as caught:
        list(load_cases([row], fields={"output": "reply.text"}))

    assert str(caught.value) == (
        "row 1: field 'output': nothing at 'reply.text': at 'reply' there is an object with the"
        " keys 'txt', 'n'; correct the path, or end it with ? if rows may lack it"
    )


def test_a_mapping_reads_a_csv_and_json_in_its_cells(tmp_path):
    path = written(tmp_path, "a.csv", 'q,reply,a.b\n2+2?,"{""text"": ""4""}",x\n')

    (case,) = load_cases(path, fields={"input": "q", "output": "reply.text", "system": r"a\.b"})

    assert (case.input, case.output, case.system) == ("2+2?", "4", "x")


def test_an_unmapped_cell_is_text_and_a_missing_column_is_refused(tmp_path):
    path = written(tmp_path, "a.csv", "q,seed\n2+2?,7\n")

    (case,) = load_cases(path, fields={"input": "q"})

    assert case.metadata == {"seed": "7"}
    with pytest.raises(DatasetError, match=r"a\.csv:2: field 'output': nothing at 'reply'"):
        list(load_cases(path, fields={"output": "reply"}))
