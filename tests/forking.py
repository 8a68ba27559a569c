"""Starts `judgekit` in forks of one process that has imported it; `tests.forks` is its client.

A client connects to the socket, sends a command as a JSON line and the three standard streams, and
receives the process id and, at its end, the exit code or minus the signal that ended it.
"""

from __future__ import annotations

import asyncio
import fcntl
import gc
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import sys
import tempfile
import termios
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import judgekit.cli
from judgekit.cli import main
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite

SUITE = {
    "cases": "cases.jsonl",
    "judge": "fake/judge",
    "metrics": {"length": {"maximum": 9}, "polite": {"criteria": {"polite": "Is it polite?"}}},
}


def warm() -> None:
    """Run a suite: no fork has to import, to compile templates or to build models again."""
    for module in pkgutil.iter_modules(judgekit.cli.__path__, "judgekit.cli."):
        import_module(module.name)
    home = os.environ.get("JUDGEKIT_HOME")
    with tempfile.TemporaryDirectory(prefix="warm-") as name:
        os.environ["JUDGEKIT_HOME"] = str(Path(name, "store"))
        Path(name, "cases.jsonl").write_text('{"id": "a", "output": "x"}\n', "utf-8")
        suite = Path(name, "suite.yaml")
        suite.write_text(json.dumps(SUITE), "utf-8")
        # Not `run_suite_sync`: it leaves a thread, which forks would believe to be there.
        asyncio.run(run_suite(load_suite(suite), out=Path(name, "out"), page=True))
    os.environ.pop("JUDGEKIT_HOME")
    if home is not None:
        os.environ["JUDGEKIT_HOME"] = home
    gc.collect()
    gc.freeze()


def serve(path: str) -> dict[str, Any] | None:
    """Fork for each command until the standard input ends; return the command in a fork."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([listener, woken, 0], [], [])
        if woken in ready:
            os.read(woken, 1024)
            for process in list(running):
                ended, status = os.waitpid(process, os.WNOHANG)
                if ended:
                    _send(running.pop(process), os.waitstatus_to_exitcode(status))
        if listener in ready:
            connection, _ = listener.accept()
            text, streams, _, _ = socket.recv_fds(connection, 1 << 16, 3)
            while not text.endswith(b"\n"):
                text += connection.recv(1 << 16)
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                for inherited in (connection, listener, *running.values()):
                    inherited.detach()
                os.closerange(3, 256)
                command: dict[str, Any] = json.loads(text)
                return command
            for stream in streams:
                os.close(stream)
            connection.sendall(f"{process}\n".encode())
            running[process] = connection
        if 0 in ready and not os.read(0, 1):
            return None


def _send(connection: socket.socket, code: int) -> None:
    with connection, suppress(OSError):  # the client may have ended
        connection.sendall(f"{code}\n".encode())


def become(command: dict[str, Any]) -> None:
    """Make this process what a shell would have started."""
    if command["terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(command["folder"])
    os.environ.clear()
    os.environ.update(command["environment"])
    # Standard streams as a new interpreter opens them.
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        errors = "backslashreplace" if name == "stderr" else "strict"
        line = 1 if name == "stderr" or os.isatty(number) else -1
        stream = open(number, mode, line, "utf-8", errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if folder and (hook := Path(folder, "sitecustomize.py")).is_file():
            runpy.run_path(str(hook))
    if bounds := command.get("bounds"):
        resource.setrlimit(resource.RLIMIT_AS, (bounds["memory"],) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (bounds["seconds"],) * 2)
        signal.alarm(bounds["patience"])
    sys.argv = ["judgekit", *command["arguments"]]


if __name__ == "__main__":
    warm()
    if (started := serve(sys.argv[1])) is not None:
        become(started)
        main()
