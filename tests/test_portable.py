"""What only POSIX has is used only where the system is known to have it."""

from __future__ import annotations

import ast
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
    "metrics/benchmarks/inside.py",
    # Every door to it is behind _bubblewrap(), which looks for Linux first.
    "metrics/benchmarks/sandbox.py",
    # The process that mathworker.py starts after it has looked at sys.platform.
    "metrics/benchmarks/mathhost.py",
    # Ends that process.
    "metrics/benchmarks/mathworker.py",
    # Reads how a program in the sandbox ended.
    "metrics/benchmarks/outcome.py",
}
"""Files that need not look: something before them does."""


def guards(tree):
    """Return the ranges of lines where a missing name is expected."""
    for node in ast.walk(tree):
        caught = [ast.unparse(h.type) for h in getattr(node, "handlers", []) if h.type]
        if isinstance(node, ast.Try) and any("Error" in name for name in caught):
            if any(word in " ".join(caught) for word in ("ImportError", "AttributeError")):
                yield node.body[0].lineno, node.body[-1].end_lineno
        if isinstance(node, ast.With) and "suppress" in ast.unparse(node.items[0]):
            if "ImportError" in ast.unparse(node.items[0]):
                yield node.body[0].lineno, node.body[-1].end_lineno
        if isinstance(node, (ast.If, ast.IfExp)) and any(
            word in ast.unparse(node.test) for word in ("hasattr(", "sys.platform", "os.name")
        ):
            yield node.lineno, node.end_lineno


def posix_names(source):
    """Return the names that only POSIX has, which a source uses without a guard."""
    tree = ast.parse(source)
    guarded = list(guards(tree))
    imported = set()
    for node in ast.walk(tree):
        found = None
        if isinstance(node, ast.Import):
            found = next((alias.name for alias in node.names if alias.name in MODULES), None)
        elif isinstance(node, ast.ImportFrom) and node.module in NAMES:
            found = next((a.name for a in node.names if a.name in NAMES[node.module]), None)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NAMES.get(node.value.id, ()):
                found = f"{node.value.id}.{node.attr}"
        if found and not any(low <= node.lineno <= high for low, high in guarded):
            imported.add((node.lineno, found))
    return sorted(imported)


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
