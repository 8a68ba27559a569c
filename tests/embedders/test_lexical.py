"""The lexical embedder: stable, linear, and near where words are shared."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.errors import ConfigError
from judgekit.embedders import open_embedder
from judgekit.embedders.folding import fold, nfkc
from judgekit.embedders.lexical import LexicalEmbedder
from tests.growth import LINEAR, growth, repeated

GOLDEN = [(1, -0.2041), (7, 0.2887), (15, -0.2041), (19, -0.2041)]


def cosine(first, second):
    a, b = LexicalEmbedder().embed([first, second])
    return float(np.dot(a, b))


def test_vectors_have_the_shape_type_and_length_that_are_promised():
    vectors = LexicalEmbedder().embed(["The sea.", "Das Meer."])

    assert vectors.shape == (2, 4096)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1])


@pytest.mark.parametrize("text", ["", " \n", "?!", "—", "\x00"])
def test_a_text_without_words_is_the_zero_vector(text):
    assert not np.any(LexicalEmbedder().embed([text]))


def test_no_texts_give_no_vectors():
    assert len(LexicalEmbedder().embed([])) == 0


def test_vectors_never_change():
    # Places and signs of the largest entries, written down: another machine must agree.
    vector = LexicalEmbedder(dimensions=64).embed(["Größe 日本 sea"])[0]

    assert [(int(i), round(float(vector[i]), 4)) for i in np.flatnonzero(vector)[:4]] == GOLDEN


def test_vectors_are_the_same_in_another_process():
    program = (
        "import hashlib; from judgekit.embedders.lexical import LexicalEmbedder;"
        "vector = LexicalEmbedder().embed(['Über die See 日本'])[0];"
        "print(hashlib.sha256(vector.tobytes()).hexdigest())"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": seed},
    )

    vector = LexicalEmbedder().embed(["Über die See 日本"])[0]
    assert done.stdout.strip() == hashlib.sha256(vector.tobytes()).hexdigest()


@given(st.lists(st.text(), max_size=8), st.text())
def test_a_vector_depends_on_its_text_only(others, text):
    embedder = LexicalEmbedder(dimensions=256)

    alone = embedder.embed([text])[0]
    among = embedder.embed([*others, text, *others])[len(others)]

    assert np.array_equal(alone, among)
    assert np.isfinite(alone).all()


def test_a_long_batch_gives_what_single_texts_give():
    embedder = LexicalEmbedder(dimensions=128)
    texts = [f"text number {i} " + "word " * (i % 50) for i in range(300)] + ["x" * 70_000, "y"]

    assert np.array_equal(embedder.embed(texts), np.vstack([embedder.embed([t]) for t in texts]))


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("The cat sat on the mat.", "A cat is sitting on the mat.", "Stocks fell on Monday."),
        ("Paris is the capital of France", "the capital of France is Paris", "Bread needs yeast"),
        ("colour", "color", "window"),
        ("日本の首都は東京です", "東京は日本の首都です", "今日は天気がいい"),
        ("Столица Франции - Париж", "Париж - столица Франции", "Сегодня идёт дождь"),
        ("भारत की राजधानी", "राजधानी भारत की", "आज मौसम अच्छा"),
        ("👍🎉", "👍🎉", "😡"),
    ],
)
def test_shared_words_are_near(text, near, far):
    assert cosine(text, near) > 0.35
    assert cosine(text, near) > cosine(text, far) + 0.2


def test_case_width_and_punctuation_do_not_matter():
    assert cosine("The SEA!", "the ｓｅａ") == pytest.approx(1)


@given(st.text(), st.sampled_from([64, 512, 4096]))
def test_any_text_has_length_one_or_zero(text, dimensions):
    norm = float(np.linalg.norm(LexicalEmbedder(dimensions=dimensions).embed([text])[0]))

    assert norm == pytest.approx(1) or norm == 0


@pytest.mark.parametrize("unit", ["word ", "x", "a\u0300\u0316", "字"])
def test_a_long_text_is_embedded_in_linear_time(unit):
    def embed(text):
        assert np.any(LexicalEmbedder().embed([text]))

    assert growth(embed, repeated(unit), 100_000) < LINEAR


def test_many_texts_are_embedded_in_linear_time():
    def texts(count):
        return [f"Short text number {i} about tea in the {i % 91}th port" for i in range(count)]

    assert growth(LexicalEmbedder().embed, texts, 500) < LINEAR


def test_long_runs_of_marks_are_folded_in_linear_time():
    marks = "e" + "\u0316\u0301" * 50_000

    assert len(nfkc(marks)) > 50_000
    assert fold("É" * 1500) == "é" * 1500


@pytest.mark.parametrize("dimensions", [0, 63, 100, 131_072, 4096.0, True])
def test_dimensions_must_be_a_power_of_two(dimensions):
    with pytest.raises(ConfigError, match="dimensions must be a power of two from 64 to 65536"):
        LexicalEmbedder(dimensions=dimensions)


def test_it_is_opened_by_name():
    assert open_embedder("lexical").identity == "lexical-1/4096"
    with pytest.raises(ConfigError, match="embedder: 'x' is not known; built in: lexical"):
        open_embedder("x")
