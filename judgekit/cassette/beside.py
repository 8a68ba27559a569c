"""One of several judges behind one cassette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.judge_wrapper import JudgeWrapper
from judgekit.core.protocols import Judge
from judgekit.core.request import Reply, Request

if TYPE_CHECKING:
    from judgekit.cassette.cassette import Cassette


class Beside(JudgeWrapper):
    """One of several judges behind a cassette."""

    def __init__(self, cassette: Cassette, judge: Judge) -> None:
        self.cassette = cassette
        super().__init__(judge)

    @property
    def synchronous(self) -> bool:
        """Whether this is a replay, which never waits."""
        return self.cassette.synchronous

    async def ask(self, request: Request) -> Reply:
        """Return the recorded reply, or a live one of this judge."""
        return await self.cassette.ask(request, of=self.judge)
