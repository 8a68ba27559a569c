"""What several opinions add to the summary: members, agreement, reliability, mass, notes."""

from __future__ import annotations

import json
import random

import pytest

from judgekit.core.case import Case
from judgekit.core.distribution import Distribution
from judgekit.core.errors import JudgeUnavailable
from judgekit.core.jury import Jury
from judgekit.core.score import Opinion, Score
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.report.display import summary_text
from judgekit.report.opinions import MOST_WAITING, OpinionTally
from judgekit.report.report import Report
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate_sync


def opinion(value, *, answer=None, **fields):
    answers = {"ok": value if answer is None else answer}
    return Opinion(value=value, answers=answers, values={"ok": value}, **fields)


def finished(*rows, clusters=None):
    tally = OpinionTally(clustered=clusters is not None)
    for number, opinions in enumerate(rows):
        score = Score(value=0.5, opinions=tuple(opinions))
        tally.add(score, None if clusters is None else clusters[number])
    return tally.finish()


def jury_rows(count=40, wrong=4):
    """Return rows of two judges that answer yes and no in turn and differ in a few."""
    for n in range(count):
        first, second = n % 2 == 0, (n % 2 == 0) != (n < wrong)
        yield (
            opinion(float(first), answer=first, member="a"),
            opinion(float(second), answer=second, member="b"),
        )


def test_members_and_their_agreement():
    found = finished(*jury_rows())

    assert [(m.member, m.scored) for m in found.members] == [("a", 40), ("b", 40)]
    assert [m.mean for m in found.members] == pytest.approx([0.5, 0.5])
    words, numbers = found.pairs
    assert (words.criterion, words.measure, words.same) == ("ok", "kappa", 0.9)
    assert words.figure == pytest.approx(0.8)
    assert words.low < 0.8 < words.high
    assert (numbers.criterion, numbers.measure) == (None, "correlation")
    assert numbers.figure == pytest.approx(0.8)


def width(figure):
    return figure.high - figure.low


