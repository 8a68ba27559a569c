"""`labels:` of a suite: reports, exports, pages, gates, merged shards, comparisons."""

from __future__ import annotations

import html
import json
import re

import pytest

import judgekit
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.report.display import summary_text
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.merge import merge_shards
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import build_suite, load_suite
from tests.each import each
from tests.labelled import METRIC, answers, read_lines, suite, write_lines, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled")
    write_run(folder)
    report = run_suite_sync(suite(folder, labels="labels.jsonl"), out=folder / "run", page=True)
    run_suite_sync(suite(folder), out=folder / "plain")
    return folder, report


def test_report_json_has_what_correct_finds(run):
    folder, report = run
    found = {
        one.criterion: one
        for one in judgekit.correct_means(folder / "run", folder / "labels.jsonl").means
    }

    summary = judgekit.Report.read(folder / "run").metrics["reply"]

    assert summary.corrected == report.metrics["reply"].corrected == found[None]
    assert {c.id: c.corrected for c in summary.criteria} == {
        "polite": found["polite"],
        "tone": found["tone"],
    }


def test_the_manifest_has_the_digest_and_keys_do_not_move(run):
    folder, report = run
    plain = judgekit.Report.read(folder / "plain")

    manifest = dict(report.figures.manifest)
    labels = manifest.pop("labels")
    assert labels["file"] == "labels.jsonl"
    assert re.fullmatch("[0-9a-f]{64}", labels["digest"])
    assert manifest == plain.figures.manifest
    keys = [re.findall(r'"request_key":"(\w+)"', (folder / name / "results.jsonl").read_text())
            for name in ("run", "plain")]  # fmt: skip
    assert keys[0] == keys[1]
    assert keys[0]


def test_without_labels_the_files_are_as_before(run):
    folder, _ = run

    text = (folder / "plain" / "report.json").read_text("utf-8")

    assert "corrected" not in text
    assert "labels.jsonl" not in text


def chosen_run(folder, gate, chosen, *, probability=lambda n: None, abstains=frozenset()):
    """Run 200 cases, half of them right; label those of `chosen`, all with yes.

    Args:
        folder: the folder of the suite.
        gate: the gate of the metric.
        chosen: numbers of the labelled cases; the judge says yes for even numbers.
        probability: number -> the probability in the label.
        abstains: numbers of cases in which the judge cannot tell.
    """
    cases = [{"id": f"c{n}", "output": f"answer {n}", "metadata": {"half": n % 2}}
             for n in range(200)]  # fmt: skip
    verdicts = [{"case": f"c{n}", "rubric": "m",
                 "answers": {"ok": None if n in abstains else n % 2 == 0}}
                for n in range(200)]  # fmt: skip
    labels = [{"case": f"c{n}", "metric": "m", "labeller": "ann", "values": {"ok": n % 7 > 0},
               **({"probability": probability(n)} if probability(n) else {})}
              for n in chosen]  # fmt: skip
    for name, rows in (("cases", cases), ("v", verdicts), ("labels", labels)):
        write_lines(folder / f"{name}.jsonl", rows)
    criteria = {"ok": {"text": "Right?", "kind": "boolean", "nullable": True}}
    built = build_suite({
        "cases": "cases.jsonl", "judge": {"recorded": "v.jsonl"}, "record": "new_episodes",
        "labels": "labels.jsonl", "metrics": {"m": {"criteria": criteria, "gate": gate}},
    }, base=folder)  # fmt: skip
    return run_suite_sync(built, out=folder / "run", page=True)


def test_labels_of_one_verdict_are_warned_of_everywhere(tmp_path):
    report = chosen_run(tmp_path, {"mean": 0.5, "corrected": True}, range(0, 200, 2))

    words = "do not look like a random sample of the run: the judge's mean is 1.00 on them, 0.00"
    assert words in " ".join(summary_text(report).split())
    assert words in html.unescape((tmp_path / "run" / "report.html").read_text("utf-8"))
    read = judgekit.Report.read(tmp_path / "run").metrics["m"].corrected
    assert read.comparability.differs
    assert read.comparability.tests == 1
    (gate,) = report.figures.gates
    assert (gate.passed, gate.answer, report.exit_code) == (False, "unknown", 1)
    assert f"does not pass: the labelled cases {words}" in gate.sentence
    report.export("junit", tmp_path / "out.xml")
    assert "warning: the labelled cases do not look" in (tmp_path / "out.xml").read_text()
    corrected = judgekit.correct_means(tmp_path / "run", tmp_path / "labels.jsonl")
    assert words in " ".join(corrected.text(width=500).split())
    assert corrected.to_pandas()["warning"][0].startswith("the labelled cases do not look")
    agreed = judgekit.agree(tmp_path / "run", tmp_path / "labels.jsonl")
    assert words in " ".join(agreed.text(width=500).split())
    page = agreed.to_html(tmp_path / "agree.html")
    assert words in html.unescape(page.read_text("utf-8"))


