"""Hostile programs on the real sandbox: each is stopped, and each is said to have been stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.metrics.benchmarks import isolation
from judgekit.metrics.benchmarks import sandbox as module
from judgekit.metrics.benchmarks.code import Code

needs_sandbox = pytest.mark.skipif(
    not shutil.which("bwrap"),
    reason="NOT TESTED: the sandbox needs bubblewrap (apt-get install bubblewrap)",
)


def score(output, tests=("assert True",), **options):
    case = Case(id="1", output=output, expected={"tests": list(tests)})
    return asyncio.run(Code(**{"seconds": 5, **options}).score(case))


def outcome(output, **options):
    found = score(output, **options)
    assert found.value == 0
    (said,) = found.details["outcomes"]
    assert said["said"] in found.reason
    assert found.meta["isolation"] == "bubblewrap"
    return said["outcome"], said["said"]


@needs_sandbox
def test_a_fork_bomb_is_stopped():
    kind, said = outcome("import os\nwhile True:\n    os.fork()")

    assert (kind, said[:22]) == ("processes", "stopped at 8 processes")


@needs_sandbox
@pytest.mark.thorough
def test_a_fork_bomb_that_takes_no_for_an_answer_is_stopped_by_the_clock():
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"

    assert outcome(bomb, seconds=0.5) == ("time", "stopped: took longer than 3 s by the clock")


@needs_sandbox
def test_threads_count_as_processes():
    many = "import threading, time\nfor _ in range(99): threading.Thread(target=time.sleep, args=(9,)).start()"  # noqa: E501

    assert outcome(many)[0] == "processes"


@needs_sandbox
def test_an_endless_loop_is_stopped():
    kind, said = outcome("while True: pass", seconds=1)

    assert kind == "time"
    assert said.startswith("stopped: ")


@needs_sandbox
@pytest.mark.thorough
def test_waiting_is_stopped_by_the_clock():
    kind, said = outcome("import time\ntime.sleep(600)", seconds=0.2)

    assert (kind, said) == ("time", "stopped: took longer than 2.4 s by the clock")


@needs_sandbox
@pytest.mark.parametrize(
    "program", ["x = bytearray(10 << 30)", "x = []\nwhile True: x.append(' ' * (1 << 24))"]
)
def test_ten_gigabytes_are_refused(program):
    assert outcome(program) == ("memory", "stopped: needed more than 512 MB of memory")


@needs_sandbox
@pytest.mark.loopback
def test_a_server_on_this_machine_cannot_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]

        kind, said = outcome(f"import socket\nsocket.create_connection(('127.0.0.1', {port}))")

        with pytest.raises(TimeoutError):
            server.accept()
    assert (kind, said[:28]) == ("network", "stopped: there is no network")


@needs_sandbox
@pytest.mark.parametrize(
    "program",
    [
        "import socket\nsocket.create_connection(('192.0.2.1', 80))",
        "import urllib.request\nurllib.request.urlopen('http://example.invalid')",
    ],
)
def test_the_network_cannot_be_reached(program):
    assert outcome(program)[0] == "network"


@needs_sandbox
def test_the_home_folder_and_the_project_cannot_be_read(tmp_path):
    canary = Path.home() / f".judgekit-canary-{os.getpid()}"
    canary.write_text("secret", "utf-8")
    try:
        for path in (canary, tmp_path, Path(__file__), "/etc/passwd", "/root", "/home"):
            kind, said = outcome(f"import os\nos.stat({str(path)!r})")
            assert kind == "files"
            assert "not allowed in the sandbox" in said
    finally:
        canary.unlink()


@needs_sandbox
def test_nothing_of_this_process_is_handed_on(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary")

    found = score("import os", ["assert 'canary' not in str(os.environ), os.environ",
                                "assert set(os.listdir('/proc/self/fd')) <= set('01234')",
                                "assert os.getuid() == 65534 == os.getgid()"])  # fmt: skip

    assert found.value == 1, found.details


@needs_sandbox
@pytest.mark.parametrize("path", ["/usr/x", "/x", "/dev/x", "/etc/x", "/proc/sys/kernel/hostname"])
def test_nothing_outside_can_be_written(path):
    assert outcome(f"open({path!r}, 'w').write('x')")[0] == "files"
    assert not Path(path).exists() or path.startswith("/proc")


@needs_sandbox
def test_the_temporary_folder_is_small_and_its_own(tmp_path):
    fill = "import os\nfor n in range(99):\n    open(f'/tmp/{n}', 'wb').write(b'x' * (8 << 20))"

    assert outcome(fill)[0] == "files"
    assert outcome("open('/tmp/big', 'wb').write(b'x' * (64 << 20))")[0] == "files"
    assert score(
        "open('/tmp/mine', 'w')", ["import os; assert os.listdir('/tmp') == ['mine']"]
    ).value


@needs_sandbox
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_gigabyte_of_output_is_stopped(stream):
    number = 1 if stream == "stdout" else 3
    flood = f"import os\nfor _ in range(1 << 14): os.write({number}, b'x' * (1 << 16))"

    kind, said = outcome(flood)

    assert kind == "output"
    assert said == "stopped: printed more than 1,024 KB"


@needs_sandbox
@pytest.mark.parametrize(
    "call", ["shmget(0, 1 << 20, 0o1666)", "unshare(0x10000000)", "ptrace(0, 0, 0, 0)"]
)
def test_ways_around_the_limits_are_refused(call):
    assert (
        "Operation not permitted"
        in outcome(
            "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            f"libc.{call}\nraise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))"
        )[1]
    )


@needs_sandbox
@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("import os\nos._exit(0)", "ended"),
        ("exit()", "ended"),
        ("raise SystemExit(0)", "ended"),
        ("import ctypes\nctypes.string_at(0)", "killed"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "killed"),
        ("def f(:", "syntax"),
        ("raise ValueError('no')", "error"),
        ("import os\nos.write(3, b'{\"done\": true}\\n')\nos._exit(0)", "ended"),
        ("import atexit, os\natexit.register(print)\nos.fork() or os._exit(0)\n1/0", "error"),
    ],
)
def test_only_a_test_that_was_run_to_its_end_passes(program, kind):
    assert outcome(program)[0] == kind


@needs_sandbox
def test_what_is_said_is_the_same_every_time():
    odd = "raise ValueError(object(), {'b', 'a', 'c'})"

    assert outcome(odd) == outcome(odd)


def lasting(mark):
    """Return the processes of this machine whose command line holds a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                # As an argument of its own, so that no editor or test that holds it is meant.
                if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


