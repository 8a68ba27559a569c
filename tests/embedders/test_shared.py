"""What stands between rows and an embedder: each text once, rows together, errors where due."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CassetteMiss, ConfigError, JudgeUnavailable
from judgekit.core.protocols import AsyncEmbedder, Embedder
from judgekit.core.score import Failure
from judgekit.embedders import (
    check_embedder,
    embeds_at_once,
    identity_of,
    open_embedder,
    ready,
    vectors,
)
from judgekit.embedders import shared as shared_module
from judgekit.embedders.shared import SharedEmbedder
from judgekit.metrics.embedding.similarity import Similarity
from judgekit.runner.evaluation import evaluate


class Counting:
    """Says how often each text was embedded, in which batches, on which threads."""

    identity = "counting-1"

    def __init__(self):
        self.batches = []
        self.threads = set()

    def embed(self, texts):
        self.batches.append(list(texts))
        self.threads.add(threading.get_ident())
        for text in texts:
            if text.startswith("bad"):
                raise ValueError(f"no such word: {text}")
        return [[1.0, float(len(text))] for text in texts]

    @property
    def texts(self):
        return [text for batch in self.batches for text in batch]


class Hosted:
    """Awaited; raises what it is told to where a text asks for it."""

    identity = "hosted-1"

    def __init__(self, error=None):
        self.error = error
        self.calls = []

    async def aembed(self, texts):
        self.calls.append(list(texts))
        await asyncio.sleep(0)
        if self.error is not None and any("missing" in text for text in texts):
            raise self.error
        return [[float(len(text)), 1.0] for text in texts]


def cases(count, output="some words"):
    return [
        Case(id=str(n), output=f"{output} {n}", reference="the same for all") for n in range(count)
    ]


def test_a_row_per_text_in_order_and_each_text_once():
    embedder = Counting()

    found = asyncio.run(vectors(embedder, ["bbb", "a", "bbb", "cc"]))

    assert [row[1] for row in found] == [3.0, 1.0, 3.0, 2.0]
    assert embedder.batches == [["a", "cc", "bbb"]]


def test_rows_under_way_share_batches_and_what_all_compare_with_is_embedded_once():
    embedder = Counting()

    report = asyncio.run(evaluate(cases(40), [Similarity(embedder=SharedEmbedder(embedder))]))

    assert report.figures.metrics[0].scored == 40
    assert sorted(embedder.texts) == sorted({*embedder.texts})
    assert len(embedder.batches) < 10
    assert threading.get_ident() not in embedder.threads


def test_rows_that_ask_for_a_text_under_way_wait_for_it():
    embedder = Counting()
    one = SharedEmbedder(embedder)

    async def both():
        return await asyncio.gather(*(one.vectors(["same", f"own {n}"]) for n in range(5)))

    asyncio.run(both())

    assert embedder.texts.count("same") == 1
    assert len(embedder.batches) == 1


def test_a_hosted_embedder_is_awaited_and_asked_for_each_text_once():
    embedder = Hosted()

    report = asyncio.run(evaluate(cases(40), [Similarity(embedder=SharedEmbedder(embedder))]))

    asked = [text for call in embedder.calls for text in call]
    assert report.figures.metrics[0].scored == 40
    assert sorted(asked) == sorted({*asked})
    assert isinstance(embedder, AsyncEmbedder)
    assert not isinstance(embedder, Embedder)


def test_a_bad_text_costs_its_own_rows():
    given = cases(12)
    given[5] = Case(id="5", output="bad text", reference="the same for all")

    report = asyncio.run(evaluate(given, [Similarity(embedder=Counting())]))

    rows = [scored.rows[0].result for scored in report.results]
    assert [n for n, row in enumerate(rows) if isinstance(row, Failure)] == [5]
    assert rows[5].kind == "metric_error"
    assert "no such word: bad text" in rows[5].message


def test_what_is_not_recorded_costs_its_own_rows_and_an_outage_all_who_wait():
    given = [*cases(6), Case(id="m", output="missing", reference="the same for all")]
    outcomes = {}
    for error in (CassetteMiss("not recorded", key="k"), JudgeUnavailable("down")):
        metric = Similarity(embedder=Hosted(error))
        report = asyncio.run(evaluate(given, [metric]))
        rows = [scored.rows[0].result for scored in report.results]
        outcomes[type(error)] = [row.kind for row in rows if isinstance(row, Failure)]

    assert outcomes[CassetteMiss] == ["cassette_miss"]
    assert outcomes[JudgeUnavailable] == ["unavailable"] * 7


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0], [1.0, 2.0]], "several lengths"),
        ([[float("nan")], [1.0]], "not finite"),
        ([[1.0]], r"shape \(1, 1\) for 2 texts"),
        ([1.0, 2.0], r"shape \(2,\) for 2 texts"),
        ([[], []], r"shape \(2, 0\) for 2 texts"),
        ([["x"], ["y"]], "no numbers"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(rows, message):
    class Wrong:
        identity = "wrong"
        at_once = True

        def embed(self, texts):
            return rows

    with pytest.raises(ValueError, match=message):
        asyncio.run(vectors(Wrong(), ["a", "b"]))


def test_the_default_needs_no_loop_and_neither_do_metrics_on_it():
    work = vectors("lexical", ["the sea", "the sea", "?!"])
    with pytest.raises(StopIteration) as done:
        work.send(None)

    found = done.value.value
    assert np.array_equal(found[0], found[1])
    assert not found[2].any()
    assert Similarity().synchronous
    assert not Similarity(embedder=Counting()).synchronous
    assert not embeds_at_once(Hosted())


def test_what_is_kept_at_hand_is_bounded(monkeypatch):
    monkeypatch.setattr(shared_module, "MEMORY", 3 * 16)
    embedder = Counting()
    one = SharedEmbedder(embedder)

    for text in ("a", "b", "c", "a", "d", "a", "b"):
        asyncio.run(one.vectors([text]))

    # Room for three: `b`, used longest ago, had to go for `d`, and `a` never did.
    assert embedder.texts == ["a", "b", "c", "d", "b"]


def test_a_row_that_is_cancelled_leaves_the_vectors_to_the_others():
    gate = threading.Event()

    class Slow(Counting):
        def embed(self, texts):
            gate.wait(120)
            return super().embed(texts)

    one = SharedEmbedder(Slow())

    async def run():
        first = asyncio.create_task(one.vectors(["same"]))
        second = asyncio.create_task(one.vectors(["same"]))
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        gate.set()
        return await second

    assert asyncio.run(run())[0][1] == 4.0


def test_it_works_on_one_loop_after_the_other_and_on_two_at_once():
    one = SharedEmbedder(Counting())
    found = []
    threads = [
        threading.Thread(
            target=lambda n=n: found.append(asyncio.run(one.vectors(["x" * n, "both"]))[0][1])
        )
        for n in range(1, 5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == [1.0, 2.0, 3.0, 4.0]


def test_no_texts_are_no_rows():
    assert asyncio.run(vectors(Counting(), [])).shape[0] == 0


def test_an_embedder_in_use_is_one_and_the_same():
    embedder = Counting()
    first = ready(embedder)

    assert ready(embedder) is first
    assert ready(first) is first
    assert ready("lexical") is ready("lexical")
    assert identity_of(embedder) == "counting-1"
    assert open_embedder("lexical").embed(["a"]) is not None
    with pytest.raises(ConfigError, match="is asynchronous"):
        ready(Hosted()).embed(["a"])


@pytest.mark.parametrize("given", [3, None, Counting, object()])
def test_what_is_no_embedder_is_refused(given):
    with pytest.raises(ConfigError, match="m: embedder must be a name or an embedder"):
        check_embedder("m", given)


def test_synchronous_code_gets_what_is_kept():
    embedder = Counting()
    one = SharedEmbedder(embedder)

    first = one.embed(["a", "bb", "a"])
    awaited = asyncio.run(one.vectors(["bb"]))

    assert [row[1] for row in first] == [1.0, 2.0, 1.0]
    assert awaited[0][1] == 2.0
    assert embedder.texts == ["a", "bb"]


def test_an_embedder_has_facts_with_defaults_and_an_older_name():
    from judgekit.core.protocols import BaseEmbedder

    class Own(BaseEmbedder):
        identity = "own"
        synchronous = True

        def embed(self, texts):
            return [[1.0] for _ in texts]

    class Plain:
        identity = "plain"
        at_once = True
        semantic = False

        def embed(self, texts):
            return [[1.0] for _ in texts]

    own, plain = SharedEmbedder(Own()), SharedEmbedder(Plain())

    assert (own.synchronous, own.semantic) == (True, True)
    assert (plain.synchronous, plain.semantic) == (True, False)