def test_a_gate_may_accept_any_labels(tmp_path):
    gate = {"mean": 0.5, "corrected": True, "labels": {"any": True}}

    report = chosen_run(tmp_path, gate, range(0, 200, 2))

    assert report.exit_code == 0
    assert report.figures.gates[0].gate.any_labels


def test_a_gate_that_misses_anyway_still_misses(tmp_path):
    report = chosen_run(tmp_path, {"mean": 0.99, "corrected": True}, range(0, 200, 2))

    assert report.figures.gates[0].answer == "misses"


def test_a_gate_on_the_judge_alone_says_so_where_there_are_labels(tmp_path):
    report = chosen_run(tmp_path, {"mean": 0.4}, range(0, 200, 2))

    (gate,) = report.figures.gates
    assert "over 200 (the judge alone, not corrected)" in gate.sentence


def test_a_gate_on_a_slice_compares_the_rows_of_the_slice(tmp_path):
    # All labels are of one half, whose rows are alike.
    gate = {"mean": 0.5, "corrected": True, "where": {"half": 0}}

    assert chosen_run(tmp_path, gate, range(0, 200, 2)).exit_code == 0


def test_labels_only_where_the_judge_could_tell_are_seen(tmp_path):
    abstains = {n for n in range(200) if n % 3 == 0}
    chosen = [n for n in range(200) if n not in abstains][:100]

    report = chosen_run(tmp_path, {"mean": 0.5, "corrected": True}, chosen, abstains=abstains)

    one = report.metrics["m"].corrected
    assert (one.comparability.of, one.comparability.labelled) == ("no value", 0.0)
    assert "the judge has no value in 0% of them, 67% of the rest" in one.warning
    assert report.exit_code == 1


@each(
    "chosen, options",
    [
        (range(100), {}),  # as many of both halves
        (range(200), {}),
        ([*range(0, 160, 2), *range(1, 40, 2)],
         {"probability": lambda n: 0.8 if n % 2 == 0 else 0.2}),
        (range(100), {"abstains": frozenset(range(0, 200, 5))}),
        ([0, 2, 4], {}),
    ],
)  # fmt: skip
def test_other_labels_are_not_warned_of(chosen, options, tmp_path):
    report = chosen_run(tmp_path, {"mean": 0.5, "corrected": True}, chosen, **options)

    assert report.metrics["m"].corrected.warning is None


def test_a_plan_whose_weights_are_wrong_is_seen(tmp_path):
    report = chosen_run(tmp_path, {}, range(0, 200, 2), probability=lambda n: 0.5)

    assert "by the probabilities of the labels" in report.metrics["m"].corrected.warning


