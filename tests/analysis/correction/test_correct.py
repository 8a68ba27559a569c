"""`judgekit correct`: the join of labels and results, the figures, the words, the errors."""

from __future__ import annotations

import json
import statistics

import pytest

import judgekit
from judgekit.core.errors import ConfigError
from judgekit.suite.run import run_suite_sync
from tests.each import each
from tests.labelled import read_lines, suite, write_lines, write_run

WORTH = {"good": 1.0, "fair": 0.5, "bad": 0.0}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    _, truth = write_run(folder, broken=4)
    run_suite_sync(suite(folder), out=folder / "run")
    return folder, truth


@pytest.fixture
def labels(made, tmp_path):
    """Return a function that writes the labels after a change, and corrects with them."""
    folder, _ = made

    def corrected(change=lambda label: label, **options):
        rows = [row for label in read_lines(folder / "labels.jsonl")
                if (row := change(json.loads(json.dumps(label)))) is not None]  # fmt: skip
        write_lines(tmp_path / "changed.jsonl", rows)
        return judgekit.correct_means(folder / "run", tmp_path / "changed.jsonl", **options)

    return corrected


def by_name(found):
    return {one.name: one for one in found.means}


def test_criteria_and_the_metric_are_corrected(made):
    folder, truth = made
    found = by_name(judgekit.correct_means(folder / "run", folder / "labels.jsonl"))

    assert list(found) == ["reply, polite", "reply, tone", "reply"]
    polite, tone, whole = found.values()
    # The first four replies failed; cases 0 and 3 of them have a label, which counts all the same.
    labelled = [truth[n] for n in range(0, 200, 3)]
    assert polite.labels.value == pytest.approx(statistics.fmean(p for p, _ in labelled))
    assert tone.labels.value == pytest.approx(statistics.fmean(WORTH[t] for _, t in labelled))
    both = [(p + WORTH[t]) / 2 for p, t in labelled]
    assert whole.labels.value == pytest.approx(statistics.fmean(both))
    assert (polite.rows, polite.labels.n, polite.judge.n) == (196, 67, 196)
    assert polite.unscored == {"failed": 4}
    assert polite.left_out == {}
    for one in found.values():
        assert one.corrected.low < one.corrected.value < one.corrected.high
        assert one.corrected.value < one.judge.value  # the judge is too kind
        assert one.saved > 0
        assert one.rho.low < one.rho.value < one.rho.high
        assert one.factor == pytest.approx(1 / (1 - one.rho.value**2))
    assert polite.youden.value == pytest.approx(
        polite.sensitivity.value + polite.specificity.value - 1
    )
    assert (tone.youden, whole.youden) == (None, None)


def test_the_corrected_mean_is_near_the_truth(made):
    folder, truth = made

    polite = by_name(judgekit.correct_means(folder / "run", folder / "labels.jsonl"))[
        "reply, polite"
    ]

    mean = statistics.fmean(p for p, _ in truth)
    assert polite.corrected.low < mean < polite.corrected.high
    assert not polite.judge.low < mean < polite.judge.high


def test_the_same_twice_as_json_and_text(made):
    folder, _ = made
    one, two = (judgekit.correct_means(folder / "run", folder / "labels.jsonl") for _ in range(2))

    assert one.model_dump_json() == two.model_dump_json()
    assert one.text() == two.text()
    assert type(one).model_validate_json(one.model_dump_json()) == one


def test_words_say_what_is_assumed_and_left_out(made):
    folder, _ = made
    found = judgekit.correct_means(folder / "run", folder / "labels.jsonl")

    text = " ".join(found.text(width=80).split())

    assert "reply, polite, labels by ann mean 95 % interval n judge" in text
    assert "Assumes that the labelled cases are a random sample of the run." in text
    assert "rows without a value of the judge: 4 failed; labels there count" in text
    assert "the judge saved about" in text
    markdown = found.markdown()
    assert "### reply, polite, labels by ann\n\n|  | mean | 95 % interval | n |" in markdown
    assert "- Assumes that the labelled cases are a random sample of the run." in markdown
    assert "reply, polite" in found._repr_html_()
    assert repr(found) == "CorrectedRun(reply, polite, reply, tone, reply)"


