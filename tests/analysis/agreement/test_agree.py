"""Agreement of a judge with people: tables, kappa, ranks, intervals, sentences, errors."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from typer.testing import CliRunner

import judgekit
from judgekit.analysis.agreement.agree import agree
from judgekit.cli.app import app
from judgekit.core.case import Case, output_digest
from judgekit.core.errors import ConfigError, InvalidReply, JudgeUnavailable
from judgekit.core.judgment import Judgment
from judgekit.core.score import Part, Score
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.report.display import summary_text
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync
from judgekit.stats.agreement import PairColumns, Paired, kappa_figure, rank_figure
from judgekit.stats.coefficients import kendall_figure
from judgekit.suite.suite import load_suite
from tests.later import Later
from tests.stats.tables import kappa

stats = Later("scipy.stats")

LEVELS = {"bad": 0.0, "fair": 0.5, "good": 1.0}
DRAW = random.Random(3)


# -- figures --------------------------------------------------------------------------


def test_kappa_is_that_of_statsmodels():
    """cohens_kappa of statsmodels 0.15.0."""
    assert kappa([[20, 5], [10, 15]]) == pytest.approx(0.4)
    assert kappa([[45, 15], [25, 15]]) == pytest.approx(0.13043478260869554)
    three = [[10, 3, 1], [2, 12, 4], [0, 5, 13]]
    assert kappa(three) == pytest.approx(0.5449029126213591)
    assert kappa(three, places=[0, 1, 2]) == pytest.approx(0.7051114023591087)


def test_kappa_of_one_answer_is_undefined():
    assert kappa([[10, 0], [0, 0]]) is None
    found = kappa_figure(PairColumns.of([Paired(n, 0, 0) for n in range(30)]), 2, None)
    assert (found.value, found.low) == (None, None)


def test_a_category_without_a_place_is_as_far_as_can_be():
    """The judge gave no verdict on 4 cases: the same as 4 answers at the far end, both ways."""
    table = [[10, 0, 0], [0, 10, 0], [2, 2, 0]]
    far = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    seen = sum(
        f * t for fs, ts in zip(far, table, strict=True) for f, t in zip(fs, ts, strict=True)
    )
    chance = sum(
        far[i][j] * sum(table[i]) * sum(row[j] for row in table) / 24
        for i in range(3) for j in range(3)
    )  # fmt: skip
    assert kappa(table) == kappa(table, places=[0, 1]) == pytest.approx(1 - seen / chance)


@pytest.mark.parametrize("ties", [2, 5, 1000])
def test_the_rank_correlation_is_scipys(ties):
    one = [DRAW.randrange(ties) for _ in range(60)]
    other = [v + DRAW.randrange(ties) for v in one]
    pairs = [Paired(n, a, b) for n, (a, b) in enumerate(zip(one, other, strict=True))]

    found = rank_figure(PairColumns.of(pairs))

    assert found.value == pytest.approx(stats.spearmanr(one, other).statistic)
    assert found.low < found.value < found.high


def test_the_interval_is_about_that_of_scipys_bootstrap():
    one = [DRAW.random() < 0.5 for _ in range(120)]
    other = [v if DRAW.random() < 0.8 else not v for v in one]
    pairs = [Paired(n, a, b) for n, (a, b) in enumerate(zip(one, other, strict=True))]

    found = kappa_figure(PairColumns.of(pairs), 2, None)

    def statistic(a, b):
        return kappa([[sum(x == i and y == j for x, y in zip(a, b, strict=True))
                       for j in (0, 1)] for i in (0, 1)])  # fmt: skip

    expected = stats.bootstrap(
        (np.array(one), np.array(other)), statistic, paired=True, method="BCa",
        n_resamples=500, vectorized=False, rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.05)


def test_the_rank_interval_is_about_that_of_scipys_bootstrap():
    draw = np.random.default_rng(3)
    one = draw.integers(0, 5, 120)
    other = np.clip(one + draw.integers(-1, 2, 120), 0, 4)
    pairs = [Paired(n, int(a), int(b)) for n, (a, b) in enumerate(zip(one, other, strict=True))]

    found = rank_figure(PairColumns.of(pairs))

    expected = stats.bootstrap(
        (one, other), lambda a, b: stats.spearmanr(a, b).statistic, paired=True, method="BCa",
        n_resamples=500, vectorized=False, rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.05)


@pytest.mark.parametrize("figure", [lambda p: kappa_figure(p, 2, None), lambda p: rank_figure(p)])
def test_pairs_of_one_case_that_say_the_same_are_one_pair(figure):
    """Five people who say the same of a case are one case's worth of news."""
    answers = [(n % 2, (n % 2) if n % 5 else 1 - n % 2) for n in range(30)]
    pairs = [Paired(n, a, b) for n, (a, b) in enumerate(answers)]
    single = figure(PairColumns.of(pairs))
    five = figure(PairColumns.of([pair for pair in pairs for _ in range(5)]))

    assert five.value == pytest.approx(single.value)
    assert (five.low, five.high) == pytest.approx((single.low, single.high))


