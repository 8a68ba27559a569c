"""Which column is what: guesses by the header."""

from __future__ import annotations

import pytest

from judgekit.authoring.scaffold.columns import TARGETS, CaseColumn, _words, guess_fields
from judgekit.core.case_field import CASE_FIELDS
from tests.each import each


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        ("Question;Expected answer;Answer", "input reference output"),
        ("ID;User message;Bot reply;Gold answer", "id input output reference"),
        ("Frage;Antwort;Musterantwort", "input output reference"),
        ("pregunta;respuesta;respuesta esperada", "input output reference"),
        ("prompt;completion;ideal;passage", "input output reference context"),
        ("Ticket #;Customer message;Model output v2;Source text", "id input output context"),
        ("user_input;response;retrieved_contexts;ground_truth", "input output context reference"),
        ("conversation;score", "messages -"),
        ("questionnaire;answerable", "- -"),
        ("question;Question 2", "input -"),
        ("数量;?;-", "- - -"),
    ],
)
def test_headers_are_guessed(header, fields):
    names = header.split(";")
    guessed = guess_fields([CaseColumn(name, "", 0) for name in names])

    assert [guessed.get(name, "-") for name in names] == fields.split()


@each("field", CASE_FIELDS, ids=[field.name for field in CASE_FIELDS])
def test_names_and_aliases_of_a_field_are_that_field(field):
    for name in (field.name, *field.aliases):
        assert guess_fields([CaseColumn(name, "", 0)]).get(name, field.name) == field.name


def test_every_word_is_of_a_field_and_of_one():
    rows = _words()
    words = [word for several in rows.values() for word in several]

    assert set(rows) <= set(TARGETS)
    assert len(words) == len(set(words))
