"""Scan shared files, such as tapes, run folders, cases and suites, for private data.

A finding has a location and a kind but never the data itself, because the report may be public.
"""

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.cassette.tape import MAX_LINE
from judgekit.core.canonical import json_value, printable
from judgekit.core.errors import ConfigError, place
from judgekit.core.input_file import MAX_PLAIN, home_path, read_text
from judgekit.core.json_document import json_document
from judgekit.core.suggest import suggest
from judgekit.privacy.detectors import DETECTORS, PSEUDONYM, SCANNED, find_all
from judgekit.privacy.detectors.form import reserved

SKIPPED_FOLDERS = {"node_modules", "__pycache__"}
"""Folders that are skipped, in addition to names that begin with a dot."""
_PAGE_DATA = re.compile(rb'<script type="application/json"[^<>]* data-compressed="(yes|no)">')
_KEY = re.compile("[0-9a-f]{64}")
_MAX_PAGE = 512_000_000
"""Maximum size of the unpacked data of a page, in bytes."""


class PrivateFinding(NamedTuple):
    """A text that looks private."""

    kind: str
    file: str
    line: int
    field: str
    """The location in the line, such as `reply.tries[0].text`; empty for plain text."""
    key: str | None
    """The key of the record, on a tape."""
    excerpt: str
    """The beginning and the length of the text; never the whole text."""

    def text(self) -> str:
        """Return the finding as one line."""
        where = [f"in {self.field}"] if self.field else []
        if self.key:
            where.append(f"record {self.key[:12]}")
        inside = f" {', '.join(where)}" if where else ""
        return f"{place(self.file, self.line)}: {self.kind}{inside}: {self.excerpt}"


@dataclass
class Scan:
    """The result of a scan."""

    findings: list[PrivateFinding] = field(default_factory=list)
    files: int = 0
    not_read: list[str] = field(default_factory=list)
    """Files that are not text."""

    @property
    def counts(self) -> dict[str, int]:
        """Kind -> number of findings."""
        return dict(sorted(Counter(finding.kind for finding in self.findings).items()))

    def text(self) -> str:
        """Return the findings, one per line, and a summary."""
        lines = [finding.text() for finding in self.findings]
        lines += [f"{name}: not read: not a text file" for name in self.not_read]
        files = f"{self.files} file{'s' if self.files != 1 else ''}"
        if self.findings:
            kinds = ", ".join(f"{count} {kind}" for kind, count in self.counts.items())
            lines.append(f"{len(self.findings)} found in {files}: {kinds}")
            lines.append(
                "Redact them in the suite (redact: [...]) and record again, or --allow them"
            )
        else:
            lines.append(f"nothing found in {files}")
        return "\n".join(printable(line) for line in lines) + "\n"

    def json_text(self) -> str:
        """Return the result as JSON, of the kind `scan`."""
        data = {
            "findings": [finding._asdict() for finding in self.findings],
            "counts": self.counts,
            "files": self.files,
            "not_read": self.not_read,
        }
        return json_document("scan", data) + "\n"


def scan(
    paths: Sequence[Path], *, kinds: Collection[str] | None = None, allow: Sequence[str] = ()
) -> Scan:
    """Scan files and folders.

    Pseudonyms and values reserved for examples (see `judgekit.privacy.detectors.form`) are
    not reported. Hidden files in folders and links are skipped.

    Args:
        paths: files and folders; all text files of a folder are scanned.
        kinds: the kinds to search for; by default those in `SCANNED`.
        allow: patterns of harmless texts; `*` matches any text, as in `*@shop.example`.

    Raises:
        ConfigError: a file or kind does not exist, or a file in `paths` is not text.
    """
    kinds = SCANNED if kinds is None else kinds
    for kind in kinds:
        if kind not in DETECTORS:
            known = f"; use {', '.join(DETECTORS)}"
            raise ConfigError(f"unknown kind {kind!r}{suggest(kind, DETECTORS, otherwise=known)}")
    scanner = _FileScanner(kinds, [pattern.casefold() for pattern in allow])
    result = Scan()
    for path in _files(paths):
        try:
            findings = list(scanner.file(path))
        except OSError as exc:
            raise ConfigError(f"cannot be read: {exc.strerror}", where=str(path)) from exc
        except _NotTextError as exc:
            if path in paths:
                raise ConfigError(
                    "is not a text file and cannot be scanned", where=str(path)
                ) from exc
            result.not_read.append(str(path))
            continue
        result.files += 1
        result.findings += findings
    return result


def allowed(entries: Sequence[str]) -> list[str]:
    """Return the patterns of an allow list; an entry `@FILE` adds the lines of a file.

    Raises:
        ConfigError: a file cannot be read.
    """
    patterns: list[str] = []
    for text in entries:
        if not text.startswith("@"):
            patterns.append(text)
            continue
        try:
            lines = read_text(home_path(text[1:]), most=MAX_PLAIN).splitlines()
        except (OSError, UnicodeDecodeError) as exc:
            raise ConfigError("cannot be read as an allow list", where=text[1:]) from exc
        patterns += [line.strip() for line in lines if line.strip() and line[0] != "#"]
    return patterns


class _NotTextError(Exception):
    """A file is not text."""


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from _inside(path)
        elif path.is_file():
            yield path
        else:
            raise ConfigError("no such file or folder", where=str(path))


