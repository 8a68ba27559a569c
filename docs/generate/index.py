"""The index of the documentation, docs/README.md: the one list of pages.

The navigation of the site and docs/llms.txt follow it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1]
INDEX = "README.md"
_ENTRY = re.compile(r"- \[([^]]+)\]\(([^)]+)\): (.+)")


class Entry(NamedTuple):
    """A page in the index."""

    level: str
    """The heading of the first kind: how soon a reader needs the page."""
    group: str
    """The heading below it; empty if there is none."""
    title: str
    path: str
    """Relative to docs/."""
    text: str
    """What the page is about, in one line of Markdown."""


def entries(text: str | None = None) -> list[Entry]:
    """Return the pages of the index, in order; `text` replaces the file.

    Raises:
        ValueError: a line of a list has another form, or stands above the first heading.
    """
    level = group = ""
    pages = []
    for line in (text or (DOCS / INDEX).read_text("utf-8")).splitlines():
        if line.startswith("### "):
            group = line[4:]
        elif line.startswith("## "):
            level, group = line[3:], ""
        elif line.startswith("- "):
            entry = _ENTRY.fullmatch(line)
            if entry is None or not level:
                raise ValueError(f"docs/{INDEX}: write `- [TITLE](PAGE): TEXT`, not {line!r}")
            pages.append(Entry(level, group, *entry.groups()))
    return pages


def navigation() -> list[object]:
    """Return the navigation of the site, in the form of mkdocs."""
    levels: dict[str, list[object]] = {}
    groups: dict[tuple[str, str], list[object]] = {}
    for entry in entries():
        pages = levels.setdefault(entry.level, [])
        if entry.group and (entry.level, entry.group) not in groups:
            groups[entry.level, entry.group] = []
            pages.append({entry.group: groups[entry.level, entry.group]})
        target = groups[entry.level, entry.group] if entry.group else pages
        target.append({entry.title: entry.path})
    first, *rest = levels
    return [
        {first: [INDEX, *levels[first]]},
        *({level: levels[level]} for level in rest),
    ]


def llms_page() -> str:
    """Return docs/llms.txt: the pages with their contents, for programs that read text."""
    lines = [
        "# judgekit",
        "",
        "> judgekit scores the output of language models with LLM judges and rubrics. It records every",
        "> verdict in a text file, and replays it offline with the same result.",
        "",
        "The pages are Markdown. All commands and programs on them are run by tests. A judge that fails",
        "is a failure, never a score of 0. Exit codes: 0 all gates pass, 1 a gate failed, 2 the setup is",
        "wrong, 3 results are missing.",
    ]
    heading = ""
    for entry in entries():
        here = f"{entry.level}: {entry.group}" if entry.group else entry.level
        if here != heading:
            lines += ["", f"## {here}", ""]
            heading = here
        lines.append(f"- [{entry.title}]({entry.path}): {plain(entry.text)}")
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Return a text without its links."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
