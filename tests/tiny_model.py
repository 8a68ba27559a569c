"""A model of a few thousand random weights with a tokeniser of bytes; needs torch."""

from __future__ import annotations

import pytest

REASON = "the extra steering is not installed"


def libraries():
    """Return torch, transformers and tokenizers; skip the test without the extra."""
    pytest.importorskip("steering_vectors", reason=REASON)
    torch = pytest.importorskip("torch", reason=REASON)
    transformers = pytest.importorskip("transformers", reason=REASON)
    return torch, transformers, pytest.importorskip("tokenizers", reason=REASON)


def write_model(folder, *, width=16, seed=0, template=None):
    """Write a model of three layers that takes 128 tokens; return its folder."""
    torch, transformers, tokenizers = libraries()
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: place for place, word in enumerate(["<s>", *letters])}
    raw = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>")
    fast.chat_template = template
    fast.save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary), n_positions=128, n_embd=width, n_layer=3, n_head=2,
        bos_token_id=0, eos_token_id=None,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config)
    # The outputs of random weights of the usual size are all but alike.
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4)
    # A model may ask for sampling; an answer at temperature 0 must not.
    model.generation_config.do_sample = True
    model.save_pretrained(folder, safe_serialization=True)
    return folder
