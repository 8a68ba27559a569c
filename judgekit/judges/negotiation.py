"""Find the output mode of a judge: probe once, store the result, and change it if it fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Literal

from pydantic import Field, ValidationError

from judgekit.core.canonical import digest_json
from judgekit.core.errors import JudgeRejected, JudgeUnavailable
from judgekit.core.protocols import TextStore
from judgekit.core.request import Request, Try
from judgekit.core.shared import SharedCall
from judgekit.core.value import Value
from judgekit.judges.calls import Calls
from judgekit.judges.output_mode import (
    MODES,
    PROBE,
    Mode,
    follows_schema,
    messages_of,
    names_format,
    probe_request,
)
from judgekit.judges.payments import Payments
from judgekit.judges.rejections import ProbeRejected, taken
from judgekit.judges.translation import BadRequest, Outage

MAX_STEPS = 20
"""Maximum number of lines about how the mode was found."""


class KnownMode(Value):
    """The record of a judge in the store; it is read as untrusted data."""

    format: Literal[1] = 1
    model: str = Field(max_length=500)
    mode: Mode
    strict: bool = True
    """Whether the server takes `strict`, where it is sent at all."""
    steps: tuple[str, ...] = Field(default=(), max_length=MAX_STEPS)
    """Why the stricter modes do not work, one line each."""


class Negotiation:
    """Finds the strictest output mode that a judge supports.

    Args:
        calls: makes the calls of the probes.
        endpoint: address of the server; with the model it identifies the judge in the store.
        forced: the mode to use without probing, if the user set one.
    """

    def __init__(self, calls: Calls, *, endpoint: str | None, forced: Mode | None) -> None:
        self.forced = forced
        self.mode: Mode | None = None
        """The mode in use, or `None` before it is known."""
        self.steps: list[str] = []
        self.source: Literal["probe", "store", "use"] | None = None
        """How the mode became known: a probe, an earlier run, or the failure of another mode."""
        self.probes = 0
        """Number of probes sent."""
        self.store: TextStore | None = None
        self._calls = calls
        self._name = "rung:" + digest_json({"endpoint": endpoint, "model": calls.model})
        self._open_store: Callable[[], TextStore | None] | None = None
        self._ignore_store = False
        self._probing = SharedCall(self._find)
        self._doubting = SharedCall(self._doubt)
        self._forms: dict[tuple[Mode, str], bool] = {}
        """Whether the server accepts a form in a mode, where this was in doubt."""
        self._asking_forms: dict[tuple[Mode, str], SharedCall[bool]] = {}
        self._cause: tuple[Request, Payments] | None = None
        """The request that made a probe necessary, and its payments: the probe has the same roles,
        and is paid for by it."""
        self._next = 0
        self._probed = False
        """Whether a probe of this process confirmed the mode."""
        self._definite = True
        """Whether the server itself rejected all modes tried so far."""
        self._invalid = 0
        self._patience = 5
        self._strict_refused = False

    def keep_in(self, store: Callable[[], TextStore | None], *, ignore_stored: bool) -> None:
        """Keep the mode in a store, opened with the first request."""
        self._open_store = self._open_store or store
        self._ignore_store = self._ignore_store or ignore_stored

    # -- before a request, and after it -------------------------------------------------

    async def mode_for(self, request: Request, paid: Payments) -> Mode:
        """Return the mode of a request: the forced one, the known one, or the result of a probe.

        Raises:
            JudgeUnavailable: the server does not answer.
            JudgeRejected: the judge rejects requests in every mode.
        """
        if known := self.forced or self.mode:
            return known
        if self._open_store is not None and self.store is None:
            self.store = self._open_store()
        if not self._ignore_store and (stored := self.recall()) is not None:
            return stored
        self._cause = request, paid
        try:
            return await self._probing()
        except JudgeRejected as exc:
            if isinstance(exc, BadRequest) and exc.doubtful:
                raise
            # The probe has no text of a case, so its rejection is about all requests.
            raise ProbeRejected(str(exc)) from None

    async def rejected(
        self, mode: Mode, error: BadRequest, request: Request, paid: Payments
    ) -> bool:
        """Abandon a mode that the server rejected; return whether to ask in another mode.

        A mode that a probe confirmed is abandoned only if the server also rejects the same form
        with other content.

        Raises:
            BadRequest: the same error with advice, because the user forced the mode.
        """
        if not error.about_form or not names_format(error.detail, mode):
            return False
        if self.forced is not None:
            if self._left_strict(mode):
                return True
            advice = f"the suite forces judge.mode {mode}; left out, a way it takes is found"
            raise error.advised(f" ({advice})") from None
        if mode == MODES[-1]:
            return False
        if self.mode == mode:
            # Words about the format may be about one sample: only a probe changes the mode.
            if self._probed and await self.takes_form(request, paid, mode=mode):
                return False
            if not self._left_strict(mode):
                self._leave(mode, str(error))
        return True

    def failed(self, mode: Mode, error: Outage) -> bool:
        """Discard a stored mode that failed; return whether to ask again in a newly probed mode.

        A different server may have the address now.
        """
        if self.forced or error.status != 500:
            return False
        if self.mode != mode:
            return True  # another request has handled the failure
        if self._probed or self.source != "store":
            return False
        self._start_again()
        self._log(f"{mode}, kept from an earlier run, failed; probing again")
        return True

    async def confirmed(self, mode: Mode, request: Request, paid: Payments, *, valid: bool) -> bool:
        """Return whether an answer counts; invalid answers may cause another probe."""
        if valid:
            self._invalid = 0
        if valid or self.forced is not None or not self._doubtful(mode):
            return True
        self._cause = request, paid
        if mode == self.mode:
            await self._doubting()
        return mode == self.mode

    # -- probing ------------------------------------------------------------------------

    def recall(self) -> Mode | None:
        """Use the mode in the store, if there is a valid one."""
        if self.mode is None and self.source is None and self.store is not None:
            text = self.store.get(self._name)
            try:
                known = KnownMode.model_validate_json(text) if text else None
            except ValidationError:
                known = None  # a foreign row or an older format: probe again
            if known is not None and known.model == self._calls.model:
                self.mode, self.steps, self.source = known.mode, list(known.steps), "store"
                if not known.strict:
                    self._leave_strict("refused in an earlier run")
        return self.mode

    async def _find(self) -> Mode:
        """Probe the modes, the strictest first; use and return the first one that works."""
        source: Literal["probe", "use"] = "probe" if self.source is None else "use"
        for mode in MODES[self._next :]:
            attempt = await self._probed_attempt(mode)
            if attempt is None and self._left_strict(mode):
                attempt = await self._probed_attempt(mode)
            if attempt is None:
                continue
            follows = follows_schema(attempt)
            if follows is not False or mode == MODES[-1]:
                break
            what = "ignored" if (attempt.text or "").strip() else "answered with nothing"
            self._step(f"{mode}: accepted and {what}")
        self.mode, self.source, self._probed = mode, source, True
        self._log(f"asked by {mode}")
        if follows is False:
            self._step(f"{mode}: the answer to the probe could not be read")
        if follows is not None and self._definite and self.store is not None:
            known = KnownMode(
                model=self._calls.model[:500],
                mode=mode,
                strict=not self._strict_refused,
                steps=tuple(self.steps),
            )
            self.store.put(self._name, known.model_dump_json())
        return mode

    async def _probed_attempt(self, mode: Mode) -> Try | None:
        """Return the answer to a probe; `None` if the mode is rejected and is not the last one."""
        try:
            return await self._ask_probe(mode)
        except (BadRequest, Outage) as exc:
            if isinstance(exc, BadRequest) and not exc.about_form:
                raise
            second = await self._second_attempt(exc, mode)
            if second is None:
                self._definite = self._definite and exc.status is not None and exc.status < 500
                self._step(f"{mode}: {exc}")
            return second

    async def _second_attempt(self, error: BadRequest | Outage, mode: Mode) -> Try | None:
        """Find the cause of an error: return `None` if it is the mode, else a second answer.

        Raises:
            JudgeUnavailable: the server does not answer at all.
            JudgeRejected: the server also rejects a plain request.
        """
        if mode == MODES[-1]:
            if isinstance(error, BadRequest) and self.steps:
                problem = f"no way of asking is taken, the last as plain text: {error}"
                raise BadRequest(problem, detail=error.detail)
            raise error
        if isinstance(error, Outage) and (error.status or 0) < 500:
            raise error
        message = error.detail if isinstance(error, BadRequest) else str(error)
        if names_format(message, mode):
            return None
        try:
            await self._ask_probe("text", retry=False)
        except (BadRequest, JudgeUnavailable):
            raise error from None
        try:
            return await self._ask_probe(mode, retry=False)
        except (BadRequest, Outage):
            return None

    async def takes_form(
        self, request: Request, paid: Payments, *, mode: Mode | None = None
    ) -> bool:
        """Return whether the server accepts the form of a request with other content.

        An outage or a refusal says nothing about the form, so then it counts as accepted.

        Args:
            request: the request.
            paid: receives the cost, if the server has to be asked.
            mode: the output mode; by default the one in use.

        Raises:
            JudgeRejected: the account or the key is the problem.
        """
        mode = mode or self.forced or self.mode or MODES[-1]
        key = mode, request.form.digest
        if key not in self._forms:
            ask = partial(self._ask_form, mode, request, paid)
            # Shared, because all calls in flight may be rejected at once.
            self._forms[key] = await self._asking_forms.setdefault(key, SharedCall(ask))()
        return self._forms[key]

    async def _ask_form(self, mode: Mode, request: Request, paid: Payments) -> bool:
        self.probes += 1
        like = probe_request(request).model_copy(update={"form": request.form})
        messages = messages_of(like, mode)
        return await taken(self._calls.chat(messages, request.form, mode, paid=paid, retry=False))

    async def _ask_probe(self, mode: Mode, *, retry: bool = True) -> Try:
        assert self._cause is not None  # noqa: S101 - set before any probe
        self.probes += 1
        request, paid = self._cause
        messages = messages_of(probe_request(request), mode)
        attempt, _ = await self._calls.chat(messages, PROBE, mode, paid=paid, retry=retry)
        return attempt

    # -- leaving a mode -----------------------------------------------------------------

    def _doubtful(self, mode: Mode) -> bool:
        """Count an invalid answer; return whether to probe its mode again.

        A mode from the store is probed immediately. A probed mode is probed again after 5
        consecutive invalid answers, then after 25, to avoid repeated probes of a weak judge.
        """
        if mode != self.mode or not self._probed:  # or the mode was left during the request
            return True
        if mode == MODES[-1] and self._definite:
            return False
        self._invalid += 1
        if self._invalid < self._patience:
            return False
        self._invalid, self._patience = 0, self._patience * 5
        return True

    async def _doubt(self) -> None:
        """Probe the mode in use; abandon it if the server ignores it."""
        mode = self.mode
        if mode == MODES[-1]:
            self._start_again()
        elif mode is not None:
            follows = follows_schema(await self._ask_probe(mode))
            self._probed = follows is not False
            if follows is False and mode == self.mode:
                self._leave(mode, "accepted and ignored, though it once was not")

    def _left_strict(self, mode: Mode) -> bool:
        """Ask without `strict` from now on, if the mode sent it; return whether it did."""
        rules = self._calls.schema_rules
        sent = mode == "json_schema" or (mode == "tools" and rules and rules.strict_tools)
        return bool(sent) and self._leave_strict("refused, so it is left out")

    def _leave_strict(self, reason: str) -> bool:
        if not self._calls.leave_strict():
            return False
        self._strict_refused = True
        self._forms.clear()
        self._asking_forms.clear()
        self._log(f"strict: {reason}")
        return True

    def _leave(self, mode: Mode, reason: str) -> None:
        self.mode, self.source = None, "use"
        self._next = MODES.index(mode) + 1
        self._step(f"{mode}: {reason}")

    def _start_again(self) -> None:
        self.mode, self.source, self.steps = None, None, []
        self._next, self._definite, self._ignore_store = 0, True, True

    def _log(self, line: str) -> None:
        logging.getLogger("judgekit").info("%s: %s", self._calls.model, line)

    def _step(self, line: str) -> None:
        self._log(f"not by {line[:400]}")
        self.steps = [*self.steps, line[:400]][-MAX_STEPS:]
