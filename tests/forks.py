"""Starts `judgekit` as a process in milliseconds: in a fork of a process that has imported it.

For tests that need a process, a terminal or a signal, but not the start of Python.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

SOCKET = "JUDGEKIT_TEST_FORKS"
"""Environment variable with the address of the server, for the program."""
_PROGRAM = f"""#!{sys.executable} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(os.environ.pop("{SOCKET}"))
command = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ),
           "terminal": False}}
socket.send_fds(server, [json.dumps(command).encode() + b"\\n"], [0, 1, 2])
lines = server.makefile()
lines.readline()
code = int(lines.readline())
os._exit(code if code >= 0 else 128 - code)
"""


class Server:
    """The process that forks.

    Args:
        env: its environment variables; by default those of this process.
    """

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="forks-")
        self.address = str(Path(self._folder.name, "socket"))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forking", self.address],
            cwd=Path(__file__).parents[1],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        program = Path(self._folder.name, "bin", "judgekit")
        program.parent.mkdir()
        program.write_text(_PROGRAM, "utf-8")
        program.chmod(0o755)
        self.programs = program.parent
        """A folder for `PATH` with the program `judgekit`, which a shell can run."""
        atexit.register(self.close)

    def close(self) -> None:
        """End the process; those that it started go on."""
        atexit.unregister(self.close)
        with self._process:
            pass
        self._folder.cleanup()


@cache
def server() -> Server:
    """Return the server of this process, started with the first use."""
    return Server()


def in_shell(server_: Server | None = None) -> dict[str, str]:
    """Return environment variables with which a shell runs `judgekit` in a fork."""
    server_ = server_ or server()
    path = f"{server_.programs}{os.pathsep}{Path(sys.executable).parent}"
    return {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}", SOCKET: server_.address}


class Fork:
    """A running `judgekit`, with the methods of `subprocess.Popen` that tests need.

    Args:
        arguments: those of the command line.
        cwd: the working folder; by default that of this process.
        env: environment variables; by default those of this process.
        streams: file descriptors of standard input, output and error.
        terminal: whether standard input is the terminal of a session of this process alone.
        bounds: limits of memory and time for `tests.forking`.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        streams: Sequence[int],
        terminal: bool = False,
        bounds: Mapping[str, int] | None = None,
    ) -> None:
        command = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "terminal": terminal,
            "bounds": bounds,
        }
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(server().address)
        text = json.dumps(command).encode() + b"\n"
        sent = socket.send_fds(self._socket, [text], streams)
        self._socket.sendall(text[sent:])
        self._received = b""
        self.returncode: int | None = None
        self.pid = int(self._line(None) or 0)

    def _line(self, timeout: float | None) -> str | None:
        """Return the next line of the server; `None` if it does not come in time."""
        self._socket.settimeout(timeout)
        while b"\n" not in self._received:
            try:
                data = self._socket.recv(1024)
            except (BlockingIOError, TimeoutError):
                return None
            assert data, "the server of forks has ended"
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return line.decode()

    def poll(self) -> int | None:
        """Return the exit code, or `None` while it runs."""
        return self._end(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code."""
        if (code := self._end(timeout)) is None:
            raise subprocess.TimeoutExpired("judgekit", timeout or 0.0)
        return code

    def _end(self, timeout: float | None) -> int | None:
        if self.returncode is None and (line := self._line(timeout)) is not None:
            self.returncode = int(line)
            self._socket.close()
        return self.returncode

    def kill(self) -> None:
        """Kill it, as a power cut does."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def run(
    arguments: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    stdout: int | None = None,
    bounds: Mapping[str, int] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `judgekit` to its end; return its exit code and what it printed.

    Args:
        arguments: those of the command line.
        cwd: the working folder; by default that of this process.
        env: environment variables; by default those of this process.
        stdin: its input.
        stdout: a file descriptor to print to.
        bounds: limits of memory and time.
    """
    with (
        tempfile.TemporaryFile() as source,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        source.write(stdin)
        source.seek(0)
        streams = (source.fileno(), out.fileno() if stdout is None else stdout, err.fileno())
        fork = Fork(arguments, cwd=cwd, env=env, streams=streams, bounds=bounds)
        return subprocess.CompletedProcess(arguments, fork.wait(), _text(out), _text(err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
