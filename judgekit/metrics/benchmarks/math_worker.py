"""The process that compares mathematics, as seen from here: started when needed, ends with us."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, NamedTuple

from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.metrics.benchmarks.sandbox import process_slots

MEMORY = 1 << 30
"""Bytes of memory that one comparison may hold; looked at twenty times a second."""
_START = 120.0
"""Seconds in which the library is loaded."""

_lock = threading.Lock()
_host: Host | None = None


class Compared(NamedTuple):
    """What came of a comparison."""

    matched: int | None
    """Number of the first reference that is equal, from 0."""
    output: str | None
    """What was read in the output; `None` if nothing was."""
    references: tuple[str | None, ...]
    ended: str | None
    """Why it could not be decided: `time`, `memory`, or what went wrong."""
    versions: dict[str, str]


async def compare(
    output: str, references: Sequence[str], *, seconds: float, strict: bool
) -> Compared:
    """Compare an output with references, in a copy of a process that has loaded the library.

    Raises:
        MissingExtra: math-verify is not installed.
        ConfigError: no process can be started or copied here.
    """
    import asyncio

    if find_spec("math_verify") is None:
        raise MissingExtra(feature="math", extra="benchmarks")
    if sys.platform == "win32":
        raise ConfigError("math compares in copies of a process, which Windows does not have")
    order = {
        "output": output,
        "references": list(references),
        "seconds": seconds,
        "strict": strict,
        "memory": MEMORY,
    }
    async with process_slots():
        host = _running()
        versions = await asyncio.wait_for(asyncio.wrap_future(host.ready), _START)
        if not versions:
            raise ConfigError("math: the comparing process did not start; is math-verify whole?")
        try:
            # The copy ends itself before; this is for a host that was stopped.
            facts = await asyncio.wait_for(asyncio.wrap_future(host.ask(order)), 2 * seconds + 10)
        except TimeoutError:
            host.close()
            facts = {"ended": "time"}
    read = facts.get("output") or [None]
    parsed = facts.get("references") or []
    return Compared(
        facts.get("matched"),
        read[0],
        tuple(one[0] if one else None for one in parsed),
        facts.get("ended"),
        versions,
    )


def _running() -> Host:
    global _host  # noqa: PLW0603 - loading the library takes seconds, so one host serves all
    with _lock:
        if _host is None or _host.gone:
            if _host is not None:
                _host.close()
            _host = Host()
            atexit.register(_host.close)
        return _host


class Host:
    """A process that answers, and a thread that listens to it."""

    def __init__(self) -> None:
        text = files("judgekit").joinpath("metrics/benchmarks/math_host.py").read_text("utf-8")
        self.ready: Future[dict[str, str]] = Future()
        self.gone = False
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._asked = 0
        # When this process ends, however that is, the pipe closes, and the host ends.
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a text of ours
            [sys.executable, "-B", "-P", "-c", f"{text}\nmain()\n"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, name="judgekit-math", daemon=True).start()

    def ask(self, order: dict[str, Any]) -> Future[dict[str, Any]]:
        """Return what will be answered; `ended` says why if it cannot be."""
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            self._asked += 1
            number = self._asked
            if self.gone or self._process.stdin is None:
                future.set_result({"ended": "the comparing process is gone"})
                return future
            self._waiting[number] = future
            with contextlib.suppress(OSError):
                self._process.stdin.write(json.dumps({**order, "id": number}).encode() + b"\n")
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
