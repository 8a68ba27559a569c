"""The newest rubrics are in plain words: short sentences, so that small judges follow them."""

from __future__ import annotations

import re

import pytest

from judgekit.rubric.library import builtin_folder, rubric_names
from judgekit.rubric.load import load_rubric

MOST = 25
"""Maximum number of words of a sentence outside lists."""
OLDER = {"preference"}
"""A rubric with a longer sentence, whose version 1 cannot change any more."""
NEWEST = sorted(set(rubric_names()) - {"base"})
_LITERARY = re.compile(r"\b(whom|whoever|nobody|somebody came|borne out|amiss|rub against)\b", re.I)
_JINJA = re.compile(r"\{[%#{].*?[%#}]\}", re.DOTALL)


def texts(name):
    """Yield the sentences of a rubric that judges read: those of its own file."""
    rubric = load_rubric(name)
    yield rubric.description
    for criterion in rubric.criteria:
        yield criterion.question.text
        yield from (level.text for level in criterion.levels)
        yield from (detail.text for detail in criterion.question.details)
    yield from (detail.text for detail in rubric.details)
    body = rubric.path.read_text("utf-8").split("\n---\n", 1)[1]
    yield from _JINJA.sub("\n", body).splitlines()


def sentences(name):
    for text in texts(name):
        yield from re.split(r"(?<=[.!?:;])\s+", text.strip().removeprefix("- "))


def frame():
    text = (builtin_folder() / "versions/base@2.jinja").read_text("utf-8")
    body = _JINJA.sub("\n", text.split("\n---\n", 1)[1])
    return re.split(r"(?<=[.!?:;])\s+", body)


@pytest.mark.parametrize("name", sorted(set(NEWEST) - OLDER))
def test_no_sentence_is_long(name):
    long = [sentence for sentence in sentences(name) if len(sentence.split()) > MOST]

    assert long == []


def test_no_sentence_of_the_frame_is_long():
    assert [text for text in frame() if len(text.split()) > MOST] == []


def test_the_exceptions_are_needed():
    wordy = {n for n in NEWEST if any(len(text.split()) > MOST for text in sentences(n))}

    assert wordy == OLDER


@pytest.mark.parametrize(
    "name", sorted(n for n in NEWEST if load_rubric(n).version > 1 and n not in OLDER)
)
def test_the_words_of_newer_versions_are_plain(name):
    assert [text for text in texts(name) if _LITERARY.search(text)] == []
