"""Personalization: the gate, the parts, who judged quality, and files of examples."""

from __future__ import annotations

import asyncio
import json

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError, JudgeUnavailable
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.embedding.examples import read_examples
from judgekit.metrics.personalization.personalization import Personalization
from judgekit.metrics.registry import create_metric
from judgekit.metrics.rubric import RubricMetric
from judgekit.runner.evaluation import evaluate_sync, score_sync
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import build_suite

POSITIVE = ["Rather lovely weather, one mustn't complain.", "Cheers, terribly kind of you."]
NEGATIVE = ["It was great! So much fun!", "Thanks a lot, I appreciate it!"]
BRITISH = Case(
    id="british",
    input="How was your weekend?",
    baseline="It was great! I went hiking and had a lot of fun.",
    output="Rather lovely, thank you. One mustn't complain, though it rained.",
)
UNMOVED = BRITISH.model_copy(update={"id": "unmoved", "output": BRITISH.baseline + " Yes."})
LEVELS = ("helpfulness", "correctness", "clarity", "coherence", "concision")


def good(request):
    answers = {name: {"reason": "It answers.", "value": "good"} for name in LEVELS}
    answers["correctness"]["quotes"] = []
    return answers


def made(**options):
    options = {"positive_examples": POSITIVE, "negative_examples": NEGATIVE, **options}
    return Personalization(**options)


def score(metric, case=BRITISH):
    return asyncio.run(metric.score(case))


def test_the_parts_add_up_on_one_scale():
    found = score(made(judge=FakeJudge(good)))

    details = found.details
    assert details["quality_score"] == pytest.approx(0.75)
    assert details["alignment_score"] > 0.5
    assert found.value == details["overall_score"]
    assert found.value == pytest.approx(
        0.2 * details["difference_score"] + 0.3 * 0.75 + 0.5 * details["alignment_score"]
    )
    assert details["difference_1_100"] == pytest.approx(100 * details["difference_score"])
    assert found.source == "judge"
    assert len(found.judgments) == 1
    assert found.meta["embedder"].startswith("lexical")


@pytest.mark.parametrize(("reference", "truth"), [((), None), (("Lovely.",), "Lovely.")])
def test_the_baseline_is_not_the_truth(reference, truth):
    case = BRITISH.model_copy(update={"reference": reference})

    assert score(made(judge=FakeJudge(good)), case).ground_truth == truth


def test_an_answer_that_did_not_move_scores_zero_whatever_else():
    found = score(made(judge=FakeJudge(good)), UNMOVED)

    assert found.value == 0.0
    assert found.details["steered"] is False
    assert "no effect" in found.reason
    assert found.details["quality_score"] == pytest.approx(0.75)


def test_the_gate_may_be_moved():
    assert score(made(least_difference=0.05), UNMOVED).value > 0


def test_without_a_judge_quality_is_by_rule_and_says_so():
    found = score(create_metric("personalization_rules", **made_options()))

    assert found.source == "computed"
    assert found.details["quality_by"] == "coherence checks by rule"
    assert "by rule, not judged" in found.reason


def made_options():
    return {"positive_examples": POSITIVE, "negative_examples": NEGATIVE}


@pytest.mark.parametrize("field", ["baseline", "input", "output"])
def test_a_missing_text_is_a_failure_and_no_zero(field):
    case = BRITISH.model_copy(update={field: None})

    with pytest.raises(CaseError, match=f"needs an? {field}"):
        score(made(), case)
    assert score_sync(case, made()).kind == "invalid_case"


def test_swapped_examples_mirror_the_alignment():
    there = score(made()).details["alignment_score"]
    back = score(made(positive_examples=NEGATIVE, negative_examples=POSITIVE))

    assert there + back.details["alignment_score"] == pytest.approx(1.0, abs=1e-4)


def test_the_run_has_the_means_of_the_scores():
    report = evaluate_sync([BRITISH, UNMOVED], [made()])

    figures = report.metrics["personalization"].figures
    assert figures["steered_share"] == 0.5
    assert 0 < figures["difference_score"] < 1
    assert figures["quality_score"] == 1.0
    assert report.metrics["personalization"].mean == pytest.approx(
        score(made()).value / 2, abs=1e-9
    )


def test_a_suite_reads_files_beside_it_and_gates_on_figures(tmp_path):
    (tmp_path / "british.json").write_text(
        json.dumps({"pairs": [{"prompt": "Hi", "positive": p, "negative": n}
                              for p, n in zip(POSITIVE, NEGATIVE, strict=True)]})
    )  # fmt: skip
    (tmp_path / "plain.txt").write_text("\n".join(NEGATIVE) + "\n")
    (tmp_path / "cases.jsonl").write_text(BRITISH.model_dump_json(exclude_defaults=True) + "\n")
    suite = build_suite(
        {
            "cases": "cases.jsonl",
            "metrics": {
                "personalization": {
                    "positive_examples": "british.json",
                    "negative_examples": "plain.txt",
                    "gate": {"steered_share": 1.0},
                }
            },
        },
        base=tmp_path,
        overrides=Overrides(no_judge=True),
    )

    report = asyncio.run(run_suite(suite))

    row = next(iter(report.results)).rows[0]
    assert row.result.fallback.cause == "no_judge"
    assert row.result.value == pytest.approx(score(made()).value)


