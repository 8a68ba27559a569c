"""What only POSIX has is used only where the system is known to have it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "judgekit"
MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
NAMES = {
    "os": {
        "fchmod", "fchown", "fork", "forkpty", "geteuid", "getgid", "getpgid", "getuid", "killpg",
        "lchown", "mkfifo", "mknod", "nice", "openpty", "posix_fadvise", "posix_fallocate", "pread",
        "preadv", "pwrite", "pwritev", "sched_getaffinity", "sendfile", "setpgid", "setsid",
        "setuid", "statvfs", "sync", "uname", "wait3", "wait4", "waitid", "O_CLOEXEC",
        "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC",
    },
    "signal": {
        "ITIMER_REAL", "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGSTOP", "SIGTSTP",
        "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGXCPU", "alarm", "pthread_sigmask", "setitimer",
        "set_wakeup_fd", "siginterrupt", "sigwait",
    },
    "socket": {"AF_UNIX"},
}  # fmt: skip
"""Module -> names that Windows lacks."""
POSIX_ONLY = {
    # Runs inside the sandbox of Linux.
    "metrics/benchmarks/sandbox_program.py",
    # Looks for Linux before it makes a command.
    "metrics/benchmarks/isolation.py",
    # Every door to it is behind isolated(), which looks for Linux first.
    "metrics/benchmarks/sandbox.py",
    # The process that math.py starts after it has looked at sys.platform.
    "metrics/benchmarks/math_host.py",
    # Ends that process.
    "metrics/benchmarks/math.py",
}
"""Files that need not look: something before them does."""
_NAMED = re.compile(rf"\b(?:{'|'.join(MODULES.union(*NAMES.values()))})\b")


def expects(node):
    """Return whether a node expects that a name is missing."""
    if isinstance(node, ast.Try):
        caught = " ".join(ast.unparse(handler.type) for handler in node.handlers if handler.type)
        return "ImportError" in caught or "AttributeError" in caught
    if isinstance(node, (ast.If, ast.IfExp)):
        test = ast.unparse(node.test)
        return any(word in test for word in ("hasattr(", "sys.platform", "os.name"))
    return isinstance(node, ast.With) and "ImportError" in ast.unparse(node.items[0])


def name_of(node):
    """Return the name that only POSIX has and that a node uses, or `None`."""
    if isinstance(node, ast.Import):
        return next((alias.name for alias in node.names if alias.name in MODULES), None)
    if isinstance(node, ast.ImportFrom):
        known = NAMES.get(node.module, ())
        return next((alias.name for alias in node.names if alias.name in known), None)
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    return f"{node.value.id}.{node.attr}" if node.attr in NAMES.get(node.value.id, ()) else None


def posix_names(source):
    """Return the names that only POSIX has, with their lines, which a source uses unguarded."""
    if not _NAMED.search(source):
        return []
    nodes = list(ast.walk(ast.parse(source)))
    guarded = [(node.lineno, node.end_lineno) for node in nodes if expects(node)]
    used = {(node.lineno, name) for node in nodes if (name := name_of(node)) is not None}
    return sorted(
        (line, name) for line, name in used if not any(low <= line <= high for low, high in guarded)
    )


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os\nos.pread(3, 1, 0)\n", [(2, "os.pread")]),
        ("import fcntl\n", [(1, "fcntl")]),
        ("from signal import SIGKILL\n", [(1, "SIGKILL")]),
        ("try:\n import fcntl\nexcept ImportError:\n pass\n", []),
        ("try:\n import fcntl\nexcept OSError:\n pass\n", [(2, "fcntl")]),
        ("import os\nif hasattr(os, 'getuid'):\n os.getuid()\n", []),
        ("import os\nos.O_BINARY\n", []),
    ],
)
def test_a_name_of_posix_is_found_unless_it_is_guarded(source, found):
    assert posix_names(source) == found


def test_the_package_uses_what_only_posix_has_behind_a_guard():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in POSIX_ONLY and (names := posix_names(path.read_text("utf-8"))):
            found[name] = names

    assert found == {}


def test_the_files_that_need_not_look_are_there():
    assert [name for name in POSIX_ONLY if not (PACKAGE / name).is_file()] == []
