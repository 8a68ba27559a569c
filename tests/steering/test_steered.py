"""Answers of a steered model, and the training of vectors; most tests need the extra."""

from __future__ import annotations

import asyncio

import pytest

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.replies.vector import read_vector
from judgekit.core.request import About, ChatMessage, Form
from judgekit.judges.local_text import LocalTextJudge, TextModel
from judgekit.steering import steered
from judgekit.steering.steered import SteerableModel, SteeredJudge
from judgekit.steering.vector import Steering, vector_bytes
from tests.tiny_model import libraries, write_model

PAIRS = canonical_json([["How?", "Rather well.", "Super!"], ["Why?", "One must.", "Because!"]])


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
    params = {"max_tokens": 12, **params}
    if steering is None:
        judge = LocalTextJudge(model.local, params=params)
    else:
        judge = SteeredJudge(model, params=params, steering=steering)
    return ask(judge, text, sample=sample).tries[0].text


def steerable(folder):
    return SteerableModel(TextModel(str(folder)))


def test_without_the_libraries_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").touch()
    monkeypatch.setattr(steered, "find_spec", lambda name: None)

    with pytest.raises(MissingExtra, match=r"judgekit-rubrics\[steering\]"):
        train(steerable(tmp_path))


def test_the_key_has_the_steering():
    model = steerable("x")
    plain = LocalTextJudge(model.local, params={"max_tokens": 9})
    other = SteeredJudge(model, params={"max_tokens": 9}, steering=Steering(b"v", 2, 1.5))

    assert other.model == plain.model
    assert request(plain).key != request(other).key
    assert other.settings.params["steering"]["strength"] == 1.5


# -- with the libraries ---------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return steerable(write_model(tmp_path_factory.mktemp("models") / "tiny"))


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
    model = steerable(write_model(tmp_path))
    with pytest.raises(ConfigError, match="no layer 7; it has 0 to 2"):
        train(model, layers=(1, 7))
    pairs = canonical_json([["How?", "a" * 200, "b"]])
    with pytest.raises(ConfigError, match=r"pair 1 has 205 tokens; .* takes 128"):
        ask(model.trainer(1, layers=(1,)), pairs, want="embedding", role="system")