def test_frames(made):
    folder, _ = made
    found = judgekit.correct_means(folder / "run", folder / "labels.jsonl")

    frame = found.to_pandas()

    assert list(frame["criterion"].fillna("")) == ["polite", "tone", ""]
    assert frame["corrected"][0] == pytest.approx(found.means[0].corrected.value)
    assert frame["labels_n"].tolist() == [67, 67, 67]
    assert found.to_polars()["saved"].to_list() == [one.saved for one in found.means]


def test_several_people_count_by_mean_or_majority(tmp_path):
    write_run(tmp_path, labellers=("ann", "bob", "cyd"))
    run_suite_sync(suite(tmp_path), out=tmp_path / "run")
    rows = read_lines(tmp_path / "labels.jsonl")
    for row in rows:
        if row["labeller"] == "cyd":
            row["values"]["polite"] = not row["values"]["polite"]
            if row["case"] == "c3":
                row["values"]["polite"] = None
        if row["labeller"] == "bob" and row["case"] == "c3":
            row["values"]["polite"] = not row["values"]["polite"]
    write_lines(tmp_path / "labels.jsonl", rows)

    def polite(**options):
        found = judgekit.correct_means(tmp_path / "run", tmp_path / "labels.jsonl", **options)
        return by_name(found)["reply, polite"]

    mean, majority = polite(), polite(combine="majority")
    first = [r["values"]["polite"] for r in rows if r["labeller"] == "ann" and r["case"] != "c3"]
    assert majority.labels.value == pytest.approx(statistics.fmean(first))
    assert majority.left_out == {"people are tied": 1}
    share = (2 * sum(first) / 3 + (len(first) - sum(first)) / 3 + 0.5) / (len(first) + 1)
    assert mean.labels.value == pytest.approx(share)
    assert mean.labellers == ("ann", "bob", "cyd")


def test_a_value_of_the_metric_goes_before_the_fold(labels):
    def change(label):
        return {**label, "value": 0.25 + 0.5 * label["values"]["polite"]}

    whole = by_name(labels(change))["reply"]

    assert 0.25 < whole.labels.value < 0.75
    polite = by_name(labels(change))["reply, polite"]
    assert whole.labels.value == pytest.approx(0.25 + 0.5 * polite.labels.value)


def test_a_person_who_left_a_criterion_open_gives_no_value_of_the_metric(labels):
    def change(label):
        if label["case"] in ("c6", "c9"):
            label["values"]["tone"] = None
        return label

    found = by_name(labels(change))

    assert found["reply, polite"].labels.n == 67
    assert found["reply, tone"].labels.n == found["reply"].labels.n == 65
    assert found["reply"].left_out["no usable answer of a person"] == 2


def test_words_of_labels_may_be_spelled_freely(labels):
    plain = labels()

    def change(label):
        values = label["values"]
        values["polite"] = "Yes" if values["polite"] else "fail"
        values["tone"] = f" {values['tone'].upper()} "
        return label

    assert labels(change).means == plain.means


def test_labels_may_name_the_rubric_instead_of_the_metric(made, labels):
    def change(label):
        label["rubric"] = label.pop("metric")
        return label

    assert labels(change).means == labels().means


def test_weights_of_a_plan(labels):
    def change(label):
        number = int(label["case"][1:])
        return {**label, "probability": 0.9 if number % 2 else 0.2}

    plain, found = by_name(labels())["reply"], by_name(labels(change))["reply"]

    assert found.planned
    assert found.corrected.value != pytest.approx(plain.corrected.value, abs=1e-6)
    assert "labelled with the probabilities in the labels" in labels(change).text().replace(
        "\n", " "
    )


def test_labels_without_a_digest_match_by_id_and_are_counted(labels):
    def change(label):
        del label["output_digest"]
        return label

    found = labels(change)

    assert by_name(found)["reply"].without_digest == 67
    assert "labels of 67 cases name no output: matched by case id alone" in found.text(width=200)


def test_a_label_of_another_output_is_left_out(labels):
    def change(label):
        if label["case"] == "c6":
            label["output_digest"] = "0" * 16
        return label

    polite = by_name(labels(change))["reply, polite"]

    assert polite.left_out["the label is for another output"] == 1
    assert (polite.rows, polite.labels.n) == (196, 66)


def test_few_labels_have_a_mean_and_no_interval(labels):
    found = labels(lambda label: label if int(label["case"][1:]) < 90 else None)

    polite = by_name(found)["reply, polite"]
    assert polite.corrected.value is not None
    assert polite.corrected.low is polite.labels.low is polite.rho.low is None
    assert polite.corrected.too_few == "30 of the 50 labels that a corrected mean needs"
    assert "too few: 30 of the 50 labels" in found.text()


