"""A tape: records in a text file that people review and commit.

The file is sorted by key and has no timestamps, so equal records give equal bytes.
An open tape needs 8 bytes of memory per record: 4 of its key and 4 for its offset.
"""

import json
import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property, partial
from heapq import merge
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

from judgekit.cassette.record import PART_NAMED, REPAIR_HINT, Record, decode, decode_part, encode
from judgekit.core.errors import CassetteCorrupt, CassetteError, place
from judgekit.core.generation import newest
from judgekit.core.output_file import beside, nameless_file, whole_file

HEADER = '{"judgekit":"cassette","version":1}'
_HEADER = re.compile(r'\{"judgekit":"cassette","version":1(?:,"rubrics":([1-9][0-9]{0,5}))?\}')
MAX_LINE = 64_000_000
"""Maximum size of a record, in bytes."""

_CHUNK = 8192
_MAX_HEADER = 1024
"""Bytes of the first line that are read."""
_INDEX_CHUNK = 1 << 18
"""Bytes per read when a tape is opened: a quarter of the time of the default, 8 KiB."""
_COUNT_CHUNK = 1 << 20
"""Bytes per read when lines are counted."""


class TapePosition:
    """The position of a line on a tape; lines are counted only to format it for a message."""

    def __init__(self, tape: "Tape", at: int, *, key: str = "") -> None:
        self._tape = tape
        self._at = at
        self._key = key

    def __str__(self) -> str:
        line = place(self._tape.path, self._tape.line_number(self._at))
        return f"{line}: record {self._key[:12]}" if self._key else line