def test_clusters_of_equal_cases_count_as_one_case_each():
    each = list(jury_rows())
    four = [row for row in each for _ in range(4)]

    alone, clustered = finished(*each), finished(*four, clusters=[n // 4 for n in range(160)])

    # Four copies of a case tell as much as one: the intervals are about as wide.
    assert clustered.pairs[0].figure == pytest.approx(alone.pairs[0].figure)
    assert width(clustered.pairs[0]) == pytest.approx(width(alone.pairs[0]), rel=0.25)
    assert width(clustered.pairs[0]) > 1.5 * width(finished(*four).pairs[0])
    assert width(clustered.members[0]) == pytest.approx(width(alone.members[0]), rel=0.25)
    # Numbers that may be any have a correlation, of which only independent cases have an interval.
    assert clustered.pairs[1].measure == "correlation"
    assert clustered.pairs[1].low is None


def test_a_cluster_for_each_case_is_as_none():
    rows = list(jury_rows())

    assert finished(*rows, clusters=list(range(40))).pairs[0] == finished(*rows).pairs[0]


def test_the_order_of_rows_makes_no_difference_to_clustered_agreement():
    rows, clusters = list(jury_rows()), [str(n // 3) for n in range(40)]

    again = finished(*rows[::-1], clusters=clusters[::-1])

    assert again.pairs[0] == finished(*rows, clusters=clusters).pairs[0]


def test_a_member_that_fails_is_counted():
    rows = list(jury_rows(10))
    rows[0] = (rows[0][0], Opinion(member="b", failure="unavailable", message="down"))

    found = finished(*rows)

    assert [(m.member, m.scored, m.failed) for m in found.members] == [("a", 10, 0), ("b", 9, 1)]
    assert found.pairs[0].cases == 9


def test_samples_show_how_well_they_repeat():
    rows = [
        [opinion(float(n < 5 or (n == 5 and k == 0)), sample=k) for k in range(2)]
        for n in range(10)
    ]

    found = finished(*rows)

    (repeats,) = found.repeats
    assert (repeats.criterion, repeats.over, repeats.cases) == ("ok", "samples", 10)
    assert repeats.exact == 0.9
    assert repeats.kappa is None  # numbers
    # Mean squares: 4.45 / 9 between cases, .5 / 10 within.
    assert repeats.icc == pytest.approx((4.45 / 9 - 0.05) / (4.45 / 9 + 0.05))
    assert repeats.needed == 3  # 9 * .1837 / .8163 is 2.02
    assert any(
        line.endswith("3 answers together would reach 0.9 by this ICC (no interval)")
        for line in found.lines
    )
    assert found.members == ()


def test_an_order_without_its_reverse_is_named():
    def row(*orders):
        return [opinion(1.0, sample=n, order=order) for n, order in enumerate(orders)]

    assert finished(row("written", "reversed")).unbalanced is None
    assert finished(row("written", "reversed", "shuffled 1")).unbalanced == "shuffled 1"
    assert finished(row("written", "written", "written")).unbalanced is None
    four = row("written", "reversed", "shuffled 1", "shuffled 1 reversed")
    assert finished(four).unbalanced is None
    both = ("written", "swapped", "reversed", "reversed swapped")
    assert finished(row(*both)).unbalanced is None
    assert finished(row("written", "swapped")).unbalanced is None
    odd = finished(row(*both, "shuffled 1", "shuffled 1 swapped"))
    assert (odd.unbalanced, odd.repeats[0].over) == ("shuffled 1", "orders")
    (line,) = finished(row("written", "reversed", "shuffled 1")).lines[-1:]
    assert "an even number of samples" in line


def test_judges_of_positions_do_not_agree_by_their_position():
    def row(a, b):
        for member, answers in (("one", a), ("two", b)):
            for order, answer in zip(("written", "swapped"), answers, strict=True):
                value = {"A": 1.0, "B": 0.0}[answer]
                yield opinion(value, answer=answer, member=member, order=order)

    # Both say A in written order; only the other order tells them apart.
    (word, _) = finished(*[tuple(row("AA", "AB")) for _ in range(10)]).pairs
    assert (word.same, word.cases) == (0.0, 10)
    (word, _) = finished(*[tuple(row("AB", "AB")) for _ in range(10)]).pairs
    assert word.same == 1.0


def test_numbers_that_differ_by_order_are_correlated_wherever_they_come():
    def row(a, b):
        for member, numbers in (("one", a), ("two", b)):
            for order, number in zip(("written", "swapped"), numbers, strict=True):
                yield opinion(number, member=member, order=order)

    rows = [((0.0, 0.2), (0.9, 1.0)), ((0.5, 0.5), (0.5, 0.5)), ((1.0, 1.0), (0.2, 0.2))]
    figures = [
        finished(*(tuple(row(*numbers)) for numbers in several)).pairs[0].figure
        for several in (rows, rows[::-1])
    ]

    assert figures == pytest.approx([-0.98402, -0.98402], abs=1e-5)
    assert finished(tuple(row(*rows[0]))).pairs[0].measure == "correlation"


def test_little_mass_on_legal_answers_is_reported():
    tally = OpinionTally(clustered=False)
    for mass in (0.6, 0.9, 1.0):
        shown = Distribution(labels=("a",), probabilities=(1.0,), source="logprobs", mass=mass)
        tally.add_distribution("ok", shown)

    found = tally.finish()

    (mass,) = found.masses
    assert (mass.rows, mass.little, mass.source) == (3, 1, "logprobs")
    assert mass.mean == pytest.approx(0.8333, abs=1e-4)
    assert "less than 80% in 1 of 3 rows" in found.lines[0]


def test_many_rows_are_added_up_in_parts_with_the_same_figures(monkeypatch):
    draw = random.Random(7)
    rows = [
        [
            opinion(draw.choice([None, 0.0, 0.25, 1.0]), answer=draw.choice("xyz"), member=member)
            for member in "abc"
        ]
        for _ in range(MOST_WAITING + 5)
    ]
    rows[3][1] = Opinion(member="b", failure="unavailable")
    tally = OpinionTally(clustered=False)
    most = 0
    for row in rows:
        tally.add(Score(value=0.5, opinions=tuple(row)))
        most = max(most, len(tally._waiting))
    found = tally.finish()

    monkeypatch.setattr("judgekit.report.opinions.MOST_WAITING", 10**6)
    whole = finished(*rows)

    assert most <= MOST_WAITING / 3
    assert found.pairs[0].cases == len(rows) - 1
    assert figures_of(found) == pytest.approx(figures_of(whole), rel=1e-12)


def test_an_opinion_without_an_answer_to_a_criterion_has_none():
    row = [
        Opinion(value=1.0, answers={"ok": True, "b": True}, values={"ok": 1.0, "b": 1.0}),
        Opinion(value=1.0, answers={"ok": True}, values={"ok": 1.0}, sample=1),
    ]

    found = {one.criterion: (one.cases, one.exact) for one in finished(row, row).repeats}

    assert found == {"ok": (2, 1.0), "b": (2, 0.0), None: (2, 1.0)}


def figures_of(summary):
    """Return every number of a summary, by its path."""
    return {
        (part, number, name): value
        for part in ("members", "pairs", "repeats")
        for number, one in enumerate(getattr(summary, part))
        for name, value in one
        if isinstance(value, (int, float))
    }


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opinions")
    path = folder / "mine.jinja"
    head = "---\nname: mine\nextends: base\ndescription: Judge it.\n"
    path.write_text(f"{head}criteria:\n  ok: {{text: Ok?, kind: boolean}}\n---\n", encoding="utf-8")

    def script(model):
        def answer(request):
            if model == "c" and request.about.case == "3":
                raise JudgeUnavailable("down")
            return {"ok": {"reason": "r", "value": (int(request.about.case) + ord(model)) % 3 > 0}}

        return answer

    members = {name: FakeJudge(script(name), model=f"fake/{name}") for name in "abc"}
    cases = [Case(id=str(n), output="o") for n in range(24)]
    metric = RubricMetric(load_rubric(path), judge=Jury(members))
    return evaluate_sync(cases, [metric], out=folder / "run")


def test_a_report_with_opinions_is_read_again(report):
    again = Report.read(report.folder)

    assert again.figures == report.figures
    assert again.figures.metrics[0].opinions.members[2].failed == 1


def test_a_report_without_opinions_has_no_key_for_them():
    plain = evaluate_sync([Case(id="1", output="o")], [lambda_metric])

    assert "opinions" not in plain.figures.model_dump(mode="json")["metrics"][0]


def lambda_metric(case):
    return 1.0


def test_the_terminal_names_members_and_agreement(report):
    text = summary_text(report, width=100)

    assert "mine: a: mean 0.67" in text
    assert "mine: a and b: correlation " in text
    assert "24 scored" in text
    assert "23 scored, 1 failed" in text


def test_a_data_frame_has_a_row_for_each_opinion(report):
    frame = report.to_pandas(per="opinion")

    assert list(frame.columns) == [
        "case", "metric", "of", "member", "sample", "order", "value", "answers", "failure",
        "message",
    ]  # fmt: skip
    assert len(frame) == 72
    failed = frame[frame["failure"].notna()]
    assert failed[["case", "member", "failure"]].to_numpy().tolist() == [["3", "c", "unavailable"]]
    shown = report.to_pandas(per="criterion")["distribution"][0]
    assert json.loads(shown)["source"] == "samples"
