"""Asking a model for a verdict: on the rung that holds, and again after an invalid answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from judgekit.core.errors import CaseError, JudgeRejected, JudgeUnavailable
from judgekit.core.request import Reply, Request, Try
from judgekit.judges.ladder import Ladder
from judgekit.judges.line import Line
from judgekit.judges.providers import BadRequest, Outage
from judgekit.judges.response import Total, fault_of
from judgekit.judges.rung import PROBE, Mode, again, messages_of, names_format, probe_request
from judgekit.judges.shared import Shared

if TYPE_CHECKING:
    from judgekit.cassette.store import Store


class Verdicts:
    """Asks for a form to be filled in.

    Args:
        line: what makes the calls.
        ladder: the ways of asking for a form.
        mode: the one to stay on, if that is said.
        reasks: how often an invalid answer is handed back.
    """

    def __init__(self, line: Line, *, ladder: Ladder, mode: Mode | None, reasks: int) -> None:
        self.ladder = ladder
        self._line = line
        self._mode = mode
        self._reasks = reasks
        self._probing = Shared(self._probe)
        self._doubting = Shared(self._doubt)
        self._like: Request | None = None
        self._anew = False
        self._store: Callable[[], Store | None] | None = None

    def keep_in(self, store: Callable[[], Store | None], *, anew: bool) -> None:
        """Keep the rung in a store, opened when something is asked; `anew` does not read it."""
        self._store = self._store or store
        self._anew = anew

    async def reply(self, request: Request) -> Reply:
        """Return the reply to a request that wants a form filled in.

        Raises:
            CaseError: the model took others and not this one.
            JudgekitError: what making the call raises.
        """
        while True:
            mode = self._mode or self.ladder.mode or await self._rung(request)
            try:
                reply = await self._ask_in(mode, request)
            except BadRequest as exc:
                if not await self._lower(mode, exc, request):
                    raise
                continue
            except Outage as exc:
                # Another server may stand there than the one that was probed.
                if self._mode or exc.status != 500 or not self.ladder.forget(mode):
                    raise
                continue
            if await self._holds(mode, reply, request):
                return reply

    async def _ask_in(self, mode: Mode, request: Request) -> Reply:
        messages = messages_of(request, mode)
        tries: list[Try] = []
        total = Total()
        model: str | None = None
        while True:
            heard = await self._line.put(messages, request.form, mode)
            latest = self._line.read(heard)
            tries.append(latest)
            total.add(heard.response, self._line.cost(heard))
            model = getattr(heard.response, "model", None) or model
            fault = fault_of(latest, request.form)
            if fault is None or len(tries) > self._reasks:
                break
            # What stands in a malformed response is not what the model said.
            messages = again(messages, "" if latest.fault else latest.text or "", fault)
        return Reply(
            tries=tuple(tries),
            model=self._line.named(model),
            mode=mode,
            effective_params=heard.params,
            usage=total.usage,
            cost=total.cost,
        )

    async def _rung(self, request: Request) -> Mode:
        """Return the rung to ask on: the one the store keeps, else the one a probe finds."""
        if self._store is not None and self.ladder.store is None:
            self.ladder.store = self._store()
        known = None if self._anew else self.ladder.recall()
        if known is not None:
            return known
        self._like = request
        return await self._probing()

    async def _probe(self) -> Mode:
        return await self.ladder.find(self._put_probe)

    async def _doubt(self) -> None:
        await self.ladder.doubt(self._put_probe)

    async def _put_probe(self, mode: Mode, retry: bool) -> Try:
        assert self._like is not None  # noqa: S101 - set before any probe
        messages = messages_of(probe_request(self._like), mode)
        return self._line.read(await self._line.put(messages, PROBE, mode, retry=retry))

    async def _lower(self, mode: Mode, error: BadRequest, request: Request) -> bool:
        """Leave a rung that is refused in use; return whether to ask again on another.

        Raises:
            CaseError: the judge takes other requests, so it is this one that is wrong.
        """
        if names_format(error.said, mode):
            if self._mode is not None:
                advice = f"the suite forces judge.mode {mode}; left out, a way it takes is found"
                raise JudgeRejected(f"{error} ({advice})") from None
            return self.ladder.refused(mode, str(error))
        if error.status not in (400, 422):
            return False
        if not self._line.answered:
            self._like = request
            try:
                await self._put_probe(mode, False)
            except (JudgeRejected, JudgeUnavailable):
                return False
        raise CaseError(f"the judge took other requests but not this one: {error}") from None

    async def _holds(self, mode: Mode, reply: Reply, request: Request) -> bool:
        """Return whether an answer shows its rung to hold, as far as an answer can."""
        if self._mode is not None:
            return True
        if fault_of(reply.tries[-1], request.form) is None:
            self.ladder.valid()
            return True
        if not self.ladder.invalid(mode):
            return True
        self._like = request
        if mode == self.ladder.mode:
            await self._doubting()
        return mode == self.ladder.mode
