"""A jury against people: effective votes, weights, and the best single member."""

from __future__ import annotations

import json
import random

import pytest

from judgekit.analysis.agreement.agree import agree
from judgekit.analysis.agreement.jury import jury_agreement
from judgekit.analysis.agreement.pairs import JudgedCase, JudgedPair
from judgekit.core.case import Case
from judgekit.core.jury import Jury
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.report.calibration import Calibration
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate_sync
from judgekit.stats.intervals import Coefficient

CASES = 5_000


def pair(members, person, *, judge=None, case="c", labeller="ann"):
    about = JudgedCase(case, 0, None, None)
    return JudgedPair(about, judge, "", labeller, person, members=members)


def member(value):
    return {"pairs": 1, "kappa": Coefficient(value=value)}


def jury(pairs, *, alone=lambda _: member(0.5), categories=2, labels="each"):
    """Return the agreement of a jury; every pair is a case of its own."""
    pairs = [
        one._replace(case=one.case._replace(id=f"c{n}", unit=n)) for n, one in enumerate(pairs)
    ]
    return jury_agreement(pairs, alone=alone, categories=categories, labels=labels, clustered=False)


def simulated(rates, shared, *, seed=1):
    """Return pairs whose members share an error with some probability.

    Two errors with the rate e that share their draw with probability s correlate by s ** 2.
    """
    draw = random.Random(seed)
    pairs = []
    for _ in range(CASES):
        truth = draw.random() < 0.5
        common = draw.random()
        wrong = [(common if draw.random() < shared else draw.random()) < rate for rate in rates]
        members = {f"j{n}": truth != error for n, error in enumerate(wrong)}
        pairs.append(pair(members, truth))
    return pairs


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.8])
def test_the_effective_votes_are_those_of_the_simulation(shared):
    found = jury(simulated([0.2] * 5, shared))

    assert found.effective == pytest.approx(5 / (1 + 4 * shared**2), abs=0.1)
    assert found.pairs == CASES


def test_effective_votes_of_numbers():
    draw = random.Random(2)
    pairs = []
    for _ in range(CASES):
        truth, common = draw.random(), draw.gauss(0, 1)
        members = {f"j{n}": truth + common + draw.gauss(0, 1) for n in range(3)}
        pairs.append(pair(members, truth))

    found = jury(pairs, categories=0)

    # Half of the variance of each error is common.
    assert found.effective == pytest.approx(3 / (1 + 2 * 0.5), abs=0.1)


def test_judges_that_agree_with_each_other_for_a_good_reason_are_independent():
    """Answers correlate because the cases differ; the errors do not."""
    pairs = simulated([0.05] * 3, 0.0)

    found = jury(pairs)

    assert found.effective == pytest.approx(3.0, abs=0.1)


def test_weights_are_log_odds_and_never_negative():
    pairs = simulated([0.1, 0.4, 0.7], 0.0)

    found = jury(pairs)

    good, fair, bad = (one.weight for one in found.members)
    # ln(.9 / .1) and ln(.6 / .4), over their mean with 0.
    assert good / fair == pytest.approx(2.197 / 0.405, rel=0.1)
    assert bad == 0.0
    assert good + fair + bad == pytest.approx(3.0, abs=0.01)


def test_a_weight_of_few_labels_is_shrunk():
    few = [pair({"a": True, "b": True}, True), pair({"a": True, "b": False}, True)]

    found = jury(few)

    a, b = found.members
    assert (a.weight, b.weight) == (2.0, 0.0)  # ln(3 / 1) and ln(2 / 2), over their mean


def test_the_best_member_is_named_only_if_it_beats_the_jury():
    pairs = [one._replace(judge="jury") for one in simulated([0.1, 0.4, 0.4], 0.0)[:40]]
    figures = {"j0": 0.8, "j1": 0.2, "j2": 0.2}

    def found(of_jury):
        def alone(own):
            if own[0].judge == "jury":
                return member(of_jury)
            (name,) = (n for n in own[0].members if all(p.judge == p.members[n] for p in own))
            return member(figures[name])

        return jury(pairs, alone=alone)

    assert (found(0.7).best, found(0.7).best_figures) == ("j0", (0.8, 0.7))
    assert found(0.7).better.endswith("on 40 common answers: 0.80 and 0.70, not tested")
    assert (found(0.8).best, found(0.8).better) == (None, "")


def test_members_count_where_the_jury_has_no_verdict():
    tied = [pair({"a": True, "b": False}, True)] * 30 + [pair({"a": False, "b": True}, True)] * 10
    agreed = [pair({"a": n > 5, "b": n > 5}, True, judge=n > 5) for n in range(20)]

    found = jury([*agreed, *tied], alone=lambda own: {"pairs": len(own), "kappa": None})

    assert [one.pairs for one in found.members] == [60, 60]
    assert found.pairs == 60
    assert found.best is None  # both are compared with the jury on the 20 cases that it decided


def test_effective_votes_use_one_label_a_case():
    """Several labels of a case carry the errors of its members once."""
    several = [
        pair({"a": n % 5 > 0, "b": n % 7 > 0}, n % 11 > 0 or who == "ann", case=f"c{n}",
             labeller=who)
        for n in range(40)
        for who in ("ann", "bob", "cyd")
    ]  # fmt: skip

    found = jury_agreement(
        several, alone=lambda _: member(0.5), categories=2, labels="each", clustered=False
    )

    assert found.pairs == 40
    assert found.labels_compared
    assert 0 < found.wrong_labels < 0.1


