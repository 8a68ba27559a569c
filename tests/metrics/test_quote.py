"""Quotes of judges: what counts as found, and what a run says of those that are not."""

from __future__ import annotations

import pytest

from judgekit.core.case import Case, Message, ToolCall
from judgekit.core.errors import ConfigError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.fallback import WithFallback
from judgekit.metrics.quote import find_quote
from judgekit.metrics.rubric import RubricMetric
from judgekit.metrics.text.length import Length
from judgekit.report.display import summary_text
from judgekit.report.text import row_text
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.suite import load_suite
from tests.each import each

QUOTING = Case(
    id="c",
    system="Be brief.",
    input="Is  it\nraining?",
    output="Yes, it “rains” – a lot… in Zu\u0308rich. It’s wet;\u00a0take an umbrella... or two.",
    reference=("It rains.",),
    context=("Wet.",),
    history=(Message(role="user", content="Hello there"),),
)
RUBRIC = """\
---
name: proof
extends: base
description: Proof.
criteria:
  a: {text: A., quotes: true}
  b: {text: B.}
---
"""


@each(
    ("quote", "field"),
    [
        ("it “rains”", "output"),
        ('it "rains" - a lot... in', "output"),
        ("“It's wet; take”", "output"),
        ("in Zürich.", "output"),
        ("an umbrella… or two", "output"),
        ("... it “rains” ...", "output"),
        ("Is it raining?", "input"),
        ('"Be brief."', "system"),
        ("It rains.", "reference"),
        ("Wet.", "context"),
        ("Hello there", "history"),
        ("", None),
        (" ", None),
        ('"', None),
        ("…", None),
        (" “” ", None),
    ],
)
def test_a_quote_is_looked_for_in_every_text(quote, field):
    assert find_quote(quote, QUOTING) == field


@pytest.mark.parametrize(
    "quote",
    [
        "it snows",
        "it is “rains”",
        "IT “RAINS”",
        "yes, it",
        "it rains a lot",
        "Yes ... a lot",
        "a lot in Zürich",
        "It is wet",
        "take umbrella",
        "Zurich",
        "Hello there Is it raining?",
    ],
)
def test_other_words_are_not_a_quote(quote):
    assert find_quote(quote, QUOTING) is None


def quoting(*quotes):
    """Return a judge that gives these quotes, case by case in turn."""
    turns = iter(quotes)

    def script(request):
        return {
            "a": {"reason": "r", "quotes": next(turns), "value": 0.5},
            "b": {"reason": "r", "value": 1.0},
        }

    return FakeJudge(script)


@pytest.fixture
def proof(tmp_path):
    (tmp_path / "proof.jinja").write_text(RUBRIC, "utf-8")
    return load_rubric(tmp_path / "proof.jinja")


def run(metric, gate, cases=2):
    rows = [Case(id=f"c{n}", output="It rains.") for n in range(cases)]
    return evaluate_sync(rows, [metric], gates={"proof": gate})


def test_quotes_that_are_not_there_are_counted_and_gated(proof):
    metric = RubricMetric(proof, judge=quoting(["It rains."], ["rains.", "It snows."]))

    report = run(metric, {"unverified_quotes": 0, "verified_quotes": 0.6})

    assert report.metrics["proof"].figures == {"unverified_quotes": 1, "verified_quotes": 2 / 3}
    assert [gate.passed for gate in report.figures.gates] == [False, True]
    assert report.figures.gates[0].sentence == (
        "proof: unverified quotes 1.000 over 2 misses at most 0"
    )
    assert report.exit_code == 1
    text = summary_text(report)
    assert "proof: unverified quotes 1, verified quotes 0.6667\n" in text
    assert '"It snows." (NOT FOUND in the case)' in row_text(
        [row for _, rows in report.results for row in rows][1]
    )


def test_the_page_shows_how_many_are_not_there(proof, tmp_path):
    report = run(RubricMetric(proof, judge=quoting(["no"], ["nor this"])), {"mean": 0.1})

    page = report.to_html(tmp_path / "page.html").read_text("utf-8")

    assert "unverified quotes: <strong>2</strong>" in page
    assert ">verified quotes: <strong>0</strong>" in page


def test_without_quotes_none_is_wrong_and_the_share_is_unknown(proof):
    report = run(
        RubricMetric(proof, judge=quoting([], [])), {"unverified_quotes": 0, "verified_quotes": 0}
    )

    assert report.metrics["proof"].figures == {"unverified_quotes": 0, "verified_quotes": None}
    assert [gate.passed for gate in report.figures.gates] == [True, False]


def test_quotes_nobody_gave_pass_no_gate(proof):
    judged = RubricMetric(proof, judge=quoting([], []))
    metric = WithFallback(judged, Length(maximum=100), no_judge=True)

    report = run(metric, {"unverified_quotes": 0})

    assert report.metrics["proof"].figures["unverified_quotes"] is None
    assert not report.figures.gates[0].passed


def test_a_gate_on_quotes_nobody_is_asked_for_is_refused(tmp_path, proof):
    text = RUBRIC.replace(", quotes: true", "")
    (tmp_path / "proof.jinja").write_text(text, "utf-8")
    suite = "metrics:\n  proof:\n    gate: {unverified_quotes: 0}\njudge: fake/judge\n"
    (tmp_path / "suite.yaml").write_text(suite, "utf-8")

    with pytest.raises(ConfigError, match=r"suite\.yaml:3: metric 'proof': no gate on 'unver"):
        load_suite(tmp_path / "suite.yaml")


@each(
    ("quote", "field"),
    [
        ('{"article":"4711"}', "steps"),
        ("4711", "steps"),
        ("Leeds", "history"),
        ("York", None),
    ],
)
def test_calls_of_tools_are_evidence_as_the_judge_sees_them(quote, field):
    def calling(**arguments):
        return Message(role="assistant", tool_calls=[ToolCall(name="stock", arguments=arguments)])

    case = Case(
        id="calls",
        input="Is it there?",
        output="Yes.",
        history=[calling(shop="Leeds")],
        steps=[calling(article="4711")],
    )

    assert find_quote(quote, case) == field
