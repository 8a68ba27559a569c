from __future__ import annotations

import asyncio

import pytest

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.runner.sequencer import ResultSequencer, case_text


def started(*, width: int, size: int) -> int:
    """Return how many cases may start while the first one is unfinished."""
    sequencer = ResultSequencer(lambda *_: None, width, ahead=4)

    async def starting() -> int:
        for number in range(20_000):
            try:
                async with asyncio.timeout(0):
                    await sequencer.room(number)
            except TimeoutError:
                return number
            text = case_text(Case(id=f"c{number}", output="x" * size))
            for place in range(width) if number else ():
                sequencer.put(number, text, place, Score(value=0.5, method="m", reason="r"))
        return number

    return asyncio.run(starting())


@pytest.mark.parametrize(
    ("width", "size", "most"), [(64, 1, 129), (1, 4_000_000, 6), (64, 4_000_000, 6)]
)
def test_an_unfinished_case_holds_others_back_only_by_results_and_bytes(width, size, most):
    assert most - 1 <= started(width=width, size=size) <= most
