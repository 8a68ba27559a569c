"""Rubrics to lint: good ones that no rule may fire on, bad ones and what must be said of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class Entry(NamedTuple):
    """One rubric of the corpus, and the files beside it."""

    title: str
    files: dict[str, str]
    """Name -> text; the first is the rubric."""
    expected: tuple[tuple[str, int, str], ...]
    """File, line, rule: everything that must be found, and nothing else."""

    def write(self, folder: Path) -> Path:
        """Write the files; return the rubric's path."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode("utf-8"))
        return folder / next(iter(self.files))


def read_corpus(name: str) -> list[Entry]:
    """Read a corpus file."""
    text = (HERE / name).read_text("utf-8")
    sections = re.split(r"^##### (.+)\n", text, flags=re.M)[1:]
    return [_entry(t, b) for t, b in zip(sections[::2], sections[1::2], strict=True)]


def _entry(title: str, body: str) -> Entry:
    body, *rest = re.split(r"^##> ", body, flags=re.M)
    first, *others = re.split(r"^##\+ (.+)\n", body.rstrip("\n") + "\n", flags=re.M)
    named = re.search(r"^name: *([\w-]+)", first, re.M)
    main = f"{named[1] if named else 'mine'}.jinja"
    files = {main: first, **dict(zip(others[::2], others[1::2], strict=True))}
    expected = []
    for line in rest:
        for file, number, rule in re.findall(r"(?:([\w.]+):)?(\d+) ([a-z-]+)", line):
            expected.append((file or main, int(number), rule))
    return Entry(title, files, tuple(expected))