def test_rogan_gladen_corrects_yes_and_no(labels):
    found = labels(by="rogan-gladen")

    polite, tone, whole = found.means
    assert polite.corrected.low < polite.corrected.value < polite.corrected.high
    assert polite.lam is polite.df is None
    assert "share over the 131 rows without a label" in polite.assumes
    for other in (tone, whole):
        assert other.corrected.value is None
        assert other.corrected.too_few == "Rogan-Gladen corrects yes and no alone; use PPI++"
    assert "not corrected: Rogan-Gladen corrects yes and no alone" in found.text()


def test_clusters(labels):
    found = labels(cluster="user")

    assert found.cluster == "user"
    polite = by_name(found)["reply, polite"]
    assert polite.corrected.low is not None
    plain = by_name(labels())["reply, polite"]
    assert polite.corrected.value == pytest.approx(plain.corrected.value)
    assert polite.df < 20 < plain.df
    assert "t, by clusters of user" in found.text()


def test_pass_and_fail_are_values_of_a_metric_of_0_and_1_alone(labels):
    def change(label):
        return {"case": label["case"], "metric": "reply", "value": label["values"]["polite"]}

    with pytest.raises(ConfigError, match="labels pass and fail are no values of this metric"):
        labels(change)


@each(
    "change, options, message",
    [
        (lambda one: one, {"by": "ppi++"},
         "by must be ppi or rogan-gladen, not 'ppi++'; did you mean 'ppi'?"),
        (lambda one: one, {"combine": "median"},
         "labels must be mean or majority, not 'median'; did you mean 'mean'?"),
        (lambda one: one, {"cluster": "usr"},
         "cluster: no case has 'usr' in its metadata; did you mean 'user'?"),
        (lambda one: {**one, "metric": "replies"}, {},
         "{file}: the labels are about 'replies'; the run has reply; did you mean 'reply'?"),
        (lambda one: {**one, "case": f"x{one['case']}"}, {},
         "{file}: no label is about a case that the run has a score for; are the case ids the "
         "same?"),
        (lambda one: {**one, "output_digest": "0" * 16}, {},
         "{file}: no label can be used: "
         "labels of 67 left out: the label is for another output"),
        (lambda one: {**one, "values": {"tone": "godo"}}, {},
         "{file}: case 'c0', reply: 'godo' is no answer to 'tone'; did you mean 'good'?"),
        (lambda one: {**one, "values": {"polite": 0.5}}, {},
         "{file}: case 'c0', reply: 0.5 is no answer to 'polite', which is yes or no"),
        (lambda one: {**one, "value": 4}, {},
         "{file}: case 'c0', reply: 4 is no value from 0 to 1"),
        (lambda one: {**one, "value": "nice"}, {},
         "{file}: case 'c0', reply: 'nice' is no number, pass or fail"),
        (lambda one: {**one, **({"probability": 0.5} if one["case"] == "c6" else {})}, {},
         "{file}: reply: case 'c6' has a probability and 'c0' has none; add the probabilities of "
         "the sampling plan to all labels, or remove them"),
        (lambda one: None, {}, "{file}: the file has no labels"),
    ],
)  # fmt: skip
def test_mistakes(change, options, message, labels, tmp_path):
    with pytest.raises(ConfigError) as caught:
        labels(change, **options)

    assert str(caught.value) == message.format(file=tmp_path / "changed.jsonl")


def test_an_old_run_without_the_rubric_takes_shares_and_yes_no(made, tmp_path):
    """Runs of earlier versions do not say what an answer is worth."""
    folder, _ = made
    report = judgekit.Report.read(folder / "run")
    manifest = {k: v for k, v in report.figures.manifest.items() if k != "rubrics"}
    older = judgekit.Report(
        report.figures.model_copy(update={"manifest": manifest}), results=report.results
    )

    found = by_name(judgekit.correct_means(older, folder / "labels.jsonl"))

    assert found["reply, polite"].corrected.low is not None
    assert found["reply, tone"].labels.n == 0
    assert found["reply, tone"].corrected.value is None