def test_few_cases_and_few_clusters_have_no_interval():
    pairs = [Paired(n, n % 2, n % 3 % 2) for n in range(19)]
    found = kappa_figure(PairColumns.of(pairs), 2, None)
    assert (found.low, found.too_few) == (None, "19 of the 20 cases that an interval needs")

    pairs = [Paired(n % 9, n % 2, n % 3 % 2) for n in range(90)]
    found = kappa_figure(PairColumns.of(pairs, clustered=True), 2, None)
    assert (found.low, found.too_few) == (None, "9 of the 10 clusters that an interval needs")


def test_agreement_without_exception_has_an_interval_with_a_width():
    found = kappa_figure(PairColumns.of([Paired(n, n % 2, n % 2) for n in range(50)]), 2, None)

    assert found.value == found.high == 1.0
    assert 0.8 < found.low < 0.95


@pytest.mark.parametrize(
    ("yes", "kappa_true", "n"), [(0.9, 0.3, 50), (0.95, 0.6, 50), (0.5, 0.9, 50), (0.9, 0.0, 100)]
)
def test_intervals_cover_where_an_answer_is_rare(yes, kappa_true, n):
    """Where an answer is rare, an interval by the plain standard error covers too seldom."""
    draw = np.random.default_rng(4)
    both = np.outer([1 - yes, yes], [1 - yes, yes]) * (1 - kappa_true)
    table = both + np.diag([1 - yes, yes]) * kappa_true
    covered = known = 0
    for _ in range(400):
        cells = draw.choice(4, size=n, p=table.ravel())
        pairs = [Paired(u, int(c) // 2, int(c) % 2) for u, c in enumerate(cells)]
        found = kappa_figure(PairColumns.of(pairs), 2, None)
        if found.low is not None:
            known += 1
            covered += found.low <= kappa_true <= found.high
    assert known > 300
    assert covered / known >= 0.9


@pytest.mark.parametrize("people", [2, 3, 5])
def test_kappa_of_several_people_covers_where_an_answer_is_rare(people):
    """The judge's answer is the same in all pairs of a case."""
    draw = np.random.default_rng(4)
    covered = 0
    for _ in range(200):
        truth = draw.random(30) < 0.9
        judge = truth ^ (draw.random(30) < 0.1)
        labels = truth[:, None] ^ (draw.random((30, people)) < 0.1)
        found = kappa_figure(
            PairColumns(
                np.repeat(np.arange(30), people), np.repeat(judge, people).astype(int),
                labels.ravel().astype(int), np.ones(30 * people),
            ), 2, None,
        )  # fmt: skip
        covered += found.low <= 0.3902 <= found.high  # .82 agree, .7048 by chance
    assert covered >= 185


@pytest.mark.parametrize("figure", [rank_figure, kendall_figure])
@pytest.mark.parametrize("unlike", [4, 5])
def test_a_rank_correlation_near_the_ceiling_needs_answers_below_it(figure, unlike):
    answers = [(n % 2, 0) if n < unlike else (4, 4) for n in range(100)]

    found = figure(PairColumns.of([Paired(n, *both) for n, both in enumerate(answers)]))

    few = f"{unlike} of the 5 answers unlike the most common that an interval needs"
    assert found.too_few == (few if unlike < 5 else None)
    assert found.value > 0.9


def test_answers_unlike_the_most_common_are_counted_by_case_and_side():
    several = [Paired(n // 4, int(n < 16), n % 2) for n in range(160)]

    assert rank_figure(PairColumns.of(several)).too_few.startswith("4 of the 5")
    assert rank_figure(PairColumns.of([p._replace(first=p.second) for p in several])).low > 0.5


def test_ranks_are_those_of_the_values_seen():
    """Levels that no one used do not widen the interval."""
    near = [Paired(n, n % 2, (n + n // 20) % 2) for n in range(60)]
    far = [pair._replace(first=4 * pair.first, second=4 * pair.second) for pair in near]

    assert rank_figure(PairColumns.of(near)) == rank_figure(PairColumns.of(far))


def test_the_same_labels_give_the_same_figures():
    pairs = PairColumns.of([Paired(n, n % 3, (n * n) % 3) for n in range(30)])

    assert kappa_figure(pairs, 3, [0, 1, 2]) == kappa_figure(pairs, 3, [0, 1, 2])


# -- a run and its labels -------------------------------------------------------------


class Tone:
    """Says of an answer what the answer says of itself."""

    name = "tone"
    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, model="fake/judge"):
        self.options = {}
        self.made_with = {"rubric": "manners", "digest": "d" * 16, "model": model}

    async def score(self, case):
        said = json.loads(case.output)
        parts = [
            Part(id="level", value=LEVELS[said["level"]], answer=said["level"], weight=0.5),
            Part(id="polite", value=float(said["polite"]), answer=said["polite"], weight=0.5),
        ]
        if said.get("share") is not None:
            parts.append(Part(id="share", value=said["share"], answer=said["share"], weight=0))
        value = (parts[0].value + parts[1].value) / 2
        return Score(
            value=value,
            parts=tuple(parts),
            source="judge",
            judgments=(Judgment(request_key="0" * 64),),
            meta=self.made_with,
        )


@pytest.fixture
def folder(tmp_path):
    rows = [
        {"level": ["bad", "fair", "good"][n % 3], "polite": n % 2 == 0, "share": n / 40}
        for n in range(40)
    ]
    cases = [Case(id=f"c{n}", output=json.dumps(row)) for n, row in enumerate(rows)]
    evaluate_sync(cases, [Tone()], thresholds={"tone": 0.6}, out=tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def labels(tmp_path):
    def write(*rows):
        path = tmp_path / "labels.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def level(n):
    return ["bad", "fair", "good"][n % 3]


def one(found, criterion):
    return next(a for a in found.criteria if a.criterion == criterion)


SAMPLED = """---
name: polite
version: 1
extends: base
description: Manners.
criteria:
  polite: {text: Is it polite?, kind: boolean}
  level: {text: How kind?, options: {bad: 0, good: 1}}
  share: {text: How much of it?, minimum: 0, maximum: 10}
---
"""


@pytest.mark.parametrize("right", range(1, 5))
def test_people_are_compared_with_the_verdict_of_all_samples(tmp_path, labels, right):
    """Sample 0 is wrong throughout; the other samples that are right outvote it."""
    (tmp_path / "polite.jinja").write_text(SAMPLED, encoding="utf-8")

    def judge(request):
        n = int(request.about.case[1:])
        wrong = request.sample == 0 or request.sample > right
        yes = (n % 2 == 0) != wrong
        return {"polite": {"reason": "r", "value": yes},
                "level": {"reason": "r", "value": "good" if yes else "bad"},
                "share": {"reason": "r", "value": n % 3 + (4 if yes else 0)}}  # fmt: skip

    metric = RubricMetric(tmp_path / "polite.jinja", judge=FakeJudge(judge), samples=5)
    report = evaluate_sync([Case(id=f"c{n}", output=f"answer {n}") for n in range(40)], [metric],
                           out=tmp_path / "run")  # fmt: skip
    verdicts = {
        row.case: {part.id: part.value for part in row.result.parts}
        for scored in report.results for row in scored.rows
    }  # fmt: skip
    path = labels(*[
        {"case": case, "metric": "polite", "values": {
            "polite": bool(verdict["polite"]), "level": "good" if verdict["level"] else "bad",
            "share": verdict["share"] * 10}}
        for case, verdict in verdicts.items()
    ])  # fmt: skip

    found = agree(tmp_path / "run", path)

    assert [a.kappa.value if a.kappa else None for a in found.criteria][:2] == [1.0, 1.0]
    assert one(found, "share").rank.value == pytest.approx(1.0)


def test_runs_of_earlier_versions_are_read_by_their_samples(tmp_path, labels):
    """Their parts hold the answer of sample 0; the judgments hold them all."""

    class Old(Tone):
        async def score(self, case):
            yes = int(case.id[1:]) % 2 == 0
            return Score(
                value=float(yes),
                parts=(Part(id="polite", value=float(yes), answer=not yes, weight=1.0),),
                source="judge",
                judgments=tuple(
                    Judgment(request_key=str(n) * 64, answers={"polite": {"value": yes == (n > 0)}})
                    for n in range(3)
                ),
            )

    evaluate_sync([Case(id=f"c{n}", output="x") for n in range(40)], [Old()], out=tmp_path / "run")
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"polite": n % 2 == 0}} for n in range(40)
    ])  # fmt: skip

    assert one(agree(tmp_path / "run", path), "polite").kappa.value == 1.0


def test_words_are_ordinal_and_yes_and_no_are_not(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"level": level(n + (n % 8 == 0)),
                                                       "polite": n % 2 == (n % 10 == 0)}}
        for n in range(40)
    ])  # fmt: skip

    found = judgekit.agree(folder, path)
    words, yes = one(found, "level"), one(found, "polite")

    assert (words.scale, words.categories) == ("ordinal", ("bad", "fair", "good"))
    assert (yes.scale, yes.categories, yes.rank) == ("nominal", ("no", "yes"), None)
    assert sum(map(sum, words.table)) == words.pairs == 40
    assert words.same == sum(words.table[n][n] for n in range(3)) == 35
    assert words.kappa.value == pytest.approx(kappa(words.table, places=[0, 1, 2]))
    assert words.kappa.low < words.kappa.value < words.kappa.high
    assert "better than chance; agreement between people is unknown" in (words.sentence)


