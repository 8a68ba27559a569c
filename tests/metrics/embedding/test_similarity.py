"""Similarity: the cosine of the output to a field."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.protocols import Metric
from judgekit.metrics.embedding.similarity import Similarity
from judgekit.metrics.vectors import cosine


class Letters:
    """Counts of a, b and c; minus for capital letters."""

    identity = "letters-1"

    def embed(self, texts):
        return [[float(t.count(c)) - t.count(c.upper()) for c in "abc"] for t in texts]


def score(metric, **fields):
    return asyncio.run(metric.score(Case(id="1", **fields)))


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [("a", "a", 1.0), ("a", "b", 0.0), ("a", "A", 0.0), ("ab", "a", 0.7071), ("a", "aaa", 1.0)],
)
def test_the_cosine_is_clamped_and_rounded(output, reference, expected):
    assert (
        score(Similarity(embedder=Letters()), output=output, reference=reference).value == expected
    )


def test_several_texts_are_reduced_as_asked():
    fields = {"output": "a", "reference": ["a", "b"]}

    assert score(Similarity(embedder=Letters()), **fields).value == 1.0
    assert score(Similarity(embedder=Letters(), reduce="mean"), **fields).value == 0.5


@pytest.mark.parametrize("field", ["reference", "input", "context", "baseline"])
def test_each_field_can_be_compared_with(field):
    metric = Similarity(to=field)

    assert score(metric, output="the sea", **{field: "the sea"}).value == 1.0
    with pytest.raises(CaseError, match=rf"^needs an? {field} \(field '{field}'\)$"):
        score(metric, output="the sea", **({} if field == "baseline" else {field: " "}))


def test_the_embedder_is_named_in_the_result():
    assert score(Similarity(), output="a", reference="a").meta == {"embedder": "lexical-1/4096"}
    assert score(Similarity(embedder=Letters()), output="a", reference="a").meta == {
        "embedder": "letters-1"
    }


def test_nothing_to_compare_is_not_applicable():
    found = score(Similarity(), output="?!", reference="the sea")

    assert (found.status, found.value) == ("not_applicable", None)


def test_a_reference_without_words_is_left_out():
    found = score(Similarity(reduce="mean"), output="sea", reference=["sea", "?!"])

    assert (found.value, found.details["cosines"]) == (1.0, [1.0, None])


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_similarity_is_in_range_symmetric_and_the_same_twice(first, second):
    there = score(Similarity(), output=first, reference=second)
    back = score(Similarity(), output=second, reference=first)

    assert there.value == back.value
    assert there.value is None or 0 <= there.value <= 1
    assert there == score(Similarity(), output=first, reference=second)


def test_it_round_trips_as_json_and_satisfies_the_protocol():
    metric = Similarity(to="input", reduce="mean")

    assert isinstance(metric, Metric)
    assert Similarity(**json.loads(json.dumps(dataclasses.asdict(metric)))) == metric


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "output"}, "similarity: to must be one of reference, input, context, baseline"),
        ({"reduce": "sum"}, "similarity: reduce must be one of max, mean, not 'sum'"),
        ({"embedder": "bert"}, "embedder: 'bert' is not known; built in: lexical"),
        ({"embedder": 3}, "similarity: embedder must be a name or an embedder, not 3"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ConfigError) as caught:
        Similarity(**options)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("vector", [[float("nan")], [float("inf")]])
def test_a_vector_that_is_not_finite_is_an_error(vector):
    with pytest.raises(ValueError, match="not finite"):
        cosine(vector, [1.0])


def test_vectors_of_two_lengths_are_an_error():
    with pytest.raises(ValueError, match="vectors of"):
        cosine([1.0], [1.0, 0.0])


def test_importing_the_metric_does_not_import_numpy():
    program = "import sys, judgekit.metrics.embedding.similarity; sys.exit('numpy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
