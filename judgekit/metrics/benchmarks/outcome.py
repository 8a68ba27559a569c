"""The outcome of running a program: one word and one line."""

from __future__ import annotations

import errno
import json
import re
import signal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from judgekit.metrics.benchmarks.sandbox import SandboxLimits

Kind = Literal[
    "passed", "failed", "error", "syntax", "time", "memory", "processes", "network", "files",
    "output", "ended", "killed",
]  # fmt: skip

_NETWORK = {
    errno.ENETUNREACH, errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL,
    errno.ENETDOWN, errno.EAFNOSUPPORT,
}  # fmt: skip
_FILES = {
    errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.EFBIG, errno.ENOSPC, errno.EMFILE,
}  # fmt: skip
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


class ProgramOutcome(NamedTuple):
    """How a test ended."""

    kind: Kind
    message: str
    """One line, the same for every run."""


class ProgramRun(NamedTuple):
    """The result of running a program."""

    outcome: ProgramOutcome
    python: str
    """Version of the interpreter."""
    output: str = ""
    """The text on standard output."""


def read_outcome(
    report: bytes, *, word: str, ended: str | None, code: int | None, limits: SandboxLimits
) -> ProgramRun | None:
    """Return what came of a run, from its report and how it ended; `None` if it never began.

    A line without the word is not of the report, and only a report that says so is a pass: a
    program that leaves early, however quietly, has not passed.
    """
    lines = [
        line.removeprefix(f"{word} ")
        for line in report.decode("utf-8", "replace").splitlines()
        if line.startswith(f"{word} ")
    ]
    facts = [fact for line in lines if (fact := _fact(line)) is not None]
    if not facts or "ready" not in facts[0]:
        return None
    python = str(facts[0]["ready"])
    return ProgramRun(_outcome(facts[1:], ended, code, limits), python)


def _fact(line: str) -> dict[str, Any] | None:
    try:
        fact = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return fact if isinstance(fact, dict) else None


def _outcome(
    facts: list[dict[str, Any]], ended: str | None, code: int | None, limits: SandboxLimits
) -> ProgramOutcome:
    if ended == "output":
        return ProgramOutcome("output", f"stopped: printed more than {limits.output_kb:,} KB")
    if ended == "clock":
        return ProgramOutcome("time", f"stopped: took longer than {limits.wall:g} s by the clock")
    if not facts:
        return _silent(code or 0, limits)
    fact = facts[0]
    if fact.get("done") is True:
        return ProgramOutcome("passed", "passed")
    return _raised(fact, limits)


def _silent(code: int, limits: SandboxLimits) -> ProgramOutcome:
    """Return the outcome of a process that said nothing more: bwrap gives 128 + its signal."""
    number = -code if code < 0 else code - 128
    if number == signal.SIGXCPU:
        return ProgramOutcome(
            "time", f"stopped: used more than {limits.seconds:g} s of processor time"
        )
    if number == signal.SIGKILL:
        return ProgramOutcome("killed", "stopped: killed for its use of processor time or memory")
    if number > 0:
        known = {one.value: one.name for one in signal.Signals}
        return ProgramOutcome("killed", f"crashed: {known.get(number, f'signal {number}')}")
    return ProgramOutcome("ended", f"left before its test was done (exit {code})")


def _raised(fact: dict[str, Any], limits: SandboxLimits) -> ProgramOutcome:
    error, kind, number = str(fact.get("error")), fact.get("kind"), fact.get("errno")
    text = _ADDRESS.sub("0x…", " ".join(str(fact.get("text", "")).split()))[:200]
    where = {"answer": " when the answer was loaded", "syntax": ""}.get(str(fact.get("stage")), "")
    message = f"{error}: {text}{where}" if text else f"{error}{where}"
    if error == "MemoryError":
        return ProgramOutcome(
            "memory", f"stopped: needed more than {limits.memory_mb:,} MB of memory"
        )
    if error == "SystemExit":
        return ProgramOutcome("ended", f"left before its test was done ({text})")
    if fact.get("stage") == "syntax":
        return ProgramOutcome("syntax", f"is no Python: {message}")
    if number == errno.EAGAIN or "can't start new thread" in text:
        return ProgramOutcome("processes", f"stopped at {limits.processes} processes: {message}")
    if (
        number in _NETWORK
        or error in ("gaierror", "herror", "URLError")
        or kind == "ConnectionError"
    ):
        return ProgramOutcome("network", f"stopped: there is no network: {message}")
    if number in _FILES:
        return ProgramOutcome(
            "files", f"stopped: not there or not allowed in the sandbox: {message}"
        )
    return ProgramOutcome("failed" if kind == "AssertionError" else "error", message)
