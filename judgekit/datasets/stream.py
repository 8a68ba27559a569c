"""Read a file, a compressed file or standard input, line by line, with size limits."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from judgekit.core.errors import DatasetError, place

MAX_ROW = 64 * 2**20
"""Maximum size of a row, in unpacked bytes."""

MAX_DOCUMENT = 512 * 2**20
"""Maximum size of a JSON document, which is read into memory, in unpacked bytes."""

STDIN = "<stdin>"
"""The name of standard input in messages."""

_BUFFER = 256 * 1024
_BOM = b"\xef\xbb\xbf"


@contextmanager
def open_bytes(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file (`.gz` is decompressed) or, for `None`, standard input."""
    if path is None:
        yield _standard_input()
        return
    with translated(str(path)), path.open("rb", buffering=_BUFFER) as file:
        if path.suffix.lower() == ".gz":
            unpacked = gzip.GzipFile(fileobj=file, mode="rb")
            with io.BufferedReader(cast(io.RawIOBase, unpacked), _BUFFER) as stream:
                yield cast(BinaryIO, stream)
        else:
            yield file


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise DatasetError("there is no standard input; name a file instead", where=STDIN)
    binary = getattr(sys.stdin, "buffer", None)
    if binary is not None:
        return cast(BinaryIO, binary)
    return io.BytesIO(sys.stdin.read().encode("utf-8", "surrogatepass"))


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Translate reading errors to `DatasetError`."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        message = "not a complete gzip file; compress it again, or drop the .gz ending"
        raise DatasetError(message, where=where) from exc
    except OSError as exc:
        reason = exc.strerror or type(exc).__name__
        raise DatasetError(f"cannot be read ({reason}); check the path", where=where) from exc


def read_whole(stream: BinaryIO, *, name: str) -> bytes:
    """Read a whole document, without a byte order mark, within the limit."""
    data = bytearray()
    with translated(name):
        while part := stream.read(_BUFFER):
            data += part
            if len(data) > MAX_DOCUMENT:
                limit = MAX_DOCUMENT // 2**20
                raise DatasetError(
                    f"larger than {limit} MB, and JSON is read whole; write it as JSON Lines",
                    where=name,
                )
    if data.startswith(_BOM):
        del data[:3]
    return bytes(data)


class ByteLines:
    """The lines of a stream as bytes; `number` and `offset` locate the last one.

    `held` counts the bytes since a reader last set it to 0, because a row may span lines.
    """

    def __init__(self, stream: BinaryIO, *, name: str) -> None:
        self._stream = stream
        self.name = name
        self.number = 0
        self.offset = 0
        self.held = 0

    def __iter__(self) -> Iterator[bytes]:
        readline = self._stream.readline
        end = 0
        with translated(self.name):
            while line := readline(MAX_ROW + 1):
                self.number += 1
                self.offset = end
                end += len(line)
                self.held += len(line)
                if self.held > MAX_ROW:
                    raise DatasetError(
                        f"the row is longer than {MAX_ROW // 2**20} MB; split it, or check that"
                        " rows end with a line feed",
                        where=self.where,
                    )
                yield line.removeprefix(_BOM) if self.number == 1 else line

    @property
    def where(self) -> str:
        """The location of the last line."""
        return place(self.name, self.number)

    def decode(self, line: bytes) -> str:
        """Decode a line; the error names the first byte that is not UTF-8."""
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as exc:
            raise not_utf8(exc, line, offset=self.offset, where=self.where) from exc


def not_utf8(exc: UnicodeDecodeError, data: bytes, *, offset: int, where: str) -> DatasetError:
    """Return the error for bytes that are not UTF-8; `offset` is the position of `data`."""
    problem = f"byte {offset + exc.start} (0x{data[exc.start]:02x}) is not UTF-8"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        problem += ", the file looks like UTF-16"
    return DatasetError(f"{problem}; save the file as UTF-8", where=where)