def test_the_same_bytes_twice(run, tmp_path):
    folder, _ = run
    run_suite_sync(suite(folder, labels="labels.jsonl"), out=tmp_path / "again")

    for name in ("report.json", "results.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / "run" / name).read_bytes()


def test_terminal_page_and_notebook_have_it(run):
    folder, report = run
    one = report.metrics["reply"].corrected
    figure = one.corrected.text()
    shown = f"corrected with 67 labels (if they are a random sample): {figure} (PPI++; judge"

    text = " ".join(summary_text(report).split())

    assert shown in text
    assert "polite: corrected with 67 labels" in text
    assert shown in (folder / "run" / "report.html").read_text("utf-8")
    assert shown in report._repr_html_()


def test_a_corrected_judge_is_not_called_unlabelled_and_not_compared_either(run):
    folder, report = run
    plain = judgekit.Report.read(folder / "plain")

    assert plain.calibration == ["not compared with people: the judge of reply (judgekit agree)"]
    assert report.calibration == [
        "means are corrected with labels, agreement is not measured: the judge of reply "
        "(judgekit agree)"
    ]


def test_exports_have_it(run, tmp_path):
    folder, report = run
    value = report.metrics["reply"].corrected.corrected
    shown = f"corrected with 67 labels (if they are a random sample): {value.text()}"

    for format in ("junit", "json", "markdown", "csv"):
        report.export(format, tmp_path / f"out.{format}")

    assert f'<property name="corrected" value="{shown}' in (tmp_path / "out.junit").read_text()
    assert shown.translate({ord(c): f"\\{c}" for c in "[]():"}) in (
        tmp_path / "out.markdown"
    ).read_text("utf-8")
    data = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert data["metrics"][0]["corrected"]["corrected"]["value"] == value.value
    frame = report.to_pandas(per="run")
    assert frame["corrected"][0] == value.value
    assert frame["labels"][0] == 67
    plain = judgekit.Report.read(folder / "plain")
    assert "corrected" not in plain.to_pandas(per="run")
    plain.export("junit", tmp_path / "plain.xml")
    assert "properties" not in (tmp_path / "plain.xml").read_text()


# -- gates ----------------------------------------------------------------------------


@each(
    "gate, passed, answer, words",
    [
        ({"mean": 0.4, "corrected": True}, True, "meets",
         "over 67 labels (if they are a random sample) meets at least 0.4 by its estimate"),
        ({"mean": 0.9, "corrected": True}, False, "misses", "misses at least 0.9 by its estimate"),
        ({"mean": 0.52, "corrected": True, "undecided": "fail"}, False, "undecided",
         "cannot tell yet by its interval"),
        ({"mean": 0.52, "corrected": True, "undecided": "pass"}, True, "undecided", "passes"),
        ({"mean": 0.1, "corrected": True, "where": {"user": ["u1", "u2"]}}, False, "undecided",
         "needs] over 6 labels (if they are a random sample): cannot tell yet by its interval"),
        ({"mean": 0.1, "corrected": True, "where": {"user": "u1"}, "undecided": "pass"}, True,
         "undecided", "that passes (undecided: pass)"),
        ({"mean": 0.4, "corrected": True, "cluster": "user"}, True, "meets", "over 67 labels"),
    ],
)  # fmt: skip
def test_a_corrected_gate(gate, passed, answer, words, tmp_path):
    write_run(tmp_path)

    report = run_suite_sync(suite(tmp_path, gate=gate, labels="labels.jsonl"))

    (result,) = report.figures.gates
    assert (result.passed, result.answer) == (passed, answer), result.sentence
    assert "corrected mean" in result.sentence
    assert words in result.sentence
    assert report.exit_code == (0 if passed else 1)


def test_a_corrected_gate_decides_by_the_corrected_mean(tmp_path):
    """The judge is too kind: its own mean passes."""
    write_run(tmp_path)
    bound = 0.57

    plain = run_suite_sync(suite(tmp_path, gate={"mean": bound}, labels="labels.jsonl"))
    corrected = run_suite_sync(
        suite(tmp_path, gate={"mean": bound, "corrected": True}, labels="labels.jsonl")
    )

    assert plain.passed
    assert not corrected.passed
    assert corrected.figures.gates[0].found == corrected.metrics["reply"].corrected.corrected.value
    assert corrected.figures.gates[0].model_dump()["gate"]["corrected"] is True
    assert "corrected" not in plain.figures.gates[0].model_dump()["gate"]


def test_a_corrected_gate_without_a_usable_label_does_not_pass(tmp_path):
    write_run(tmp_path)
    rows = [{**row, "output_digest": "0" * 16} for row in read_lines(tmp_path / "labels.jsonl")]
    write_lines(tmp_path / "labels.jsonl", rows)

    report = run_suite_sync(
        suite(tmp_path, gate={"mean": 0, "corrected": True}, labels="labels.jsonl")
    )

    (gate,) = report.figures.gates
    assert not gate.passed
    assert gate.sentence.endswith("is unknown: no label is about the value of this metric")


def test_answers_of_a_model_match_no_label_by_id_alone(tmp_path):
    """The outputs are new: labels that name no output cannot be about them."""
    cases, _ = write_run(tmp_path)
    rows = read_lines(tmp_path / "labels.jsonl")
    for row in rows[1:]:
        del row["output_digest"]
    write_lines(tmp_path / "labels.jsonl", rows)
    wired = suite(tmp_path, gate={"mean": 0, "corrected": True}, labels="labels.jsonl")
    wired.use_answers([judgekit.Case.model_validate(case) for case in cases], model="fake/a")

    report = run_suite_sync(wired)

    assert report.metrics["reply"].corrected.labels.n == 1
    assert not report.passed


def test_lower_is_better(tmp_path):
    class Harm:
        name = "harm"
        range = (0.0, 1.0)
        higher_is_better = False

        async def score(self, case):
            return Score(value=float(case.id[1:]) % 10 / 10, source="judge")

    cases = [judgekit.Case(id=f"c{n}", output=str(n)) for n in range(200)]
    write_lines(tmp_path / "l.jsonl", [
        {"case": f"c{n}", "metric": "harm", "value": n % 10 / 20} for n in range(0, 200, 3)
    ])  # fmt: skip
    gates = {"harm": {"mean": 0.3, "corrected": True, "undecided": "fail"}}

    report = evaluate_sync(cases, [Harm()], gates=gates, labels=tmp_path / "l.jsonl")

    assert report.metrics["harm"].mean > 0.3
    assert report.figures.manifest["labels"]["file"] == "l.jsonl"
    assert report.passed
    assert "at most 0.3" in report.figures.gates[0].sentence


SUITE = """\
cases: cases.jsonl
judge: fake/judge
labels: labels.jsonl
metrics:
  reply:
    criteria: {polite: {text: Polite?, kind: boolean}}
    gate: {mean: 0.5, corrected: true}
"""


@each(
    "before, after, message",
    [
        ("labels: labels.jsonl\n", "",
         "{file}:6: metric 'reply': a gate with corrected needs labels of people; add labels: "
         "labels.jsonl at the top of the suite"),
        ("labels.jsonl", "label.jsonl",
         "{file}:3: no such file of labels: label.jsonl; did you mean "
         "'{folder}/labels.jsonl'?"),
        ("labels.jsonl", "other.jsonl",
         "{folder}/other.jsonl: the labels are about 'answer'; the run has reply"),
        ("labels.jsonl", "wrong.jsonl",
         "{folder}/wrong.jsonl: case 'c0', reply: 'maybe' is no answer to 'polite', which is yes "
         "or no"),
        ("labels.jsonl", "broken.jsonl", "{folder}/broken.jsonl:1: no label: needs 'value', "
         "'values' or 'answers'"),
        ("{mean: 0.5, ", "{coverage: 0.5, ",
         "{file}:7: metric 'reply': corrected applies to mean, not to coverage; write two gates: "
         "[{{mean: 0.8, corrected: true}}, {{...}}]"),
        ("corrected: true", "corrected: often",
         "{file}:7: metrics.reply.gate.corrected: must be true or false (it is 'often')"),
        ("corrected: true", "correct: true",
         "{file}:7: metrics.reply.gate.correct: must be a number, not true or false;"
         " did you mean 'corrected'?"),
    ],
)  # fmt: skip
def test_mistakes_are_told_before_a_run(before, after, message, tmp_path):
    write_run(tmp_path, count=3, every=1)
    write_lines(tmp_path / "other.jsonl", [{"case": "c0", "metric": "answer", "value": 1}])
    write_lines(tmp_path / "wrong.jsonl",
                [{"case": "c0", "metric": "reply", "values": {"polite": "maybe"}}])  # fmt: skip
    write_lines(tmp_path / "broken.jsonl", [{"case": "c0", "metric": "reply"}])
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE.replace(before, after), "utf-8")

    with pytest.raises(ConfigError) as caught:
        load_suite(file)

    assert str(caught.value) == message.format(file=file, folder=tmp_path)