def test_answers_of_a_person_as_a_judge_are_labels(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "rubric": "manners", "details": {"note": "x"},
         "answers": {"level": {"reason": "because", "value": level(n)}}}
        for n in range(40)
    ])  # fmt: skip

    found = one(agree(folder, path), "level")

    assert (found.metric, found.kappa.value, found.same) == ("tone", 1.0, 40)


def test_numbers_are_ranked(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"share": n / 40 + (n % 3) / 50}}
        for n in range(40)
    ])  # fmt: skip

    found = one(agree(folder, path), "share")

    assert (found.scale, found.kappa, found.table) == ("number", None, ())
    expected = stats.spearmanr([n / 40 for n in range(40)],
                               [n / 40 + (n % 3) / 50 for n in range(40)])  # fmt: skip
    assert found.rank.value == pytest.approx(expected.statistic)


def test_values_of_a_metric_are_held_to_its_threshold_too(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "value": (n % 5) / 4} for n in range(40)
    ])  # fmt: skip

    verdicts, values = agree(folder, path).criteria

    assert (verdicts.scale, verdicts.categories) == ("nominal", ("no", "yes"))
    assert (values.scale, values.criterion) == ("number", None)


def test_people_say_pass_and_fail_in_words(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "value": ["pass", "fail", True][n % 3]}
        for n in range(30)
    ])  # fmt: skip

    (found,) = agree(folder, path).criteria

    assert found.pairs == 30