def test_its_own_stand_in_takes_over_its_options_when_the_judge_is_out():
    def out(request):
        raise JudgeUnavailable("nobody there")

    suite = build_suite(
        {
            "judge": "fake/judge",
            "metrics": {"personalization": {**made_options(), "fallback": "personalization_rules"}},
        },
        base=__import__("pathlib").Path(),
    )
    (metric,) = suite.metrics
    metric.metric.quality = RubricMetric("quality", judge=FakeJudge(out))

    found = score(metric)

    suite.close()
    assert found.fallback.substitute == "personalization_rules"
    assert found.value == pytest.approx(score(made()).value)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (json.dumps(POSITIVE), "a.json"),
        (json.dumps({"positive_examples": POSITIVE}), "a.json"),
        (json.dumps({"pairs": [{"positive": p, "negative": "n"} for p in POSITIVE]}), "a.json"),
        (json.dumps([{"positive_response": {"model_response": p}} for p in POSITIVE]), "a.json"),
        ("\n".join(json.dumps(p) for p in POSITIVE), "a.jsonl"),
        ("\n".join(json.dumps({"positive": p}) for p in POSITIVE), "a.jsonl"),
        ("\n\n".join(POSITIVE), "a.txt"),
    ],
)
def test_examples_come_in_several_shapes(content, name, tmp_path):
    (tmp_path / name).write_text(content)

    assert read_examples("m", "positive", str(tmp_path / name)) == tuple(POSITIVE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("3", "examples are a list of texts, or pairs"),
        ("[3]", "entry 1: neither a text nor a pair with 'positive'"),
        ('[{"negative": "x"}]', "entry 1: neither a text nor a pair with 'positive'"),
        ("[]", "has no texts"),
        ('["x", " "]', "number 2 is ' '"),
        ("\udcff", "not UTF-8"),
    ],
)
def test_wrong_files_of_examples_are_said(content, message, tmp_path):
    file = tmp_path / "bad.json"
    file.write_text(content, errors="surrogateescape")

    with pytest.raises(ConfigError) as caught:
        made(positive_examples=str(file))

    assert message in str(caught.value)
    assert "bad.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"least_difference": 70}, "must be a number from 0 to 1 (.7 is 70 of 100), not 70"),
        ({"weights": {"difference": 1}}, "weights: missing quality, alignment"),
        ({"weights": {"difference": 1, "quality": 1, "alignment": 1}}, "must add up to 1"),
        ({"positive_examples": []}, "positive_examples has no texts"),
        ({"negative_examples": 3}, "must be a file or a list of texts, not 3"),
        ({"positive_examples": "missing.json"}, "no such file of examples"),
        ({"by": "feel"}, "by must be one of tokens, embedding"),
    ],
)
def test_wrong_options_are_said(options, message):
    with pytest.raises(ConfigError) as caught:
        made(**options)

    assert message in str(caught.value)


def test_rows_do_not_depend_on_their_neighbours():
    alone = score(made())
    metric = made()
    for case in (UNMOVED, BRITISH, BRITISH):
        found = score(metric, case)

    assert found == alone


def test_a_case_of_another_trait_is_not_applicable_and_nobody_is_asked():
    judge = FakeJudge(good)
    metric = made(judge=judge, trait="british")
    other = BRITISH.model_copy(update={"metadata": {"trait": "formal"}, "baseline": None})
    mine = BRITISH.model_copy(update={"metadata": {"trait": "british"}})

    assert score(metric, other).status == "not_applicable"
    assert judge.asked == []
    assert score(metric, mine).value > 0


def test_one_answer_is_scored_by_flags(tmp_path):
    for name, texts in (("yes.json", POSITIVE), ("no.json", NEGATIVE)):
        (tmp_path / name).write_text(json.dumps(texts))

    done = CliRunner().invoke(
        app,
        [
            "score", "--metric", "personalization", "--no-judge", "--json",
            "--input", BRITISH.input, "--output", BRITISH.output, "--baseline", BRITISH.baseline,
            "--positive-examples", str(tmp_path / "yes.json"),
            "--negative-examples", str(tmp_path / "no.json"),
        ],
    )  # fmt: skip

    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert row["result"]["value"] == pytest.approx(score(made()).value)
