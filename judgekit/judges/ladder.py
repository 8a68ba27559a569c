"""Which rung a judge stands on: probed once, remembered, given up when it no longer holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationError

from judgekit.core.canonical import digest_json
from judgekit.core.errors import JudgeUnavailable
from judgekit.core.request import Try
from judgekit.core.value import Value
from judgekit.judges.providers import BadRequest, Outage
from judgekit.judges.rung import MODES, Mode, names_format, obeyed

if TYPE_CHECKING:
    from judgekit.cassette.store import Store

Ask = Callable[[Mode, bool], Awaitable[Try]]
"""Puts the probe in a mode, with retries or without, and returns what was said."""

FORMAT = 1
MAX_STEPS = 20
"""Lines that are kept of how a judge came to its rung."""


class Learned(Value):
    """What the store keeps of a judge. Read back as data nobody vouches for."""

    format: Literal[1] = 1
    model: str = Field(max_length=500)
    mode: Mode
    steps: tuple[str, ...] = Field(default=(), max_length=MAX_STEPS)
    """Why the rungs above do not hold, one line each."""


class Ladder:
    """The rungs of one judge, and the one it stands on.

    Args:
        model: the model string.
        endpoint: where it is asked; with the model it names the judge in the store.
    """

    def __init__(self, *, model: str, endpoint: str | None) -> None:
        self._model = model
        self._name = "rung:" + digest_json({"endpoint": endpoint, "model": model})
        self.store: Store | None = None
        self.mode: Mode | None = None
        """The rung, or `None` before it is known."""
        self.steps: list[str] = []
        self.source: Literal["probe", "store", "use"] | None = None
        """How the rung came to be known: a probe, an earlier run, or a rung that gave way."""
        self.probes = 0
        """Probes sent."""
        self._next = 0
        self._sure = False
        self._definite = True
        """Whether the rungs above were left for what the server said of them, not for an error."""
        self._forgotten = False
        self._invalid = 0
        self._patience = 5

    def recall(self) -> Mode | None:
        """Take the rung the store keeps, if it keeps one that can be read."""
        unknown = self.mode is None and self.source is None and not self._forgotten
        if unknown and self.store is not None:
            text = self.store.get(self._name)
            try:
                learned = Learned.model_validate_json(text) if text else None
            except ValidationError:
                learned = None  # somebody else's row, or an older format: probe again
            if learned is not None and learned.model == self._model:
                self.mode, self.steps = learned.mode, list(learned.steps)
                self.source = "store"
        return self.mode

    async def find(self, ask: Ask) -> Mode:
        """Probe down from the highest rung that may hold, and stand on the first that does.

        Raises:
            JudgeUnavailable: nobody answers.
            JudgeRejected: the judge takes no request on any rung.
        """
        source: Literal["probe", "use"] = "probe" if self.source is None else "use"
        place = self._next
        while not await self._stands(MODES[place], ask, source):
            place += 1
        return MODES[place]

    async def _stands(self, mode: Mode, ask: Ask, source: Literal["probe", "use"]) -> bool:
        """Return whether a rung holds, and stand on it if it does; the last does, or raises."""
        try:
            said = await self._put(ask, mode, retry=True)
        except (BadRequest, Outage) as exc:
            again = await self._blame(exc, mode, ask)
            if again is None:
                self._definite = self._definite and (exc.status or 500) < 500
                self._step(f"{mode}: {exc}")
                return False
            said = again
        told = obeyed(said)
        if told is False and mode != MODES[-1]:
            what = "ignored" if (said.text or "").strip() else "answered with nothing"
            self._step(f"{mode}: accepted and {what}")
            return False
        self.mode, self.source, self._sure = mode, source, True
        self._log(f"asked by {mode}")
        if told is False:
            self._step(f"{mode}: the answer to the probe could not be read")
        if told is not None and self._definite:
            self._keep()
        return True

    async def _blame(self, error: BadRequest | Outage, mode: Mode, ask: Ask) -> Try | None:
        """Find out whose an error is: return `None` if the rung's, else what is said after all.

        Raises:
            JudgeUnavailable: nobody answers at all.
            JudgeRejected: the plainest request is not taken either.
        """
        if mode == MODES[-1]:
            if isinstance(error, BadRequest) and self.steps:
                raise BadRequest(
                    f"no way of asking is taken, the last as plain text: {error}", said=error.said
                )
            raise error
        if isinstance(error, Outage) and (error.status or 0) < 500:
            raise error
        said = error.said if isinstance(error, BadRequest) else str(error)
        if names_format(said, mode):
            return None
        if not await self._answers(ask):
            raise error
        try:
            return await self._put(ask, mode, retry=False)
        except (BadRequest, Outage):
            return None

    async def _answers(self, ask: Ask) -> bool:
        try:
            await self._put(ask, "text", retry=False)
        except (BadRequest, JudgeUnavailable):
            return False
        return True

    async def _put(self, ask: Ask, mode: Mode, *, retry: bool) -> Try:
        self.probes += 1
        return await ask(mode, retry)

    def refused(self, mode: Mode, reason: str) -> bool:
        """Leave a rung that was refused in use; return whether there is one below it."""
        if mode == MODES[-1]:
            return False
        if self.mode == mode:
            self._leave(mode, reason)
        return True

    def _leave(self, mode: Mode, reason: str) -> None:
        self.mode, self.source = None, "use"
        self._next = MODES.index(mode) + 1
        self._step(f"{mode}: {reason}")

    def forget(self, mode: Mode) -> bool:
        """Forget a rung that failed and was not probed in this process.

        Returns:
            Whether to ask again, on the rung that a probe finds.
        """
        if self.mode != mode:
            return True  # another request met the same failure
        if self._sure or self.source != "store":
            return False
        self._start_anew()
        self._log(f"{mode}, kept from an earlier run, failed; probing again")
        return True

    def _start_anew(self) -> None:
        self.mode, self.source, self.steps = None, None, []
        self._next, self._definite, self._forgotten = 0, True, True

    def valid(self) -> None:
        """Note that an answer was of its schema."""
        self._invalid = 0

    def invalid(self, mode: Mode) -> bool:
        """Note that an answer was not of its schema; return whether its rung wants probing.

        A rung from the store is doubted at once, a probed one after five of them in a row, then
        after 25: a weak judge is not asked about its rung for ever.
        """
        if mode != self.mode:
            return True  # it was left while the answer was under way
        if not self._sure:
            return True
        if mode == MODES[-1] and self._definite:
            return False
        self._invalid += 1
        if self._invalid < self._patience:
            return False
        self._invalid, self._patience = 0, self._patience * 5
        return True

    async def doubt(self, ask: Ask) -> None:
        """Probe the rung the judge stands on, and leave it if it is ignored."""
        mode = self.mode
        if mode is None:
            return
        if mode == MODES[-1]:
            self._start_anew()
            return
        told = obeyed(await self._put(ask, mode, retry=True))
        self._sure = told is not False
        if told is False and mode == self.mode:
            self._leave(mode, "accepted and ignored, though it once was not")

    def _log(self, line: str) -> None:
        import logging

        logging.getLogger("judgekit").info("%s: %s", self._model, line)

    def _step(self, line: str) -> None:
        self._log(f"not by {line[:400]}")
        self.steps = [*self.steps, line[:400]][-MAX_STEPS:]

    def _keep(self) -> None:
        if self.store is not None and self.mode is not None:
            learned = Learned(model=self._model[:500], mode=self.mode, steps=tuple(self.steps))
            self.store.put(self._name, learned.model_dump_json())