def test_people_are_held_against_each_other_too(folder, labels):
    rows = []
    for n in range(40):
        for who, shift in (("ann", n % 9 == 0), ("bob", n % 4 == 0)):
            rows.append({"case": f"c{n}", "metric": "tone", "labeller": who,
                         "values": {"level": level(n + shift)}})  # fmt: skip

    found = one(agree(folder, labels(*rows)), "level")

    assert (found.labellers, found.cases, found.pairs, found.people_pairs) == (
        ("ann", "bob"), 40, 80, 40,
    )  # fmt: skip
    both = np.zeros((3, 3))
    for n in range(40):
        a, b = (n + (n % 9 == 0)) % 3, (n + (n % 4 == 0)) % 3
        both[a, b] += 1
        both[b, a] += 1
    assert found.people_kappa.value == pytest.approx(kappa(both, places=[0, 1, 2]))
    between = f"between people it is {found.people_kappa.value:.2f} ["
    assert between in found.sentence
    assert "as well as" not in found.sentence  # nothing here tests that


def test_a_judge_by_chance_is_said_to_be_one(folder, labels):
    rows = [
        {"case": f"c{n}", "metric": "tone", "values": {"polite": DRAW.random() < 0.5}}
        for n in range(40)
    ]

    assert "not distinguishable from chance" in one(agree(folder, labels(*rows)), "polite").sentence


