"""Gates that know about noise: slices, clusters, coverage, baselines, cost, not knowing yet."""

from __future__ import annotations

import json

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.score import Score
from judgekit.report.gate import Gate
from judgekit.report.manifest import cluster_field
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync
from judgekit.runner.gatekeeper import Rules, open_baseline
from judgekit.runner.limits import Limits
from judgekit.stats.tests import paired_shares_interval
from judgekit.suite.run import replay_suite
from judgekit.suite.suite import build_suite

LAX = Limits(max_failures=1000, max_fallback=1000)


class Worth:
    name = "worth"
    range = (0.0, 1.0)
    higher_is_better = True

    async def score(self, case):
        said = json.loads(case.output)
        if said is None:
            return Score(status="abstained", value=None)
        if said == "no":
            return Score(status="not_applicable", value=None)
        if said == "x":
            raise CaseError("broken")
        return Score(value=said, source="judge")


def cases(values, metadata=lambda number: {}):
    return [
        Case(id=f"c{n}", input=f"q{n}", output=json.dumps(value), metadata=metadata(n))
        for n, value in enumerate(values)
    ]


def gates(values, *wanted, metadata=lambda number: {}, threshold=0.5, **rules):
    report = evaluate_sync(
        cases(values, metadata),
        [Worth()],
        thresholds={"worth": threshold},
        gates={"worth": list(wanted)},
        rules=Rules(**rules),
        limits=LAX,
    )
    return report.figures.gates


def test_gates_are_values_or_mappings():
    written = [{"mean": 0.4}, {"mean": 0.9, "where": {"about": "b"}, "undecided": "fail"}]
    values = [
        Gate(metric="worth", statistic="mean", bound=0.4),
        Gate(metric="worth", statistic="mean", bound=0.9, where={"about": "b"}, undecided="fail"),
    ]

    def found(gates):
        report = evaluate_sync(
            cases([0.5, 1.0] * 5, lambda n: {"about": "ab"[n % 2]}), [Worth()], gates=gates
        )
        return report.figures.gates

    assert found({"worth": written}) == found(values) == found({"worth": values})
    with pytest.raises(ConfigError, match="no metric of this run is named 'wrth'"):
        found([Gate(metric="wrth", statistic="mean", bound=0.4)])


def one(*args, **options):
    (found,) = gates(*args, **options)
    return found


MIXED = [0.2, 0.9, 0.6, 0.8, 0.7, 0.3, 0.9, 0.6]


@pytest.mark.parametrize(
    ("bound", "undecided", "answer", "passed"),
    [
        (0.3, "fail", "meets", True),
        (0.95, "pass", "misses", False),
        (0.6, "fail", "undecided", False),
        (0.6, "pass", "undecided", True),
        (0.7, "pass", "undecided", True),  # the mean itself is below
        (0.6, None, "meets", True),  # the figure alone decides
        (0.7, None, "misses", False),
    ],
)
def test_a_gate_passes_misses_or_cannot_tell(bound, undecided, answer, passed):
    found = one(MIXED, {"mean": bound}, undecided=undecided)

    assert (found.answer, found.passed) == (answer, passed)
    assert found.n == 8
    assert found.low < found.found < found.high


def test_not_knowing_is_said_in_a_sentence_with_what_would_tell():
    found = one(MIXED, {"mean": 0.6}, undecided="fail")

    assert found.sentence.startswith("worth: mean 0.625 [0.404, 0.804] over 8: cannot tell yet")
    assert "whether at least 0.6 (about 367 to 3,587 more cases would tell if" in found.sentence
    assert "the true mean is 0.625; fix the number before you run them" in found.sentence
    assert found.sentence.endswith("that does not pass (undecided: fail)")


def test_a_gate_may_say_otherwise_than_its_suite():
    first, second = gates(MIXED, {"mean": 0.6}, {"mean": 0.6, "undecided": "pass"},
                          undecided="fail")  # fmt: skip

    assert (first.passed, second.passed) == (False, True)


def test_a_pass_rate_goes_by_wilson():
    assert one([1.0] * 10, {"pass_rate": 0.9}, undecided="fail").answer == "undecided"
    assert one([1.0] * 40, {"pass_rate": 0.9}, undecided="fail").answer == "meets"
    assert one([0.0] * 40, {"pass_rate": 0.9}, undecided="pass").answer == "misses"


