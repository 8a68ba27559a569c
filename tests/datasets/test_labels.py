"""Files of human labels."""

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.request import Question
from judgekit.datasets.labels import read_answer, read_label_lines, read_labels


def test_a_label_has_the_probability_of_its_case(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"case": "a", "metric": "m", "values": {"p": true}, "probability": 0.25}\n')
    (label,) = read_labels(path)
    assert label.probability == 0.25


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "true", '"half"'])
def test_a_probability_is_above_0_and_at_most_1(tmp_path, value):
    path = tmp_path / "labels.jsonl"
    path.write_text(f'{{"case": "a", "metric": "m", "value": 1, "probability": {value}}}\n')
    with pytest.raises(ConfigError, match=r"labels\.jsonl:1: .*probability"):
        list(read_labels(path))


def test_reasons_are_kept_and_do_not_make_a_label_another_one(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text(
        '{"case": "a", "metric": "m", "answers": {"x": {"value": 1, "reason": "one"}}}\n'
        '{"case": "a", "metric": "m", "value": 2, "reason": "two"}\n'
        '{"case": "b", "metric": "m", "answers": {"x": {"value": 1, "reason": ["no text"]}}}\n'
    )
    assert [label.reason for label in read_labels(path)] == ["one", "two", ""]

    path.write_text(path.read_text() + '{"case": "a", "metric": "m", "values": {"x": 1}}\n')
    with pytest.raises(ConfigError, match=r"4: case 'a', m, x, is labelled twice, first in line 1"):
        list(read_labels(path))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("y", True),
        ("N", False),
        ("t", True),
        ("1.0", True),
        ("0.0", False),
        ("1", True),
        (0.0, False),
        (" Yes ", True),
    ],
)
def test_yes_and_no_as_people_write_them(value, read):
    assert read_answer(value, Question(id="q", kind="boolean", text="?")) is read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("model_a", "A"),
        ("Model B", "B"),
        ("answer-a", "A"),
        ("assistant_b", "B"),
        ("b", "B"),
        ("tie (bothbad)", "tie"),
        ("both bad", "tie"),
    ],
)
def test_two_answers_as_other_tools_name_them(value, read):
    question = Question(id="q", kind="choice", text="?", labels=("A", "tie", "B"))

    assert read_answer(value, question) == read


@pytest.mark.parametrize("value", ["2", 2, 2.0, "2.0"])
def test_numbers_that_are_words_of_the_question(value):
    assert read_answer(value, Question(id="q", kind="score", text="?", labels=("1", "2"))) == "2"


@pytest.mark.parametrize(
    ("value", "labels"), [("model_c", ("A", "B")), ("tie", ("A", "B")), (True, ("1", "0"))]
)
def test_other_words_are_no_answers(value, labels):
    with pytest.raises(ValueError, match="is no answer to 'q'"):
        read_answer(value, Question(id="q", kind="choice", text="?", labels=labels))


def test_a_probability_whose_weight_would_overflow_is_an_error(tmp_path):
    path = tmp_path / "labels.jsonl"
    label = '{"case": "a", "metric": "m", "labeller": "ann", "value": 1, "probability": 5e-324}'
    path.write_text(label, "utf-8")

    with pytest.raises(ConfigError, match=r"labels.jsonl:1: 'probability' .* is below 1e-09"):
        list(read_labels(path))


def test_a_wrong_byte_is_named_with_its_line(tmp_path):
    path = tmp_path / "labels.jsonl"
    line = b'{"case": "a", "metric": "m", "value": 1}\n'
    path.write_bytes(line * 5000 + b'{"case": "\xff"}\n')

    with pytest.raises(ConfigError) as caught:
        list(read_label_lines(path))

    wrong = 5000 * len(line) + 10
    expected = f"{path}:5001: not UTF-8: byte {wrong} is 0xff; save the file as UTF-8"
    assert str(caught.value) == expected
