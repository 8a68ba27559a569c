"""The isolation of a sandbox: the bubblewrap command, and the system calls that it refuses."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import struct
import sys
from pathlib import Path

from judgekit.core.errors import ConfigError

NOBODY = 65534
HINT = "; unsafe_exec: true runs code without isolation, which is no security boundary"
_MB = 1 << 20
_SPACE = {"/tmp": 64 * _MB, "/dev/shm": 16 * _MB}  # noqa: S108 - of the sandbox, not of this machine
_LIBRARY_CACHE = "/etc/ld.so.cache"
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/bin", "/sbin")


def isolated(python: str | None) -> list[str]:
    """Return the command that starts a sandbox, up to and including the interpreter.

    Raises:
        ConfigError: there is no bubblewrap, or no interpreter that can run in it.
    """
    bwrap = shutil.which("bwrap", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/local/bin")
    obstacle = "bubblewrap is not installed (apt-get install bubblewrap)"
    if not sys.platform.startswith("linux"):
        bwrap, obstacle = None, "this is not Linux"
    if bwrap is None:
        raise ConfigError(f"code cannot be isolated here: {obstacle}{HINT}")
    interpreter, prefix = _interpreter(python)
    command = [bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox"]
    command += ["--ro-bind", "/usr", "/usr", "--ro-bind-try", _LIBRARY_CACHE, _LIBRARY_CACHE]
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
    # Last, because the steps above write to the folders that become read-only here.
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]  # noqa: S108
    return [*command, "--", interpreter]


def _interpreter(python: str | None) -> tuple[str, str | None]:
    """Return an interpreter for a sandbox, and the folder that it needs in addition to /usr."""
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
        f" name one: python: /usr/bin/python3{HINT}"
    )


def _open_to_all(path: Path) -> bool:
    return all(part.stat().st_mode & 0o001 for part in (path, *path.parents))


# These calls give access to memory outside the limits, or to other rights.
# Numbers of the kernel's tables: x86_64, aarch64.
_REFUSED = {
    # Memory that outlives its process, or that is not charged to any process.
    "shmget": (29, 194), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # Access to other namespaces, mounts and processes, and to large parts of the kernel.
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "pivot_root": (155, 41),
    "fsopen": (430, 430), "open_tree": (428, 428), "move_mount": (429, 429),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
_ARCHITECTURES = {"x86_64": (0xC000003E, 0, 56), "aarch64": (0xC00000B7, 1, 220)}
"""Name -> the kernel's number for it, the column above, and the number of `clone`."""
_CLONE3 = 435
_NEW_USER = 0x10000000

# Opcodes of classic BPF: load a word, compare, return.
_LOAD, _EQUAL, _AT_LEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000


def seccomp_filter(machine: str | None = None) -> bytes | None:
    """Return the filter in the kernel's format; `None` for an unknown machine.

    The filter reports that `clone3` does not exist, because it cannot check its flags. The C
    library then uses `clone`; the filter refuses its flag for a new user namespace.
    """
    known = _ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, column, clone = known
    refused = _ERROR | errno.EPERM
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        # From here on are the numbers of the second ABI of x86_64.
        (_AT_LEAST, 0, 1, 0x40000000),
        (_RETURN, 0, 0, _KILL),
        (_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
    ]
    for numbers in _REFUSED.values():
        steps += [(_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, refused)]
    steps += [
        (_EQUAL, 0, 3, clone),
        (_LOAD, 0, 0, 16),
        (_BITS, 0, 1, _NEW_USER),
        (_RETURN, 0, 0, refused),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
