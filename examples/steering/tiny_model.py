"""Make the tiny model of this example: a few seconds on one processor, nothing is downloaded.

It learns the answers of `british_pairs.json` by heart, the American ones twice as well as the
British ones. It knows no other words. Run it with the extra `steering` installed:

    python examples/steering/tiny_model.py tiny
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

PAIRS = Path(__file__).with_name("british_pairs.json")


def main(folder: str) -> None:
    """Train the model, and save it with its tokeniser."""
    pairs = json.loads(PAIRS.read_text("utf-8"))["pairs"]
    sides = ("positive", "negative", "negative")
    texts = [f"{pair['prompt']}\n{pair[side]}" for pair in pairs for side in sides]
    split = pre_tokenizers.Split(pattern=" ", behavior="merged_with_next")
    words = {
        word
        for text in texts
        for line in text.split("\n")
        for word, _ in split.pre_tokenize_str(line)
    }
    vocabulary = {word: n for n, word in enumerate(["<end>", "<other>", "\n", *sorted(words)])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<other>"))
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(pattern="\n", behavior="isolated"), split]
    )
    raw.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<end>", pad_token="<end>", unk_token="<other>"
    )
    torch.manual_seed(0)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(vocabulary), n_positions=64, n_embd=48, n_layer=4, n_head=4,
            bos_token_id=0, eos_token_id=0, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
        )
    )  # fmt: skip
    batch = tokenizer([f"{text}<end>" for text in texts], padding=True, return_tensors="pt")
    ids, mask = batch["input_ids"], batch["attention_mask"]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(120):
        loss = model(ids, attention_mask=mask, labels=ids.masked_fill(mask == 0, -100)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, loss {loss.item():.2f}")
    model.train(False).save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
