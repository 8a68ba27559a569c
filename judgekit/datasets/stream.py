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
def open_bytes(path: Path | None, *, encoding: str | None = None) -> Iterator[BinaryIO]:
    """Open a file (`.gz` is decompressed) or, for `None`, standard input, as UTF-8.

    Args:
        path: the file.
        encoding: the encoding of the text; by default UTF-16 if the file begins with its mark, else
            UTF-8.
    """
    with _opened(path) as stream:
        yield _as_utf8(stream, encoding)


def _as_utf8(stream: BinaryIO, encoding: str | None) -> BinaryIO:
    if encoding is None:
        start = stream.peek(2)[:2] if isinstance(stream, io.BufferedReader) else b""
        if start not in (b"\xff\xfe", b"\xfe\xff"):
            return stream
        encoding = "utf-16"
    return cast(BinaryIO, _Transcoded(stream, encoding))


class _Transcoded:
    """A stream of text in another encoding, read as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._text = io.TextIOWrapper(stream, encoding, newline="")

    def readline(self, size: int = -1) -> bytes:
        return self._text.readline(size).encode("utf-8", "surrogatepass")

    def read(self, size: int = -1) -> bytes:
        return self._text.read(size).encode("utf-8", "surrogatepass")


@contextmanager
def _opened(path: Path | None) -> Iterator[BinaryIO]:
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
    except UnicodeDecodeError as exc:
        message = f"byte 0x{exc.object[exc.start]:02x} is not {exc.encoding}; correct `encoding`"
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
    if b"\x00" in data[:100]:
        advice = "the file looks like UTF-16; save it as UTF-8, or set `encoding: utf-16-le`"
    else:
        advice = "save the file as UTF-8, or set `encoding: cp1252` if it comes from Excel"
    return DatasetError(f"{problem}; {advice}", where=where)