class Tape:
    """A tape opened for reading. A missing file is an empty tape."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.generation = newest()
        """The generation of the built-in rubrics under which it was begun."""
        self._file = -1
        self._seek_lock = Lock()
        """Lock from a seek to the next read, on Windows: threads share the file position."""
        self._parts: dict[str, int] = {}
        self._prefixes = array("I")
        self._places = array("I")
        if path.exists():
            if not path.is_file():  # reading a named pipe would never end
                raise CassetteError(f"{path}: not a file; a cassette is a .jsonl file")
            self._load()

    def _load(self) -> None:
        try:
            self._file = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            if os.fstat(self._file).st_size >= 2**32:
                self._places = array("Q")
            with os.fdopen(os.dup(self._file), "rb", buffering=_INDEX_CHUNK) as file:
                # A line may be as long as the file: limit each read.
                self._index(iter(partial(file.readline, MAX_LINE + 1), b""))
        except OSError as exc:
            self.close()
            raise CassetteError(f"{self.path}: cannot be read: {exc.strerror}") from exc
        except CassetteCorrupt:
            self.close()
            raise

    def _index(self, lines: Iterable[bytes]) -> None:
        at = 0
        last = -1
        in_order = True
        for number, line in enumerate(lines, start=1):
            if len(line) > MAX_LINE:
                raise self._corrupt(number, f"longer than {MAX_LINE:,} bytes; delete the line")
            if number == 1:
                self._check_header(line)
            elif line.startswith(b'{"key":"'):
                try:
                    prefix = int(line[8:16], 16)
                except ValueError as exc:
                    raise self._corrupt(number, _line_problem(line)) from exc
                if prefix < 0:
                    raise self._corrupt(number, _line_problem(line))
                in_order = in_order and prefix >= last
                last = prefix
                self._prefixes.append(prefix)
                self._places.append(at)
            elif line.startswith(b'{"part":"'):
                self._parts[line[9:73].decode("ascii", "replace")] = at
            else:
                raise self._corrupt(number, _line_problem(line))
            at += len(line)
        if at and not line.endswith(b"\n"):
            raise self._corrupt(
                number, "the last line is cut off; restore the file, or delete the line"
            )
        if not in_order:
            order = sorted(range(len(self._places)), key=self._prefixes.__getitem__)
            self._prefixes = array("I", (self._prefixes[i] for i in order))
            self._places = array(self._places.typecode, (self._places[i] for i in order))

    def _check_header(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").strip()
        generation = _generation_of(text)
        if generation is not None and generation <= newest():
            self.generation = generation
            return
        if text.startswith('{"judgekit":"cassette"'):
            raise self._corrupt(1, "written by another version of judgekit; upgrade to read it")
        if line.startswith(b"SQLite"):
            raise self._corrupt(1, "an SQLite file is never a cassette; import needs a .jsonl tape")
        raise self._corrupt(1, f"not a cassette: the first line must be {HEADER}")

    def _corrupt(self, line: int, message: str) -> CassetteCorrupt:
        return CassetteCorrupt(f"{place(self.path, line)}: {message}")

    def __len__(self) -> int:
        return len(self._prefixes)

    def find(self, key: str) -> int:
        """Return the index of a record on this tape; -1 if there is none."""
        return self.look_up(key)[0]

    def look_up(self, key: str) -> tuple[int, str]:
        """Return the index and the raw line of a record; -1 and "" if the tape lacks the key."""
        prefix = int(key[:8], 16)
        number = bisect_left(self._prefixes, prefix)
        while number < len(self._prefixes) and self._prefixes[number] == prefix:
            line = self.line(number)
            if line[8:72] == key:
                return number, line
            number += 1
        return -1, ""

    def record(self, key: str) -> Record | None:
        """Return the verified record of a key; `None` if the tape has none.

        Raises:
            CassetteCorrupt: the record is damaged.
        """
        number, line = self.look_up(key) if is_key(key) else (-1, "")
        if number < 0:
            return None
        return decode(line, parts=self._part_values, where=self.spot(number, key))

    @cached_property
    def _part_values(self) -> dict[str, Any]:
        return self.parts()

    def line(self, number: int) -> str:
        """Return the line of a record, without its line end."""
        places = self._places
        at = places[number]
        size = places[number + 1] - at if number + 1 < len(places) else 0
        # In a file that is not sorted, the next record may be anywhere.
        return self._read(at, size if 0 < size <= _CHUNK else _CHUNK)

    def _bytes(self, at: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._file, size, at)
        with self._seek_lock:
            os.lseek(self._file, at, os.SEEK_SET)
            return os.read(self._file, size)

    def _read(self, at: int, size: int = _CHUNK) -> str:
        while True:
            data = self._bytes(at, size)
            end = data.find(b"\n")
            if end >= 0:
                try:
                    # git may have turned line ends into \r\n; no record ends in \r.
                    return data[:end].removesuffix(b"\r").decode("utf-8")
                except UnicodeDecodeError as exc:
                    message = f"a line is not UTF-8; {REPAIR_HINT}"
                    raise CassetteCorrupt(f"{TapePosition(self, at)}: {message}") from exc
            if len(data) < size or size > MAX_LINE:
                raise CassetteCorrupt(f"{self.path}: changed while it was being read")
            size *= 4

    def spot(self, number: int, key: str) -> TapePosition:
        """Return the position of a record, for messages."""
        return TapePosition(self, self._places[number], key=key)

    def line_number(self, at: int) -> int:
        """Return the number of the line at an offset in the file, from 1."""
        lines = 1
        for start in range(0, at, _COUNT_CHUNK):
            lines += self._bytes(start, min(_COUNT_CHUNK, at - start)).count(b"\n")
        return lines

    def lines(self) -> Iterator[str]:
        """Yield the lines of all records, in order of their keys."""
        return (line for _, line in self._numbered())

    def _numbered(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the line of all records, in order of their keys."""
        order = range(len(self._places))
        # Of 200,000 keys, some begin with the same 32 bits.
        for _, same in groupby(order, self._prefixes.__getitem__):
            lines = [(number, self.line(number)) for number in same]
            yield from lines if len(lines) == 1 else sorted(lines, key=lambda pair: pair[1][8:72])

    def part_lines(self) -> Iterator[str]:
        """Yield the lines of all parts, in order of their digests."""
        for name in sorted(self._parts):
            yield self._read(self._parts[name])

    def part_line(self, name: str) -> str:
        """Return the line of one part.

        Raises:
            CassetteCorrupt: the part is not on the tape.
        """
        if name not in self._parts:
            raise CassetteCorrupt(f"{self.path}: part {name[:12]} is missing")
        return self._read(self._parts[name])

    def parts(self) -> dict[str, Any]:
        """Return the values of all parts by digest."""
        return dict(
            decode_part(self._read(at), where=TapePosition(self, at))
            for _, at in sorted(self._parts.items())
        )

    def records(self) -> Iterator[Record]:
        """Verify and yield every record.

        Raises:
            CassetteCorrupt: a record is damaged, or two records have the same key.
        """
        parts = self.parts()
        last = ""
        for number, line in self._numbered():
            where = TapePosition(self, self._places[number], key=line[8:72])
            record = decode(line, parts=parts, where=where)
            if record.key == last:
                where = TapePosition(self, self._places[number])
                raise CassetteCorrupt(f"{where}: two records for the key {last[:12]}")
            last = record.key
            yield record

    @property
    def closed(self) -> bool:
        """Whether there is no open file: after `close`, or without a tape."""
        return self._file < 0

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def is_key(text: str) -> bool:
    """Return whether a text is the key of a request."""
    return re.fullmatch("[0-9a-f]{64}", text) is not None


