"""Values of every kind that is shown by itself, with whatever text in them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import judgekit
from judgekit.core.case import Case, Message, ToolCall
from judgekit.core.judgment import Judgment, Quote
from judgekit.core.score import Failure, Fallback, Part, Row, Score
from judgekit.suite.answering import AnsweredCases


class Told:
    """A metric that says what it was told to say of every case."""

    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, name: str, text: str, value: float = 0.25) -> None:
        self.name, self._text, self._value = name, text, value

    async def score(self, case: Case) -> Score:
        if case.id.startswith("fail"):
            raise judgekit.CaseError(self._text)
        return score_of(self._text, self._value)


def case_of(text: str, id: str = "c1") -> Case:
    return Case(
        id=id,
        input=text,
        output=text * 3,
        system=text,
        history=[
            Message(role="user", content=text),
            Message(role="assistant", tool_calls=[ToolCall(name=text, arguments={text: text})]),
        ],
        reference=[text] * 8,
        context=[text],
        choices=[text, text],
        parent=text,
        expected={text: [text]},
        labels={text: {text: None}},
        metadata={text: text, "n": 1},
    )


def score_of(text: str, value: float = 0.25) -> Score:
    return Score(
        value=value,
        reason=text,
        source="judge",
        method=text,
        confidence=0.5,
        parts=(
            Part(id=text, value=value, weight=0.5, answer=text, reason=text,
                 quotes=(Quote(text=text, field="output"), Quote(text=text))),
            Part(id="items", status="abstained", answer=[text],
                 items=({"item": text, "met": True, "reason": text}, text)),
        ),
        judgments=(Judgment(request_key="ab" * 32, answers={}, model=text),),
        fallback=None,
    )  # fmt: skip


def everything(text: str, folder: Path) -> dict[str, Any]:
    """Every kind of value that is shown, with this text wherever a stranger's may stand."""
    name = f"m {text}"[:200]
    cases = [case_of(text, f"{n} {text}"[:900]) for n in range(12)] + [case_of(text, "fail")]
    made = {"suite": {"name": text}, "judge": {"model": text}, "notice": text}
    options = {"thresholds": {name: 0.5}, "gates": {name: {"mean": 0.9}}, "manifest": made}
    base = judgekit.evaluate_sync(cases, [Told(name, text, 0.75)], out=folder / "base", **options)
    new = judgekit.evaluate_sync(cases, [Told(name, text)], out=folder / "new", **options)
    labels = folder / "labels.jsonl"
    said = [
        {"case": case.id, "metric": name, "labeller": "ann", "value": 0.5} for case in cases[:6]
    ]
    labels.write_text("".join(json.dumps(line) + "\n" for line in said), encoding="utf-8")
    rubric = folder / "asks.jinja"
    quoted = json.dumps(text)
    rubric.write_text(
        f"---\nname: asks\ndescription: {quoted}\nextends: base\ncriteria:\n"
        f"  one: {{weight: 1, text: {quoted}}}\n---\n",
        encoding="utf-8",
    )
    scored = base.case(cases[0].id)
    stood_in = score_of(text).model_copy(update={"fallback": Fallback(substitute=text, cause=text)})
    failure = Failure(kind="refused", message=text, key=text)
    return {
        "case": cases[0],
        "score": score_of(text),
        "fallback": stood_in,
        "abstained": Score(status="abstained", reason=text),
        "failure": failure,
        "row": Row(case=text or "x", metric=text, result=failure),
        "scored": scored,
        "report": base,
        "summary": base.metrics[name],
        "comparison": judgekit.compare(base, new),
        "agreement": judgekit.agree(base, labels, write=False),
        "correction": judgekit.correct_means(base, labels),
        "statistics": judgekit.rubric_stats(base),
        "answers": AnsweredCases([cases[0]], Counter(answered=1, failed=1), {text: failure}, 1),
        "rubric": judgekit.load_rubric(rubric),
        "suite": judgekit.load_suite(
            Path(__file__).parents[3] / "examples" / "support_assistant" / "suite.yaml"
        ),
    }


KINDS = (
    "case", "score", "fallback", "abstained", "failure", "row", "scored", "report", "summary",
    "comparison", "agreement", "correction", "statistics", "answers", "rubric", "suite",
)  # fmt: skip
