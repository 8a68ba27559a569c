"""A sandbox for one Python program: bubblewrap, resource limits, and a clock outside."""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from judgekit.core.errors import ConfigError
from judgekit.metrics.benchmarks.filter import seccomp_filter
from judgekit.metrics.benchmarks.outcome import ProgramRun, read_outcome

if TYPE_CHECKING:
    import asyncio


NOBODY = 65534
_MB = 1 << 20
_REPORT = 100_000
"""Bytes of report that are read."""
_GRACE = 5.0
"""Seconds in which what was killed is gone."""
_SPACE = {"/tmp": 64 * _MB, "/dev/shm": 16 * _MB}  # noqa: S108 - of the sandbox, not of this machine
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/bin", "/sbin")
_HINT = "; unsafe_exec: true runs code without isolation, which is no security boundary"


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxLimits:
    """Resource limits of a program."""

    seconds: float
    """Of processor time; it may last twice as long by the clock, and two seconds more."""
    memory_mb: int
    processes: int
    output_kb: int

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return 2 * self.seconds + 2

    def resources(self, *, isolated: bool) -> dict[str, int]:
        """Return the limits the kernel keeps, by their names."""
        limits = {
            "CPU": math.ceil(self.seconds),
            "AS": self.memory_mb * _MB,
            "FSIZE": 16 * _MB,
            "NOFILE": 64,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
        }
        # Outside a namespace of its own, the processes of the whole user count.
        return {**limits, "NPROC": self.processes} if isolated else limits


class SandboxJob(NamedTuple):
    """A program and its test."""

    programs: Sequence[str]
    """Variants of the program; the first that is valid Python runs."""
    test: str = ""
    """Runs after the program, in its names."""
    stdin: str | None = None
    """Standard input, for a program that reads and prints."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sandbox:
    """Runs programs; each in a sandbox of its own, which ends with it."""

    limits: SandboxLimits
    python: str | None = None
    unsafe_exec: bool = False

    async def run(self, order: SandboxJob) -> ProgramRun:
        """Run a program and its test.

        Raises:
            ConfigError: this machine cannot isolate it.
        """
        async with process_slots():
            if self.unsafe_exec:
                with tempfile.TemporaryDirectory(prefix="judgekit-code-") as folder:
                    return await self._run(order, [self.python or sys.executable], folder)
            return await self._run(order, isolated(self.python), "/")

    async def _run(self, order: SandboxJob, command: Sequence[str], folder: str) -> ProgramRun:
        import asyncio

        word = secrets.token_hex(16)
        text = json.dumps(
            {
                "word": word,
                "programs": list(order.programs),
                "test": order.test,
                "stdin": order.stdin,
                "module": "__main__" if order.stdin is not None else "answer",
                "limits": self.limits.resources(isolated=not self.unsafe_exec),
            }
        ).encode()
        inside = (
            files("judgekit").joinpath("metrics/benchmarks/sandbox_program.py").read_text("utf-8")
        )
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
        run = read_outcome(
            report, word=word, ended=ended, code=process.returncode, limits=self.limits
        )
        if run is None:
            first = " ".join(report.decode("utf-8", "replace").split())[:300]
            raise ConfigError(f"code cannot be run: the sandbox did not start: {first}{_HINT}")
        return run._replace(output=output.decode("utf-8", "replace"))

    async def _watch(
        self, process: asyncio.subprocess.Process, text: bytes
    ) -> tuple[bytes, bytes, str | None]:
        """Write to a process and read it until it ends or reaches a limit; then kill it."""
        import asyncio

        output, report = bytearray(), bytearray()
        full = asyncio.Event()
        work: set[asyncio.Task[Any]] = {
            asyncio.create_task(_read(process.stdout, output, self.limits.output_kb * 1024, full)),
            asyncio.create_task(_read(process.stderr, report, _REPORT, full)),
            asyncio.create_task(_feed(process.stdin, text)),
            asyncio.create_task(process.wait()),
        }
        stopper = asyncio.create_task(full.wait())
        done = asyncio.gather(*work)
        ended: str | None = None
        try:
            first: set[asyncio.Future[Any]] = {done, stopper}
            await asyncio.wait(first, timeout=self.limits.wall, return_when=asyncio.FIRST_COMPLETED)
            ended = "output" if full.is_set() else None if done.done() else "clock"
        finally:
            _kill(process)
            # Read to the end of what it left: only then are all gone who could write more.
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
        # A sandbox that did not start does not read; what it says instead is what counts.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stream.write(text)
            await stream.drain()
            stream.close()
            await stream.wait_closed()


def _kill(process: asyncio.subprocess.Process) -> None:
    """End a process and all it started: they are a session of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _environment(folder: str) -> dict[str, str]:
    home = folder if folder != "/" else "/tmp"  # noqa: S108 - of the sandbox
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        # Sets come in the same order every time.
        "PYTHONHASHSEED": "0",
    }