def test_labels_of_other_metrics_are_no_mistake_with_only(tmp_path):
    write_run(tmp_path, count=3, every=1)
    data = SUITE.replace("metrics:\n", "metrics:\n  length: {maximum: 9}\n")
    (tmp_path / "suite.yaml").write_text(data, "utf-8")
    from judgekit.suite.suite import Overrides

    assert load_suite(tmp_path / "suite.yaml", Overrides(only=["length"])).labels is not None


def test_evaluate_refuses_a_corrected_gate_without_labels():
    class One:
        name = "one"
        range = (0.0, 1.0)
        higher_is_better = True

        async def score(self, case):
            return Score(value=1.0)

    with pytest.raises(ConfigError, match="a gate with corrected needs labels of people"):
        evaluate_sync([], [One()], gates={"one": {"mean": 0.5, "corrected": True}})


# -- several runs ---------------------------------------------------------------------


def test_merged_shards_are_corrected_as_one_run(tmp_path):
    write_run(tmp_path, count=120, every=2)
    metric = {**METRIC, "gate": {"mean": 0.2, "corrected": True}}
    data = {"cases": "cases.jsonl", "judge": "fake/judge", "cassette": "tape.jsonl",
            "labels": "labels.jsonl", "metrics": {"reply": metric}}  # fmt: skip
    file = tmp_path / "suite.yaml"
    file.write_text(json.dumps(data), "utf-8")
    judge = judgekit.FakeJudge(answers)
    whole = run_suite_sync(load_suite(file, judge=judge), out=tmp_path / "whole")
    from judgekit.suite.suite import Overrides

    for shard in ("1/2", "2/2"):
        run_suite_sync(load_suite(file, Overrides(shard=shard)), out=tmp_path / shard[0])
    merged = merge_shards(file, [tmp_path / "1", tmp_path / "2"], out=tmp_path / "merged")

    assert merged.figures == whole.figures
    assert (tmp_path / "merged/report.json").read_bytes() == (
        tmp_path / "whole/report.json"
    ).read_bytes()
    assert merged.metrics["reply"].corrected.corrected.low is not None


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    for name, seed in (("main", 1), ("pr", 2)):
        (folder / name).mkdir()
        write_run(folder / name, seed=seed)
        run_suite_sync(suite(folder / name, labels="labels.jsonl"), out=folder / name / "run")
        run_suite_sync(suite(folder / name), out=folder / name / "plain")
    return folder


