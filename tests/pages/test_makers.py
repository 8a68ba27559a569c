"""The cards of rubrics and judges on the page of a run."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judgekit.cassette.record import Record
from judgekit.cassette.tape import Tape, merge_into
from judgekit.core.case import Case
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try, Usage
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.fallback import WithFallback
from judgekit.metrics.rubric import RubricMetric
from judgekit.metrics.text.length import Length
from judgekit.pages.run.page import JudgeCard, judge_cards, render_page, rubric_cards
from judgekit.pages.run.recorded import TapeIndex
from judgekit.report.folder import TAPE
from judgekit.report.manifest import full_manifest
from judgekit.suite.run import replay_suite
from judgekit.suite.suite import load_suite

EXAMPLE = Path(__file__).parents[2] / "examples" / "support_assistant" / "suite.yaml"


def facts(card: JudgeCard) -> dict[str, str]:
    return {fact.name: f"{fact.value} {fact.more}".strip() for fact in card.facts}


def test_manifest_tells_what_every_rubric_asks_also_of_metrics_inside_others() -> None:
    judge = FakeJudge(lambda request: {})
    safety = RubricMetric("safety", judge=judge)
    metrics = [
        WithFallback(safety, Length(maximum=9)),
        RubricMetric("safety", judge=judge, name="b"),
    ]

    [told] = full_manifest(metrics, {})["rubrics"]

    assert told["metrics"] == ["safety", "b"]
    assert told["digest"] == safety.made_with["digest"]
    assert told["criteria"][0]["levels"][0]["label"] == "none"
    assert json.loads(json.dumps(told)) == told
    assert "rubrics" not in full_manifest([Length(maximum=9)], {})


def test_a_run_shows_its_rubrics_and_judges(tmp_path: Path) -> None:
    suite = load_suite(EXAMPLE)
    report = replay_suite(suite, out=tmp_path)

    html = render_page(report)

    for said in ("prompt_alignment@1", "b004ec0d31bb02e2", "30 % system + 70 % user",
                 "a list of points, met or not", "in passing, or without practical use",
                 "System message", "You judge answers that",
                 "Shows the judge", "system, history, input, steps, output",
                 "Never shows", "baseline, reference, context"):  # fmt: skip
        assert said in html
    assert '<summary><strong>manual/example</strong> <span class="what">judge</span>' in html


def test_both_runs_of_a_suite_say_the_same_of_their_rubrics(tmp_path: Path) -> None:
    for name in ("a", "b"):
        replay_suite(load_suite(EXAMPLE), out=tmp_path / name)

    for file in ("report.json", "results.jsonl"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.fixture
def taped(tmp_path: Path) -> TapeIndex:
    """A tape of two requests: one with every figure, one of unknown price."""
    form = Form(questions=(Question(id="truth", kind="boolean", text="Is it true?"),))
    records = {}
    for sample, reply in enumerate((
        Reply(tries=(Try(text="x"), Try(text="{}")), model="gpt-x", mode="json_schema", cost=0.25,
              server="llama", tier="flex", saved=0.125,
              usage=Usage(input_tokens=1200, output_tokens=30, cache_read_tokens=900,
                          cache_write_tokens=200),
              effective_params={"temperature": 0.0}),
        Reply(tries=(Try(text="{}"),)),
    )):  # fmt: skip
        request = Request(
            messages=(ChatMessage(role="system", content="You judge."),
                      ChatMessage(role="user", content="A")),
            form=form, model="x/judge", identity="q4", sample=sample,
        )  # fmt: skip
        records[request.key] = Record(request.key, request, reply)
    merge_into(tmp_path / TAPE, records, records.__getitem__)
    tape = Tape(tmp_path / TAPE)
    found = TapeIndex(tape)
    tape.close()
    return found


def test_judge_card_says_what_was_sent_and_what_it_cost(taped: TapeIndex) -> None:
    manifest = {"judge": {"model": "x/judge", "params": {"temperature": 0}, "mode": None}}
    run = {"judges": {"judge": {"mode": "json_schema", "mode_from": "probe"}}}

    [card] = judge_cards(manifest, run, taped)

    assert card.name == "x/judge"
    assert facts(card) == {
        "Parameters set": '{"temperature": 0}',
        "Asked by": "json_schema probe",
        "Parameters sent": '{"temperature":0.0}',
        "Identity": "q4",
        "Served as": "llama",
        "Calls itself": "gpt-x",
        "Output mode": "json_schema",
        "Replies": "2 1 took more than one try",
        "Samples": "up to 2 of each",
        "Tokens": "1,200 in, 30 out + 1 that were not counted",
        "Cost when recorded": "$0.2500 + 1 of unknown price",
        "Prompt cache": "900 tokens read, 200 written",
        "Service tier": "flex: 1 of 2",
        "Saved by cache and tier": "0.1250 US dollars; negative where more was written than read",
    }


def test_rubric_card_finds_what_the_judge_was_told(taped: TapeIndex) -> None:
    manifest = {"rubrics": [{"name": "r", "criteria": [{"id": "truth", "kind": "boolean"}]}]}

    [card] = rubric_cards(manifest, {}, taped)

    assert card.prompt == "You judge."
    assert card.criteria[0].answer == "yes or no"


@pytest.mark.parametrize("rubrics", [
    3, {}, [3, None], [{}], [{"criteria": 3, "modes": [], "metrics": {}}],
    [{"criteria": [{"weight": "x", "labels": 3, "levels": [1, {}]}], "modes": {"a": 1, "b": {}}}],
])  # fmt: skip
def test_odd_manifests_make_a_page(runs: SimpleNamespace, rubrics: Any) -> None:
    odd = {"rubrics": rubrics, "judge": [], "judges": {"a": 1, "b": {"model": 3}}}
    report = runs.report_of([(Case(id="a"), {"m": runs.judged(1.0)})], manifest=odd)

    assert "<h1" in render_page(report)


def test_unproved_lines_of_a_tape_are_passed_over(tmp_path: Path, runs: SimpleNamespace) -> None:
    runs.write_tape(tmp_path, {"a": "{}"})
    path = tmp_path / TAPE
    *rest, last = path.read_text().splitlines()
    head = last[: last.index('"reply"')]
    path.write_text("\n".join([*rest, f'{head}"reply":3,"request":[]}}', ""]))
    tape = Tape(path)

    assert TapeIndex(tape).judges == {}
    tape.close()