@each(
    "change",
    [
        lambda rubric: {"metrics": 5},
        lambda rubric: {"criteria": [{"id": 1}]},
        lambda rubric: {"criteria": "x"},
        lambda rubric: {"criteria": [{**one, "levels": []} for one in rubric["criteria"]]},
        lambda rubric: {"criteria": [{**one, "weight": 1e308} for one in rubric["criteria"]]},
        lambda rubric: {"modes": {"default": {"": "x"}}, "combine": 7},
        lambda rubric: {"modes": {mode: {"": -1e308} for mode in rubric["modes"]}},
    ],
)
def test_a_manifest_that_judgekit_did_not_write_is_no_crash(change, made):
    folder, _ = made
    report = judgekit.Report.read(folder / "run")
    rubric = report.figures.manifest["rubrics"][0]
    manifest = {**report.figures.manifest, "rubrics": [{**rubric, **change(rubric)}]}
    figures = report.figures.model_copy(update={"manifest": manifest})
    older = judgekit.Report(figures, results=report.results)

    for one in judgekit.correct_means(older, folder / "labels.jsonl").means:
        assert one.corrected.value is None or 0 <= one.corrected.value <= 1


@each(
    "kind, answer, value",
    [
        ({"minimum": 1, "maximum": 5}, 4, 0.75),
        ({"minimum": 1, "maximum": 5, "reverse": True}, 4, 0.25),
        ({"kind": "checklist", "items": ["a", "b"]}, 0.5, 0.5),
        ({"options": {"yes": 1, "unsure": None, "no": 0}}, "yes", 1.0),
        ({"options": {"yes": 1, "unsure": None, "no": 0}}, "unsure", None),
    ],
)
def test_a_label_is_worth_what_the_same_answer_of_the_judge_is(kind, answer, value, tmp_path):
    known = {"one": {"reason": "r", "value": "no"}}  # one without a value would leave the row out
    judge = judgekit.FakeJudge((lambda _: known) if "options" in kind else None)
    write_lines(tmp_path / "cases.jsonl", [{"id": "a", "output": "x"}, {"id": "b", "output": "y"}])
    label = {"case": "a", "metric": "m", "values": {"one": answer}}
    write_lines(tmp_path / "labels.jsonl", [label])
    from judgekit.suite.suite import build_suite

    data = {"cases": "cases.jsonl", "judge": "fake/judge",
            "metrics": {"m": {"criteria": {"one": {"text": "Is it kind?", **kind}}}}}  # fmt: skip
    report = run_suite_sync(build_suite(data, base=tmp_path, judge=judge))

    if value is None:
        with pytest.raises(ConfigError, match="no usable answer of a person"):
            judgekit.correct_means(report, tmp_path / "labels.jsonl")
        return
    one, whole = judgekit.correct_means(report, tmp_path / "labels.jsonl").means
    assert one.labels.value == pytest.approx(value)
    assert whole.labels.value == pytest.approx(value)


def test_a_label_counts_whatever_the_judge_did(tmp_path):
    """The judge abstains from most wrong answers, so its own mean is far above the truth."""
    right = [n % 2 == 0 for n in range(400)]
    silent = [not yes and n % 5 != 1 for n, yes in enumerate(right)]
    cases = [{"id": f"c{n}", "input": f"q{n}", "output": f"a{n}"} for n in range(400)]
    write_lines(tmp_path / "cases.jsonl", cases)
    write_lines(
        tmp_path / "v.jsonl",
        [
            {"case": f"c{n}", "rubric": "m", "answers": {"ok": None if silent[n] else yes}}
            for n, yes in enumerate(right)
        ],
    )
    write_lines(
        tmp_path / "labels.jsonl",
        [
            {"case": f"c{n}", "metric": "m", "labeller": "ann", "values": {"ok": right[n]}}
            for n in range(0, 400, 3)
        ],
    )
    criterion = {"kind": "boolean", "nullable": True, "text": "Right?"}
    suite = {
        "cases": "cases.jsonl",
        "judge": {"recorded": "v.jsonl"},
        "record": "new_episodes",
        "metrics": {"m": {"criteria": {"ok": criterion}}},
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite), "utf-8")
    run_suite_sync(tmp_path / "suite.yaml", out=tmp_path / "run")

    found = judgekit.correct_means(tmp_path / "run", tmp_path / "labels.jsonl")

    for one in found.means:
        assert one.judge.value > 0.8
        assert one.labels.n == 134
        assert one.corrected.low < 0.5 < one.corrected.high
        assert one.left_out == {}
        # How well the judge agrees is measured where it answers.
        assert (one.sensitivity.value, one.specificity.value) == (1.0, 1.0)
