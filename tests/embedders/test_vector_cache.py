"""Vectors in the store: text from outside, believed only in its own form."""

from __future__ import annotations

import asyncio
import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.cassette.store import Store
from judgekit.embedders.shared import (
    SharedEmbedder,
    VectorCache,
    read_vector,
    text_digest,
    write_vector,
)


class Model:
    """Three numbers a text, and a count of calls."""

    dimensions = 3

    def __init__(self, identity="model-1"):
        self.identity = identity
        self.texts = []

    def embed(self, texts):
        self.texts += texts
        return np.array([[len(t), 1, 0.5] for t in texts], dtype=np.float32)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store")
    yield opened
    opened.close()


def embed(model, store, texts):
    return asyncio.run(SharedEmbedder(model, store=lambda: store).vectors(texts))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=9),
    st.sampled_from([np.float32, np.float64]),
)
def test_a_vector_comes_back_as_it_was(numbers, kind):
    vector = np.array(numbers, dtype=kind)

    back = read_vector(write_vector(vector))

    assert back is not None
    assert back.dtype == kind
    assert np.array_equal(back, vector)


def test_a_text_is_embedded_once_over_several_runs(store):
    first, second = Model(), Model()

    one = embed(first, store, ["a", "bb"])
    two = embed(second, store, ["a", "bb", "ccc"])

    assert np.array_equal(one, two[:2])
    assert second.texts == ["ccc"]


def test_another_model_has_vectors_of_its_own(store):
    embed(Model(), store, ["a"])
    other = Model("model-2")

    embed(other, store, ["a"])

    assert other.texts == ["a"]


def encoded(numbers, kind="f4"):
    return base64.b64encode(np.array(numbers, dtype=f"<{kind}").tobytes()).decode()


HOSTILE = {
    "empty": "",
    "no numbers": "f4 0 ",
    "not a kind": f"O8 1 {encoded([1], 'f8')}",
    "a length that is a lie": f"f4 4 {encoded([1, 2, 3])}",
    "a huge length": f"f4 99999999999 {encoded([1])}",
    "a length in other digits": f"f4 ٣ {encoded([1, 2, 3])}",
    "a negative length": f"f4 -3 {encoded([1, 2, 3])}",
    "not base 64": "f4 3 " + "!" * 16,
    "a letter outside ASCII": "f4 3 " + "é" * 16,
    "not a number": f"f4 3 {encoded([1, float('nan'), 1])}",
    "infinite": f"f4 3 {encoded([1, float('inf'), 1])}",
    "a pickle": "\x80\x04\x95",
    "JSON": "[1, 2, 3]",
    "other dimensions": f"f4 2 {encoded([1, 2])}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_not_a_vector_of_the_model_is_made_anew(store, text):
    key = f"vector/1/{text_digest('model-1')}/{text_digest('a')}"
    store.put(key, text)
    model = Model()

    found = embed(model, store, ["a"])

    assert found.tolist() == [[1.0, 1.0, 0.5]]
    assert model.texts == ["a"]
    assert read_vector(store.get(key) or "") is not None


@given(st.text(max_size=60))
def test_no_text_is_more_than_a_vector_or_nothing(text):
    found = read_vector(text)

    assert found is None or np.isfinite(found).all()


def test_half_a_character_has_a_digest_of_its_own():
    assert text_digest("\ud800") != text_digest("\ud801")


def test_a_vector_is_kept_under_identity_and_text(store):
    cache = VectorCache(lambda: store, identity="x")
    cache.put(text_digest("a"), np.array([1.0, 2.0], dtype=np.float32))

    assert cache.get(text_digest("a"), dimensions=None) is not None
    assert cache.get(text_digest("a"), dimensions=3) is None
    assert cache.get(text_digest("b"), dimensions=None) is None
    assert list(store.keys()) == [f"vector/1/{text_digest('x')}/{text_digest('a')}"]
