"""The onnx embedder with a model people use, beside what sentence-transformers gave for it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import numpy as np
import pytest

from judgekit.core.case import Case
from judgekit.embedders.onnx import OnnxEmbedder
from judgekit.metrics.embedding.similarity import Similarity

FOLDER = os.environ.get("JUDGEKIT_MINILM", "")
RECORDED = json.loads((Path(__file__).parents[1] / "data" / "minilm.json").read_text("utf-8"))
TEXTS = ["word " * 400 if text == "word ×400" else text for text in RECORDED["texts"]]

pytestmark = [
    pytest.mark.minilm,
    pytest.mark.skipif(
        not FOLDER,
        reason="THE REAL MODEL WAS NOT TESTED: set JUDGEKIT_MINILM to a folder with"
        " all-MiniLM-L6-v2 as model.onnx and tokenizer.json (see benchmarks/README.md)",
    ),
]


def embedder(**options):
    return OnnxEmbedder(FOLDER, **options)


def test_the_vectors_are_those_of_sentence_transformers():
    found = np.asarray(embedder().embed(TEXTS))

    assert found.shape == (len(TEXTS), 384)
    assert np.abs(found[:, :6] - np.array(RECORDED["first_numbers"])).max() < 1e-5
    assert np.abs(found @ found.T - np.array(RECORDED["cosines"])).max() < 1e-5


@pytest.mark.parametrize("options", [{"batch_tokens": 1}, {"batch_tokens": 4096}, {"threads": 1}])
def test_scores_are_the_same_by_other_batches_and_threads(options):
    async def scored(chosen):
        metric = Similarity(embedder=chosen)
        cases = [Case(id="1", output=text, reference=TEXTS[0]) for text in TEXTS]
        return [score.value for score in await asyncio.gather(*map(metric.score, cases))]

    assert asyncio.run(scored(embedder())) == asyncio.run(scored(embedder(**options)))


def test_it_knows_that_a_boat_is_like_a_ferry():
    case = Case(id="1", output=TEXTS[1], reference=TEXTS[0])
    other = Case(id="1", output=TEXTS[2], reference=TEXTS[0])
    metric = Similarity(embedder=embedder())

    near, far = (asyncio.run(metric.score(one)).value for one in (case, other))

    assert near > 0.6 > 0.3 > far
    # The default embedder hears no more than a few shared words.
    assert asyncio.run(Similarity().score(case)).value < 0.3


def test_the_sentence_transformers_embedder_gives_the_same():
    pytest.importorskip("sentence_transformers", reason="the extra is not installed")
    from judgekit.embedders.sentence_transformers import SentenceTransformersEmbedder

    original = os.environ.get("JUDGEKIT_MINILM_ORIGINAL") or FOLDER
    made = SentenceTransformersEmbedder(original, threads=1)

    assert made.identity.startswith("sentence_transformers/")
    found = np.asarray(made.embed(TEXTS))
    assert np.abs(found - np.asarray(embedder().embed(TEXTS))).max() < 1e-5
