from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judgekit.cassette.record import Record
from judgekit.cassette.tape import merge_into
from judgekit.core.case import Case, Message, ToolCall
from judgekit.core.judgment import Judgment, Quote
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try, Usage
from judgekit.core.score import Failure, Fallback, Part, Result, Row, Score
from judgekit.report.folder import TAPE, Scored
from judgekit.report.gate import check, gates_of
from judgekit.report.report import Figures, Report
from judgekit.report.summary import Tally

FORM = Form(questions=(Question(id="truth", kind="score", text="Is it true?", quotes=True),))
RUN = {
    "origins": {"live": 1, "store": 0, "tape": 5},
    "spent": None,
    "avoided": 0.0125,
    "record": "new_episodes",
    "seconds": 12.3,
    "started": "2026-01-02T03:04:05+00:00",
    "unused": 2,
}
HELPFUL = {
    "name": "helpful",
    "type": "RubricMetric",
    "made_with": {
        "digest": "7c499fd77c8eaead",
        "model": "fake/judge",
        "rubric": "helpful",
        "version": 2,
    },
}


def report_of(
    rows: Sequence[tuple[Case, Mapping[str, Result]]],
    *,
    thresholds: Mapping[str, float] | None = None,
    gates: Mapping[str, Mapping[str, float]] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    lower_is_better: Sequence[str] = (),
    manifest: Mapping[str, Any] | None = None,
    run: Mapping[str, Any] | None = None,
    incomplete: tuple[str, ...] = (),
    folder: Path | None = None,
) -> Report:
    """Make the report that a run with these results would have made."""
    thresholds = thresholds or {}
    names = list(dict.fromkeys(name for _, results in rows for name in results))
    tallies = {
        name: Tally(
            name,
            range=(ranges or {}).get(name, (0.0, 1.0)),
            higher_is_better=name not in lower_is_better,
            threshold=thresholds.get(name),
        )
        for name in names
    }
    scored = []
    for case, results in rows:
        for name, result in results.items():
            tallies[name].add(case.id, result)
        made = tuple(Row(case=case.id, metric=name, result=r) for name, r in results.items())
        scored.append(Scored(case, made))
    summaries = {name: tally.finish() for name, tally in tallies.items()}
    figures = Figures(
        manifest={"judgekit": "0.1.0", "metrics": [HELPFUL], **(manifest or {})},
        cases=len(scored),
        dataset="ab" * 32,
        metrics=tuple(summaries.values()),
        gates=tuple(
            check(gate, summaries[name])
            for name, wanted in (gates or {}).items()
            for gate in gates_of(name, wanted, threshold=thresholds.get(name))
        ),
        incomplete=incomplete,
    )
    return Report(figures, run=dict(run or {}), results=scored, folder=folder)


def request_about(text: str) -> Request:
    return Request(
        messages=(
            ChatMessage(role="system", content="You judge answers.\nBe literal."),
            ChatMessage(role="user", content=f"The answer to judge:\n{text}"),
        ),
        form=FORM,
        model="fake/judge",
    )


def write_tape(folder: Path, replies: Mapping[str, Reply | str]) -> dict[str, str]:
    """Write a tape with a request about each text; return the keys by text."""
    records = {}
    for text, reply in replies.items():
        request = request_about(text)
        said = Reply(tries=(Try(text=reply, finish="stop"),)) if isinstance(reply, str) else reply
        records[request.key] = Record(request.key, request, said)
    merge_into(folder / TAPE, records, records.__getitem__)
    return {text: request_about(text).key for text in replies}


def judged(value: float, key: str = "0" * 64, **more: Any) -> Score:
    meta = {"rubric": "helpful", "version": 2, "digest": "7c499fd77c8eaead", "model": "fake/judge"}
    judgment = Judgment(request_key=key, model="fake/judge-2025", repairs=("fence",), tries=2)
    return Score(
        value=value,
        **{
            "source": "judge",
            "method": "fake/judge by helpful@2",
            "judgments": (judgment,),
            "meta": meta,
        }
        | more,
    )


def simple_rows(n: int) -> list[tuple[Case, dict[str, Result]]]:
    """Cases with different values, of three topics."""
    return [
        (
            Case(
                id=f"case-{i}",
                input=f"Question number {i}: how do I do thing {i * 7919 % 1000}?",
                output=f"Answer number {i}. " + "It depends on what you want. " * (i % 7),
                system="You are a helper. " * 20,
                metadata={"topic": ("red", "green", "blue")[i % 3], "serial": i},
            ),
            {
                "helpful": judged((i * 37 % 101) / 100, reason=f"Reason {i}."),
                "brief": Score(value=(i * 53 % 97) / 97),
            },
        )
        for i in range(n)
    ]