def header(generation: int) -> str:
    """Return the first line of a tape; generation 1, the first, is not written."""
    return HEADER if generation == 1 else f'{HEADER[:-1]},"rubrics":{generation}}}'


def _generation_of(text: str) -> int | None:
    match = _HEADER.fullmatch(text)
    return None if match is None else int(match.group(1) or 1)


def tape_generation(path: Path) -> int:
    """Return the generation of a tape from its first line.

    It is the newest if there is no tape, and also if the line is wrong, which opening it reports.
    """
    line = b""
    if path.is_file():
        with suppress(OSError), path.open("rb") as file:
            line = file.readline(_MAX_HEADER)
    generation = _generation_of(line.decode("utf-8", "replace").strip())
    return newest() if generation is None else min(generation, newest())


def _line_problem(line: bytes) -> str:
    if line.startswith((b"<<<<<<<", b"=======", b">>>>>>>")):
        return "a merge conflict; keep the lines of both sides and run `judgekit cassette verify`"
    if not line.strip():
        return "an empty line; delete it"
    return f"not a record judgekit wrote; {REPAIR_HINT}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other writers. The system releases the lock of a killed process."""
    try:
        import fcntl
    except ImportError:  # Windows cannot lock folders; the rename is still atomic
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file atomically: write a new file, then rename it.

    Raises:
        CassetteError: the file cannot be written; an existing file is unchanged.
    """
    with _write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, sync=True) as file:
            file.writelines(f"{line}\n".encode() for line in lines)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise CassetteError(f"{path}: cannot be written: {exc.strerror}") from exc


def merge_into(
    path: Path,
    keys: Iterable[str],
    fetch: Callable[[str], Record | tuple[str, Mapping[str, str]]],
    *,
    keep: Callable[[str], bool] = lambda _: True,
) -> None:
    """Add records to a tape. It is locked and read again first, so no writer loses records.

    Args:
        path: the tape; created if missing.
        keys: the keys of the records to add; existing records are replaced.
        fetch: returns the record of a key, or its line and part lines as `encode` does.
        keep: returns whether to keep the existing record of a key.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent):
        for half in path.parent.glob(beside(path, writer="*").name):  # from a killed writer
            half.unlink(missing_ok=True)
        # A tape may have millions of records: new lines are in a file, old ones are read twice.
        with (
            _write_errors(path),
            nameless_file(path.parent) as new,
            closing(Tape(path)) as tape,
        ):
            added = set(keys)
            parts: dict[str, str] = {}
            for key in sorted(added):
                made = fetch(key)
                if isinstance(made, Record):
                    made = encode(made.request, made.reply)[1:]
                line, named = made
                new.write(f"{line}\n")
                parts.update(named)

            def old() -> Iterator[str]:
                for line in tape.lines():
                    if (key := _key(line)) not in added and keep(key):
                        yield line

            for line in old():
                for name in PART_NAMED.findall(line.encode()):
                    parts.setdefault(name.decode(), "")
            body = {name: line or tape.part_line(name) for name, line in parts.items()}
            new.seek(0)
            ordered = in_order(old(), (line[:-1] for line in new))
            lines = laid_out(body, ordered, generation=tape.generation)
            write_lines(path, _closing(tape, lines))


