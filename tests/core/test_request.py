from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.request import (
    About,
    ChatMessage,
    Detail,
    Form,
    Question,
    Reply,
    Request,
    Try,
    Usage,
    request_from,
)
from judgekit.core.value import trusted
from tests.each import each

GOLDEN_KEY = "9a779333893c5a065beb10141a31448cd32c565cffc0688e469d371afeb2d571"
"""Change it only with a new format number: every tape that was ever recorded depends on it."""


def made(**changes):
    fields = {
        "messages": (
            ChatMessage(role="system", content="Judge."),
            ChatMessage(role="user", content="Ä text\nof two lines."),
        ),
        "form": Form(
            questions=(
                Question(id="a", kind="score", text="Good?"),
                Question(id="b", kind="choice", text="Which?", labels=("x", "y"), nullable=True),
            ),
            details=(Detail(name="summary"),),
        ),
        "model": "openai/gpt-4o-mini",
        "params": {"temperature": 0.0, "seed": 7},
    }
    return Request(**{**fields, **changes})


def test_the_key_of_this_request_never_changes():
    assert made().key == GOLDEN_KEY


CHANGES = {
    "role": {"messages": (ChatMessage(role="user", content="Judge."), made().messages[1])},
    "content": {"messages": (made().messages[0], ChatMessage(role="user", content="Ä text"))},
    "order of messages": {"messages": made().messages[::-1]},
    "one message less": {"messages": made().messages[:1]},
    "form": {"form": Form(questions=made().form.questions[:1], details=made().form.details)},
    "order of questions": {
        "form": Form(questions=made().form.questions[::-1], details=made().form.details)
    },
    "schema": {"form": Form(json_schema={"type": "object"})},
    "model": {"model": "openai/gpt-4o"},
    "identity": {"identity": "qwen3-8b-q4"},
    "parameter": {"params": {"temperature": 0.1, "seed": 7}},
    "one parameter less": {"params": {"temperature": 0.0}},
    "type of a parameter": {"params": {"temperature": 0.0, "seed": "7"}},
    "sample": {"sample": 1},
    "mode": {"mode": "tools"},
}


@each("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_decides_the_answer_changes_the_key(change):
    assert made(**change).key != made().key


QUESTION = Question(id="a", kind="score", text="t")


@pytest.mark.parametrize(
    "change",
    [
        {"id": "b"},
        {"kind": "boolean"},
        {"text": "u"},
        {"minimum": -1.0},
        {"maximum": 2.0},
        {"labels": ("x",)},
        {"items": ("x",)},
        {"nullable": True},
        {"quotes": True},
        {"details": (Detail(name="d"),)},
        {"descriptions": ("x",)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_of_a_question_changes_the_key(change):
    before = made(form=Form(questions=(QUESTION,)))
    after = made(form=Form(questions=(QUESTION.model_copy(update=change),)))

    assert before.key != after.key


def test_changing_every_field_was_thought_of():
    assert set(Request.model_fields) == {
        "messages", "form", "model", "identity", "params", "sample", "mode", "about",
        "unkeyed",
    }  # fmt: skip
    assert set(Question.model_fields) == {
        "id", "kind", "text", "minimum", "maximum", "labels", "items", "nullable", "quotes",
        "details", "descriptions",
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"about": About(case="c", metric="m", rubric="r")},
        {"params": {"seed": 7, "temperature": 0.0}},
        {"form": made().form.model_copy()},
    ],
    ids=["about", "order of parameters", "an equal form"],
)
def test_who_asks_and_in_which_order_does_not_change_the_key(change):
    assert made(**change).key == made().key


names = st.text(min_size=1, max_size=8)
requests = st.builds(
    Request,
    messages=st.lists(
        st.builds(
            ChatMessage, role=st.sampled_from(["system", "user", "assistant"]), content=st.text()
        ),
        max_size=3,
    ).map(tuple),
    form=st.builds(
        Form,
        questions=st.lists(
            st.builds(
                Question,
                id=names,
                kind=st.sampled_from(["score", "boolean", "choice", "checklist"]),
                text=st.text(),
                labels=st.lists(names, max_size=2).map(tuple),
                nullable=st.booleans(),
            ),
            max_size=3,
        ).map(tuple),
        json_schema=st.none() | st.dictionaries(names, st.text(), max_size=2),
    ),
    model=st.text(),
    identity=st.none() | st.text(),
    params=st.dictionaries(names, st.integers() | st.floats(-5, 5) | st.booleans(), max_size=3),
    sample=st.integers(0, 5),
    mode=st.none() | st.text(),
)


@given(requests)
def test_the_canonical_text_is_canonical_json_and_its_digest_the_key(request):
    assert canonical_json(json.loads(request.canonical)) == request.canonical
    assert digest(request.canonical) == request.key


EVERY_CHARACTER = "".join(chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000)


@pytest.mark.parametrize("text", [EVERY_CHARACTER, "half of a pair: \ud800"], ids=["all", "half"])
def test_a_message_is_escaped_like_canonical_json(text):
    message = trusted(ChatMessage, {"role": "user", "content": text})
    canonical = made().model_copy(update={"messages": (message,)}).canonical

    assert f'{{"content":{canonical_json(text)},"role":"user"}}' in canonical


@given(requests)
def test_a_request_is_built_back_from_its_canonical_text(request):
    again = request_from(json.loads(request.canonical))

    assert again.key == request.key
    assert again.model_copy(update={"about": request.about}) == request


@given(requests, requests)
def test_two_requests_share_a_key_only_if_they_are_equal(one, other):
    assert (one.key == other.key) == (one.canonical == other.canonical)


def test_the_key_is_the_same_in_every_process():
    code = (
        "import sys, json; from judgekit.core.request import request_from\n"
        "print(request_from(json.load(sys.stdin)).key)"
    )
    for seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=made().canonical,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        )
        assert done.stdout.strip() == GOLDEN_KEY


def test_equal_forms_have_one_digest():
    form = made().form

    assert form.digest == Form.model_validate(form.model_dump()).digest
    assert form.digest != Form(questions=form.questions).digest


# -- replies ----------------------------------------------------------------------


def test_a_reply_needs_at_least_one_try():
    with pytest.raises(ValueError, match="must not be empty"):
        Reply(tries=())


@pytest.mark.parametrize(
    "wrong", [{"cost": -0.1}, {"cost": float("nan")}, {"usage": {"input_tokens": -1}}]
)
def test_costs_and_tokens_are_never_negative(wrong):
    with pytest.raises(ValueError, match=r"greater than or equal|finite"):
        Reply.model_validate({"tries": [{"text": "x"}], **wrong})


def test_a_reply_survives_json():
    reply = Reply(
        tries=(Try(text="{", finish="length"), Try(text="{}", finish="stop", logprobs=[0.5])),
        model="m",
        effective_params={"temperature": 0},
        usage=Usage(input_tokens=3, output_tokens=1),
        cost=0.25,
    )

    assert Reply.model_validate_json(reply.model_dump_json(exclude_defaults=True)) == reply


def test_a_changed_copy_has_a_key_of_its_own():
    form = Form(questions=(Question(id="a", kind="boolean", text="t"),))
    request = Request(messages=(ChatMessage(role="user", content="x"),), form=form, model="m")
    assert len({request.key, form.digest}) == 2

    other = request.model_copy(update={"messages": (ChatMessage(role="user", content="y"),)})
    other_form = form.model_copy(update={"details": (Detail(name="d"),)})

    assert other.key != request.key
    assert other.key == request.model_validate(other.model_dump()).key
    assert other_form.digest != form.digest
    assert request.model_copy().key == request.key