def _inside(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in SKIPPED_FOLDERS or path.is_symlink():
            continue
        if path.is_dir():
            yield from _inside(path)
        elif path.is_file():
            yield path


class _FileScanner:
    """Scans files for some kinds of private data."""

    def __init__(self, kinds: Collection[str], allow: Sequence[str]) -> None:
        self._kinds = kinds
        self._allow = allow

    def file(self, path: Path) -> Iterator[PrivateFinding]:
        name = str(path)
        with path.open("rb") as file:
            start = file.read(8192)
            if b"\0" in start:
                raise _NotTextError
            file.seek(0)
            if path.suffix == ".json":
                whole = file.read(MAX_LINE + 1)
                if len(whole) <= MAX_LINE and (data := json_value(whole)) is not None:
                    yield from self._document(data, whole, name)
                    return
                file.seek(0)
            # A line may be as long as the file: longer lines are scanned in pieces.
            for number, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), start=1):
                yield from self._line(line, name, number)

    def _line(self, line: bytes, name: str, number: int) -> Iterator[PrivateFinding]:
        page = _PAGE_DATA.search(line)
        if page is not None:
            data = _page_data(line, page)
            line = line[: page.start()] if data is not None else line
            for where, text in _texts(data):
                yield from self._text(text, name, number, field=where)
        data = json_value(line) if line.lstrip()[:1] in (b"{", b"[") else None
        if data is None:
            yield from self._text(line.decode("utf-8", "replace"), name, number)
            return
        key = data.get("key") if isinstance(data, dict) else None
        key = key if isinstance(key, str) and _KEY.fullmatch(key) else None
        for where, text in _texts(data):
            yield from self._text(text, name, number, field=where, key=key)

    def _document(self, data: Any, whole: bytes, name: str) -> Iterator[PrivateFinding]:
        """Scan a JSON file of many lines, and find the line of each finding."""
        plain = whole.isascii()
        at, line = 0, 1
        for where, text in _texts(data):
            for finding in self._text(text, name, 1, field=where):
                written = json.dumps(text, ensure_ascii=plain).encode("utf-8", "replace")
                # Values are in the order of the file, so the search only moves forward.
                place = whole.find(written, at)
                if place >= 0:
                    line += whole.count(b"\n", at, place)
                    at = place
                yield finding._replace(line=line)

    def _text(
        self, text: str, name: str, number: int, *, field: str = "", key: str | None = None
    ) -> Iterator[PrivateFinding]:
        bare = PSEUDONYM.sub(lambda match: " " * len(match[0]), text)
        for kind, span in find_all(bare, self._kinds):
            written = text[span.start : span.end]
            if not reserved(kind, span.value) and not self._allowed(written, span.value):
                yield PrivateFinding(
                    kind, name, number, self._mask_names(field), key, masked(kind, written)
                )

    def _mask_names(self, field: str) -> str:
        """Return a path with private data in it masked."""
        for kind, span in reversed(find_all(field, {*SCANNED, *self._kinds})):
            field = (
                field[: span.start] + masked(kind, field[span.start : span.end]) + field[span.end :]
            )
        return field

    def _allowed(self, written: str, value: str) -> bool:
        return any(
            fnmatchcase(text.casefold(), pattern)
            for pattern in self._allow
            for text in (written, value)
        )


def masked(kind: str, written: str) -> str:
    """Return the beginning and the length of a private text; too little to guess the rest.

    >>> masked("email", "ann.lee@shop.example"), masked("card", "4111 1111 1111 1111")
    ('a…@….example', '4… (16 digits)')
    """
    if kind == "email":
        return f"{written[:1]}…@….{written.rsplit('.', 1)[-1]}"
    if kind == "ip":
        return f"{re.split('[.:]', written)[0]}… ({'IPv6' if ':' in written else 'IPv4'})"
    if kind == "key":
        # The prefix names the provider and is not secret.
        prefix = re.match(r"[A-Za-z]{2,6}[-_]|-----BEGIN|AKIA|AIza|eyJ", written)
        return f"{prefix[0] if prefix else ''}… ({len(written)} characters)"
    digits = sum(character.isdigit() for character in written)
    if not digits:
        return f"{written[:1]}… ({len(written)} characters)"
    return f"{written[:1]}… ({digits} digits)"


def _page_data(line: bytes, match: re.Match[bytes]) -> Any:
    """Return the JSON data of a page."""
    text = line[match.end() :].split(b"</script>", 1)[0]
    if match[1] == b"yes":
        try:
            text = zlib.decompressobj(wbits=47).decompress(base64.b64decode(text), _MAX_PAGE)
        except (ValueError, zlib.error):
            return None
    return json_value(text)


def _texts(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of a JSON value with their paths, including keys and large numbers."""
    left = [("", data)]
    while left:
        where, value = left.pop()
        if isinstance(value, str):
            yield where, value
        elif isinstance(value, dict):
            for name, item in reversed(value.items()):
                path = f"{where}.{name}" if where else name
                left.append((path, item))
            yield from ((f"{where} (a name in it)".lstrip(), name) for name in value)
        elif isinstance(value, list):
            left += [(f"{where}[{n}]", value[n]) for n in reversed(range(len(value)))]
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**12:
            yield where, str(value)
