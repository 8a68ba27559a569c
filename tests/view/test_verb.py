"""`judgekit view` as a process: the address it prints, and how it ends."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.core.errors import ConfigError

pytestmark = pytest.mark.loopback

VIEW = [sys.executable, "-m", "judgekit", "view"]


def test_it_prints_its_address_and_ends_quietly_with_ctrl_c(make, root):
    make("main", [0.9])
    process = subprocess.Popen(
        [*VIEW, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address, timeout=120) as reply:
            assert reply.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()

    assert process.returncode == 0
    assert out == ""
    assert err == f"1 run in {root}; Ctrl-C ends\n"


def test_it_ends_with_ctrl_c_in_a_terminal(make, root):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*VIEW, str(root)], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(theirs, __import__("termios").TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    try:
        while b"http://" not in seen or not seen.endswith(b"\n"):
            seen += os.read(ours, 1000)
        os.write(ours, b"\x03")
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()
        os.close(ours)

    assert b"no run yet in " in seen
    assert b"Traceback" not in seen


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none"], "none: not a folder; name one that holds runs"),
        (["rnus"], "rnus: not a folder; did you mean 'runs'?"),
        (["--port", "70000"], "port 70000: there is no such port (0 to 65535)"),
        (["--port", "-1"], "port -1: there is no such port (0 to 65535)"),
    ],
)
def test_a_mistake_is_one_line(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()

    done = CliRunner().invoke(app, ["view", *arguments])

    assert isinstance(done.exception, ConfigError)
    assert str(done.exception) == said


def test_a_port_in_use_is_one_line(viewer, root):
    done = subprocess.run(
        [*VIEW, str(root), "--port", str(viewer.server_port)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stdout) == (2, "")
    said = f"judgekit: port {viewer.server_port} is in use; name another, or none\n"
    assert done.stderr == said


def test_the_browser_opens_only_when_wanted(root, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(
        "judgekit.view.server.Viewer.serve_forever", lambda self: opened.append("served")
    )

    assert CliRunner().invoke(app, ["view", str(root)]).exit_code == 0
    assert opened == ["served"]
    done = CliRunner().invoke(app, ["view", str(root), "--open"])
    assert opened == ["served", done.stdout.strip(), "served"]
