"""The figures of calibration recorded from Alignmenter, and where the default differs."""

from __future__ import annotations

import asyncio
import json
import statistics
from pathlib import Path

import pytest

from judgekit.analysis.comparison.compare import compare
from judgekit.authoring.persona.calibrate import CalibratePlan, calibrate
from judgekit.authoring.persona.diagnose import ComparedCase, SamplePlan, sample_for_judge
from judgekit.authoring.persona.steps import fit_traits, sgd_traits
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.store import Store
from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.judges.fake import FakeJudge
from judgekit.judges.prices import cost_of
from judgekit.metrics.brand_voice.authenticity import Authenticity
from judgekit.runner.evaluation import evaluate_sync
from judgekit.stats.rates import best_threshold, f1_at, pearson, roc_auc
from tests.authoring.persona.conftest import labelled
from tests.cassette.conftest import make_reply, make_request

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "alignmenter.json").read_text("utf-8"))


def of(metric):
    rows = [row for row in VECTORS if row["metric"] == metric]
    return pytest.mark.parametrize("row", rows, ids=[row["id"] for row in rows])


def near(row, expected):
    return pytest.approx(expected, abs=row["tolerance"] + 1e-12)


def persona_of(row):
    given = row["inputs"]["persona"]
    return {key: given[key] for key in ("id", "exemplars", "lexicon", "style_rules")}


def scores_of(row, **options):
    """Return the details of the only turn of each labelled reply, and the score."""
    metric = Authenticity(persona=persona_of(row), **options)
    cases = [Case(id="c", output=each["text"]) for each in row["inputs"]["labeled"]]
    scores = [asyncio.run(metric.score(case)) for case in cases]
    return [(score.details["turns"][0], score.value) for score in scores]


def spread(values, digits):
    return {
        "mean": round(statistics.fmean(values), digits),
        "std": round(statistics.pstdev(values), digits),
        "median": round(statistics.median(values), digits),
        "count": len(values),
    }


@pytest.fixture
def plan_of(tmp_path):
    def make(row, **settings):
        persona, labels = tmp_path / "vec.yaml", tmp_path / "labels.jsonl"
        persona.write_text(json.dumps(persona_of(row)), "utf-8")
        lines = [json.dumps(each) + "\n" for each in row["inputs"]["labeled"]]
        labels.write_text("".join(lines), "utf-8")
        return CalibratePlan(persona, labels, **settings)

    return make


@of("calibration_bounds")
def test_bounds_of_style(row, plan_of):
    expected, labels = row["expected"], [each["label"] for each in row["inputs"]["labeled"]]
    bounds = {
        name: calibrate(plan_of(row, steps=["bounds"], options=options)).calibration.bounds
        for name, options in {
            "compat": {"compat": "alignmenter"},
            "scorer": {"embedder": "hashed-512", "reduce": "mean"},
        }.items()
    }

    assert bounds["compat"].low == near(row, expected["style_sim_min"])
    assert bounds["compat"].high == near(row, expected["style_sim_max"])
    styles = [turn["style"] for turn, _ in scores_of(row, embedder="hashed-512")]
    figures = spread(styles, 4)
    for name in ("mean", "std", "median"):
        assert figures[name] == near(row, expected[f"style_sim_{name}"])
    for name, side in (("on_brand_style", 1), ("off_brand_style", 0)):
        own = spread([s for s, label in zip(styles, labels, strict=True) if label == side], 4)
        assert own == near(row, expected[name])
    # The original takes the greatest similarity, and its scorer the mean: that is never 1 here.
    raw = [turn["style_raw"] for turn, _ in scores_of(row, compat="alignmenter")]
    assert bounds["scorer"].high < max(raw) + 1e-4 < expected["style_sim_max"] - 0.4