def _closing(tape: Tape, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, then close a tape: Windows cannot replace an open file."""
    yield from lines
    tape.close()


def remove_records(path: Path, keys: Collection[str]) -> None:
    """Remove records from a tape."""
    added: dict[str, Record] = {}
    merge_into(path, added, added.__getitem__, keep=lambda key: key not in keys)


def in_order(left: Iterable[str], right: Iterable[str]) -> Iterator[str]:
    """Merge two sorted streams of lines; yield equal lines once."""
    last = ""
    for line in merge(left, right, key=_key):
        if line != last:
            yield line
        last = line


def laid_out(parts: dict[str, str], records: Iterable[str], *, generation: int) -> Iterator[str]:
    """Yield the lines of a tape: header, parts sorted by digest, records sorted by key."""
    yield header(generation)
    for name in sorted(parts):
        yield parts[name]
    yield from records


def join_tapes(paths: Sequence[Path], into: Path) -> int:
    """Join several tapes into one. For equal keys, the record of the first tape wins.

    The generation is the oldest of theirs: names keep their meaning until `rubric upgrade`.

    Returns:
        The number of keys whose replies have different texts.

    Raises:
        CassetteCorrupt: a tape is damaged.
        CassetteError: the file cannot be written.
    """
    with ExitStack() as stack:
        tapes = [stack.enter_context(closing(Tape(path))) for path in paths]
        parts = {line[9:73]: line for tape in tapes for line in tape.part_lines()}
        records = merge(*(tape.lines() for tape in tapes), key=_key)
        differing = 0

        def first_of_each() -> Iterator[str]:
            nonlocal differing
            for _, same in groupby(records, _key):
                first, *others = same
                differing += any(line != first and _texts(line) != _texts(first) for line in others)
                yield first

        lines = first_of_each()
        oldest = min((tape.generation for tape in tapes), default=newest())
        write_lines(into, laid_out(parts, lines, generation=oldest))
    return differing


def _texts(line: str) -> object:
    """Return the reply of a record without what differs from call to call, such as its duration."""
    try:
        reply = json.loads(line)["reply"]
    except (ValueError, KeyError):
        return line  # damaged: a replay says so
    tries = reply.get("tries") if isinstance(reply, dict) else None
    return [one.get("text") for one in tries] if isinstance(tries, list) else reply


def set_generation(path: Path, generation: int) -> None:
    """Write another generation into the header of a tape; its records stay as they are.

    Raises:
        CassetteCorrupt: the tape is damaged.
        CassetteError: the file cannot be written.
    """
    with _locked(path.parent), closing(Tape(path)) as tape:
        parts = {line[9:73]: line for line in tape.part_lines()}
        lines = laid_out(parts, tape.lines(), generation=generation)
        write_lines(path, _closing(tape, lines))


def add_tapes(path: Path, tapes: Sequence[Path]) -> None:
    """Add all records of some tapes to a tape under its lock; they replace records of equal keys.

    Raises:
        CassetteCorrupt: a tape is damaged.
        CassetteError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent):
        join_tapes([*tapes, *([path] if path.exists() else [])], path)


def _key(line: str) -> str:
    return line[8:72]
