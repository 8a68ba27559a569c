"""Embedding: texts a second, peak memory, and whether the vectors are the same.

`model` embeds 2,000 sentences of 10 to 200 tokens by `onnx`, beside sentence-transformers on
torch with the same weights, in turns, each round a process of its own. Loading and the first
text are not timed. It needs a folder with `model.onnx` and `tokenizer.json`, the original folder
with `model.safetensors`, and the Python of an environment that has sentence-transformers:

    python benchmarks/embedding.py model --onnx FOLDER --original FOLDER --python PYTHON

`lexical` embeds texts of 60 to 100 characters by the default embedder on one core, beside
nothing: the bar is 10,000 a second.

    python benchmarks/embedding.py lexical
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

WORDS = [
    word
    for line in (
        "the a of to and in it is was for on with as at by from this that which who when where",
        "while because letter garden window river morning train station ticket engine driver",
        "market bread butter water paper pencil school teacher lesson number answer question",
        "reason doctor nurse patient table chair kitchen door key street corner bridge island",
        "harbor ship captain storm wind rain summer winter small large early late quiet loud",
        "bright dark empty full open closed simple strange heavy light",
    )
    for word in line.split()
]


def sentences(count: int) -> list[str]:
    """Return texts whose lengths spread evenly, on a scale of ratios, from 8 to 190 words."""
    draw = random.Random(20)
    texts = []
    for number in range(count):
        length = round(8 * (190 / 8) ** draw.random())
        words = [draw.choice(WORDS) for _ in range(length - 2)]
        texts.append(f"{' '.join(words).capitalize()} {number}.")
    return texts


def short_texts(count: int) -> list[str]:
    """Return texts of 60 to 100 characters, no two alike."""
    draw = random.Random(21)
    texts = []
    for number in range(count):
        wanted = draw.randint(60, 100)
        text = str(number)
        while len(text) < wanted:
            text += " " + draw.choice(WORDS)
        texts.append(text[:wanted])
    return texts


def measure(chosen: argparse.Namespace) -> None:
    """Embed by one backend and print what it took."""
    texts = sentences(chosen.count)
    started = time.perf_counter()
    if chosen.one == "onnx":
        from judgekit.embedders import open_embedder

        options = {"batch_tokens": chosen.batch_tokens} if chosen.batch_tokens else {}
        spec = {"onnx": str(chosen.onnx), "threads": chosen.threads, **options}
        embed = open_embedder(spec).embed
    else:
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(chosen.threads)
        model = SentenceTransformer(str(chosen.original), device="cpu", local_files_only=True)

        def embed(texts):
            return model.encode(
                texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False
            )

    embed(texts[:1])
    loaded = time.perf_counter()
    before = time.process_time()
    vectors = embed(texts)
    seconds, cpu = time.perf_counter() - loaded, time.process_time() - before
    import numpy as np

    np.save(chosen.save, np.asarray(vectors))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rates = {"rate": len(texts) / seconds, "cpu": cpu / len(texts)}
    print(json.dumps({"load": loaded - started, **rates, "peak": peak}))


def compare_models(chosen: argparse.Namespace) -> None:
    """Run both in turns and print ratios."""
    import numpy as np
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(chosen.onnx / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    lengths = sorted(len(e.ids) for e in tokenizer.encode_batch(sentences(chosen.count)))
    print(
        f"{chosen.count} texts of {lengths[0]} to {lengths[-1]} tokens,"
        f" median {lengths[len(lengths) // 2]}; {chosen.threads} threads"
    )
    found: dict[str, list[dict[str, float]]] = {"onnx": [], "sentence_transformers": []}
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true"}
    with tempfile.TemporaryDirectory() as name:
        for number in range(chosen.rounds):
            for backend, rounds in found.items():
                python = sys.executable if backend == "onnx" else chosen.python
                command = [python, __file__, "model", "--one", backend]
                command += ["--onnx", chosen.onnx, "--original", chosen.original]
                command += ["--count", str(chosen.count), "--threads", str(chosen.threads)]
                command += ["--save", Path(name) / f"{backend}.npy"]
                done = subprocess.check_output(command, env=environment, stderr=subprocess.DEVNULL)
                rounds.append(json.loads(done.splitlines()[-1]))
            ours, theirs = (rounds[-1] for rounds in found.values())
            print(f"round {number + 1}: {ours['rate'] / theirs['rate']:.2f} times as fast")
            for backend, one in zip(found, (ours, theirs), strict=True):
                print(
                    f"  {backend}: {one['rate']:.1f} texts/s, {one['cpu'] * 1e3:.1f} ms of CPU a"
                    f" text, {one['peak'] / 1e6:.0f} MB, loads in {one['load']:.2f} s",
                    flush=True,
                )
        vectors = [np.load(Path(name) / f"{backend}.npy") for backend in found]
        # Another budget of tokens puts every text into another batch.
        command = [sys.executable, __file__, "model", "--one", "onnx", "--onnx", chosen.onnx]
        command += ["--count", str(chosen.count), "--threads", "1", "--batch-tokens", "300"]
        command += ["--save", Path(name) / "other.npy"]
        subprocess.check_output(command, env=environment)
        other = np.load(Path(name) / "other.npy")
    pairs = list(zip(*found.values(), strict=True))
    print(f"throughput: {median(a['rate'] / b['rate'] for a, b in pairs):.2f} times")
    print(f"CPU a text: {median(a['cpu'] / b['cpu'] for a, b in pairs):.3f} of it")
    print(f"peak memory: {median(a['peak'] / b['peak'] for a, b in pairs):.3f} of it")
    print(f"largest difference of a number: {np.abs(vectors[0] - vectors[1]).max():.1e}")
    print(f"and by other batches on one thread: {np.abs(vectors[0] - other).max():.1e}")


def measure_lexical(chosen: argparse.Namespace) -> None:
    """Print texts a second of CPU, one thread."""
    from judgekit.embedders.lexical import LexicalEmbedder

    embedder = LexicalEmbedder()
    embedder.embed(["warm"])
    rates = []
    for _ in range(chosen.rounds):
        texts = short_texts(chosen.count)
        started = time.process_time()
        for at in range(0, len(texts), 1000):
            embedder.embed(texts[at : at + 1000])
        rates.append(len(texts) / (time.process_time() - started))
    together = ", ".join(f"{rate:,.0f}" for rate in rates)
    print(f"lexical, 1,000 texts a call: {median(rates):,.0f} texts a second ({together})")
    started = time.process_time()
    for text in texts:
        embedder.embed([text])
    print(f"one text a call: {len(texts) / (time.process_time() - started):,.0f} a second")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("what", choices=("model", "lexical"))
    options.add_argument("--onnx", type=Path)
    options.add_argument("--original", type=Path)
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--count", type=int)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--batch-tokens", type=int, help=argparse.SUPPRESS)
    options.add_argument("--one", choices=("onnx", "sentence_transformers"), help=argparse.SUPPRESS)
    options.add_argument("--save", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.what == "lexical":
        chosen.count = chosen.count or 50_000
        measure_lexical(chosen)
        return
    chosen.count = chosen.count or 2000
    if chosen.one:
        measure(chosen)
        return
    if not (chosen.onnx and chosen.original):
        options.error("model needs --onnx FOLDER and --original FOLDER")
    compare_models(chosen)


if __name__ == "__main__":
    main()
