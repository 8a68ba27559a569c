"""The parts of a page of the documentation: blocks, prose, links."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    "README.md": ROOT / "README.md",
    "CONTRIBUTING.md": ROOT / "CONTRIBUTING.md",
    "examples/local_judge/README.md": ROOT / "examples" / "local_judge" / "README.md",
    "examples/trusted_judge/README.md": ROOT / "examples" / "trusted_judge" / "README.md",
    **{f"docs/{p.relative_to(DOCS).as_posix()}": p for p in sorted(DOCS.rglob("*.md"))},
}

_FENCE = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)*\.\w+)`[^`\n]*:\n\s*\Z")
_NOT_RUN = re.compile(r"(?:#|//) not run: (.+)")
_LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block."""

    language: str
    text: str
    line: int
    file: str | None
    """The file to write it to: the last name in backquotes on the line before it, if that line
    ends in a colon."""
    not_run: str | None
    """The reason in its first line for not running it."""


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page, in order."""
    found = []
    for fence in _FENCE.finditer(text):
        named = _FILE.search(text[: fence.start()])
        reason = _NOT_RUN.match(fence[3])
        found.append(
            Block(
                fence[2],
                fence[3],
                text.count("\n", 0, fence.start()) + 1,
                named[1] if named else None,
                reason[1] if reason else None,
            )
        )
    return found


def prose(text: str) -> str:
    """Return a page with its blocks blanked, so that lines keep their numbers."""
    return _FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text)


def indented(text: str) -> list[int]:
    """Return the lines of blocks made by indentation, which no test runs."""
    lines = prose(text).splitlines()
    found = []
    in_list = False
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*(?:[-*+]|\d+\.)\s", line):
            in_list = True
        elif line.strip() and not line.startswith(" "):
            in_list = False
        if line.startswith("    ") and line.strip() and not in_list and not lines[number - 2]:
            found.append(number)
    return found


def links(text: str) -> list[str]:
    """Return the targets of a page's links."""
    return _LINK.findall(prose(text))


def anchors(text: str) -> set[str]:
    """Return the anchors that a code host creates for a page's headings."""
    found: Counter[str] = Counter()
    for heading in re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        found[re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")] += 1
    return {
        f"{anchor}-{number}" if number else anchor
        for anchor, count in found.items()
        for number in range(count)
    }