def test_each_run_is_corrected_with_its_own_labels(two):
    found = judgekit.compare(two / "main/run", two / "pr/run")

    (metric,) = found.metrics
    one = metric.corrected
    runs = [
        judgekit.Report.read(two / name / "run").metrics["reply"].corrected
        for name in ("main", "pr")
    ]
    assert (one.base, one.new) == tuple(run.corrected for run in runs)
    assert one.mean == pytest.approx(runs[1].corrected.value - runs[0].corrected.value)
    assert one.low < one.mean < one.high
    error = (runs[0].standard_error ** 2 + runs[1].standard_error ** 2) ** 0.5
    assert one.high - one.low == pytest.approx(2 * 1.975 * error, rel=0.02)
    text = found.text() if hasattr(found, "text") else ""
    assert "corrected by people" in (text or found.markdown())
    assert "Assumes that the labels of each run are a random sample" in found.markdown()
    assert found.to_pandas()["corrected_mean"][0] == pytest.approx(one.mean)
    assert found.to_json()["metrics"][0]["corrected"]["mean"] == one.mean


def test_a_correction_is_not_shared(two):
    (metric,) = judgekit.compare(two / "main/run", two / "pr/plain").metrics

    assert metric.corrected.mean is None
    assert metric.corrected.too_few == "only the base has labels; label the other too"


def test_labels_of_no_output_cannot_be_about_two_answers(two, tmp_path):
    rows = read_lines(two / "main/labels.jsonl")
    for row in rows:
        del row["output_digest"]
    for name in ("main", "pr"):
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name / "cases.jsonl", read_lines(two / name / "cases.jsonl"))
        write_lines(tmp_path / name / "labels.jsonl", rows)
        run_suite_sync(suite(tmp_path / name, labels="labels.jsonl"), out=tmp_path / name / "run")

    (metric,) = judgekit.compare(tmp_path / "main/run", tmp_path / "pr/run").metrics

    assert metric.corrected.mean is None
    assert "cannot be about the answers of both runs" in metric.corrected.too_few


def test_without_labels_a_comparison_is_as_before(two):
    found = judgekit.compare(two / "main/plain", two / "pr/plain")

    assert found.metrics[0].corrected is None
    assert "corrected" not in json.dumps(found.to_json())
    assert "corrected" not in found.markdown()
    assert "corrected_mean" not in found.to_pandas()
