"""Log-probabilities of a model on this machine; the last tests need its libraries."""

from __future__ import annotations

import asyncio
import json

import pytest

from judgekit.core.errors import CaseError, ConfigError, JudgeRejected, MissingExtra
from judgekit.core.replies.logprobs import pair_messages, read_logprobs
from judgekit.core.request import ChatMessage, Form, Request
from judgekit.judges import local
from judgekit.judges.local import TransformersJudge
from judgekit.suite.suite import build_suite

TEXTS = ["the cat sat", "the  cat\n sat on the mat.", "é 🙂 naïve", " lead", "x"]


def request(prompt, continuation):
    messages = pair_messages(prompt, continuation)
    return Request(messages=messages, form=Form(want="logprobs"), model="transformers/tiny")


def test_a_folder_that_is_none_is_said(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("nowhere", "empty"):
        with pytest.raises(ConfigError, match=r"with \*\.safetensors in it"):
            TransformersJudge(f"transformers/{name}", base=tmp_path)


def test_without_the_libraries_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").touch()
    monkeypatch.setattr(local, "find_spec", lambda name: None)

    with pytest.raises(MissingExtra, match=r"judgekit-rubrics\[transformers\]"):
        TransformersJudge("transformers/.", base=tmp_path)


def test_it_gives_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").touch()
    monkeypatch.setattr(local, "find_spec", lambda name: name)
    judge = TransformersJudge("transformers/.", base=tmp_path)
    asked = Request(
        messages=(ChatMessage(role="user", content="Hello."),), form=Form(), model=judge.model
    )

    with pytest.raises(JudgeRejected, match="log-probabilities only"):
        asyncio.run(judge.ask(asked))


def test_a_replay_needs_neither_model_nor_libraries(tmp_path):
    data = {"judge": "transformers/nowhere", "metrics": {"perplexity": {}}}

    build_suite(data, base=tmp_path).close()
    with pytest.raises(ConfigError, match="nowhere"):
        build_suite({**data, "record": "new_episodes"}, base=tmp_path)


def test_params_are_refused(tmp_path):
    judge = {"model": "transformers/x", "params": {"temperature": 1}}

    with pytest.raises(ConfigError, match="takes no params"):
        build_suite({"judge": judge, "metrics": {"perplexity": {}}}, base=tmp_path)


# -- with the libraries ---------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A model of two layers with random weights, and a byte-level tokeniser made of bytes."""
    torch = pytest.importorskip("torch", reason="the extra transformers is not installed")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("models") / "tiny"
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    words = ["Ġt", "he", "Ġthe", "at"]
    vocabulary = {word: place for place, word in enumerate(["<s>", *letters, *words])}
    merges = [("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("a", "t")]
    raw = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>")
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary), n_positions=64, n_embd=16, n_layer=2, n_head=2
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder, safe_serialization=True)
    return folder


def by_hand(folder, text):
    """Return tokens and log-probabilities, one step at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = tokenizer(text)["input_ids"]
    figures = []
    for place in range(1, len(ids)):
        with torch.no_grad():
            row = model(torch.tensor([ids[:place]])).logits[0, -1].double()
        figures.append(float(row[ids[place]] - row.logsumexp(0)))
    return ids, figures


@pytest.mark.parametrize("text", TEXTS)
def test_the_figures_are_those_worked_out_step_by_step(tiny, text):
    judge = TransformersJudge("transformers/tiny", base=tiny.parent)
    reply = asyncio.run(judge.ask(request("", text)))

    ids, figures = by_hand(tiny, text)
    found = read_logprobs(reply, prompt="", continuation=text)
    assert found.unknown
    assert found.logprobs == pytest.approx(figures, abs=1e-5)
    assert len(json.loads(reply.tries[0].text)["offsets"]) == len(ids)
    assert reply.server.startswith("weights ")


def test_a_continuation_is_told_from_its_prompt(tiny):
    judge = TransformersJudge("transformers/tiny", base=tiny.parent)
    reply = asyncio.run(judge.ask(request("on", " the mat")))

    found = read_logprobs(reply, prompt="on", continuation=" the mat")
    _, figures = by_hand(tiny, "on the mat")
    assert found.logprobs == pytest.approx(figures[1:], abs=1e-5)
    assert not found.shared


def test_a_text_that_is_too_long_costs_its_row(tiny):
    judge = TransformersJudge("transformers/tiny", base=tiny.parent)

    with pytest.raises(CaseError, match="takes 64"):
        asyncio.run(judge.ask(request("", "x" * 100)))


def test_a_suite_is_recorded_and_replayed(tiny, tmp_path):
    from judgekit.runner.evaluation import evaluate_sync

    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "the cat sat"}\n')
    data = {
        "cases": "cases.jsonl", "cassette": "tape.jsonl", "metrics": {"perplexity": {}},
        "judge": f"transformers/{tiny}",
    }  # fmt: skip
    values = []
    for record in ("new_episodes", "none"):
        suite = build_suite({**data, "record": record}, base=tmp_path)
        values.append(evaluate_sync(suite.cases(), suite.metrics).metrics["perplexity"].mean)
        suite.close()
    assert values[0] == values[1] > 1
