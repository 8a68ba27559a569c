"""The table of fields agrees with the model, and says of each field what the lists of it say."""

from __future__ import annotations

import ast
import inspect

import pytest

from judgekit.core.case import Case, Message, _check_fields
from judgekit.core.case_field import (
    CASE_FIELDS,
    CASE_TEXTS,
    EVIDENCE,
    JUDGED,
    MESSAGE_LISTS,
    OBJECTS,
    SETTINGS,
    TEXT_LISTS,
    TEXTS,
    CaseField,
)
from judgekit.datasets.ids import derive_id
from judgekit.runner.sequencer import case_text


def test_no_judge_sees_the_ids_and_the_labels():
    assert {field.name for field in CASE_FIELDS} - {*JUDGED} == {"id", "parent", "labels", "unread"}


def test_the_lists_of_fields_are_the_ones_that_recordings_were_made_with():
    assert TEXTS == ("system", "input", "output", "baseline")
    assert TEXT_LISTS == ("reference", "context", "choices")
    assert MESSAGE_LISTS == ("history", "steps")
    assert set(OBJECTS) == {"expected", "labels", "metadata", "unread"}
    # Quotes are looked up in this order.
    assert CASE_TEXTS == ("system", "input", "output", "baseline", "reference", "context")
    assert (*CASE_TEXTS, "history", "steps") == EVIDENCE
    # The order of the schema for editors.
    assert (*EVIDENCE, "choices", "expected", "metadata") == JUDGED
    assert SETTINGS == ("system", "context")
    question = {field.name for field in CASE_FIELDS if field.compared == "question"}
    assert question == {"input", "history", "reference", "baseline", "choices", "expected"}
    asked = {field.name for field in CASE_FIELDS if field.asked}
    assert asked == {"system", "history", "input", "context", "choices"}


@pytest.mark.parametrize("model", [Message, Case])
def test_a_type_checker_knows_every_field(model):
    """The constructor is written out for type checkers, which Python does not read."""
    source = ast.parse(inspect.getsource(model))
    init, *_ = [n for n in ast.walk(source) if getattr(n, "name", "") == "__init__"]
    named = [argument.arg for argument in init.args.kwonlyargs]

    # `criteria` is a part of `expected` that has an argument of its own.
    assert [name for name in named if name != "criteria"] == [*model.model_fields]


DRAFT = CaseField("draft", "text", "the draft", "Draft")


class WithDraft(Case):
    draft: str | None = None


class WithFullDraft(Case):
    draft: str | None = "empty"


class WithNumber(Case):
    draft: int | None = None


@pytest.mark.parametrize(
    ("model", "rows", "message"),
    [
        (WithDraft, CASE_FIELDS, "field 'draft' of Case has no row in CASE_FIELDS"),
        (Case, (*CASE_FIELDS, DRAFT), "a row 'draft', which Case does not have"),
        (WithNumber, (*CASE_FIELDS, DRAFT), "field 'draft' of Case is no 'text'"),
        (WithDraft, (*CASE_FIELDS, DRAFT._replace(kind="texts")), "is no 'texts'"),
        (WithFullDraft, (*CASE_FIELDS, DRAFT), "must be empty by default"),
        (WithDraft, (*CASE_FIELDS, DRAFT, DRAFT), "uses the name 'draft' twice"),
        (WithDraft, (*CASE_FIELDS, DRAFT._replace(aliases={"gold": "A"})), "the name 'gold' twice"),
        (WithDraft, (*CASE_FIELDS, DRAFT._replace(aliases={"d": " "})), "no source for 'd'; name"),
        (Case, CASE_FIELDS[1:], "field 'id' of Case has no row"),
    ],
)
def test_a_table_that_differs_from_the_model_is_refused(model, rows, message):
    with pytest.raises(TypeError, match=message):
        _check_fields(model, rows)


def test_a_table_that_agrees_with_the_model_is_accepted():
    _check_fields(WithDraft, (*CASE_FIELDS, DRAFT))


def test_a_case_keeps_its_bytes_and_its_digest_when_the_model_gains_a_field():
    old = Case(id="a", input="When?", reference="Now", metadata={"n": 1})
    new = WithDraft(**dict(old))

    assert case_text(new).text == case_text(old).text
    assert derive_id(new) == derive_id(old) == "bf78c9f9b813"
    assert derive_id(WithDraft(**dict(old), draft="")) != derive_id(old)
