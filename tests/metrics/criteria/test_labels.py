"""Labels of people for criteria that each case has itself."""

import json

import pytest

import judgekit
from judgekit import Case, Criterion, FakeJudge
from judgekit.core.errors import ConfigError
from judgekit.metrics.criteria.texts import criterion_digest
from judgekit.metrics.safety_and_quality.points import Points

DOSE, TONE, HARM = "Names the dose", "Suits a layperson", "Advises to stop a drug"
CASES = [
    Case(id="a", output="One.", criteria=[Criterion(DOSE, 5), Criterion(HARM, -2)]),
    Case(
        id="b",
        output="Two.",
        criteria=[Criterion(TONE, 2, levels=["no", "partly", "yes"]), Criterion(DOSE, 1)],
    ),
    Case(id="c", output="Three.", criteria=[Criterion(DOSE, 1), Criterion(DOSE, 3, negate=True)]),
]


def judge(**options):
    def say(request):
        values = {DOSE: True, HARM: False, TONE: "partly"}
        return {
            q.id: {"reason": f"on {q.text}", "quotes": [], "value": values[q.text]}
            for q in request.form.questions
        }

    return Points(judge=FakeJudge(say), calls="all", **options)


def run(tmp_path, labels, cases=CASES, **options):
    lines = [{"metric": "points", "labeller": "ann", **label} for label in labels]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = judgekit.evaluate_sync(cases, [judge()], out=tmp_path / "run", **options)
    return report, path


def of(calibration):
    return {agreement.criterion: agreement for agreement in calibration.criteria}


def test_labels_are_joined_by_the_digest_of_the_text_in_every_case(tmp_path):
    report, labels = run(
        tmp_path,
        [
            {"case": "a", "values": {criterion_digest(DOSE): True, HARM: True}},
            {"case": "b", "values": {TONE: "yes", criterion_digest(DOSE): True}},
            {"case": "c", "values": {criterion_digest(DOSE): False}},
        ],
    )
    found = of(judgekit.agree(report, labels, write=False))

    yes_no, shares = found["criteria"], found["criteria by share"]
    # One text twice in case c: the label is about both.
    assert (yes_no.pairs, yes_no.cases, yes_no.clusters) == (5, 5, 3)
    assert (yes_no.table, yes_no.same) == (((0, 1), (2, 2)), 2)
    assert (shares.pairs, shares.scale) == (1, "number")


def test_labels_by_the_id_of_a_criterion_and_by_its_place(tmp_path):
    cases = [
        Case(id="a", output="One.", criteria=[Criterion(DOSE, 5, id="dose"), Criterion(HARM, -2)])
    ]
    report, labels = run(
        tmp_path, [{"case": "a", "values": {"dose": "yes", "criterion 2": "no"}}], cases
    )

    (found,) = judgekit.agree(report, labels, write=False).criteria
    assert (found.pairs, found.same) == (2, 2)


def test_a_label_for_no_criterion_of_the_case_is_counted(tmp_path):
    report, labels = run(tmp_path, [{"case": "a", "values": {DOSE: True, "something else": True}}])

    (found,) = judgekit.agree(report, labels, write=False).criteria
    hint = "a label names a criterion by its text, its id, or as 'criterion 1'"
    assert found.left_out == {f"no such criterion (case 'a': 'something else'; {hint})": 1}


def test_a_word_that_is_no_level_is_named(tmp_path):
    report, labels = run(tmp_path, [{"case": "b", "values": {TONE: "so-so"}}])

    with pytest.raises(ConfigError, match=r"case 'b', criterion 1: .*so-so"):
        judgekit.agree(report, labels, write=False)


def test_the_mean_is_corrected_with_labels_of_all_criteria_of_a_case(tmp_path):
    cases = [
        Case(id=f"c{n}", output=f"Answer {n}.", criteria=[Criterion(DOSE, 3), Criterion(HARM, -1)])
        for n in range(40)
    ]
    given = [
        {
            "case": f"c{n}",
            "values": {criterion_digest(DOSE): n % 2 == 0, criterion_digest(HARM): n % 4 == 0},
        }
        for n in range(24)
    ]
    given.append({"case": "c30", "values": {DOSE: True}})  # the other criterion has no label
    report, labels = run(tmp_path, given, cases)

    (mean,) = judgekit.correct_means(report, labels).means
    assert mean.labels.value == pytest.approx((12 * 3 - 6) / 3 / 24)
    assert mean.left_out == {"a criterion that counts has no label": 1}


GRADED = [
    Criterion(TONE, 2, levels=["no", "partly", "yes"]),
    Criterion("Stars", 1, score={"min": 1, "max": 5}),
    Criterion(DOSE, 1, negate=True),
]


@pytest.mark.parametrize(
    ("values", "worth"),
    [
        ({TONE: "yes", "Stars": 5, DOSE: False}, 1.0),
        ({TONE: "partly", "Stars": 3, DOSE: "yes"}, (2 * 0.5 + 0.5) / 4),
        ({TONE: "no", "Stars": 1, DOSE: "no"}, 0.25),
    ],
)
def test_the_mean_is_corrected_with_labels_of_every_kind(tmp_path, values, worth):
    report, labels = graded(tmp_path, values)

    (mean,) = judgekit.correct_means(report, labels).means

    assert mean.labels.value == pytest.approx(worth)
    assert mean.left_out == {}


def test_a_word_that_is_no_level_is_left_out_of_the_mean(tmp_path):
    report, labels = graded(tmp_path, {TONE: "so-so", "Stars": 1, DOSE: "no"})

    with pytest.raises(ConfigError, match="1 left out: no answer to its criterion"):
        judgekit.correct_means(report, labels)


def graded(tmp_path, values):
    def say(request):
        answers = {TONE: "partly", "Stars": 2, DOSE: True}
        return {
            q.id: {"reason": "r", "quotes": [], "value": answers[q.text]}
            for q in request.form.questions
        }

    line = {"case": "a", "metric": "points", "labeller": "ann", "values": values}
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(line), "utf-8")
    cases = [Case(id="a", output="One.", criteria=GRADED)]
    metric = Points(judge=FakeJudge(say), calls="all")
    return judgekit.evaluate_sync(cases, [metric], out=tmp_path / "run"), path


def test_statistics_are_those_of_criteria_that_recur(tmp_path):
    def say(request):
        number = int(request.about.output)
        return {
            q.id: {"reason": "r", "quotes": [], "value": (number + len(q.text)) % 3 == 0}
            for q in request.form.questions
        }

    cases = [
        Case(
            id=f"c{n}",
            output=str(n),
            criteria=[Criterion(f"only {n}", 1), Criterion(DOSE, 3), Criterion(DOSE, 1)]
            + [Criterion(HARM, -1)] * (n < 35),
        )
        for n in range(40)
    ]
    metric = Points(judge=FakeJudge(say), calls="all")
    report = judgekit.evaluate_sync(cases, [metric])

    found = judgekit.rubric_stats(report).criteria
    assert [(one.criterion, one.n) for one in found] == [(DOSE, 40), (HARM, 35)]
    few = judgekit.evaluate_sync(cases[:20], [metric])
    with pytest.raises(ConfigError, match="no criterion of a case occurs in 30 cases"):
        judgekit.rubric_stats(few)