@pytest.mark.parametrize(("n", "answer"), [(1, "undecided"), (2, "undecided"), (40, "meets")])
def test_scores_that_are_all_alike_prove_little_while_they_are_few(n, answer):
    assert one([1.0] * n, {"mean": 0.9}, undecided="fail").answer == answer


def test_the_worst_case_is_what_it_is():
    found = one(MIXED, {"min": 0.25}, undecided="pass")

    assert (found.answer, found.passed) == ("misses", False)
    assert found.sentence == "worth: lowest score 0.200 over 8 misses at least 0.25"


# -- slices and clusters ------------------------------------------------------------


def topic(number):
    return {"topic": "refunds" if number % 2 else "returns", "level": number % 4}


def test_a_slice_is_held_to_its_own_bound():
    low, high = gates(
        MIXED,
        {"where": {"topic": "refunds"}, "mean": 0.64},
        {"where": {"topic": "returns", "level": [0, "2"]}, "mean": 0.64},
        metadata=topic,
    )

    assert low.sentence.startswith("worth where topic=refunds: mean 0.650")
    assert (low.passed, high.passed) == (True, False)
    assert high.sentence.startswith("worth where topic=returns, level=0 or 2: mean 0.600")
    assert (low.n, high.n) == (4, 4)


def test_a_slice_may_name_a_path_and_an_item_of_a_list():
    path, item = gates(
        MIXED,
        {"where": {"about.topic": "refunds"}, "mean": 0.64},
        {"where": {"tags": ["refunds", "other"]}, "mean": 0.64},
        metadata=lambda n: {"about": topic(n), "tags": ["all", topic(n)["topic"]]},
    )

    assert path.sentence.startswith("worth where about.topic=refunds: mean 0.650")
    assert item.sentence.startswith("worth where tags=refunds or other: mean 0.650")


@pytest.mark.parametrize("statistic", ["mean", "pass_rate", "coverage", "failed", "min"])
def test_a_slice_without_cases_never_passes(statistic):
    found = one(MIXED, {"where": {"topic": "none"}, statistic: 0}, metadata=topic)

    assert (found.passed, found.answer) == (False, "unknown")
    assert "unknown" in found.sentence


