"""Front matter that no honest rubric has: one line, with a place."""

from __future__ import annotations

import os
from functools import partial

import pytest

from judgekit.core.errors import RubricError
from judgekit.rubric.load import load_rubric
from tests.hostile.conftest import SHOWN
from tests.hostile.corpus.documents import REFUSED

NAME = "name: hostile\n"
ONE = NAME + "criteria:\n  a: {text: A}\n"
CLOSED = "---\n{}\n---\n" + SHOWN.replace("{", "{{").replace("}", "}}")


def whole(content):
    """Return a content; large ones are functions, because every worker imports this module."""
    return content() if callable(content) else content


def criteria(count):
    rows = "\n".join(f"  c{n}: {{text: A}}" for n in range(count))
    return CLOSED.format(f"{NAME}criteria:\n{rows}")


FILES = {
    "nothing": ("", "has no front matter"),
    "only a marker": ("---", "has no front matter: end it with a line of ---"),
    "an empty front matter": ("---\n---\n", "has no front matter"),
    "an unclosed front matter": (f"---\n{ONE}", "end it with a line of ---"),
    "a list": (CLOSED.format("- a"), "must be keys and values"),
    "a text": (CLOSED.format("hello"), "must be keys and values"),
    "a null": (CLOSED.format("~"), "has no front matter"),
    "a name that is a path": (CLOSED.format("name: ../../etc/passwd"), "letters, digits"),
    "a name of two lines": (CLOSED.format('name: "a\\nb"'), "letters, digits"),
    "a name that is a list": (CLOSED.format("name: [a]"), "name: "),
    "an unknown key": (CLOSED.format(ONE + "critera: {}"), "unknown key 'critera'"),
    "a key that forges a line": (
        CLOSED.format(NAME + 'criteria:\n  "a\\njudgekit: all is well": {text: 1, weight: x}'),
        "criteria.a judgekit: all is well.weight",
    ),
    "a name of two words": (
        CLOSED.format(NAME + "criteria: {'a b': {text: A}}"),
        "not a valid name",
    ),
    "3,000 criteria": (
        partial(criteria, 3_000),
        "at most 200 entries",
    ),
    "100,000 criteria": (
        partial(criteria, 100_000),
        "larger than 1,000,000 bytes",
    ),
    "201 criteria": (
        partial(criteria, 201),
        "at most 200 entries",
    ),
    "many details": (
        CLOSED.format(ONE + "details:\n" + "\n".join(f"  d{n}: x" for n in range(20_000))),
        "at most 50 entries",
    ),
    "many levels": (
        CLOSED.format(
            NAME + "criteria: {a: {text: A, levels: {" + ", ".join(f"l{n}: 1" for n in range(99))
            + "}}}"
        ),
        "at most 50 entries",
    ),
    "many items": (
        CLOSED.format(NAME + "criteria: {a: {text: A, items: [" + "x, " * 300 + "]}}"),
        "at most 200 entries",
    ),
    "weight nan": (CLOSED.format(NAME + "criteria: {a: {text: A, weight: .nan}}"), "finite"),
    "weight inf": (CLOSED.format(NAME + "criteria: {a: {text: A, weight: .inf}}"), "finite"),
    "weight true": (CLOSED.format(NAME + "criteria: {a: {text: A, weight: true}}"), "not true or"),
    "weight text": (CLOSED.format(NAME + "criteria: {a: {text: A, weight: all}}"), "weight: "),
    "weight list": (CLOSED.format(NAME + "criteria: {a: {text: A, weight: [1]}}"), "weight: "),
    "level true": (
        CLOSED.format(NAME + "criteria: {a: {text: A, levels: {b: true, c: 0}}}"), "levels.b"
    ),
    "weight of a mode true": (CLOSED.format(ONE + "modes: {m: {'': true}}"), "not true or false"),
    "version that is huge": (CLOSED.format(ONE + "version: 1e400"), "not a finite number"),
    "version as a float": (CLOSED.format(ONE + "version: 1.5"), "version: "),
    "an example with a number that is none": (
        CLOSED.format(ONE + "examples: [{case: {output: x}, answers: {a: .nan}}]"), "finite"
    ),
    "an example with an unknown field": (
        CLOSED.format(ONE + "examples: [{case: {api_base: x}, answers: {}}]"), "api_base"
    ),
}  # fmt: skip

BYTES = {
    "UTF-16": (f"---\n{ONE}---\nx".encode("utf-16"), "is UTF-16; save the file as UTF-8"),
    "Latin-1": (f"---\n{ONE}---\né".encode("latin-1"), "not UTF-8"),
    "half of a character": (f"---\n{ONE}---\n".encode() + b"\xed\xa0\x80", "not UTF-8"),
    "NUL": (f"---\n{NAME}\0".encode() + b"\n---\n", "control characters are not allowed"),
    "fifty megabytes": (lambda: b"---\n" + b"#" * 50_000_000, "larger than 1,000,000 bytes"),
}


def refusal(path):
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert len(message.splitlines()) == 1
    assert len(message) < 600
    return message.removeprefix(str(path))


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file_is_refused(tmp_path, name):
    text, words = FILES[name]
    path = tmp_path / "hostile.jinja"
    path.write_text(whole(text), encoding="utf-8")

    assert words in refusal(path)


@pytest.mark.parametrize("name", BYTES)
def test_wrong_bytes_are_refused(tmp_path, name):
    data, words = BYTES[name]
    path = tmp_path / "hostile.jinja"
    path.write_bytes(whole(data))

    assert words in refusal(path)


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_yaml_is_refused_in_front_matter(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    # `tests/core/test_yaml_file.py` reads the same texts up to the limit.
    monkeypatch.setattr("judgekit.core.yaml_file.MAX_NODES", 10_000)
    path = tmp_path / "hostile.jinja"
    front = REFUSED[name][0].replace("MARK", "mark").replace("\n---\n", "\n")
    path.write_text(f"---\n{front}\n---\nx", encoding="utf-8")

    refusal(path)

    assert sorted(file.name for file in tmp_path.iterdir()) == ["hostile.jinja"]


@pytest.mark.parametrize(
    "data",
    [
        f"---\n{ONE}---\n{SHOWN}\n".encode("utf-8-sig"),
        f"---\n{ONE}---\n{SHOWN}\n".replace("\n", "\r\n").encode(),
        f"---\n{NAME}criteria:\n  a: {{text: A, weight: '1'}}\n---\n{SHOWN}".encode(),
    ],
    ids=["BOM", "CRLF", "a weight in quotes"],
)
def test_what_editors_do_to_files_is_read(tmp_path, data):
    path = tmp_path / "hostile.jinja"
    path.write_bytes(data)

    assert load_rubric(path).name == "hostile"


def test_a_named_pipe_is_no_rubric(tmp_path):
    os.mkfifo(tmp_path / "hostile.jinja")

    with pytest.raises(RubricError, match="no such rubric file"):
        load_rubric(tmp_path / "hostile.jinja")


def test_the_command_line_says_it_in_one_line(refused, tmp_path):
    (tmp_path / "hostile.jinja").write_text("---\n" + "[" * 500_000 + "\n---\n", encoding="utf-8")

    assert "nested more than 60 deep" in refused("rubric", "show", "hostile.jinja")

    (tmp_path / "hostile.jinja").write_text('---\nname: "\\e[2J"\n---\n', encoding="utf-8")
    refused("rubric", "show", "hostile.jinja")
    refused("rubric", "render", "hostile.jinja")
