"""One of several judges behind one cassette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.judge_wrapper import JudgeAround
from judgekit.core.protocols import Judge
from judgekit.core.request import Reply, Request

if TYPE_CHECKING:
    from judgekit.cassette.cassette import Cassette


class Beside(JudgeAround):
    """One of several judges behind a cassette."""

    def __init__(self, cassette: Cassette, judge: Judge) -> None:
        self.cassette = cassette
        self.judge = judge

    @property
    def at_once(self) -> bool:
        """Whether nothing is ever waited for, as in a replay."""
        return self.cassette.at_once

    async def ask(self, request: Request) -> Reply:
        """Return the recorded reply, or a live one of this judge."""
        return await self.cassette.ask(request, of=self.judge)
