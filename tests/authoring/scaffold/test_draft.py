"""A new rubric says what was typed, whatever was typed, and loads."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from judgekit.authoring.scaffold.draft import (
    CriterionDraft,
    RubricDraft,
    criterion_from,
    draft_from,
    frame_from,
    id_of,
    rubric_text,
    write_rubric,
)
from judgekit.authoring.scaffold.project import scalar
from judgekit.authoring.schemas import schema
from judgekit.core.errors import ConfigError
from judgekit.core.synchronous import run_inline
from judgekit.core.yaml_file import parse_yaml
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.safety_and_quality.points import Points
from judgekit.rubric.load import load_rubric

TYPED = st.text(min_size=1, max_size=60)
HOSTILE = st.sampled_from(
    ['"', "'", ":", "#", "{{ x }}", "{% endblock %}", "{#", "---", "\n---\n", "yes", "null", "1.5",
     "\\", "\\n", "- a", "&a", "*a", "!!python/object", "%", "@", "`", "|", ">", "\u2028", "\x85",
     "\ufeff", "\U0001f600", "\ud800", "a\tb", "~", "=", "<<", "🏳️‍🌈", "\x7f", "]", "}"]
)  # fmt: skip
TEXTS = st.one_of(TYPED, st.builds("".join, st.lists(HOSTILE | TYPED, min_size=1, max_size=6)))
WORDS = st.lists(TEXTS, min_size=2, max_size=4, unique_by=lambda w: scalar(w))
KINDS = st.sampled_from(["levels", "boolean", "number", "choice", "checklist"])


@cache
def validator():
    return Draft202012Validator(schema("rubric"))


def clean(text):
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


@given(text=TEXTS)
def test_any_text_is_read_back_as_it_was(text):
    assert parse_yaml(f"- {scalar(text)}\n", file="x")[0] == [clean(text)]
    assert parse_yaml(f"{{{scalar(text)}: [{scalar(text)}]}}\n", file="x")[0] == {
        clean(text): [clean(text)]
    }
    assert "\n" not in scalar(text)


@settings(max_examples=40, deadline=None)
@given(description=TEXTS, texts=st.lists(TEXTS, min_size=1, max_size=3), words=WORDS, kind=KINDS,
       quotes=st.booleans(), weighed=st.booleans())  # fmt: skip
def test_a_rubric_of_anything_loads(
    tmp_path_factory, description, texts, words, kind, quotes, weighed
):
    texts = [text for text in texts if clean(text).split()] or ["A?"]
    criteria = []
    for n, text in enumerate(texts):
        id = id_of(text, [c.id for c in criteria])
        worths = tuple(
            (word, None if n and kind == "choice" else 0.5) for n, word in enumerate(words)
        )
        criteria.append(
            CriterionDraft(
                id,
                text,
                kind,
                words=worths,
                items=tuple(words),
                weight=n + 0.125 if weighed else 1.0,
            )
        )
    draft = RubricDraft("mine", description, tuple(criteria), quotes=quotes)
    folder = tmp_path_factory.mktemp("r")
    text = rubric_text(draft, schema="../.schemas/rubric.json")
    (folder / "mine.jinja").write_text(text, "utf-8")

    rubric = load_rubric(folder / "mine.jinja")

    assert rubric.description == clean(description)
    assert [c.id for c in rubric.criteria] == [c.id for c in criteria]
    ends = " 0 is not at all, 1 is fully." if kind == "number" else ""
    assert [c.question.text for c in rubric.criteria] == [
        " ".join((clean(t) + ends).split()) for t in texts
    ]
    if kind in ("levels", "choice"):
        assert list(rubric.criteria[0].question.labels) == [clean(word) for word in words]
    assert all(c.question.quotes is quotes for c in rubric.criteria)
    front = text.removeprefix("---\n").partition("\n---\n")[0]
    assert [e.message for e in validator().iter_errors(parse_yaml(front, file="x")[0])] == []


@pytest.mark.parametrize(
    ("text", "taken", "id"),
    [
        ("Is the answer friendly?", [], "friendly"),
        ("Is the answer friendly?", ["friendly"], "friendly_2"),
        ("Does it cite a source for every number?", [], "cite_source"),
        ("Is it?", [], "criterion"),
        ("¿Está bien?", [], "esta_bien"),
        ("好吗", ["criterion"], "criterion_2"),
        ("A" * 200, [], "a" * 40),
    ],
)
def test_a_criterion_is_named_by_what_it_says(text, taken, id):
    assert id_of(text, taken) == id


def test_a_criterion_of_a_flag_may_be_named():
    assert criterion_from("tone=Is it kind?", [])[:2] == ("tone", "Is it kind?")
    assert criterion_from("Is 1+1=2 said?", [])[:2] == ("said", "Is 1+1=2 said?")
    for wrong in ("tone=", " ", ""):
        with pytest.raises(ConfigError, match="NAME=TEXT or TEXT"):
            criterion_from(wrong, [])
    with pytest.raises(ConfigError, match="two criteria are named 'tone'"):
        criterion_from("tone=Again?", ["tone"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": None}, "no name is given: judgekit rubric new tone --criterion"),
        ({"criteria": []}, "no criterion is given: judgekit rubric new tone --criterion"),
        ({"criteria": ["x"] * 201}, "201 criteria; the limit is 200"),
        ({"kind": "bolean"}, "--kind bolean: unknown kind; did you mean 'boolean'?"),
        ({"kind": "choice"}, "--kind choice: a choice needs its options; answer"),
        ({"kind": "numbr"}, "--kind numbr: unknown kind; did you mean 'number'?"),
        ({"requires": "inputt"}, "--requires inputt: a case has no field 'inputt'; give some of"),
    ],
)
def test_a_wrong_flag_is_named(changes, message):
    flags = {"name": "tone", "description": None, "criteria": ["Is it kind?"], "kind": "levels",
             "requires": "input", "quotes": False, **changes}  # fmt: skip

    with pytest.raises(ConfigError) as caught:
        draft_from(flags.pop("name"), **flags)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("to ne", "'to ne': a name begins with a letter"),
        ("../tone", "'../tone': a name begins with a letter"),
        ("", "a name begins with a letter"),
        ("quality", "'quality' is the name of a built-in rubric"),
        ("base", "'base' is the name of a built-in rubric"),
        ("taken", "exists; choose another name, or add --force"),
    ],
)
def test_a_name_that_will_not_do_is_said(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    folder = Path("rubrics")
    folder.mkdir()
    (folder / "taken.jinja").write_text("mine", "utf-8")
    draft = RubricDraft(name, "D.", (CriterionDraft("a", "A?"),))

    with pytest.raises(ConfigError, match=re.escape(message)):
        write_rubric(draft, folder=folder)

    assert (folder / "taken.jinja").read_text("utf-8") == "mine"
    assert [path.name for path in tmp_path.rglob("*.*")] == ["taken.jinja"]


def test_the_schema_is_written_once_and_never_over_one_that_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draft = RubricDraft("one", "D.", (CriterionDraft("a", "A?"),))

    first = write_rubric(draft, folder=Path("rubrics"))
    Path(".schemas/rubric.json").write_text("mine", "utf-8")
    second = write_rubric(draft._replace(name="two"), folder=Path("rubrics"))

    assert list(map(str, first)) == ["rubrics/one.jinja", ".schemas/rubric.json"]
    assert list(map(str, second)) == ["rubrics/two.jinja"]
    assert Path(".schemas/rubric.json").read_text("utf-8") == "mine"


def test_the_words_of_a_rubric_file_are_taken_as_kinds():
    flags = {"description": None, "criteria": ["Is it kind?"], "requires": "input", "quotes": False}

    drafts = [draft_from("tone", kind=kind, **flags) for kind in ("score", "number")]

    assert drafts[0] == drafts[1]


@given(description=TEXTS)
@settings(max_examples=20, deadline=None)
def test_a_frame_says_what_was_typed_and_has_tests(description):
    draft = frame_from("strict", description=description, criteria=[])
    text = rubric_text(draft, schema="../.schemas/rubric.json")
    front, _ = parse_yaml(text.split("---\n")[1], file="x")

    assert front["extends"] == "criterion_met@2"
    assert front["description"] in (clean(draft.description), draft.description)


def test_a_frame_is_a_rubric_of_points(tmp_path):
    draft = frame_from("strict", description=None, criteria=[])
    path, _ = write_rubric(draft, folder=tmp_path / "rubrics")
    rubric = load_rubric(path)

    assert {test.own_criteria for test in rubric.tests} == {True}
    case = rubric.tests[0].case
    judge = FakeJudge()
    judge.synchronous = True
    score = run_inline(Points(judge=judge, rubric=path, calls=8).score(case))
    assert score.method == "fake/judge by strict@1"
    with pytest.raises(ConfigError, match="--frame: the cases have the criteria"):
        frame_from("strict", description=None, criteria=["Is it kind?"])
    with pytest.raises(ConfigError, match="judgekit rubric new strict --frame"):
        frame_from(None, description=None, criteria=[])
