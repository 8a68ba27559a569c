"""Answers of a model on this machine; most tests need the extra."""

from __future__ import annotations

import asyncio

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.core.errors import CaseError, ConfigError, JudgeRejected, MissingExtra
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.request import About, ChatMessage, Form
from judgekit.judges import local_text
from judgekit.judges.local_text import LocalTextJudge, TextModel
from tests.tiny_model import libraries, write_model

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}"
    "{% if m.role == 'assistant' %}[end]{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)


def request(judge, text="Hello", *, want="text", role="user", sample=0):
    return RequestBuilder(judge).request(
        messages=(ChatMessage(role=role, content=text),),
        form=Form(want=want),
        sample=sample,
        about=About(),
    )


def ask(judge, text="Hello", **options):
    return asyncio.run(judge.ask(request(judge, text, **options)))


def answer(model, text="Hello", *, sample=0, **params):
    judge = LocalTextJudge(model, params={"max_tokens": 12, **params})
    return ask(judge, text, sample=sample).tries[0].text


def test_a_model_that_is_not_there_is_named(tmp_path):
    (tmp_path / "empty").mkdir()
    for name, message in (("nowhere", "no such folder"), ("empty", r"no \*\.safetensors")):
        with pytest.raises(ConfigError, match=message):
            answer(TextModel(str(tmp_path / name)))


def test_without_the_libraries_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").touch()
    monkeypatch.setattr(local_text, "find_spec", lambda name: None)

    with pytest.raises(MissingExtra, match=r"judgekit-rubrics\[steering\]"):
        answer(TextModel(str(tmp_path)))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"top_k": 3}, "takes no 'top_k'; did you mean 'top_p'"),
        ({"temperature": -1}, "temperature must be a number from 0"),
        ({"top_p": 2}, "top_p must be a number from 0 to 1"),
        ({"max_tokens": True}, "max_tokens must be a number from 1"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(ConfigError, match=message):
        LocalTextJudge(TextModel("x"), params=params)


def test_a_request_for_a_verdict_is_refused():
    judge = LocalTextJudge(TextModel("x"), params={})

    with pytest.raises(JudgeRejected, match="only answers"):
        ask(judge, want="verdict")


def test_the_name_has_a_prefix():
    plain = LocalTextJudge(TextModel("x"), params={"max_tokens": 9})

    assert plain.model == TextModel("transformers/x").name == "transformers/x"
    assert plain.settings.params == {"max_tokens": 9}


# -- with the libraries ---------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return TextModel(str(write_model(tmp_path_factory.mktemp("models") / "tiny")))


def test_samples_differ_and_repeat(tiny):
    libraries()
    first, second = (answer(tiny, temperature=2.0, sample=n) for n in (0, 1))

    assert first != second
    assert first == answer(tiny, temperature=2.0, sample=0)


def test_a_prompt_that_is_too_long_costs_its_case_and_a_long_answer_is_cut(tiny):
    libraries()
    with pytest.raises(CaseError, match="takes 128"):
        answer(tiny, "x" * 128)
    reply = ask(LocalTextJudge(tiny, params={"max_tokens": 500}), "x" * 100)
    assert reply.usage.output_tokens == 128 - 101
    assert reply.tries[0].finish == "length"


def test_a_chat_template_is_used(tmp_path):
    model = TextModel(str(write_model(tmp_path, template=TEMPLATE)))
    chat = [ChatMessage(role="system", content="S"), ChatMessage(role="user", content="U")]

    assert model.text(chat) == "<s>[system]S[user]U[assistant]"
    assert model.text(chat, answer="A") == "<s>[system]S[user]U[assistant]A"
    assert answer(model) == answer(model)


def test_a_chat_template_that_refuses_costs_its_case(tmp_path):
    model = TextModel(str(write_model(tmp_path, template="{{ raise_exception('no role') }}")))

    with pytest.raises(CaseError, match=r"chat template of .* refuses the chat: no role"):
        answer(model)


def test_a_tape_replays_without_the_model(tiny, tmp_path):
    libraries()
    judge = LocalTextJudge(tiny, params={"max_tokens": 5})
    with Cassette.open(tmp_path / "t.jsonl", judge, record="new_episodes") as cassette:
        live = ask(cassette)
    absent = TextModel("nowhere")
    absent.name = tiny.name
    with Cassette.open(
        tmp_path / "t.jsonl", LocalTextJudge(absent, params={"max_tokens": 5})
    ) as tape:
        assert ask(tape) == live
