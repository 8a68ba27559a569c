"""All statistics of `agree`: labels as one, weights, groups, systems, labellers, disagreements."""

from __future__ import annotations

import json

import numpy as np
import pytest

from judgekit.analysis.agreement import statistics
from judgekit.analysis.agreement.agree import agree
from judgekit.analysis.agreement.details import _of_systems
from judgekit.core.errors import ConfigError
from judgekit.report.agreement_words import STATISTICS
from judgekit.report.calibration import Calibration, SystemMeans, read_calibration
from judgekit.report.report import Report
from tests.analysis.agreement.simulated import study
from tests.later import Later
from tests.stats.tables import kappa

stats = Later("scipy.stats")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of 60 cases with three labellers."""
    return study(tmp_path_factory.mktemp("whole"))


def of(found, criterion):
    return next(one for one in found.criteria if one.criterion == criterion)


def named(statistics):
    return {one.name: one for one in statistics}


def test_every_kind_of_answer_has_its_statistics(whole):
    found = agree(*whole, write=False)
    names = {one.criterion: [s.name for s in one.statistics] for one in found.criteria}

    assert names["level"] == ["alpha_nominal", "alpha_ordinal", "macro_f1", "same", "kappa",
                              "spearman", "kendall"]  # fmt: skip
    assert names["polite"] == ["alpha_nominal", "precision", "recall", "specificity", "f1",
                               "balanced_f1", "same", "kappa", "pearson"]  # fmt: skip
    assert names["share"][-5:] == ["spearman", "pearson", "kendall", "mae", "rmse"]
    others = {"probability", "brier", "brier_reference", "stated", "right", "overconfidence",
              "positional", "either_order", "both_orders", "same_order"}  # fmt: skip
    assert {name for own in names.values() for name in own} == set(STATISTICS) - others
    people = [s.name for s in of(found, "polite").people_statistics]
    assert people == ["alpha_nominal", "f1", "balanced_f1", "same", "kappa", "pearson"]


def test_every_statistic_has_its_n_and_an_interval(whole):
    for one in agree(*whole, write=False).criteria:
        known = named(one.statistics)
        assert all(s.n > 0 and s.low <= s.value <= s.high for s in one.statistics)
        assert known["kappa" if one.kappa else "spearman"].n == one.pairs == 180
        assert known[f"alpha_{'nominal' if one.table else 'interval'}"].n == one.cases == 60
        assert named(one.people_statistics)["kappa" if one.kappa else "kendall"].n == 180


def test_few_cases_are_too_few_for_every_interval(tmp_path):
    run, labels = study(tmp_path, cases=12)
    for one in agree(run, labels, write=False).criteria:
        for statistic in (*one.statistics, *one.people_statistics):
            assert statistic.low is None, statistic.name
            assert statistic.value is None or "[too few]" in statistic.text


def test_the_majority_is_one_label_for_each_case(tmp_path):
    answers = {0: "good good bad", 1: "good fair bad", 2: "bad bad bad"}

    def change(n, label):
        said = answers.get(n, "fair fair fair").split()[
            ["ann", "bob", "cyd"].index(label["labeller"])
        ]
        return {**label, "values": {"level": said}}

    one = agree(*study(tmp_path, cases=30, change=change), combine="majority", write=False)
    level = of(one, "level")

    assert (level.combine, level.pairs, level.people_pairs) == ("majority", 29, 90)
    assert level.left_out["the labellers of the case are tied"] == 3
    assert [sum(row[place] for row in level.table) for place in range(3)] == [1, 27, 1]
    assert level.labellers == ("ann", "bob", "cyd")


def test_the_mean_is_one_number_for_each_case(whole):
    found = agree(*whole, combine="mean", write=False)

    assert (of(found, "share").combine, of(found, "level").combine) == ("mean", "majority")
    assert (of(found, "share").pairs, of(found, "share").people_pairs) == (60, 180)
    each = of(agree(*whole, write=False), "share")
    assert of(found, "share").rank.value > each.rank.value  # means have less noise


def test_verdicts_of_a_metric_go_by_majority(tmp_path):
    def change(n, label):
        return {"case": f"c{n}", "metric": "tone", "labeller": label["labeller"],
                "value": "pass" if (n + (label["labeller"] == "ann")) % 2 else "fail"}  # fmt: skip

    run, labels = study(tmp_path, threshold=0.5, change=change)
    (one,) = agree(run, labels, combine="majority", write=False).criteria

    assert (one.pairs, one.scale, "balanced_f1" in named(one.statistics)) == (60, "nominal", True)


def test_kappa_has_the_weights_that_are_named(whole):
    values = {w: of(agree(*whole, weights=w, write=False), "level")
              for w in (None, "none", "linear", "quadratic")}  # fmt: skip

    assert values[None].kappa == values["quadratic"].kappa
    for name, places, power in (("none", None, 2), ("linear", [0, 1, 2], 1), (None, [0, 1, 2], 2)):
        one = values[name]
        assert one.kappa.value == pytest.approx(kappa(one.table, places=places, power=power))
    assert [values[w].kappa_name for w in ("none", "linear", None)] == [
        "kappa", "kappa (linear)", "kappa (quadratic)"
    ]  # fmt: skip


# -- sampling plans -------------------------------------------------------------------


def test_labels_of_a_plan_are_weighted_by_its_probabilities(tmp_path):
    """All cases are labelled; then one in four of those where the judge agrees is chosen."""
    everything = study(tmp_path, cases=600, people=("ann",))
    truth = of(agree(*everything, write=False), "level").kappa.value
    lines = [json.loads(line) for line in everything[1].read_text("utf-8").splitlines()]
    results = Report.read(tmp_path / "run").results
    judged = {case.id: json.loads(case.output)["level"] for case, _ in results}
    chosen, same = [], 0
    for label in lines:
        if label["values"]["level"] != judged[label["case"]]:
            chosen.append({**label, "probability": 1.0})
        elif (same := same + 1) % 4 == 0:
            chosen.append({**label, "probability": 0.25})
    plan, bare = tmp_path / "plan.jsonl", tmp_path / "bare.jsonl"
    plan.write_text("".join(json.dumps(one) + "\n" for one in chosen), "utf-8")
    without = [{k: v for k, v in one.items() if k != "probability"} for one in chosen]
    bare.write_text("".join(json.dumps(one) + "\n" for one in without), "utf-8")

    weighted = of(agree(tmp_path / "run", plan, write=False), "level")
    ignored = of(agree(tmp_path / "run", bare, write=False), "level")

    assert weighted.weighted
    assert not ignored.weighted
    assert weighted.kappa.value == pytest.approx(truth, abs=0.05)
    assert ignored.kappa.high < truth - 0.1
    assert weighted.kappa.low < truth < weighted.kappa.high


def test_probabilities_of_one_weigh_nothing(tmp_path):
    plain = agree(*study(tmp_path), write=False)
    same = agree(*study(tmp_path / "b", change=lambda n, one: {**one, "probability": 0.25}),
                 write=False)  # fmt: skip

    assert [one.statistics for one in plain.criteria] == [one.statistics for one in same.criteria]
    assert "random sample" in plain.sampling
    assert "1 / probability" in same.sampling


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        (lambda n, who: {"probability": 0.5} if n else {},
         "tone: case 'c1' has a probability and 'c0' has none; add the probabilities of the "
         "sampling plan to all labels, or remove them"),
        (lambda n, who: {"probability": 0.5 if who == "ann" else 0.25},
         "tone: case 'c0' has the probabilities 0.5 and 0.25; give it that of the sampling "
         "plan"),
    ],
)  # fmt: skip
def test_probabilities_that_do_not_fit_are_one_line(tmp_path, probability, message):
    def change(n, label):
        return {**label, **probability(n, label["labeller"])}

    run, labels = study(tmp_path, cases=6, change=change)

    with pytest.raises(ConfigError) as caught:
        agree(run, labels)
    assert str(caught.value) == f"{labels}: {message}"


def test_too_many_pairs_of_people_are_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(statistics, "MOST_PAIRS", 100)
    run, labels = study(tmp_path, cases=60)

    with pytest.raises(ConfigError, match="180 pairs of people; at most 100 are compared"):
        agree(run, labels)


# -- labellers, groups, systems, disagreements ----------------------------------------


def test_each_labeller_is_compared_with_the_judge_and_with_the_others(tmp_path):
    def change(n, label):
        return {**label, "values": {"level": "good"}} if label["labeller"] == "cyd" else label

    level = of(agree(*study(tmp_path, change=change), write=False), "level")

    assert [one.labeller for one in level.by_labeller] == ["ann", "bob", "cyd"]
    assert [(one.judge.n, one.others.n) for one in level.by_labeller] == [(60, 120)] * 3
    assert level.by_labeller[2].judge.value == pytest.approx(0.0, abs=1e-9)
    assert level.by_labeller[0].judge.value > 0.4
    alone = of(agree(*study(tmp_path / "b", people=("ann",)), write=False), "level")
    assert alone.by_labeller[0].others is None


def test_agreement_within_groups_is_averaged_over_groups(whole):
    found = of(agree(*whole, group="prompt", write=False), "level").groups

    assert (found.field, found.groups) == ("prompt", 10)
    assert named(found.statistics).keys() == {"macro_f1", "same", "kappa", "spearman", "kendall"}
    assert all(s.n <= 10 for s in found.statistics)
    assert named(found.statistics)["kappa"].low is not None
    few = of(agree(*whole, group="user", cluster="prompt", write=False), "level").groups
    assert few.groups == 15


def test_nine_groups_are_too_few_for_an_interval(tmp_path):
    found = of(agree(*study(tmp_path, cases=54), group="prompt", write=False), "level").groups

    assert {one.too_few for one in found.statistics} == {
        "9 of the 10 groups that an interval needs"
    }


def test_systems_are_compared_by_their_mean_scores(whole):
    found = of(agree(*whole, system="bot", write=False), "share").systems
    spearman = named(found.statistics)["spearman"]

    assert [one.system for one in found.systems] == [f"m{n}" for n in range(6)]
    assert {one.cases for one in found.systems} == {10}
    assert (spearman.n, spearman.low) == (6, None)
    assert spearman.too_few == "6 of the 20 systems that an interval needs"
    assert spearman.value > 0.5
    few = of(agree(*whole, system="user", write=False), "polite").systems
    assert len(few.systems) == 15


def test_the_share_of_pairs_in_the_same_order_is_that_of_tau():
    draw = np.random.RandomState(6)
    judge = draw.normal(size=25).tolist()
    people = [value + draw.normal(0, 0.3) for value in judge]
    means = [SystemMeans(system=str(n), cases=9, judge=a, people=b)
             for n, (a, b) in enumerate(zip(judge, people, strict=True))]  # fmt: skip

    found = _of_systems(means)

    tau, (pairs, share) = stats.kendalltau(judge, people).statistic, found["same_order"]
    assert pairs == 300
    assert share.value == pytest.approx((1 + tau) / 2, abs=1e-9)
    assert share.low < share.value < share.high <= 1
    tied = _of_systems([*means[:-1], means[0].model_copy(update={"system": "copy"})])["same_order"]
    assert (tied.figure.low, tied.figure.too_few) == (None, "some systems have equal means")


def test_four_systems_have_no_correlation(tmp_path):
    run, labels = study(tmp_path, change=lambda n, one: one if n % 6 < 4 else None)
    found = of(agree(run, labels, system="bot", write=False), "level").systems

    assert {one.value for one in found.statistics} == {None}
    assert {one.text for one in found.statistics} == {"too few"}
    assert found.statistics[0].too_few == "4 of the 5 systems that a correlation needs"


def test_the_largest_disagreements_have_both_reasons(tmp_path):
    def change(n, label):
        reasons = {c: {"value": v, "reason": f"{c} of {n}"} for c, v in label["values"].items()}
        return {
            "case": f"c{n}",
            "metric": "tone",
            "labeller": label["labeller"],
            "answers": reasons,
        }

    level = of(agree(*study(tmp_path, change=change), write=False), "level")
    first, distances = level.disagreements[0], [one.distance for one in level.disagreements]

    assert len(distances) == 10
    assert distances == sorted(distances, reverse=True)
    assert first.distance >= 0.5
    assert first.reason == f"It is {first.judge}."
    assert [one.labeller for one in first.people] == ["ann", "bob", "cyd"]
    assert first.people[0].reason == f"level of {first.case[1:]}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"combine": "majorty"},
         "labels must be each, majority or mean, not 'majorty'; did you mean 'majority'?"),
        ({"weights": "cubic"}, "weights must be none, linear or quadratic, not 'cubic'; known: "
         "linear, none, quadratic"),
        ({"alt_test": 15}, "alt-test must be an epsilon from 0 to below 1, not 15"),
        ({"group": "promt"},
         "no case has 'promt' in its metadata to group by; did you mean 'prompt'?"),
        ({"system": "model"}, "no case has 'model' in its metadata to name the system"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_line(whole, options, message):
    with pytest.raises(ConfigError) as caught:
        agree(*whole, **options)
    assert str(caught.value) == message


# -- files and frames -----------------------------------------------------------------


def test_files_of_version_2_stay_readable_and_new_fields_are_left_out(whole):
    run, labels = whole
    found = agree(run, labels)
    data = json.loads((run / "agree.json").read_text("utf-8"))
    new = {"combine", "weights", "weighted", "groups", "systems", "alt_test", "jury"}

    assert data["version"] == 3
    assert set(data["criteria"][0]["kappa"]) == {"value", "low", "high", "too_few"}
    assert not new & data["criteria"][0].keys()
    assert Calibration.model_validate(data) == found
    for one in data["criteria"]:
        for name in ("statistics", "people_statistics", "by_labeller", "disagreements"):
            one.pop(name, None)
    data["version"] = 2
    (run / "agree.json").write_text(json.dumps(data), "utf-8")
    old = read_calibration(run, dataset=found.dataset, manifest=found.manifest)
    assert old.criteria[0].kappa == found.criteria[0].kappa
    assert old.criteria[0].statistics == ()
    assert old.criteria[0].kappa_name == "kappa (quadratic)"


def test_counts_that_nobody_wrote_are_not_read(whole):
    run, labels = whole
    found = agree(run, labels)
    known = {"dataset": found.dataset, "manifest": found.manifest}
    data = json.loads((run / "agree.json").read_text("utf-8"))
    assert read_calibration(run, **known) == found

    data["criteria"][0]["n"] = 10**400
    (run / "agree.json").write_text(json.dumps(data), "utf-8")

    assert read_calibration(run, **known) is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_a_column_for_every_statistic(whole, library):
    pytest.importorskip(library)
    found = agree(*whole, write=False)
    frame = found.to_pandas() if library == "pandas" else found.to_polars()
    row = frame.to_dict("records")[1] if library == "pandas" else frame.to_dicts()[1]
    f1 = named(of(found, "polite").statistics)["balanced_f1"]

    assert row["criterion"] == "polite"
    assert (row["balanced_f1"], row["balanced_f1_low"]) == (f1.value, f1.low)
    assert row["balanced_f1_n"] == 180
    assert (
        row["people_balanced_f1"]
        == named(of(found, "polite").people_statistics)["balanced_f1"].value
    )
