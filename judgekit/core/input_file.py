"""Read whole regular files of a limited size, and their entries; hints for a wrong file."""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, AnyStr, Literal, TypeVar

from judgekit.core.errors import ConfigError, InvalidReply, place
from judgekit.core.suggest import closest

MAX_PLAIN = 64 * 2**20
"""Maximum size of a text file, in bytes."""


class Unreadable(OSError):
    """A file is too large or not a regular file; the message says what to do."""

    def __str__(self) -> str:
        return str(self.strerror)


def read_bytes(path: Path, *, most: int) -> bytes:
    """Return the bytes of a regular file.

    Args:
        path: the file.
        most: maximum size in bytes. It limits the bytes read, not the reported size: a device
            reports 0, and a file may grow.

    Raises:
        Unreadable: it is larger, or no regular file.
        OSError: it cannot be opened or read.
    """
    # O_NONBLOCK: do not wait for a named pipe, which is refused below.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        opened = os.fstat(file.fileno())
        if not stat.S_ISREG(opened.st_mode):
            message = "not a regular file but a device or a pipe; name a file"
            raise Unreadable(errno.EINVAL, message, str(path))
        data = b"" if opened.st_size > most else file.read(most + 1)
    if max(len(data), opened.st_size) > most:
        raise Unreadable(errno.EFBIG, f"larger than {most:,} bytes; make it smaller", str(path))
    return data


def read_text(path: Path, *, most: int) -> str:
    """Return the text of a regular file in UTF-8, without a byte order mark.

    Line ends become LF, as in Python's text mode.

    Raises:
        Unreadable: it is larger than `most` bytes, or no regular file.
        OSError: it cannot be opened or read.
        UnicodeDecodeError: it is not UTF-8.
    """
    data = read_bytes(path, most=most)
    if 0 in data[:2]:
        # UTF-16 without a mark is valid UTF-8, with a NUL beside each letter.
        raise UnicodeDecodeError("utf-8", data, 0, 1, "UTF-16")
    text = data.decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def undecodable(exc: UnicodeDecodeError, *, before: int = 0) -> tuple[str, int]:
    r"""Return what is wrong with the bytes of a text, and the line of the first wrong one.

    `before` is the number of bytes of the file before the text.

    >>> undecodable(UnicodeDecodeError("utf-8", b"a\ncaf\xe9", 5, 6, ""))
    ('not UTF-8: byte 5 is 0xe9; save the file as UTF-8', 2)
    """
    data, start = exc.object, exc.start
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or 0 in data[:2]:
        return "is UTF-16; save the file as UTF-8", 1
    line = data.count(b"\n", 0, start) + 1
    return f"not UTF-8: byte {before + start} is 0x{data[start]:02x}; save the file as UTF-8", line


def read_prompt(path: Path, *, flag: str) -> str:
    """Return the stripped text of a file that a flag names.

    Args:
        path: the file.
        flag: the flag, for messages.

    Raises:
        ConfigError: the file cannot be read, or is not UTF-8.
    """
    try:
        return read_text(path, most=MAX_PLAIN).strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{flag}: cannot be read: {exc}; name a UTF-8 text file") from exc


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file; it is read in chunks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bounded_lines(file: IO[AnyStr], *, most: int) -> Iterator[AnyStr]:
    """Yield the lines of an open file, with their ends.

    Raises:
        Unreadable: a line is longer than `most` characters, or bytes.
    """
    for number, line in enumerate(iter(lambda: file.readline(most + 1), file.read(0)), start=1):
        if len(line) > most:
            message = f"line {number} is longer than {most:,} characters; shorten or delete it"
            raise Unreadable(errno.EFBIG, message, file.name)
        yield line


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Hashable)
Entry = tuple[dict[str, Any], int]
"""The content of a line, and its number from 1."""


def read_entries(
    text: str,
    path: Path,
    read: Callable[[str], tuple[K, V, dict[str, Any]] | None],
    *,
    noun: str,
    twice: Callable[[K, int], str],
) -> dict[K, dict[V, Entry]]:
    """Return the entries of a file, one a line: key -> variant -> entry.

    Args:
        text: the text of the file.
        path: the file, for messages.
        read: returns key, variant and content of a line; `None` to ignore it.
        noun: what a line is, such as "a verdict".
        twice: returns the message for a second entry, from its key and the line of the first.

    Raises:
        ConfigError: a line is not an entry, or is a second one; with `file:line`.
    """
    entries: dict[K, dict[V, Entry]] = {}
    number = 0
    try:
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip() or (entry := read(line)) is None:
                continue
            key, variant, content = entry
            variants = entries.setdefault(key, {})
            if variant in variants:
                raise ConfigError(twice(key, variants[variant][1]))
            variants[variant] = (content, number)
    except (InvalidReply, ConfigError) as exc:
        problem = f"not {noun}: {exc}" if isinstance(exc, InvalidReply) else str(exc)
        raise ConfigError(problem, where=place(path, number)) from exc
    return entries