def test_few_cases_are_said_to_be_few(folder, labels):
    rows = [{"case": f"c{n}", "metric": "tone", "values": {"level": level(n)}} for n in range(9)]

    found = one(agree(folder, labels(*rows)), "level")

    assert found.sentence.endswith("9 cases give only a first impression.")


def test_labels_without_a_pair_are_counted(folder, labels):
    path = labels(
        {"case": "c1", "metric": "tone", "values": {"level": None, "other": 1, "polite": True}},
        {"case": "zz", "metric": "tone", "values": {"polite": True}},
    )

    found = agree(folder, path)

    assert [a.criterion for a in found.criteria] == ["polite"]
    assert found.criteria[0].left_out == {"no such case in the run": 1}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "labels.jsonl:1: not a label"),
        ({"case": "c1"}, "labels.jsonl:1: needs 'case' and 'metric'"),
        ({"case": "c1", "metric": "tone"}, "no label: needs"),
        ({"case": "c1", "metric": "tone", "valeus": {}}, "unknown key 'valeus'"),
        ({"case": "c1", "metric": "tone", "value": [1]}, "must be a number, a word"),
        ({"case": "c1", "metric": "tone", "values": 3}, "'values' must be"),
        ({"case": "c1", "metric": "tone", "answers": {"level": 1}}, "an answer is {value"),
        ({"case": "c1", "metric": "toen", "value": 1}, "labels 'toen'; the run has tone"),
        ({"case": "zz", "metric": "tone", "value": 1}, "are the case ids the same?"),
        ({"case": "c1", "metric": "tone", "values": {"level": True}}, "the judge answers in words"),
        ({"case": "c1", "metric": "tone", "value": "maybe"}, "neither a number nor pass or fail"),
    ],
)
def test_a_wrong_label_is_one_line(folder, labels, row, message):
    path = labels()
    path.write_text((row if isinstance(row, str) else json.dumps(row)) + "\n", encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        agree(folder, path)

    assert message in str(caught.value)


def test_a_thing_is_labelled_once_by_each(folder, labels):
    row = {"case": "c1", "metric": "tone", "labeller": "ann", "value": 1}

    with pytest.raises(ConfigError, match=r"2: case 'c1', tone by ann, is labelled twice, first"):
        agree(folder, labels(row, row))


def test_no_labels_are_said_to_be_none(folder, labels, tmp_path):
    with pytest.raises(ConfigError, match="the file has no labels"):
        agree(folder, labels())
    with pytest.raises(ConfigError, match="no such file of labels"):
        agree(folder, tmp_path / "none.jsonl")


# -- failures, abstentions, outputs, clusters -------------------------------------------


class Failing(Tone):
    """Fails on every tenth case, abstains on every seventh."""

    async def score(self, case):
        n = int(case.id[1:])
        if n % 10 == 3:
            raise InvalidReply("no JSON")
        if n % 10 == 6:
            raise JudgeUnavailable("no connection")
        if n % 7 == 0:
            return Score(status="abstained", value=None, source="judge",
                         parts=(Part(id="polite", status="abstained"),))  # fmt: skip
        return await super().score(case)


def failing(tmp_path, labels, **options):
    rows = [{"level": level(n), "polite": n % 2 == 0} for n in range(40)]
    cases = [Case(id=f"c{n}", output=json.dumps(row)) for n, row in enumerate(rows)]
    folder = tmp_path / "run"
    evaluate_sync(cases, [Failing()], out=folder)
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"polite": n % 2 == 0, "level": level(n)}}
        for n in range(40)
    ])  # fmt: skip
    return agree(folder, path, **options)


