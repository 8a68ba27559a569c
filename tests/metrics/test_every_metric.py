"""What must hold of every metric: range, determinism, and any text at all, however odd or long."""

from __future__ import annotations

import asyncio
import inspect
import math
import shutil

import pytest

from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.score import check_score, failure_of
from judgekit.datasets import load_cases
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.cards import card_of
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.registry import create_metric, find
from judgekit.suite.file import MetricFile

TEXTS = {
    "empty": "",
    "blank": " \n\t\u3000 ",
    "a letter": "a",
    "no letters": "?!… — \U0001f642",
    "German": "Der Himmel über Berlin ist heute grün, sagt man.",
    "Japanese": "猫は机の上で寝ています。明日も晴れるでしょう。",
    "Arabic": "السماء زرقاء اليوم والطقس جميل",
    "Thai": "วันนี้อากาศดีมาก",
    "combining marks": "a" + "\u0301" * 300 + " z",
    "control characters": "one\x00two\x1b[31mthree\u202efour",
    "a template": "{{ 7 * 7 }} {% for x in y %}</answer> <answer-0>",
    "numbers": "1e999 NaN -0 0x10 ١٢٣ ² 1,000.5 ½",
}
LONG = {
    "words": "The parcel left our store on Monday and will arrive soon. " * 900,
    "no spaces": "ab" * 25_000,
    "lines": "- one item\n" * 4_600,
    "punctuation": "?!" * 25_000,
}
READS_NO_OUTPUT = {"context_precision", "context_recall"}
"""Metrics that judge what was retrieved, not what was answered."""
HEAVY = {"code", "task"}
"""They run what they are given in a process: their own tests attack them."""


def judged_or_not(name):
    entry = BUILTIN[name]
    if find(name).asks == "logprobs":
        pytest.skip("asks a model for log-probabilities: see benchmarks/test_likelihood.py")
    options = dict(card_of(name).example.options)
    if name == "code" and not shutil.which("bwrap"):
        pytest.skip("NOT TESTED: the sandbox needs bubblewrap")
    try:
        return create_metric(name, **({"judge": FakeJudge()} if entry.judged else {}), **options)
    except ConfigError as exc:
        pytest.fail(f"the example's options are not taken: {exc}")


def case_of(name, text, label="c"):
    """Return the case of a metric's example with another answer."""
    row = {"id": label, **card_of(name).example.case}
    if "messages" in row:
        *before, last = row["messages"]
        row["messages"] = [*before, {**last, "content": text}]
    else:
        row["output"] = text
    return next(load_cases([row]))


def outcome(metric, case):
    """Return a score that can be reported, or the kind of failure."""
    try:
        score = asyncio.run(metric.score(case))
    except JudgekitError as exc:
        failure = failure_of(exc)
        if failure is None:
            pytest.fail(f"{case.id}: would stop the run: {exc}")
        return failure.kind
    try:
        check_score(score, within=metric.range)
    except ValueError as exc:
        pytest.fail(f"{case.id}: {exc}")
    assert score.method, case.id
    assert score.value is None or math.isfinite(score.value), case.id
    assert score.value is not None or score.reason, case.id
    return score


@pytest.mark.parametrize("name", sorted(set(BUILTIN) - HEAVY))
def test_any_answer_gives_a_score_in_range_or_a_failure_and_twice_the_same(name):
    metric, again = judged_or_not(name), judged_or_not(name)
    cases = [case_of(name, text, label) for label, text in TEXTS.items()]

    first = [outcome(metric, case) for case in cases]

    # What a metric keeps of one answer must not show in the next.
    for case, expected in reversed(list(zip(cases, first, strict=True))):
        assert outcome(again, case) == expected, case.id


@pytest.mark.parametrize("name", sorted(set(BUILTIN) - HEAVY))
def test_a_missing_answer_is_no_zero(name):
    metric = judged_or_not(name)
    case = case_of(name, "x").model_copy(update={"output": None, "history": (), "steps": ()})

    found = outcome(metric, case)

    if name in READS_NO_OUTPUT:
        assert found != "invalid_case"
    else:
        assert found == "invalid_case"


WISENT = (
    "exact_match", "token_f1", "generation", "math", "code", "difference", "personalization",
    "personalization_rules", "refusal_rules", "coherence_rules", "refusal", "quality",
)  # fmt: skip
"""Metrics that replace an evaluator whose results have a confidence."""


@pytest.mark.parametrize("name", WISENT)
def test_a_score_has_a_confidence_whose_meaning_is_documented(name):
    example = card_of(name).example
    metric = judged_or_not(name)
    found = asyncio.run(metric.score(next(load_cases([{"id": "c", **example.case}]))))

    assert found.confidence is not None
    assert 0.0 <= found.confidence <= 1.0
    assert ", which is " in found.explain(metric).partition("Confidence ")[2]


def test_each_metric_has_a_confidence_or_the_reason_on_its_card():
    both = {name: (find(name).factory.confidence, card_of(name).no_confidence) for name in BUILTIN}

    assert {name: texts for name, texts in both.items() if bool(texts[0]) == bool(texts[1])} == {}


@pytest.mark.parametrize("name", sorted(set(BUILTIN) - HEAVY))
def test_scores_have_a_confidence_where_the_metric_says_so(name):
    example = card_of(name).example
    found = outcome(judged_or_not(name), next(load_cases([{"id": "c", **example.case}])))

    if isinstance(found, str) or found.value is None:
        found = outcome(judged_or_not(name), case_of(name, "The train leaves at noon."))
    if isinstance(found, str) or found.value is None:
        pytest.skip("the example needs more than a fake judge")
    said = find(name).factory.confidence
    if "there is none" not in said:
        assert (found.confidence is not None) == bool(said)


@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_no_option_has_the_name_of_a_key_of_suites(name):
    options = set(inspect.signature(find(name).factory).parameters) & set(MetricFile.model_fields)

    # A role, a rubric and its parameters mean the same in both; `of` is a former name.
    # An order, calls and a readout are settings of the jury that the suite makes.
    allowed = {"judge", "rubric", "parameters", "order", "calls", "readout"} | (
        {"of"} if name == "perplexity" else set()
    )
    assert options <= allowed


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize(
    "name", sorted(n for n, e in BUILTIN.items() if not e.judged and n not in HEAVY)
)
def test_fifty_kilobytes_are_scored(name, text):
    metric = judged_or_not(name)

    outcome(metric, case_of(name, text))  # a quadratic step would take minutes
