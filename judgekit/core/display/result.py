"""The display of cases and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import canonical_json
from judgekit.core.case_field import CASE_FIELDS, FieldKind
from judgekit.core.display.parts import (
    MOST_NAME,
    Cell,
    DisplayBar,
    DisplayLine,
    DisplayPart,
    DisplayTable,
    cut,
    more,
    multiline,
)

if TYPE_CHECKING:
    from judgekit.core.case import Case
    from judgekit.core.judgment import Judgment
    from judgekit.core.score import Failure, Part, Result, Row, Score

MOST_PARTS = 30
MOST_QUOTES = 3
MOST_ROWS = 20


def result_parts(result: Result, *, name: str = "") -> Iterator[DisplayPart]:
    """Yield the parts of a score or a failure.

    Args:
        result: the result.
        name: the name of the metric, and of the case if it is not shown elsewhere.
    """
    head = f"{cut(name, 2 * MOST_NAME)}: " if name else ""
    if result.type == "failure":
        yield from _failure(result, head)
    else:
        yield from _score(result, head)


def scored_parts(case: Case, rows: Sequence[Row]) -> Iterator[DisplayPart]:
    """Yield the parts of a case and its results."""
    yield from case_parts(case)
    for row in rows[:MOST_ROWS]:
        yield from result_parts(row.result, name=row.metric)
    if left := more(len(rows) - MOST_ROWS, "metric", ""):
        yield DisplayLine(left, "note")


def _failure(failure: Failure, head: str) -> Iterator[DisplayPart]:
    kind = failure.kind.replace("_", " ")
    yield DisplayLine(f"{head}no score ({kind})", "title")
    yield DisplayLine(cut(failure.message, 600), "bad")
    if failure.key:
        yield DisplayLine(f"request {cut(failure.key[:16])}", "note")
    if failure.judgments:
        yield DisplayLine(_asked(failure.judgments), "note")


def _score(score: Score, head: str) -> Iterator[DisplayPart]:
    of = f" of {score.scale:g}" if score.scale != 1 else ""
    value = score.status.replace("_", " ") if score.shown is None else f"{score.shown:g}{of}"
    yield DisplayLine(f"{head}{value}", "title")
    if score.fallback is not None:
        stood_in = f"{cut(score.fallback.substitute, MOST_NAME)} stood in"
        yield DisplayLine(f"fallback: {stood_in} ({cut(score.fallback.cause)})", "bad")
    if score.reason:
        yield DisplayLine(cut(score.reason, 600))
    if score.parts:
        yield _grid(score.parts)
    facts = [score.source, *([cut(score.method, MOST_NAME)] if score.method else [])]
    if score.confidence is not None:
        facts.append(f"confidence {score.confidence:.2f}")
    if score.judgments:
        facts.append(_asked(score.judgments))
    yield DisplayLine(", ".join(facts), "note")


def _asked(judgments: Sequence[Judgment]) -> str:
    models = ", ".join(dict.fromkeys(cut(j.model, MOST_NAME) for j in judgments if j.model))
    count = len(judgments)
    replies = f"{count} repl{'ies' if count != 1 else 'y'}"
    by = f" of {models}" if models else ""
    return f"{replies}{by}, request {cut(judgments[0].request_key[:16])}"


def _grid(parts: Sequence[Part]) -> DisplayTable:
    shown = parts[:MOST_PARTS]
    columns: dict[str, list[Cell]] = {
        "criterion": [cut(part.id, MOST_NAME) for part in shown],
        "value": [_value(part) for part in shown],
        "": [None if part.value is None else DisplayBar(part.value) for part in shown],
        "weight": [f"{part.weight:.2f}" for part in shown],
        "answer": [_answer(part) for part in shown],
        "reason": [_reason(part) for part in shown],
    }
    if not any(columns["answer"]):
        del columns["answer"]
    heads = list(columns)
    return DisplayTable(
        heads,
        list(zip(*columns.values(), strict=True)),
        numbers=[n for n, name in enumerate(heads) if name in ("value", "weight")],
        left=more(len(parts) - len(shown), "criterion", ".parts").replace("criterions", "criteria"),
    )


def _value(part: Part) -> str:
    return part.status.replace("_", " ") if part.value is None else f"{part.value:.2f}"


def _answer(part: Part) -> str:
    answer = part.answer
    if answer is None or isinstance(answer, (dict, list)):
        return ""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return cut(answer if isinstance(answer, str) else canonical_json(answer), MOST_NAME)


def _reason(part: Part) -> str:
    lines = [cut(part.reason)] if part.reason else []
    for item in part.items[: MOST_QUOTES * 2]:
        if isinstance(item, dict):
            lines.append(f"{part.verdict_on(item)}: {cut(str(item.get('item')), 120)}")
    for quote in part.quotes[:MOST_QUOTES]:
        where = f"in {quote.field}" if quote.field else "NOT FOUND in the case"
        lines.append(f"“{cut(quote.text, 160)}” ({where})")
    left = len(part.quotes) - MOST_QUOTES
    return "\n".join([*lines, *([f"{left} more quotes"] if left > 0 else [])])


MOST_TEXT = 600
MOST_TEXTS = 5
"""Passages, references or messages that are shown."""


def case_parts(case: Case) -> Iterator[DisplayPart]:
    """Yield the parts of a case."""
    yield DisplayLine(f"case {cut(case.id, MOST_NAME)}", "title")
    rows = [(name, text) for name, text in _fields(case) if text]
    if rows:
        yield DisplayTable(("field", ""), rows)
    else:
        yield DisplayLine("nothing but its id", "note")


def _fields(case: Case) -> Iterator[tuple[str, str]]:
    for name, kind, *_ in CASE_FIELDS:
        if name != "id":  # the title has it
            yield name, _shown(kind, getattr(case, name))


def _shown(kind: FieldKind, value: Any) -> str:
    if not value:
        return ""
    if kind == "id":
        return cut(value, MOST_NAME)
    if kind == "text":
        return multiline(value, MOST_TEXT)
    if kind == "texts":
        texts = [multiline(text, MOST_TEXT // 2) for text in value[:MOST_TEXTS]]
        return _listed(texts, len(value), "text")
    if kind == "messages":
        messages = [f"{m.role}: {cut(_message(m))}" for m in value[-MOST_TEXTS:]]
        return _listed(messages, len(value), "earlier message", first=False)
    return _object(value)


def _message(message: Any) -> str:
    calls = ", ".join(f"calls {call.name}" for call in message.tool_calls)
    return " ".join(part for part in (message.content, calls) if part)


def _listed(shown: list[str], count: int, what: str, *, first: bool = True) -> str:
    left = more(count - len(shown), what, "")
    lines = [*shown, left] if first else [left, *shown]
    return "\n".join(line for line in lines if line)


def _object(values: dict[str, Any]) -> str:
    shown = [
        f"{cut(name, MOST_NAME)}: {cut(v if isinstance(v, str) else _json(v), 120)}"
        for name, v in list(values.items())[:MOST_TEXTS * 2]
    ]  # fmt: skip
    return _listed(shown, len(values), "field")


def _json(value: Any) -> str:
    try:
        return canonical_json(value)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__