def test_failed_replies_count_as_disagreement(tmp_path, labels):
    found = one(failing(tmp_path, labels), "polite")

    assert (found.failed, found.pairs, found.same) == (4, 30, 26)
    assert found.categories == ("no", "yes", "no verdict")
    assert [sum(row) for row in found.table] == [13, 13, 4]
    assert found.kappa.value == pytest.approx(kappa(found.table))
    assert found.kappa.value < 0.9
    assert "4 failed replies count as disagreement" in found.sentence
    assert found.left_out == {
        "the judge abstained": 6,
        "the judge was not asked or could not be reached": 4,
    }


def test_failed_replies_can_be_left_out(tmp_path, labels):
    found = one(failing(tmp_path, labels, failures="drop"), "polite")

    assert (found.failed, found.pairs, found.same, found.kappa.value) == (0, 26, 26, 1.0)
    assert found.left_out["the reply failed"] == 4
    with pytest.raises(ConfigError, match="failures must be wrong or drop, not 'dorp'; did you"):
        failing(tmp_path, labels, failures="dorp")


def test_words_in_order_have_failures_at_the_greatest_distance(tmp_path, labels):
    found = one(failing(tmp_path, labels), "level")

    assert found.categories == ("bad", "fair", "good", "no verdict")
    assert found.kappa.value == pytest.approx(kappa(found.table, places=[0, 1, 2]))
    assert found.rank.value == pytest.approx(1.0)  # nothing to rank where there is no verdict


def output_of(n):
    return json.dumps({"level": level(n), "polite": n % 2 == 0, "share": n / 40})


def test_labels_of_another_output_are_ignored_and_counted(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"polite": n % 2 == 0},
         "output_digest": output_digest(output_of(n) if n >= 3 else "an older answer")}
        for n in range(40)
    ])  # fmt: skip

    found = one(agree(folder, path), "polite")

    assert (found.pairs, found.kappa.value, found.without_digest) == (37, 1.0, 0)
    assert found.left_out == {"the label is for another output": 3}


def test_one_file_may_label_several_outputs_of_a_case(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"polite": (n % 2 == 0) == right},
         "output_digest": output_digest(output_of(n) if right else "an older answer")}
        for n in range(40) for right in (True, False)
    ])  # fmt: skip

    found = one(agree(folder, path), "polite")

    assert (found.pairs, found.kappa.value, found.left_out) == (40, 1.0, {})


