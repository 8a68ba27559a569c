"""No text of a conversation gets lost: it is in the request, listed, or the row says why not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import judgekit
from judgekit.core.case import Case
from judgekit.core.left_out import SHOWN
from judgekit.core.score import Result
from tests.datasets.messages.drawn_rows import (
    CONTAINERS,
    FORMATS,
    DrawnRow,
    Piece,
    drawn_row,
    written,
)

ROWS = 300
FILE = 10
"""Rows in a file; all have one format, as files have."""


def blind(drawn: DrawnRow, case: Case, prompt: str, result: Result) -> Iterator[Piece]:
    """Yield the texts of a row of which a reader of the result learns nothing."""
    media = [piece for piece in drawn.pieces if piece.kind == "media"]
    if bool(media) != bool(case.unread):
        yield from media or drawn.pieces
        return
    if result.type == "failure":
        if result.kind != "invalid_case" or not media:
            yield from drawn.pieces
        return
    shown = result.details.get(SHOWN, {})
    fields = case.model_dump(mode="json", exclude_defaults=True)
    metadata = fields.pop("metadata", {})
    thoughts = json.dumps(metadata.pop("thoughts", []))
    fields |= {f"metadata.{name}": value for name, value in metadata.items()}
    for piece in drawn.pieces:
        holding = [name for name, value in fields.items() if piece.word in json.dumps(value)]
        if piece.kind == "thought":
            fine = piece.word in thoughts
        elif piece.kind == "media":
            fine = True  # the field that holds it is in `unread`, and no rubric prints it
        else:
            fine = piece.word in prompt or any(name in shown for name in holding)
        if not fine:
            yield piece


def lost(numbers: list[int], folder: Path, container: str) -> list[tuple[int, str, Piece]]:
    """Write rows as a file, read and judge it, and return what got lost: row, format, text."""
    drawn = [drawn_row(number) for number in numbers]
    path = written([one.row for one in drawn], folder, container)
    problems = []
    judge = judgekit.FakeJudge()
    metric = judgekit.create_metric("quality", judge=judge)
    for one, case in zip(drawn, judgekit.load_cases(path), strict=True):
        before = len(judge.asked)
        result = judgekit.score_sync(case, metric)
        asked = judge.asked[before:]
        prompt = "\n".join(m.content for request in asked for m in request.messages)
        assert case.id == one.row["id"]
        problems += [(int(case.id), one.format, p) for p in blind(one, case, prompt, result)]
    return problems


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_no_text_of_a_conversation_is_lost(format, tmp_path):
    first = sorted(FORMATS).index(format)
    each = len(FORMATS)
    for number in range(ROWS // each // FILE):
        numbers = [first + each * (FILE * number + n) for n in range(FILE)]
        container = CONTAINERS[(number + first) % len(CONTAINERS)]

        assert lost(numbers, tmp_path, container) == []


def test_the_check_sees_a_text_that_is_nowhere():
    drawn = DrawnRow("openai", {}, [Piece("text", "word"), Piece("thought", "hm")])
    case = Case(id="1", input="?", output="!")
    score = judgekit.score_sync(case, judgekit.create_metric("quality", judge=judgekit.FakeJudge()))

    assert list(blind(drawn, case, "?!", score)) == drawn.pieces