def _as_nobody() -> dict[str, Any]:
    """Return how to give up root's rights: the kernel does not count root's processes."""
    if os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def _pipe(content: bytes | None) -> int | None:
    """Return the end of a pipe that holds a few bytes."""
    if content is None:
        return None
    out, into = os.pipe()
    os.write(into, content)
    os.close(into)
    return out


def isolated(python: str | None) -> list[str]:
    """Return the command that begins a sandbox, up to and with the interpreter.

    Raises:
        ConfigError: there is no bubblewrap, or no interpreter that may be used in it.
    """
    bwrap = shutil.which("bwrap", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/local/bin")
    if not sys.platform.startswith("linux") or bwrap is None:
        lacks = "this is not Linux"
        if sys.platform.startswith("linux"):
            lacks = "bubblewrap is not installed (apt-get install bubblewrap)"
        raise ConfigError(f"code cannot be isolated here: {lacks}{_HINT}")
    interpreter, prefix = _interpreter(python)
    command = [bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox"]
    command += [
        "--ro-bind",
        "/usr",
        "/usr",
        "--ro-bind-try",
        "/etc/ld.so.cache",
        "/etc/ld.so.cache",
    ]
    for place in map(Path, _LIBRARIES):
        if place.is_symlink():
            command += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            command += ["--ro-bind", str(place), str(place)]
    if prefix is not None:
        command += ["--ro-bind", prefix, prefix]
    command += ["--proc", "/proc", "--dev", "/dev"]
    for folder, size in _SPACE.items():
        command += ["--size", str(size), "--tmpfs", folder]
    # Last, because everything above is made in what these close.
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]  # noqa: S108
    return [*command, "--", interpreter]


def _interpreter(python: str | None) -> tuple[str, str | None]:
    """Return an interpreter a sandbox can use, and the folder it needs beside /usr."""
    own = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    tried = [python] if python else [own, "/usr/local/bin/python3", "/usr/bin/python3"]
    for name in tried:
        path = Path(os.path.realpath(name))
        prefix = path.parent.parent
        if not path.is_file() or (os.geteuid() == 0 and not _open_to_all(path)):
            continue
        if Path("/usr") in path.parents:
            return str(path), None
        home = Path(os.path.realpath(Path.home()))
        if prefix not in (home, *home.parents) and any((prefix / "lib").glob("python3*")):
            return str(path), str(prefix)
    whom = " that the user nobody may read" if os.geteuid() == 0 else ""
    raise ConfigError(
        f"code cannot be isolated here: no Python{whom} among {', '.join(map(str, tried))};"
        f" name one: python: /usr/bin/python3{_HINT}"
    )


def _open_to_all(path: Path) -> bool:
    return all(part.stat().st_mode & 0o001 for part in (path, *path.parents))


# By event loop, because a semaphore belongs to one; the processors belong to the machine.
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def process_slots() -> asyncio.Semaphore:
    """Return the semaphore for a running process; it keeps time limits fair under load."""
    import asyncio

    return _slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(processors()))


def processors() -> int:
    """Return the number of processors this process may use."""
    usable = os.cpu_count()
    if sys.platform == "linux":
        usable = len(os.sched_getaffinity(0))
    return usable or 1