def test_labels_without_a_digest_are_matched_by_case_and_counted(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"polite": n % 2 == 0}} for n in range(40)
    ])  # fmt: skip

    found = agree(folder, path)

    assert one(found, "polite").without_digest == 40
    said = " ".join(found.text().split())
    assert "40 labels do not name an output: matched by case id alone" in said


def test_labels_of_other_outputs_alone_are_refused(folder, labels):
    row = {"case": "c1", "metric": "tone", "value": 1, "output_digest": "0" * 16}

    with pytest.raises(ConfigError, match="1 label is for another output of these cases, and none"):
        agree(folder, labels(row))
    with pytest.raises(ConfigError, match="'output_digest' must be 16 hex digits"):
        agree(folder, labels(row | {"output_digest": "x"}))


def test_intervals_go_by_clusters(tmp_path, labels):
    cases = [Case(id=f"c{n}", output=output_of(n // 4), metadata={"user": n // 4})
             for n in range(80)]  # fmt: skip
    plain, clustered = tmp_path / "plain", tmp_path / "clustered"
    evaluate_sync(cases, [Tone()], out=plain)
    evaluate_sync(cases, [Tone()], out=clustered, manifest={"cluster": "user"})
    path = labels(*[
        {"case": f"c{n}", "metric": "tone",
         "values": {"polite": (n // 4 % 2 == 0) != (n // 4 % 5 == 0)}} for n in range(80)
    ])  # fmt: skip

    alone = one(agree(plain, path), "polite")
    by_user = one(agree(plain, path, cluster="user"), "polite")

    assert (alone.clusters, by_user.clusters) == (None, 20)
    assert by_user.kappa.value == alone.kappa.value
    assert by_user.kappa.high - by_user.kappa.low > 1.5 * (alone.kappa.high - alone.kappa.low)
    assert one(agree(clustered, path), "polite").kappa == by_user.kappa  # the suite's field
    with pytest.raises(ConfigError, match="no case has 'usr' in its metadata to cluster by"):
        agree(plain, path, cluster="usr")


# -- calibrated or not ----------------------------------------------------------------


def said_of(folder):
    return " ".join(summary_text(Report.read(folder)).split())


def test_a_judge_without_labels_is_not_compared_with_people(folder):
    assert "not compared with people: the judge of tone (judgekit agree)" in said_of(folder)
    assert "not compared with people" in Report.read(folder).to_html().read_text("utf-8")


def test_labels_make_a_judge_compared_and_not_calibrated(folder, labels):
    """Also where it says the contrary of people: then "calibrated: kappa -1.00" was printed."""
    agree(folder, labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"polite": n % 2 == 1}} for n in range(40)
    ]))  # fmt: skip

    text = said_of(folder)
    assert "compared with people: tone: polite kappa -1.00 [-1.00, " in text
    assert "over 40 cases people labelled" in text
    assert "calibrated" not in text
    assert "calibrated" not in Report.read(folder).to_html().read_text("utf-8")


@pytest.mark.parametrize(
    ("bar", "wrong", "word"),
    [
        ({"kappa": 0.6}, 0, "calibrated: tone"),
        ({"kappa": 0.6}, 7, "compared with people, below the bar of the suite: tone"),
        ({"kappa": 0.6, "spearman": 0.5}, 0, "calibrated: tone"),
        ({"spearman": 0.99}, 0, "compared with people, below the bar of the suite: tone"),
    ],
)
def test_a_judge_is_calibrated_by_the_lower_end_of_its_interval(tmp_path, labels, bar, wrong, word):
    """With 7 of 40 wrong, kappa is 0.74 or so, and its lower end below 0.6."""
    cases = [Case(id=f"c{n}", output=json.dumps({"level": level(n), "polite": True}))
             for n in range(40)]  # fmt: skip
    folder = tmp_path / "run"
    evaluate_sync(cases, [Tone()], out=folder, manifest={"calibration": bar})

    agree(folder, labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"level": level(n + (n < wrong))}}
        for n in range(40)
    ]))  # fmt: skip

    assert word in said_of(folder)
    assert "bar at the lower end: " in said_of(folder)
    html = Report.read(folder).to_html().read_text("utf-8")
    assert ('<p class="doubt">compared with people, below' in html) == word.startswith("compared")