def many_metrics(count: int) -> Report:
    """A run with eight metrics of long names, and cases with long ids."""
    names = ["helpful", "brief", "faithfulness_to_the_context", "answer_relevance", "tone_of_voice",
             "refusal_correctness", "citation_precision", "semantic_similarity"]  # fmt: skip
    rows = [
        (Case(id=f"support.conversations.2026-03.returns_and_refunds/session-{n:05}-turn-{n % 7}",
              input=f"Question {n}? " * 12, metadata={"topic": "ab"[n % 2]}),
         {name: judged((n * 37 + at * 29) % 101 / 100) for at, name in enumerate(names)})
        for n in range(count)
    ]  # fmt: skip
    return report_of(
        rows,
        thresholds=dict.fromkeys(names[:3], 0.5),
        gates={name: {"mean": 0.48} for name in names},
    )


@pytest.fixture
def runs() -> SimpleNamespace:
    """What makes runs to show on a page."""
    return SimpleNamespace(
        judged=judged,
        make_rich=make_rich,
        many_metrics=many_metrics,
        report_of=report_of,
        simple_rows=simple_rows,
        write_tape=write_tape,
    )


@pytest.fixture
def rich(tmp_path: Path) -> Report:
    """A run of a few cases in which everything happens that can happen."""
    return make_rich(tmp_path)


def make_rich(folder: Path) -> Report:
    reply = json.dumps({"truth": {"reason": "It says so.", "value": 0.9}})
    refused = Reply(
        tries=(Try(text="not json", finish="stop"), Try(refusal="I will not.", finish="stop")),
        usage=Usage(input_tokens=321, output_tokens=12),
    )
    keys = write_tape(folder, {"Returns are free within 30 days.": reply, "A rude answer": refused})
    good = Case(
        id="returns-free",
        input="How long can I return a jacket?\nIt is unused.",
        output="Returns are free within 30 days.\n\nKeep the label,  and write\nto us first.",
        system="You are Pip, a support assistant.\n- Be brief.",
        history=(
            Message(role="user", content="hi, I bought a jacket"),
            Message(
                role="assistant",
                content="Which one?",
                tool_calls=(ToolCall(name="find_order", arguments={"id": 7}),),
            ),
        ),
        reference=("30 days.",),
        context=("Policy: returns within 30 days of delivery.", "Postage is free."),
        labels={"alice": 0.8},
        metadata={"topic": "returns", "language": "en"},
    )
    quotes = (
        Quote(text="free within 30 days", field="output"),
        Quote(text="“within 30 days. Keep the label, and write to us”", field="output"),
        Quote(text="returns within 30 days of delivery", field="context"),
        Quote(text="we never take anything back", field=None),
    )
    parts = (
        Part(id="truth", value=0.9, weight=0.6, answer=0.9, reason="It says so.", quotes=quotes),
        Part(
            id="steps",
            value=0.5,
            weight=0.4,
            items=(
                {"item": "names the period", "met": True, "reason": "30 days"},
                {"item": "gives a link", "met": False, "reason": "There is none."},
            ),
            details={"missing_elements": ["the link"], "polite": True},
        ),
        Part(id="tone", status="not_applicable"),
        Part(id="safety", status="abstained", reason="Cannot be told."),
    )
    other = {"topic": "orders", "language": "en"}
    german = {"topic": "orders", "language": "de"}
    stand_in = Fallback(substitute="token_f1", cause="unavailable: timed out after 3 tries")
    rows: list[tuple[Case, dict[str, Result]]] = [
        (
            good,
            {
                "helpful": judged(
                    0.74,
                    keys["Returns are free within 30 days."],
                    parts=parts,
                    scale=10.0,
                    reason="Right, but it gives no link.",
                    confidence=1.0,
                    details={"band": "good", "groups": {"user": 0.7}},
                ),
                "length": Score(value=842.0, method="characters"),
            },
        ),
        (
            Case(id="late-parcel", input="wo ist mein paket", output="Unterwegs.", metadata=german),
            {
                "helpful": Score(value=0.3, scale=10.0, fallback=stand_in),
                "length": Score(value=10.0),
            },
        ),
        (
            Case(id="rude", input="my parcel!!!", output="A rude answer", metadata=other),
            {
                "helpful": Failure(
                    kind="refused",
                    message="the judge declined: I will not.",
                    key=keys["A rude answer"],
                ),
                "length": Score(value=13.0),
            },
        ),
        (
            Case(id="unclear", input="?", output="!", metadata=other),
            {
                "helpful": Score(status="abstained", source="judge", reason="nothing to score"),
                "length": Score(status="not_applicable"),
            },
        ),
        (
            Case(id="empty-handed", input="Where is it?", output="Dunno.", metadata=other),
            {
                "helpful": judged(0.2, reason="No help at all.", scale=10.0),
                "length": Score(value=6.0),
            },
        ),
    ]
    return report_of(
        rows,
        thresholds={"helpful": 0.5},
        gates={"helpful": {"mean": 0.4, "pass_rate": 0.9}},
        ranges={"length": (0.0, float("inf"))},
        lower_is_better=["length"],
        manifest={
            "suite": {"name": "support", "description": "Five conversations."},
            "notice": "Verdicts authored to illustrate this example; no model judged it.",
        },
        run=RUN,
        incomplete=("1 rows failed (0 allowed)", "1 rows are fallbacks (0 allowed)"),
        folder=folder,
    )
