"""Answers of a model on this machine, steered or not; most tests need the extra."""

from __future__ import annotations

import asyncio

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import CaseError, ConfigError, JudgeRejected, MissingExtra
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.replies.vector import read_vector
from judgekit.core.request import About, ChatMessage, Form
from judgekit.steering import steered
from judgekit.steering.steered import SteerableModel, SteeredJudge
from judgekit.steering.vector import Steering, vector_bytes
from tests.tiny_model import libraries, write_model

PAIRS = canonical_json([["How?", "Rather well.", "Super!"], ["Why?", "One must.", "Because!"]])
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


def answer(model, steering=None, *, text="Hello", sample=0, **params):
    judge = SteeredJudge(model, params={"max_tokens": 12, **params}, steering=steering)
    return ask(judge, text, sample=sample).tries[0].text


def test_a_model_that_is_not_there_is_named(tmp_path):
    (tmp_path / "empty").mkdir()
    for name, message in (("nowhere", "no such folder"), ("empty", r"no \*\.safetensors")):
        with pytest.raises(ConfigError, match=message):
            answer(SteerableModel(str(tmp_path / name)))


def test_without_the_libraries_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").touch()
    monkeypatch.setattr(steered, "find_spec", lambda name: None)

    with pytest.raises(MissingExtra, match=r"judgekit-rubrics\[steering\]"):
        answer(SteerableModel(str(tmp_path)))


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
        SteeredJudge(SteerableModel("x"), params=params)


def test_a_request_for_a_verdict_is_refused():
    judge = SteeredJudge(SteerableModel("x"), params={})

    with pytest.raises(JudgeRejected, match="only answers"):
        ask(judge, want="verdict")


def test_the_key_has_the_steering_and_the_name_a_prefix():
    model = SteerableModel("x")
    plain = SteeredJudge(model, params={"max_tokens": 9})
    other = SteeredJudge(model, params={"max_tokens": 9}, steering=Steering(b"v", 2, 1.5))

    assert plain.model == SteerableModel("transformers/x").name == "transformers/x"
    assert plain.settings.params == {"max_tokens": 9}
    assert request(plain).key != request(other).key
    assert other.settings.params["steering"]["strength"] == 1.5


# -- with the libraries ---------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return SteerableModel(str(write_model(tmp_path_factory.mktemp("models") / "tiny")))


def train(model, layer=1, layers=(1,)):
    return ask(model.trainer(layer, layers=layers), PAIRS, want="embedding", role="system")


def test_the_vector_is_the_mean_difference_of_the_last_activations(tiny):
    torch, *_ = libraries()
    tokenizer, model, _ = tiny.loaded
    means = []
    for texts in (("How?\nRather well.", "Why?\nOne must."), ("How?\nSuper!", "Why?\nBecause!")):
        rows = []
        for text in texts:
            ids = torch.tensor([tokenizer(text)["input_ids"]])
            with torch.no_grad():
                # Before the first layer, then after each; layer 1 is the third of these.
                rows.append(model(ids, output_hidden_states=True).hidden_states[2][0, -1])
        means.append(torch.stack(rows).mean(0))

    reply = train(tiny)
    assert list(read_vector(reply)) == pytest.approx((means[0] - means[1]).tolist(), abs=1e-5)
    assert reply.server.startswith("weights ")


def test_a_steered_answer_differs_and_is_the_same_each_time(tiny):
    vector = vector_bytes(read_vector(train(tiny)), layer=1, metadata={})
    plain = answer(tiny)

    assert plain == answer(tiny)
    steered_answers = [answer(tiny, Steering(vector, 1, 8.0)) for _ in range(2)]
    assert steered_answers[0] == steered_answers[1] != plain
    assert answer(tiny) == plain  # nothing of the steering stays


def test_adding_the_vector_by_hand_gives_the_same_tokens(tiny):
    torch, *_ = libraries()
    tokenizer, model, _ = tiny.loaded
    numbers = read_vector(train(tiny))
    ids = tokenizer("Hello\n")["input_ids"]
    hook = model.transformer.h[1].register_forward_hook(
        lambda module, given, out: (
            (out[0] + 8 * torch.tensor(numbers), *out[1:])
            if isinstance(out, tuple)
            else out + 8 * torch.tensor(numbers)
        )
    )
    start = len(ids)
    for _ in range(12):
        with torch.no_grad():
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    hook.remove()

    vector = vector_bytes(numbers, layer=1, metadata={})
    expected = tokenizer.decode(ids[start:], skip_special_tokens=True).strip()
    assert answer(tiny, Steering(vector, 1, 8.0)) == expected


def test_samples_differ_and_repeat(tiny):
    libraries()
    first, second = (answer(tiny, temperature=2.0, sample=n) for n in (0, 1))

    assert first != second
    assert first == answer(tiny, temperature=2.0, sample=0)


@pytest.mark.parametrize(
    ("layer", "width", "metadata", "message"),
    [
        (3, 16, {}, "no layer 3; it has 0 to 2"),
        (1, 8, {}, "has 8 numbers, and the model takes 16"),
        (1, 16, {"weights": "other"}, "names the weights other"),
    ],
)
def test_a_vector_that_does_not_fit_is_refused(tiny, layer, width, metadata, message):
    vector = vector_bytes([1.0] * width, layer=layer, metadata=metadata)

    with pytest.raises(ConfigError, match=message):
        answer(tiny, Steering(vector, layer, 1.0))


def test_layers_and_texts_of_training_are_checked(tmp_path):
    model = SteerableModel(str(write_model(tmp_path)))
    with pytest.raises(ConfigError, match="no layer 7; it has 0 to 2"):
        train(model, layers=(1, 7))
    pairs = canonical_json([["How?", "a" * 200, "b"]])
    with pytest.raises(ConfigError, match=r"pair 1 has 205 tokens; .* takes 128"):
        ask(model.trainer(1, layers=(1,)), pairs, want="embedding", role="system")


def test_a_prompt_that_is_too_long_costs_its_case_and_a_long_answer_is_cut(tiny):
    libraries()
    with pytest.raises(CaseError, match="takes 128"):
        answer(tiny, text="x" * 128)
    reply = ask(SteeredJudge(tiny, params={"max_tokens": 500}), "x" * 100)
    assert reply.usage.output_tokens == 128 - 101
    assert reply.tries[0].finish == "length"


def test_a_chat_template_is_used(tmp_path):
    model = SteerableModel(str(write_model(tmp_path, template=TEMPLATE)))
    chat = [ChatMessage(role="system", content="S"), ChatMessage(role="user", content="U")]

    assert model.text(chat) == "<s>[system]S[user]U[assistant]"
    assert model.text(chat, answer="A") == "<s>[system]S[user]U[assistant]A"
    assert answer(model) == answer(model)


def test_a_chat_template_that_refuses_costs_its_case(tmp_path):
    model = SteerableModel(str(write_model(tmp_path, template="{{ raise_exception('no role') }}")))

    with pytest.raises(CaseError, match=r"chat template of .* refuses the chat: no role"):
        answer(model)


def test_a_tape_replays_without_the_model(tiny, tmp_path):
    libraries()
    judge = SteeredJudge(tiny, params={"max_tokens": 5})
    with Cassette.open(tmp_path / "t.jsonl", judge, record="new_episodes") as cassette:
        live = ask(cassette)
    absent = SteerableModel("nowhere")
    absent.name = tiny.name
    with Cassette.open(
        tmp_path / "t.jsonl", SteeredJudge(absent, params={"max_tokens": 5})
    ) as tape:
        assert ask(tape) == live