def test_the_bar_is_a_key_of_the_suite(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text(
        "metrics: {length: {maximum: 9}}\ncalibration: {kappa: 0.6}\n", encoding="utf-8"
    )
    assert load_suite(path).manifest()["calibration"] == {"kappa": 0.6}
    path.write_text("metrics: {length: {maximum: 9}}\n", encoding="utf-8")
    assert "calibration" not in load_suite(path).manifest()
    path.write_text("metrics: {length: {maximum: 9}}\ncalibration: {kapa: 0.6}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"suite.yaml:2: unknown key 'calibration.kapa'; did you"):
        load_suite(path)


def test_agreement_of_another_run_calibrates_nothing(folder, labels):
    agree(folder, labels({"case": "c1", "metric": "tone", "value": 1}))
    path = folder / "agree.json"
    kept = json.loads(path.read_text())

    for broken in ("{", "[]", "[" * 100_000, json.dumps({**kept, "dataset": "0"})):
        path.write_text(broken)
        assert Report.read(folder).calibration[0].startswith("not compared")


def test_a_new_run_forgets_what_the_old_one_agreed_with(folder, labels):
    agree(folder, labels({"case": "c1", "metric": "tone", "value": 1}))

    evaluate_sync([Case(id="a", output='{"level": "bad", "polite": true}')], [Tone()], out=folder)

    assert not (folder / "agree.json").exists()


def test_people_need_no_calibration(tmp_path):
    case = Case(id="a", output='{"level": "bad", "polite": true}')
    report = evaluate_sync([case], [Tone("manual/ann")])

    assert report.calibration == []


def test_nothing_is_written_unless_wanted(folder, labels):
    agree(folder, labels({"case": "c1", "metric": "tone", "value": 1}), write=False)

    assert not (folder / "agree.json").exists()


# -- the command ----------------------------------------------------------------------


def test_the_command_prints_tables_and_keeps_the_outcome(folder, labels):
    path = labels(*[
        {"case": f"c{n}", "metric": "tone", "values": {"level": level(n)}} for n in range(40)
    ])  # fmt: skip

    done = CliRunner().invoke(app, ["agree", str(folder), str(path)])

    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "kappa (quadratic) 1.00 [0.8" in done.stdout
    assert "judge / people" in done.stdout
    assert (folder / "agree.json").exists()


@pytest.mark.parametrize("flag", ["--json", "--markdown"])
def test_the_command_has_other_forms(folder, labels, flag):
    path = labels({"case": "c1", "metric": "tone", "values": {"level": "good"}})

    done = CliRunner().invoke(app, ["agree", str(folder), str(path), flag])

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["criteria"] if flag == "--json" else "### tone" in done.stdout


def test_a_notebook_shows_some_criteria_and_the_text_all(folder, labels):
    path = labels({"case": "c1", "metric": "tone", "values": {"level": "good"}})
    found = agree(folder, path)
    many = found.model_copy(update={"criteria": found.criteria * 25})

    assert many._repr_html_().count("tone, level") == 20
    assert "5 more rows: .criteria" in many._repr_html_()
    assert (many.text().count("tone, level"), many.markdown().count("### tone")) == (25, 25)


def test_a_run_without_cases_has_no_case_for_a_label(tmp_path, labels):
    evaluate_sync([], [Tone()], out=tmp_path / "empty")
    path = labels({"case": "c0", "metric": "tone", "values": {"polite": True}})

    with pytest.raises(ConfigError, match="no label matches a case that the run has a score for"):
        agree(tmp_path / "empty", path)