def test_a_cluster_widens_the_interval():
    values = [value for value in (0.9, 0.5, 0.85, 0.8) * 3 for _ in range(10)]
    plain, clustered = gates(
        values,
        {"mean": 0.72, "undecided": "fail"},
        {"mean": 0.72, "cluster": "user", "undecided": "fail"},
        metadata=lambda number: {"user": number // 10},
    )

    assert (plain.answer, clustered.answer) == ("meets", "undecided")
    assert clustered.found == pytest.approx(plain.found)
    assert clustered.clusters == 12
    assert "over 120 in 12 clusters" in clustered.sentence
    assert "more clusters would tell if the true mean is" in clustered.sentence
    rate = one(values, {"pass_rate": 0.5, "cluster": "user"}, threshold=0.6,
               metadata=lambda number: {"user": number // 10})  # fmt: skip
    assert rate.high - rate.low > 0.4


def test_three_users_without_variation_cannot_pass_a_gate_by_its_interval():
    [found] = gates(
        [1.0] * 300,
        {"mean": 0.95, "cluster": "user", "undecided": "fail"},
        metadata=lambda number: {"user": number % 3},
    )

    assert (found.answer, found.passed, found.low) == ("undecided", False, None)
    assert "mean 1.000 [too few: 3 of the 10 clusters that an interval needs]" in found.sentence


def test_a_gate_goes_by_the_clusters_of_the_suite_unless_it_names_its_own():
    report = evaluate_sync(
        cases([1.0, 0.4] * 30, lambda number: {"user": number % 12, "doc": number % 4}),
        [Worth()],
        gates={"worth": [{"mean": 0.5, "undecided": "fail"},
                         {"mean": 0.5, "undecided": "fail", "cluster": "doc"},
                         {"mean": 0.5, "undecided": "fail", "where": {"doc": [0, 1]}}]},
        cluster="user",
    )  # fmt: skip
    [summary] = report.figures.metrics
    by_user, by_doc, part = report.figures.gates

    assert (summary.clusters, summary.independent, summary.few) == (12, 12, True)
    assert (by_user.clusters, by_user.low) == (12, summary.low)
    assert (by_doc.clusters, by_doc.too_few) == (4, "4 of the 10 clusters that an interval needs")
    assert (part.n, part.clusters, part.low) == (30, 6, None)
    assert report.figures.manifest["cluster"] == "user"


def test_a_run_without_clusters_keeps_the_manifest_it_had():
    assert "cluster" not in evaluate_sync(cases([1.0]), [Worth()]).figures.manifest


def test_clusters_by_a_field_that_no_case_has_make_a_run_incomplete():
    named = cases([1.0] * 12, lambda number: {"user": number})
    report = evaluate_sync(named, [Worth()], cluster="usr")

    assert report.exit_code == 3
    assert report.figures.incomplete == (
        "cluster: no case has 'usr' in its metadata; did you mean 'user'?",
    )


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ({"usr": 1}, "usr: no case has such a field; did you mean 'user'?"),
        ({"plan": "fre"}, "plan: no case has this value; did you mean 'free'?"),
        ({"plan": ["fre", "pad"]}, "plan: no case has this value; did you mean 'free'?"),
        ({"plan": "free", "user": 1}, "check `where`"),
    ],
)
def test_an_empty_slice_says_which_condition_no_case_meets(where, why):
    rows = [
        Case(id=str(n), output="0.5", metadata={"user": n, "plan": "paid" if n else "free"})
        for n in range(2)
    ]
    [gate] = evaluate_sync(
        rows, [Worth()], gates={"worth": {"mean": 0.5, "where": where}}
    ).figures.gates

    assert gate.answer == "unknown"
    assert gate.sentence.endswith(f"is unknown: no case is in this slice; {why}")


# -- rows without a score -------------------------------------------------------------

LACKING = [0.5, 0.6, None, "x", 0.7, 0.8, "no", 0.5, 0.4, 0.9, 0.9]


@pytest.mark.parametrize(
    ("wanted", "passed", "sentence"),
    [
        ({"coverage": 0.8}, True, "coverage 0.800 (8 of 10 rows scored) meets at least 0.8"),
        ({"coverage": 0.9}, False, "coverage 0.800 (8 of 10 rows scored) misses at least 0.9"),
        ({"abstained": 1}, True, "abstained 1 of 10 rows meets at most 1"),
        ({"abstained": 0}, False, "abstained 1 of 10 rows misses at most 0"),
        ({"failed": "10%"}, True, "failed 1 of 10 rows (10.0%) meets at most 10%"),
        ({"failed": "9.5%"}, False, "failed 1 of 10 rows (10.0%) misses at most 9.5%"),
        ({"fallback": 0}, True, "fallback 0 of 10 rows meets at most 0"),
    ],
)
def test_rows_without_a_score_are_counted(wanted, passed, sentence):
    found = one(LACKING, wanted)

    assert (found.passed, found.sentence) == (passed, f"worth: {sentence}")


# -- a baseline -----------------------------------------------------------------------


def run(values, **options):
    return evaluate_sync(cases(values), [Worth()], **options)


STEADY = [0.5 + n % 5 / 10 for n in range(40)]


@pytest.mark.parametrize(
    ("shift", "margin", "answer", "passed"),
    [
        (0.0, 0.05, "meets", True),
        (-0.02, 0.05, "meets", True),
        (-0.2, 0.05, "misses", False),
        (-0.05, 0.05, "undecided", False),
    ],
)
def test_a_run_must_show_that_it_is_not_worse(shift, margin, answer, passed):
    new = [v + shift + (n % 7 - 3) / 100 for n, v in enumerate(STEADY)]

    found = one(new, {"not_worse": margin}, baseline=run(STEADY))

    assert (found.answer, found.passed) == (answer, passed)
    assert "over 40 pairs" in found.sentence
    assert f"worse by more than {margin:g}" in found.sentence


def test_not_knowing_whether_it_is_worse_may_pass():
    new = [v - 0.05 + (n % 7 - 3) / 100 for n, v in enumerate(STEADY)]

    found = one(new, {"not_worse": 0.05, "undecided": "pass"}, baseline=run(STEADY))

    assert found.passed
    assert "cannot tell yet by its interval whether it is worse by more than 0.05" in found.sentence


def test_a_lower_is_better_metric_must_not_rise():
    class Toxic(Worth):
        higher_is_better = False

    def held(shift):
        base = evaluate_sync(cases(STEADY), [Toxic()])
        new = [v + shift + n % 3 / 1000 for n, v in enumerate(STEADY)]
        (found,) = evaluate_sync(
            cases(new), [Toxic()], gates={"worth": {"not_worse": 0.02}}, rules=Rules(baseline=base)
        ).figures.gates
        return found.answer

    assert (held(0.05), held(-0.05)) == ("misses", "meets")


def test_the_same_answers_are_said_to_be_the_same():
    found = one(STEADY, {"not_worse": 0.0}, baseline=run(STEADY))

    assert found.passed
    assert "(all answers the same)" in found.sentence


def test_equal_scores_of_few_other_answers_do_not_show_that_nothing_is_worse():
    """Six pairs that differ by nothing do not show that the seventh will not."""
    base = evaluate_sync(
        [Case(id=f"c{n}", input=f"q{n}", output="0.50") for n in range(6)], [Worth()]
    )

    found = one([0.5] * 6, {"not_worse": 0.05, "undecided": "fail"}, baseline=base)

    assert (found.passed, found.answer) == (False, "undecided")
    assert -1 <= found.low < -0.05 < 0 < found.high <= 1


def test_a_pass_fail_metric_is_held_to_the_interval_of_its_flips():
    base = [1.0] * 50 + [0.0] * 10
    new = [0.0] * 5 + [1.0] * 45 + [0.0] * 10

    found = one(new, {"not_worse": 0.17}, baseline=run(base))

    low, high = paired_shares_interval(0, 5, 60)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.answer == "meets"


def test_a_baseline_of_other_cases_never_passes():
    base = evaluate_sync([Case(id="z", output="1")], [Worth()])

    found = one(STEADY, {"not_worse": 0.5}, baseline=base)

    assert (found.passed, found.answer) == (False, "unknown")
    assert found.sentence.endswith("no case has a score in both")


def test_a_baseline_by_another_rubric_never_passes():
    def by(digest):
        metric = Worth()
        metric.made_with = {"rubric": "r", "digest": digest}
        return metric

    base = evaluate_sync(cases(STEADY), [by("a")])
    report = evaluate_sync(
        cases(STEADY), [by("b")], gates={"worth": {"not_worse": 0.5}}, rules=Rules(baseline=base)
    )

    assert report.exit_code == 1
    assert report.figures.gates[0].sentence.endswith("its rubric differs")


def test_a_run_is_not_written_over_its_baseline(tmp_path):
    base = run(STEADY, out=tmp_path / "a")

    with pytest.raises(ConfigError, match="is the baseline; write the run to another folder"):
        run(STEADY, out=tmp_path / "a", rules=Rules(baseline=base))
    assert Report.read(tmp_path / "a").figures.cases == 40


def test_a_baseline_is_a_folder_or_the_results_in_it(tmp_path):
    run(STEADY, out=tmp_path / "a")

    for path in (tmp_path / "a", tmp_path / "a" / "results.jsonl"):
        assert open_baseline(path).figures.cases == 40


def test_a_report_is_read_back_with_its_answers(tmp_path):
    report = evaluate_sync(cases(MIXED), [Worth()], out=tmp_path / "a", rules=Rules("fail"),
                           gates={"worth": {"mean": 0.6}})  # fmt: skip

    assert Report.read(tmp_path / "a").figures.gates == report.figures.gates
    assert report.figures.gates[0].answer == "undecided"


# -- in a suite -----------------------------------------------------------------------


def suite(tmp_path, **more):
    rows = [
        {"id": f"c{n}", "output": "word " * (5 + n), "metadata": {"topic": "ab"[n % 2]}}
        for n in range(6)
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return {"cases": "cases.jsonl", **more}


def replayed(tmp_path, data, **options):
    return replay_suite(build_suite(data, base=tmp_path), **options)


def test_a_suite_names_the_field_that_all_intervals_go_by(tmp_path):
    data = suite(
        tmp_path,
        cluster="topic",
        gate={"undecided": "fail"},
        metrics={"length": {"unit": "words", "maximum": 8, "gate": {"mean": 0.1}}},
    )

    report = replayed(tmp_path, data, out=tmp_path / "run")

    [summary] = report.figures.metrics
    assert (summary.clusters, summary.low) == (2, None)
    assert summary.too_few == "2 of the 10 clusters that an interval needs"
    assert report.exit_code == 1
    assert cluster_field(Report.read(tmp_path / "run").figures.manifest) == "topic"
    again = replayed(tmp_path, data, retry_failed=tmp_path / "run")
    assert again.figures == report.figures


@pytest.mark.parametrize("wrong", ["", ["user"], {"by": "user"}])
def test_a_cluster_is_the_name_of_a_field(tmp_path, wrong):
    with pytest.raises(ConfigError, match="cluster"):
        build_suite(suite(tmp_path, cluster=wrong, metrics={"length": {}}), base=tmp_path)


def test_a_suite_says_it_all(tmp_path):
    length = {"unit": "words", "maximum": 8}
    data = suite(
        tmp_path,
        metrics={"length": {**length, "threshold": 1, "gate": [
            {"mean": 0.5, "coverage": 1},
            {"where": {"topic": "a"}, "pass_rate": 0.1, "undecided": "pass"},
            {"not_worse": 0.1},
        ]}},
    )  # fmt: skip
    first = {**data, "metrics": {"length": length}}
    replayed(tmp_path, first, out=tmp_path / "base")

    report = replayed(tmp_path, {**data, "gate": {"undecided": "fail", "baseline": "base",
                                                  "cost": 0.01}})  # fmt: skip

    assert [gate.gate.statistic for gate in report.figures.gates] == [
        "mean", "coverage", "pass_rate", "not_worse", "cost",
    ]  # fmt: skip
    assert report.figures.gates[-1].sentence == "cost $0.0000 meets at most $0.01"
    assert report.figures.manifest["gate"] == {
        "undecided": "fail", "baseline": "base", "cost": 0.01,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ({"not_worse": 0.1}, "not_worse needs a run to compare with; add gate: {baseline"),
        ({"where": {"topic": "a"}}, "a gate with where and no bound"),
        ([{"mean": 9}], "gate.mean 9 is outside the values"),
        ({"failed": "101 %"}, "failed"),
        ({"coverage": True}, "must be a number, not true or false"),
        ({"meen": 1}, "no gate on 'meen'; did you mean 'mean'?"),
    ],
)
def test_a_wrong_gate_stops_a_suite_before_it_runs(tmp_path, gate, message):
    data = suite(tmp_path, metrics={"length": {"maximum": 9, "gate": gate}})

    with pytest.raises(ConfigError) as caught:
        build_suite(data, base=tmp_path)

    assert message in str(caught.value)


def test_a_baseline_that_is_none_stops_it_too(tmp_path):
    data = suite(tmp_path, metrics={"length": {"maximum": 9, "gate": {"not_worse": 0}}})

    with pytest.raises(ConfigError, match="not a run folder"):
        build_suite({**data, "gate": {"baseline": "nowhere"}}, base=tmp_path)


def test_a_gate_on_cost_needs_prices():
    found = evaluate_sync(cases([1.0]), [Worth()], rules=Rules(max_cost=1.0, paid=lambda: None))

    assert found.figures.gates[0].sentence == "cost is unknown: not every reply has a price"
    assert found.exit_code == 1


def test_a_gate_on_cost_counts_what_replays_cost_when_they_were_recorded():
    held, missed = (
        evaluate_sync(cases([1.0]), [Worth()], rules=Rules(max_cost=limit, paid=lambda: 0.5))
        for limit in (0.5, 0.4)
    )

    assert (held.exit_code, missed.exit_code) == (0, 1)
    assert missed.figures.gates[0].sentence == "cost $0.5000 misses at most $0.4"
