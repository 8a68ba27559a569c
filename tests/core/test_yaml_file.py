from __future__ import annotations

import time

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.yaml_file import parse_yaml
from tests.each import each
from tests.growth import start_of_python
from tests.hostile.corpus.documents import READ, REFUSED


@pytest.mark.parametrize("name", REFUSED)
def test_yaml_that_is_not_plain_data_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, words = REFUSED[name]
    started = time.process_time()

    with pytest.raises(ConfigError) as caught:
        parse_yaml(text.replace("MARK", "mark"), file="suite.yaml", first=3)

    message = str(caught.value)
    assert words in message
    assert message.startswith("suite.yaml:")
    assert len(message.splitlines()) == 1
    assert len(message) < 300
    assert caught.value.where.rpartition(":")[2].isdecimal()
    assert not list(tmp_path.iterdir())
    assert time.process_time() - started < 300 * start_of_python()


@each("name", READ)
def test_plain_data_is_read(name):
    text, value = READ[name]

    assert parse_yaml(text, file="suite.yaml")[0] == value


def test_a_fault_is_placed_on_its_line():
    for text, line in (("a: 1\nb: .nan", 2), ("a: 1\nb:\n  - !x 1", 3), ("a: 1\nb: \x00", 2)):
        with pytest.raises(ConfigError) as caught:
            parse_yaml(text, file="f")
        assert caught.value.where == f"f:{line}"


@pytest.mark.parametrize("depth", [61, 1_001, 3_000])
@pytest.mark.parametrize("begin", ["[", "- "])
def test_each_depth_has_one_message_whether_the_scanner_or_judgekit_counts(begin, depth):
    text = begin * depth + "1" + "]" * depth * (begin == "[")

    with pytest.raises(ConfigError) as caught:
        parse_yaml(f"a: 1\nb:\n {text}", file="f")

    assert str(caught.value) == "f:3: nested more than 60 deep; make it smaller"


def test_a_missing_colon_is_looked_for_where_its_key_stands():
    with pytest.raises(ConfigError) as caught:
        parse_yaml("name: x\nmetrics\n  safety: {}\n", file="f")

    assert str(caught.value).endswith("; is the colon of line 2 missing?")


@pytest.mark.parametrize("text", ["metrics: {a: [\n", "a: [1, , 2]\n"])
def test_a_missing_value_gets_advice(text):
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, file="x.yaml")

    assert "a value is missing; close each [ and {" in str(caught.value)


def test_every_value_knows_its_line():
    data, lines = parse_yaml("a:\n  b:\n    - 1\n    - 2\n", file="f", first=2)

    assert data == {"a": {"b": [1, 2]}}
    assert lines.where("a", "b", 1) == "f:5"
    assert lines.where("a", "b") == "f:3"
    assert lines.where("a", "zz", "y") == "f:2"
    assert lines.where("zz") == "f:2"
