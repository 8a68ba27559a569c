"""A sandbox for one Python program: resource limits, an external clock, and the outcome."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import secrets
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from judgekit.core.errors import ConfigError
from judgekit.metrics.benchmarks.isolation import HINT, NOBODY, isolated, seccomp_filter

if TYPE_CHECKING:
    import asyncio


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
_MB = 1 << 20
_REPORT = 100_000
"""Maximum size of the report, in bytes."""
_GRACE = 5.0
"""Time limit for killed processes to disappear, in seconds."""


class ProgramOutcome(NamedTuple):
    """How a test ended."""

    kind: Kind
    message: str
    """One line, the same in every run."""


class ProgramRun(NamedTuple):
    """The result of running a program."""

    outcome: ProgramOutcome
    python: str
    """Version of the interpreter."""
    output: str = ""
    """The text on standard output."""


class Sandbox(NamedTuple):
    """Runs programs within limits, each in a separate sandbox."""

    seconds: float
    """CPU seconds; the wall-clock limit is twice that plus two seconds."""
    memory_mb: int
    processes: int
    output_kb: int
    python: str | None
    unsafe_exec: bool

    @property
    def wall(self) -> float:
        """Wall-clock limit in seconds."""
        return 2 * self.seconds + 2

    def _kernel_limits(self) -> dict[str, int]:
        """Return the limits that the kernel enforces, by name."""
        limits = {
            "CPU": math.ceil(self.seconds),
            "AS": self.memory_mb * _MB,
            "FSIZE": 16 * _MB,
            "NOFILE": 64,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
        }
        # Without a separate namespace, all processes of the user count.
        return limits if self.unsafe_exec else {**limits, "NPROC": self.processes}

    async def run(self, programs: Sequence[str], test: str, stdin: str | None) -> ProgramRun:
        """Run a program and its test.

        Args:
            programs: variants of the program; the first that is valid Python runs.
            test: code that runs after the program, in its namespace.
            stdin: standard input, for a program that reads and prints.

        Raises:
            ConfigError: this machine cannot isolate code.
        """
        order = {
            "programs": list(programs),
            "test": test,
            "stdin": stdin,
            "module": "__main__" if stdin is not None else "answer",
            "limits": self._kernel_limits(),
        }
        async with process_slots():
            if self.unsafe_exec:
                with tempfile.TemporaryDirectory(prefix="judgekit-code-") as folder:
                    return await self._run(order, [self.python or sys.executable], folder)
            return await self._run(order, isolated(self.python), "/")

    async def _run(
        self, order: Mapping[str, Any], command: Sequence[str], folder: str
    ) -> ProgramRun:
        import asyncio

        word = secrets.token_hex(16)
        text = json.dumps({**order, "word": word}).encode()
        inside = (files("judgekit.metrics.benchmarks") / "sandbox_program.py").read_text("utf-8")
        options: dict[str, Any] = {} if self.unsafe_exec else _as_nobody()
        refused = None if self.unsafe_exec else _pipe(seccomp_filter())
        begin = list(command)
        if refused is not None:
            begin[1:1] = ["--seccomp", str(refused)]
            options["pass_fds"] = (refused,)
        try:
            process = await asyncio.create_subprocess_exec(
                *begin, "-s", "-S", "-B", "-P", "-c", f"{inside}\nmain()\n",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                cwd=folder,
                env=_environment(folder),
                **options,
            )  # fmt: skip
        except OSError as exc:
            raise ConfigError(f"code cannot be run: {begin[0]} does not start: {exc}") from exc
        finally:
            if refused is not None:
                os.close(refused)
        output, report, ended = await self._watch(process, text)
        run = read_outcome(report, self, word=word, ended=ended, code=process.returncode)
        if run is None:
            first = " ".join(report.decode("utf-8", "replace").split())[:300]
            raise ConfigError(f"code cannot be run: the sandbox did not start: {first}{HINT}")
        return run._replace(output=output.decode("utf-8", "replace"))

    async def _watch(
        self, process: asyncio.subprocess.Process, text: bytes
    ) -> tuple[bytes, bytes, str | None]:
        """Write to a process and read it until it ends or reaches a limit; then kill it."""
        import asyncio

        output, report = bytearray(), bytearray()
        full = asyncio.Event()
        work: set[asyncio.Task[Any]] = {
            asyncio.create_task(_read(process.stdout, output, self.output_kb * 1024, full)),
            asyncio.create_task(_read(process.stderr, report, _REPORT, full)),
            asyncio.create_task(_feed(process.stdin, text)),
            asyncio.create_task(process.wait()),
        }
        stopper = asyncio.create_task(full.wait())
        done = asyncio.gather(*work)
        ended: str | None = None
        try:
            first: set[asyncio.Future[Any]] = {done, stopper}
            await asyncio.wait(first, timeout=self.wall, return_when=asyncio.FIRST_COMPLETED)
            ended = "output" if full.is_set() else None if done.done() else "clock"
        finally:
            _kill(process)
            # Read to the end: only then have all processes that could write more ended.
            await asyncio.wait(work, timeout=_GRACE)
            for task in (*work, stopper):
                task.cancel()
            await asyncio.gather(done, stopper, return_exceptions=True)
        return bytes(output), bytes(report), ended


async def _read(
    stream: asyncio.StreamReader | None, into: bytearray, most: int, full: asyncio.Event
) -> None:
    while stream is not None and (chunk := await stream.read(65536)):
        into += chunk[: most - len(into)]
        if len(into) >= most:
            full.set()


async def _feed(stream: asyncio.StreamWriter | None, text: bytes) -> None:
    if stream is not None:
        # A sandbox that did not start does not read; its error message is read instead.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stream.write(text)
            await stream.drain()
            stream.close()
            await stream.wait_closed()


def _kill(process: asyncio.subprocess.Process) -> None:
    """End a process and all its children, which are in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _environment(folder: str) -> dict[str, str]:
    home = folder if folder != "/" else "/tmp"  # noqa: S108 - of the sandbox
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        # The order of sets is the same in every run.
        "PYTHONHASHSEED": "0",
    }


