"""The display of the answers of a system under test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut, more

if TYPE_CHECKING:
    from judgekit.suite.answering import Answers

MOST_ROWS = 10


def answers_parts(answers: Answers) -> Iterator[DisplayPart]:
    """Yield the parts of answers: counts, failures, the first rows."""
    total = sum(answers.states.values())
    counts = ", ".join(f"{count:,} {state}" for state, count in sorted(answers.states.items()))
    yield DisplayLine(f"{total:,} case{'s' if total != 1 else ''}: {counts or 'none'}", "title")
    if answers.cut_off:
        ended = f"{answers.cut_off:,} answer{'s' if answers.cut_off != 1 else ''}"
        yield DisplayLine(f"max_tokens ended {ended}", "bad")
    if answers.failures:
        shown = list(answers.failures.items())[:MOST_ROWS]
        yield DisplayTable(
            ("case without an answer", "why"),
            [(cut(id, MOST_NAME), f"{f.kind}: {cut(f.message)}") for id, f in shown],
            left=more(len(answers.failures) - len(shown), "case", ".failures"),
        )
    if answers.cases:
        first = answers.cases[:MOST_ROWS]
        yield DisplayTable(
            ("case", "input", "output"),
            [
                (cut(c.id, MOST_NAME), cut(c.input or "", 160), cut(c.output or "", 240))
                for c in first
            ],
            left=more(len(answers.cases) - len(first), "case", "judgekit.to_pandas(.cases)"),
        )