def test_errors_that_never_occur_give_no_effective_votes():
    pairs = [pair({"a": True, "b": True}, True)] * 3

    found = jury(pairs)

    assert (found.correlation, found.effective) == (None, None)
    assert "effective votes: unknown, the errors do not vary" in found.lines


# -- from a run -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run of a jury of a good judge and two bad ones, and labels of it."""
    folder = tmp_path_factory.mktemp("jury")
    path = folder / "mine.jinja"
    path.write_text(
        "---\nname: mine\nextends: base\ndescription: Judge it.\n"
        "criteria:\n  ok: {text: Is it ok?, kind: boolean}\n---\n",
        encoding="utf-8",
    )
    truth = {f"c{n}": n % 2 == 0 for n in range(60)}

    def script(every):
        def answer(request):
            number = int(request.about.case[1:])
            value = truth[request.about.case] != (number % every == 0)
            return {"ok": {"reason": "r", "value": value}}

        return answer

    members = {
        name: FakeJudge(script(every), model=f"fake/{name}")
        for name, every in (("good", 30), ("bad", 3), ("worse", 3))
    }
    cases = [Case(id=id, output="o") for id in truth]
    metric = RubricMetric(load_rubric(path), judge=Jury(members))
    report = evaluate_sync(cases, [metric], out=folder / "run")
    labels = folder / "labels.jsonl"
    labels.write_text(
        "\n".join(
            json.dumps({"case": id, "metric": "mine", "labeller": "ann", "values": {"ok": value}})
            for id, value in truth.items()
        ),
        encoding="utf-8",
    )
    return report, labels


def test_agree_shows_every_member(run):
    report, labels = run

    calibration = agree(report, labels)

    (found,) = calibration.criteria
    assert [one.member for one in found.jury.members] == ["good", "bad", "worse"]
    assert [one.same for one in found.jury.members] == [58, 40, 40]
    assert found.jury.best == "good"
    assert found.jury.effective == pytest.approx(3 / (1 + 2 * found.jury.correlation))
    text = " ".join(calibration.text().split())
    assert "good alone: kappa 0.93" in text
    assert "good alone agrees better with people than the jury on 60 common answers: 0.93" in text
    assert "as if members erred independently: jury: {good: " in text
    assert found.jury.too_few == "a member has 2 of the 5 wrong and right answers it needs"
    assert "of 3 [too few: a member has 2" in text
    assert "effective votes" in calibration.markdown()
    data = json.loads((report.folder / "agree.json").read_text())
    assert Calibration.model_validate(data) == calibration


def test_the_probabilities_of_a_jury_are_compared_with_people(run):
    report, labels = run
    answers = {
        label["case"]: label["values"]["ok"]
        for label in map(json.loads, labels.read_text(encoding="utf-8").splitlines())
    }
    right = []
    for scored in report.results:
        opinions = scored.rows[0].result.opinions
        right.append(sum(o.answers["ok"] == answers[scored.case.id] for o in opinions) / 3)

    calibration = agree(report, labels, write=False)

    known = {one.name: one for one in calibration.criteria[0].statistics}
    assert known["probability"].n == known["brier"].n == 60
    assert known["probability"].value == pytest.approx(sum(right) / 60)
    assert known["brier"].value == pytest.approx(sum(2 * (1 - p) ** 2 for p in right) / 60)
    assert known["probability"].low < known["probability"].value < known["probability"].high
    text = " ".join(calibration.text().split())
    assert f"probability of people's answers {known['probability'].text}, Brier score" in text


def test_the_agreement_of_one_judge_has_no_jury(run):
    _, labels = run
    judge = FakeJudge(lambda _: {"ok": {"reason": "r", "value": True}})
    metric = RubricMetric(load_rubric(labels.parent / "mine.jinja"), judge=judge)
    single = evaluate_sync([Case(id="c0", output="o"), Case(id="c1", output="o")], [metric])

    (found,) = agree(single, labels).criteria

    assert found.jury is None
    assert "jury" not in found.model_dump()


def test_a_tie_of_the_jury_keeps_the_answers_of_its_members(tmp_path):
    draw = random.Random(1)
    cases = [Case(id=f"c{n}", output="o") for n in range(200)]
    truth = {case.id: draw.random() < 0.5 for case in cases}
    given = {
        name: {id: value == (draw.random() < 0.7) for id, value in truth.items()} for name in "ab"
    }
    members = {
        name: FakeJudge(
            lambda request, own=own: {"ok": {"reason": "r", "value": own[request.about.case]}},
            model=f"fake/{name}",
        )
        for name, own in given.items()
    }
    rubric = tmp_path / "mine.jinja"
    rubric.write_text(
        "---\nname: mine\nextends: base\ndescription: Judge it.\n"
        "criteria:\n  ok: {text: Is it ok?, kind: boolean}\n---\n",
        encoding="utf-8",
    )
    report = evaluate_sync(cases, [RubricMetric(load_rubric(rubric), judge=Jury(members))])
    labels = tmp_path / "labels.jsonl"
    lines = ({"case": id, "metric": "mine", "labeller": "ann", "values": {"ok": value}}
             for id, value in truth.items())  # fmt: skip
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    (found,) = agree(report, labels, write=False).criteria

    tied = sum(given["a"][id] != given["b"][id] for id in truth)
    assert (found.pairs, found.left_out) == (200 - tied, {"the judge abstained": tied})
    assert [(one.pairs, one.same) for one in found.jury.members] == [
        (200, sum(own[id] == value for id, value in truth.items())) for own in given.values()
    ]
    assert found.jury.low <= 2.0 == found.jury.high
    assert f"[{found.jury.low:.1f}, 2.0] (errors correlate by" in found.jury.votes
    assert "allows for 25 % wrong labels, not measured" in found.jury.votes