def _as_nobody() -> dict[str, Any]:
    """Return options that give up root's rights: the kernel does not limit root's processes."""
    if os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def _pipe(content: bytes | None) -> int | None:
    """Return the read end of a pipe that contains a few bytes."""
    if content is None:
        return None
    out, into = os.pipe()
    os.write(into, content)
    os.close(into)
    return out


# By event loop, because a semaphore belongs to one; the limit is the number of processors.
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def process_slots() -> asyncio.Semaphore:
    """Return the semaphore for running processes; it keeps time limits fair under load."""
    import asyncio

    return _slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(processors()))


def processors() -> int:
    """Return the number of processors this process may use."""
    usable = os.cpu_count()
    if sys.platform == "linux":
        usable = len(os.sched_getaffinity(0))
    return usable or 1


def read_outcome(
    report: bytes, limits: Sandbox, *, word: str, ended: str | None, code: int | None
) -> ProgramRun | None:
    """Return the outcome of a run from its report; `None` if the program never started.

    Lines without the secret word are not part of the report. Only a report that states it is a
    pass: a program that exits early has not passed, whatever its exit code.
    """
    facts = list(_facts(report, word))
    if not facts or "ready" not in facts[0]:
        return None
    python = str(facts[0]["ready"])
    return ProgramRun(_outcome(facts[1:], ended, code, limits), python)


def _facts(report: bytes, word: str) -> Iterator[dict[str, Any]]:
    for line in report.decode("utf-8", "replace").splitlines():
        mark, _, text = line.partition(" ")
        if mark == word:
            with contextlib.suppress(ValueError, RecursionError):
                if isinstance(fact := json.loads(text), dict):
                    yield fact


def _outcome(
    facts: list[dict[str, Any]], ended: str | None, code: int | None, limits: Sandbox
) -> ProgramOutcome:
    if ended == "output":
        return ProgramOutcome("output", f"stopped: printed more than {limits.output_kb:,} KB")
    if ended == "clock":
        return ProgramOutcome("time", f"stopped: took longer than {limits.wall:g} s by the clock")
    if not facts:
        return _silent(code or 0, limits)
    if facts[0].get("done") is True:
        return ProgramOutcome("passed", "passed")
    return _raised(facts[0], limits)


def _silent(code: int, limits: Sandbox) -> ProgramOutcome:
    """Return the outcome of a process without a report; bwrap exits with 128 + the signal."""
    number = -code if code < 0 else code - 128
    if number == signal.SIGXCPU:
        most = f"{limits.seconds:g} s of processor time"
        return ProgramOutcome("time", f"stopped: used more than {most}")
    if number == signal.SIGKILL:
        return ProgramOutcome("killed", "stopped: killed for its use of processor time or memory")
    if number > 0:
        known = {one.value: one.name for one in signal.Signals}
        return ProgramOutcome("killed", f"crashed: {known.get(number, f'signal {number}')}")
    return ProgramOutcome("ended", f"left before its test was done (exit {code})")


def _raised(fact: dict[str, Any], limits: Sandbox) -> ProgramOutcome:
    error, kind, number = str(fact.get("error")), fact.get("kind"), fact.get("errno")
    text = _ADDRESS.sub("0x…", " ".join(str(fact.get("text", "")).split()))[:200]
    where = {"answer": " when the answer was loaded", "syntax": ""}.get(str(fact.get("stage")), "")
    message = f"{error}: {text}{where}" if text else f"{error}{where}"
    if error == "MemoryError":
        most = f"{limits.memory_mb:,} MB of memory"
        return ProgramOutcome("memory", f"stopped: needed more than {most}")
    if error == "SystemExit":
        return ProgramOutcome("ended", f"left before its test was done ({text})")
    if fact.get("stage") == "syntax":
        return ProgramOutcome("syntax", f"is no Python: {message}")
    if number == errno.EAGAIN or "can't start new thread" in text:
        return ProgramOutcome("processes", f"stopped at {limits.processes} processes: {message}")
    by_name = error in ("gaierror", "herror", "URLError") or kind == "ConnectionError"
    if number in _NETWORK or by_name:
        return ProgramOutcome("network", f"stopped: there is no network: {message}")
    if number in _FILES:
        message = f"stopped: not there or not allowed in the sandbox: {message}"
        return ProgramOutcome("files", message)
    return ProgramOutcome("failed" if kind == "AssertionError" else "error", message)