@of("calibration_validate")
def test_figures_of_a_validation(row):
    expected, labels = row["expected"], [each["label"] for each in row["inputs"]["labeled"]]
    # The original rounds the score of a reply to three decimals.
    scores = [round(value, 3) for _, value in scores_of(row, compat="alignmenter")]

    threshold, best = best_threshold(scores, labels, [n / 100 for n in range(101)])
    figures = {
        "roc_auc": roc_auc(scores, labels),
        "f1": f1_at(scores, labels, 0.5),
        "correlation": pearson(scores, labels),
        "optimal_threshold": threshold,
        "optimal_f1": best,
    }

    assert figures == near(row, expected["validation_metrics"])
    for name, side in (("on_brand", 1), ("off_brand", 0)):
        own = [score for score, label in zip(scores, labels, strict=True) if label == side]
        assert spread(own, 3) == near(row, expected["score_distributions"][name])
    wrong = [(score >= 0.5) - label for score, label in zip(scores, labels, strict=True)]
    assert (wrong.count(1), wrong.count(-1)) == (
        expected["num_false_positives"],
        expected["num_false_negatives"],
    )
    # The default takes the middle between neighbouring scores, and not the first that will do.
    assert best_threshold(scores, labels)[0] > threshold


@of("trait_training")
def test_the_trained_model_of_words(row):
    samples = row["inputs"]["samples"]
    labels = labelled([each["text"] for each in samples], [each["label"] for each in samples])
    parameters = {k: row["parameters"][k] for k in ("epochs", "learning_rate", "l2")}

    model = sgd_traits(labels, **parameters)

    assert model.bias == near(row, row["expected"]["bias"])
    assert model.tokens == near(row, row["expected"]["token_weights"])
    # The default converges, has a penalty, and leaves out words of a single reply.
    ours = fit_traits(labels)
    assert set(ours.tokens) < set(model.tokens)
    assert "please" not in ours.tokens


def sampled(count, strategy, rate):
    cases = [ComparedCase(Case(id=str(n), output="x"), ("a",), None, 0.5) for n in range(count)]
    return len(sample_for_judge(cases, SamplePlan(strategy, rate)))


@of("judge_sampling_count")
def test_how_many_a_judge_gets(row):
    parameters = row["parameters"]

    count = sampled(row["inputs"]["n"], parameters["strategy"], parameters["sample_rate"])

    assert count == row["expected"]["count"]


@of("judge_cost_estimate")
def test_how_many_calls_are_expected(row):
    inputs, expected = row["inputs"], row["expected"]

    # The default counts the sampled cases, and estimates no share of failures.
    count = sampled(inputs["num_scenarios"], inputs["strategy"], inputs["sample_rate"])

    assert count == expected["scenarios_judged"]
    cost = count * row["parameters"]["cost_per_scenario"]
    assert cost == near(row, expected["estimated_cost"])


@of("judge_cost")
def test_the_cost_of_a_call(row):
    usage, price = row["inputs"]["usage"], row["parameters"]["price_per_million"]

    assert cost_of({"usage": usage}, price=tuple(price)) == near(row, row["expected"]["cost"])
    # Without usage the original takes .003, and here the cost is unknown.
    assert cost_of({"usage": {}}, price=tuple(price)) is None


@of("judge_cost")
def test_a_repeated_call_costs_nothing_again(row, tmp_path):
    cost = row["expected"]["cost"]
    judge = FakeJudge(lambda _: make_reply(cost=cost))
    store = Store(tmp_path / "store")
    cassette = Cassette(judge, store=store, record=RecordMode.NEW_EPISODES)

    async def twice():
        for _ in range(2):
            await cassette.ask(make_request("the same"))

    asyncio.run(twice())
    cassette.close()
    store.close()

    original = 2 * cost  # its cached judge returns the usage again, and its sum counts it again
    assert cassette.ledger.spent == near(row, cost)
    assert cassette.ledger.spent + cassette.ledger.avoided == near(row, original)


class Recorded:
    """A metric with recorded figures."""

    range = (0.0, 1.0)
    higher_is_better = True
    options: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, name):
        self.name = name

    async def score(self, case):
        return Score(value=json.loads(case.output)[self.name], reason="r")


@of("compare_diff")
def test_the_difference_of_two_runs(row):
    primary, other = row["inputs"]["primary"], row["inputs"]["compare"]
    figure = {"authenticity": "mean", "safety": "score"}
    count = primary["authenticity"]["turns"]

    def report(side):
        values = {name: side[name][key] for name, key in figure.items()}
        cases = [Case(id=str(n), input="q", output=json.dumps(values)) for n in range(count)]
        return evaluate_sync(cases, [Recorded(name) for name in figure])

    compared = compare(report(other), report(primary))

    for metric in compared.metrics:
        key = figure[metric.metric]
        assert round(metric.difference.mean, 3) == near(row, row["expected"][metric.metric][key])
    assert compared.only_new - compared.only_base == row["expected"]["authenticity"]["turns"]
