"""The server and the sums of the benchmark on the price of a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.price_of_a_verdict import Counts, dollars
from benchmarks.servers.priced import LEAST, Priced


def asked(text: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a request with one message."""
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": text}]}
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
    return body


def answer(priced: Priced, body: dict[str, Any]) -> str:
    text: str = priced.completion(body)["choices"][0]["message"]["content"]
    return text


def test_each_tool_gets_its_format() -> None:
    priced = Priced(reason=10)
    reason = priced.reason
    assert len(reason) == 10
    fields = {"reason": {"type": "string"}, "value": {"type": "boolean"}}
    form = {"$defs": {"A": {"type": "object", "properties": fields}},
            "type": "object", "properties": {"c1": {"$ref": "#/$defs/A"}}}  # fmt: skip
    assert json.loads(answer(priced, asked("x", form))) == {"c1": {"reason": reason, "value": True}}
    assert answer(priced, asked("'GRADE: $LETTER'")) == f"{reason}\n\nGRADE: C"
    plain = {"reason": reason, "pass": True, "score": 1.0}
    assert json.loads(answer(priced, asked("x"))) == plain
    assert priced.counts["requests"] == 3


def test_beginnings_are_cached_from_the_minimum_on() -> None:
    priced = Priced(reason=10)
    for text in ("a" * 4 * LEAST * 2 + "1", "a" * 4 * LEAST * 2 + "2", "a" * 40, "a" * 40):
        priced.completion(asked(text))
    cached = priced.counts["cached"]
    assert 2 * LEAST - 128 <= cached <= 2 * LEAST


def test_dollars_of_tokens() -> None:
    counts = Counts(requests=1, tokens=1e6, cached=5e5, schema=0, written=1e5, batch=0)
    assert dollars(counts, 4) == pytest.approx(1.4)
    assert dollars(counts, 4, cached=True) == pytest.approx(1.4 - 0.45)