_CASES = {".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".pq", ".xlsx", ".xlsm"}
_SUITES = {".yaml", ".yml"}
_PERSONA = {
    "voice",
    "traits",
    "lexicon",
    "exemplars",
    "style_rules",
    "safety_rules",
    "display_name",
}
"""Keys that occur only in a persona file."""
_ABOVE = 4
"""Number of parent folders in which to look for a missing file."""


def other_kind(path: Path, *, wanted: Literal["suite", "rubric"]) -> str | None:
    """Return a hint about a file whose extension is not that of the expected kind, else `None`."""
    ending = path.suffix.lower()
    if ending in _SUITES and wanted == "rubric":
        return f"is no rubric but a suite; run it: judgekit run {path}"
    if ending == ".jinja" and wanted == "suite":
        return f"is a rubric, not a suite; score with it: judgekit score --rubric {path}"
    if ending in _CASES and wanted == "suite":
        if (kind := _written(path)) is not None:
            return f"is {kind}, not a suite; name the suite that wrote it"
        return f"is no suite but a file of data; to write a suite: judgekit init --cases {path}"
    if ending in _CASES:
        return f"is no {wanted} but a file of data; a suite names its cases: cases: {path.name}"
    return None


def _written(path: Path) -> str | None:
    """Return what judgekit wrote into a file, by its first bytes; `None` for a file of others."""
    try:
        with path.open("rb") as file:
            begin = file.read(_MARK)
    except OSError:
        return None
    return next((kind for mark, kind in _KINDS.items() if begin.startswith(mark)), None)


_KINDS = {
    b'{"judgekit":"cassette"': "a cassette",
    b'{"judgekit":"results"': "the results of a run",
}
"""The first bytes of a file that judgekit writes -> what it is."""
_MARK = 64
"""Number of bytes that show the kind of such a file."""


def other_content(data: Mapping[str, Any], path: Path) -> str | None:
    """Return a hint about a YAML or JSON file that is not a suite, else `None`."""
    if "metrics" in data or not _PERSONA & data.keys():
        return None
    return (
        f"is a persona, not a suite; check it: judgekit persona lint {path}; a suite names it "
        f"where a metric takes one: authenticity: {{persona: {path.name}}}"
    )


def _is_alike(path: Path) -> bool:
    """Return whether a path could be the intended one: a file, or a folder without extension."""
    return path.is_file() or (not path.suffix and path.is_dir())


def home_path(text: str | Path) -> Path:
    """Return a path with `~` at its begin replaced by the home folder, as shells do.

    >>> home_path("a/~/b").as_posix(), home_path("~/a") == Path.home() / "a"
    ('a/~/b', True)
    """
    path = Path(text)
    # Path.expanduser fails without a home folder, and for `~name` of an unknown user.
    return Path(os.path.expanduser(text)) if path.parts[:1] == ("~",) else path  # noqa: PTH111


def _foreign(path: Path) -> str:
    """Return what to write instead of a path that no file of this machine can have."""
    text = str(path)
    scheme = text.partition(":")[0].rpartition("/")[2].lower()
    if ":/" in text and scheme in _SCHEMES:
        return "; judgekit reads local files only: download it first"
    if "\\" in text and os.sep == "/":
        return f"; folders are separated by /: write {'/'.join(filter(None, text.split(chr(92))))}"
    if "$" in text:
        return "; no variable is expanded here: write the path itself, or ~ for the home folder"
    if any(sign in path.name for sign in "*?["):
        return "; one file is read: join several first, such as cat part-*.jsonl > all.jsonl"
    return ""


_SCHEMES = {"http", "https", "s3", "gs", "hf", "ftp", "az", "abfs", "file"}


def nearby(path: Path) -> str:
    """Return a hint at an existing file for a missing one: in the same folder or a parent."""
    if hint := _foreign(path):
        return hint
    try:
        beside = [p for p in path.parent.iterdir() if _is_alike(p)]
    except OSError:
        beside = []
    close = closest(path.stem, [p.stem for p in beside if p.suffix == path.suffix])
    if close:
        return f"; did you mean {str(path.with_name(close[0] + path.suffix))!r}?"
    kinds = next((kinds for kinds in (_CASES, _SUITES) if path.suffix.lower() in kinds), set())
    for other in sorted(beside):
        if other.stem == path.stem and other.suffix.lower() in kinds:
            return f"; did you mean {str(path.with_name(other.name))!r}?"
    if not path.is_absolute():
        for steps in range(1, _ABOVE):
            above = Path(*[".."] * steps) / path
            if above.is_file():
                return f"; there is one at {str(above)!r}"
    return ""


def read_named(path: Path, *, what: str, most: int, otherwise: str = "; check the path") -> str:
    """Return the text of a file that a person named.

    Args:
        path: the file.
        what: the kind of file, such as "persona file".
        most: maximum size in bytes.
        otherwise: end of the message if the file is missing and no other one is suggested.

    Raises:
        ConfigError: the file is missing or cannot be read.
    """
    try:
        return read_text(path, most=most)
    except FileNotFoundError as exc:
        raise ConfigError(f"no such {what}{nearby(path) or otherwise}", where=str(path)) from exc
    except IsADirectoryError as exc:
        raise ConfigError(f"is a folder; name the {what} in it", where=str(path)) from exc
    except UnicodeDecodeError as exc:
        message, line = undecodable(exc)
        raise ConfigError(message, where=place(path, line)) from exc
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc.strerror or exc}", where=str(path)) from exc
