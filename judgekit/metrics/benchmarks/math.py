"""Math: is the expression in an output equal to the reference, according to math-verify?"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from importlib.resources import files
from importlib.util import find_spec
from itertools import count
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError, MissingExtra
from judgekit.core.protocols import Aggregate
from judgekit.core.score import Score
from judgekit.metrics._options import Bounds, needed_text, needed_texts, truth_of
from judgekit.metrics.aggregate import ANSWERED, answered_share
from judgekit.metrics.benchmarks.sandbox import process_slots
from judgekit.metrics.computed import ComputedMetric

Undecided = Literal["abstain", "wrong"]
MAX_OUTPUT = 20_000
"""Maximum number of characters to read at the end of an output, where the answer is."""
MAX_REFERENCE = 2_000
MAX_REFERENCES = 50


class Math(ComputedMetric):
    r"""1 if the output's expression equals a reference symbolically, else 0. Higher is better.

    The library math-verify finds the expression (`\boxed{...}`, LaTeX between dollar signs, "the
    answer is", a number) and compares it. It supports fractions, decimals to six places, percent,
    sets, intervals, matrices, equations, polynomials, and numbers with units.

    Each comparison runs in a separate process with limits on time and memory, and the process ends
    with it. A comparison that exceeds the limits (`9^9^9^9`) is not a wrong answer: the score
    abstains, unless `undecided: wrong` counts it as 0. An output without an expression is wrong,
    and `details.outcome` is `no_answer`; the figure `answered` is the share of rows with an
    expression. `confidence` is 1 if the library decided: a comparison is certain.
    """

    name: str = "math"
    seconds: Annotated[float, Bounds(0, 600, above=True)] = 5.0
    """CPU seconds per case; the wall-clock limit is twice that plus two seconds."""
    strict: bool = True
    """math-verify's strict mode: variables need the same names, and a set does not equal a
    tuple."""
    undecided: Undecided = "abstain"
    """Result of a case that exceeds the limits: no value (`abstain`) or 0 (`wrong`)."""

    figures: ClassVar[Mapping[str, bool]] = {ANSWERED: True}
    needs = ("output", "reference")
    confidence = "is 1 if the library decided: a comparison is certain"

    def aggregates(self) -> list[Aggregate]:
        """Return the share of rows in which an expression was found."""
        return [answered_share()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing, or the reference is not an
                expression.
            MissingExtra: math-verify is not installed.
        """
        output = needed_text(case, "output")[-MAX_OUTPUT:]
        references = needed_texts(case, "reference")
        if len(references) > MAX_REFERENCES or max(map(len, references)) > MAX_REFERENCE:
            most = f"{MAX_REFERENCES} references of {MAX_REFERENCE:,} characters"
            raise CaseError(f"takes at most {most}")
        comparison = await compare(output, references, seconds=self.seconds, strict=self.strict)
        if comparison.ended is None and None in comparison.references:
            at = comparison.references.index(None)
            raise CaseError(f"the reference {references[at][:60]!r} is not an expression")
        return self._score(comparison, references)

    def _score(self, comparison: Compared, references: tuple[str, ...]) -> Score:
        at = comparison.matched
        matched = at is not None
        outcome = "matched" if matched else "differs" if comparison.output else "no_answer"
        equal = "equal" if matched else "not equal"
        reason = f"The output's expression {comparison.output} is {equal} to the reference."
        if comparison.ended and not matched:
            outcome, reason = "undecided", f"Could not be decided: {self._why(comparison.ended)}."
        elif outcome == "no_answer":
            reason = "No expression was found in the output, which counts as wrong."
        abstains = comparison.ended is not None and self.undecided == "abstain"
        return Score(
            status="abstained" if abstains else "scored",
            value=None if abstains else float(matched),
            confidence=None if comparison.ended else 1.0,
            method="symbolic equivalence, math-verify",
            reason=reason,
            ground_truth=truth_of(references),
            details={
                "outcome": outcome,
                "output": comparison.output,
                "references": list(comparison.references),
                "matched": None if at is None else references[at],
            },
            meta={**comparison.versions},
        )

    def _why(self, ended: str) -> str:
        if ended in ("time", *(f"signal {number}" for number in (9, 14, 24, 27))):
            return f"it took longer than {self.seconds:g} s"
        if ended == "memory":
            return "it took too much memory"
        return ended if ended != "signal 11" else "the library crashed"


MEMORY = 1 << 30
"""Memory limit of one comparison, in bytes; checked twenty times per second."""
_START = 120.0
"""Time limit for loading the library, in seconds."""

_lock = threading.Lock()
_host: Host | None = None


class Compared(NamedTuple):
    """The result of a comparison."""

    versions: dict[str, str]
    matched: int | None = None
    """Index of the first equal reference, from 0."""
    output: str | None = None
    """The expression in the output; `None` if there is none."""
    references: Sequence[str | None] = ()
    ended: str | None = None
    """Why the comparison is undecided: `time`, `memory`, or an error."""


async def compare(
    output: str, references: Sequence[str], *, seconds: float, strict: bool
) -> Compared:
    """Compare an output with references, in a copy of a process with the loaded library.

    Raises:
        MissingExtra: math-verify is not installed.
        ConfigError: a process cannot be started or copied on this machine.
    """
    import asyncio

    if find_spec("math_verify") is None:
        raise MissingExtra(feature="math", extra="benchmarks")
    if sys.platform == "win32":
        raise ConfigError(
            "math compares answers in forked processes, which Windows does not support"
        )
    order = {"output": output, "references": references, "seconds": seconds, "strict": strict}
    async with process_slots():
        host = _running()
        versions = await asyncio.wait_for(asyncio.wrap_future(host.ready), _START)
        if not versions:
            message = "math: the process for comparisons did not start; reinstall math-verify"
            raise ConfigError(message)
        try:
            # The copy ends earlier by itself; this timeout is for a host that was stopped.
            facts = await asyncio.wait_for(asyncio.wrap_future(host.ask(order)), 2 * seconds + 10)
        except TimeoutError:
            host.close()
            facts = {"ended": "time"}
    return Compared(versions, **facts)


def _running() -> Host:
    global _host  # noqa: PLW0603 - loading the library takes seconds, so one host serves all
    with _lock:
        if _host is None or _host.ended:
            if _host is not None:
                _host.close()
            _host = Host()
            atexit.register(_host.close)
        return _host


class Host:
    """A process for comparisons, and a thread that reads its answers."""

    def __init__(self) -> None:
        text = (files("judgekit.metrics.benchmarks") / "math_host.py").read_text("utf-8")
        self.ready: Future[dict[str, str]] = Future()
        self.gone = False
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._numbers = count(1)
        # When this process ends for any reason, the pipe closes, and the host ends.
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a text of ours
            [sys.executable, "-B", "-P", "-c", f"{text}\nmain()\n"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, name="judgekit-math", daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether the process takes no more orders, also if the thread has not noticed it yet."""
        return self.gone or self._process.poll() is not None

    def ask(self, order: dict[str, Any]) -> Future[dict[str, Any]]:
        """Return the future answer; its `ended` is the reason if there is no result."""
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            number = next(self._numbers)
            if self.gone or self._process.stdin is None:
                future.set_result({"ended": "the comparing process is gone"})
                return future
            self._waiting[number] = future
            line = json.dumps({**order, "memory": MEMORY, "id": number}).encode() + b"\n"
            with contextlib.suppress(OSError):
                self._process.stdin.write(line)
                self._process.stdin.flush()
        return future

    def _listen(self) -> None:
        with self._process.stdout or contextlib.nullcontext(()) as lines:
            for line in lines:
                facts = json.loads(line)
                if "ready" in facts:
                    self.ready.set_result(facts["ready"])
                    continue
                with self._lock:
                    future = self._waiting.pop(facts.pop("id"), None)
                if future is not None and future.set_running_or_notify_cancel():
                    future.set_result(facts)
        with self._lock:
            self.gone = True
            left, self._waiting = self._waiting, {}
        if not self.ready.done():
            self.ready.set_result({})
        for future in left.values():
            if future.set_running_or_notify_cancel():
                future.set_result({"ended": "the comparing process is gone"})

    def close(self) -> None:
        """End the process and its copies."""
        self.gone = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._process.wait()