SLEEPER = "import os\nfor _ in range(2): os.fork()\nos.execv('/usr/bin/sleep', ['sleep', '{mark}'])"


@needs_sandbox
def test_a_cancelled_row_leaves_nothing_behind():
    mark = f"600.{os.getpid()}1"

    async def cancelled():
        case = Case(id="1", output=SLEEPER.format(mark=mark), expected={"tests": ["1"]})
        task = asyncio.create_task(Code().score(case))
        while not lasting(mark):
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(cancelled(), 20))

    assert lasting(mark) == []


RUN = """
import sys
from judgekit.cli import main
sys.argv = ["judgekit", "run", "suite.yaml"]
main()
"""


@needs_sandbox
@pytest.mark.parametrize(
    "how",
    [
        pytest.param([signal.SIGINT], marks=pytest.mark.thorough),
        pytest.param([signal.SIGINT] * 2, marks=pytest.mark.thorough),
        [signal.SIGKILL],
    ],
)
def test_ctrl_c_and_worse_leave_nothing_behind(how, tmp_path):
    import json

    mark = f"600.{os.getpid()}{len(how)}{int(how[0])}"
    rows = [{"id": str(n), "output": SLEEPER.format(mark=mark), "expected": {"tests": ["1"]}}
            for n in range(3)]  # fmt: skip
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    suite = {"cases": "cases.jsonl", "metrics": {"code": {"seconds": 60}}}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite), "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", RUN], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    end = time.monotonic() + 300
    while not lasting(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert lasting(mark)

    for number in how:
        process.send_signal(number)
        time.sleep(0.2)
    said = process.communicate(timeout=300)[0]

    while lasting(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert lasting(mark) == []
    assert b"Traceback" not in said, said


@needs_sandbox
def test_the_event_loop_goes_on_and_only_so_many_work_at_once(monkeypatch):
    monkeypatch.setattr("judgekit.metrics.benchmarks.sandbox.processors", lambda: 2)
    running, most, ticks = set(), 0, 0
    original = module.Sandbox._run

    async def counted(self, *args):
        nonlocal most
        running.add(me := object())
        most = max(most, len(running))
        try:
            return await original(self, *args)
        finally:
            running.discard(me)

    monkeypatch.setattr(module.Sandbox, "_run", counted)

    async def all_at_once():
        nonlocal ticks

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.01)

        ticking = asyncio.create_task(tick())
        case = Case(id="1", output="import time\ntime.sleep(.2)", expected={"tests": ["1"]})
        await asyncio.gather(*(Code().score(case) for _ in range(6)))
        ticking.cancel()

    asyncio.run(all_at_once())

    assert most == 2
    assert ticks > 20


def test_without_a_sandbox_nothing_runs(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)

    with pytest.raises(ConfigError, match="code cannot be isolated here: bubblewrap is not inst"):
        score("x = 1")


def test_on_another_system_nothing_runs(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(ConfigError, match="isolated here: this is not Linux; unsafe_exec"):
        score("x = 1")


def test_a_sandbox_that_does_not_start_stops_the_run(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    tmp_path.chmod(0o755)
    fake.chmod(0o755)
    monkeypatch.setattr(module, "_as_nobody", dict)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: str(fake))

    with pytest.raises(ConfigError, match="did not start: bwrap: No permissions to create new"):
        score("x = 1")


def test_a_python_that_cannot_be_used_is_said():
    with pytest.raises(ConfigError, match=r"no Python.* among /nope; name one"):
        isolation._interpreter("/nope")


def test_an_interpreter_in_the_home_folder_does_not_open_it(monkeypatch, tmp_path):
    home = tmp_path / "me"
    (home / "bin").mkdir(parents=True)
    (home / "lib" / "python3.11").mkdir(parents=True)
    (home / "bin" / "python3").touch()
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(isolation, "_open_to_all", lambda path: True)

    with pytest.raises(ConfigError, match="no Python"):
        isolation._interpreter(str(home / "bin" / "python3"))


def test_unsafe_exec_says_what_it_is_and_keeps_its_limits():
    passed = score("x = 1", ["assert x == 1"], unsafe_exec=True)
    big = score("x = bytearray(10 << 30)", unsafe_exec=True)

    assert passed.value == 1
    assert passed.meta["isolation"] == "none (unsafe_exec)"
    assert passed.method == "tests run (unsafe_exec)"
    assert big.details["outcomes"][0]["outcome"] == "memory"


def test_the_filter_is_whole_instructions_and_ends_in_allow():
    for machine in ("x86_64", "aarch64"):
        made = isolation.seccomp_filter(machine)
        assert len(made) % 8 == 0
        assert made[-8:] == bytes.fromhex("0600 00 00 0000ff7f".replace(" ", ""))
    assert isolation.seccomp_filter("vax") is None
