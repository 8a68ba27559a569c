"""ROUGE, BLEU and chrF: the figures of the programs people compare with."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.metrics.overlap.rouge import RougeMetric, rouge_l, rouge_lsum, rouge_n
from judgekit.metrics.overlap.sacre import Bleu, Chrf
from judgekit.runner.evaluation import evaluate_sync
from tests.each import each

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "rouge_score.json").read_text("utf-8"))
METRICS = [RougeMetric(variant=v) for v in ("rouge1", "rouge2", "rougeL", "rougeLsum")] + [
    Bleu(), Chrf(), Chrf(word_order=2),
]  # fmt: skip


def score(metric, output, *references):
    return asyncio.run(metric.score(Case(id="c", output=output, reference=references)))


@each("row", RECORDED["rows"], ids=lambda row: row["output"][:20])
def test_rouge_has_the_figures_of_rouge_score(row):
    output, reference = row["output"], row["reference"]

    found = {
        "rouge1": rouge_n(output, reference, n=1),
        "rouge2": rouge_n(output, reference, n=2),
        "rougeL": rouge_l(output, reference),
        "rougeLsum": rouge_lsum(output, reference),
    }

    for name, rouge in found.items():
        assert tuple(rouge or (0, 0, 0)) == pytest.approx(row[name], abs=1e-12), name


def test_bleu_pools_all_rows_as_sacrebleu_does():
    import sacrebleu

    pairs = [(row["output"], row["reference"]) for row in RECORDED["rows"]]
    cases = [Case(id=str(n), output=o, reference=r) for n, (o, r) in enumerate(pairs)]

    (summary,) = evaluate_sync(cases, [Bleu()]).figures.metrics

    theirs = sacrebleu.corpus_bleu([o for o, _ in pairs], [[r for _, r in pairs]])
    assert summary.figures["corpus_bleu"] == pytest.approx(theirs.score / 100, abs=1e-12)


def test_a_row_says_how_it_was_made():
    found = score(Bleu(), "the cat sat on the mat", "the cat is on the mat")

    assert found.value == pytest.approx(0.3799178, abs=1e-6)
    assert found.shown == 37.99
    assert found.meta["signature"].startswith("nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp")


def test_the_nearest_reference_counts():
    one = score(RougeMetric(), "a b c", "x y z", "a b d")

    assert one.ground_truth == "a b d"
    assert one.value == pytest.approx(2 / 3)


@pytest.mark.parametrize("figure", ["f", "precision", "recall"])
def test_precision_and_recall_may_be_the_value(figure):
    found = score(RougeMetric(figure=figure), "a b c d", "a b")

    assert found.value == pytest.approx({"f": 2 / 3, "precision": 0.5, "recall": 1.0}[figure])


def test_han_is_compared_character_by_character():
    assert score(RougeMetric(variant="rouge1"), "猫在垫子上", "狗在垫子上").value == pytest.approx(
        0.8
    )
    assert score(Chrf(), "猫在垫子上", "狗在垫子上").value > 0.4


texts = st.text(st.sampled_from("ab c\ndé漢.,!'\u0301\U0001f600"), max_size=40).map(
    lambda t: f"w {t}"
)


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: f"{m.name}-{getattr(m, 'variant', '')}")
@given(output=texts, reference=texts)
def test_any_texts_give_a_share_and_equal_texts_the_greatest(metric, output, reference):
    found = score(metric, output, reference)
    same = score(metric, output, output)

    assert found == score(metric, output, reference)
    assert found.value is None or 0.0 <= found.value <= 1.0
    if same.value is not None and found.value is not None:
        assert same.value >= found.value - 1e-9


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: f"{m.name}-{getattr(m, 'variant', '')}")
def test_eighty_kilobytes_are_scored(metric):
    long = "word after word and then some more " * 2_200

    assert score(metric, long, long + "end").value > 0.9


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: f"{m.name}-{getattr(m, 'variant', '')}")
def test_missing_texts_are_said(metric):
    with pytest.raises(CaseError, match="needs an output"):
        score(metric, None, "x")
    with pytest.raises(CaseError, match="needs a reference"):
        score(metric, "x")


def test_too_short_for_a_pair_of_words_is_not_applicable():
    assert score(RougeMetric(variant="rouge2"), "one", "two").status == "not_applicable"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RougeMetric(variant="rouge3"), "variant must be one of"),
        (lambda: Bleu(tokenizer="moses"), "tokenizer must be one of"),
        (lambda: Chrf(beta=-1), "beta must be a whole number from 0 to 10"),
    ],
)
def test_wrong_options_are_one_line(make, message):
    with pytest.raises(ConfigError, match=message):
        make()
