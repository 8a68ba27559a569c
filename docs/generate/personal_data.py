"""Recall and false alarms of the detectors, measured on texts that were written after them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from judgekit.privacy.detectors import DETECTORS, find_all

TEXTS = Path(__file__).parents[2] / "tests" / "data" / "personal_data.txt"
PAGE = Path(__file__).parents[1] / "redaction.md"
_BEGIN, _END = "<!-- personal data -->\n", "<!-- end -->"
_MARK = re.compile("[⟦⟧]")


class LabelledText(NamedTuple):
    """A text, and where the private data in it is."""

    kind: str
    text: str
    spans: tuple[tuple[int, int], ...]
    """Start and end of each value; none for a text that only looks private."""


class KindFigures(NamedTuple):
    """Counts of one kind."""

    kind: str
    texts: int
    removed: int
    """Texts in which every value is inside detections, of any kind."""
    named: int
    """Texts in which every value is inside detections of this kind."""
    lookalikes: int
    alarms: int
    """Texts without private data with a detection of this kind."""


def labelled_texts() -> list[LabelledText]:
    """Return the committed texts."""
    texts = []
    for line in TEXTS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            kind, _, written = line.split(" ", 2)
            parts = _MARK.split(written.replace("\\n", "\n"))
            ends = [sum(map(len, parts[: n + 1])) for n in range(len(parts) - 1)]
            spans = tuple(zip(ends[::2], ends[1::2], strict=True))
            texts.append(LabelledText(kind, "".join(parts), spans))
    return texts


def measure() -> list[KindFigures]:
    """Return the figures of every kind, in the order of their names."""
    counts = {kind: [0, 0, 0, 0, 0] for kind in sorted(DETECTORS)}
    for kind, text, spans in labelled_texts():
        count = counts[kind]
        every = find_all(text, DETECTORS)
        own = [one.span for one in every if one.kind == kind]
        if spans:
            count[0] += 1
            count[1] += _covers([one.span for one in every], text, spans)
            count[2] += _covers(own, text, spans)
        else:
            count[3] += 1
            count[4] += bool(own)
    return [KindFigures(kind, *count) for kind, count in counts.items()]


def _covers(detections: list, text: str, spans: tuple[tuple[int, int], ...]) -> bool:
    """Return whether detections cover every letter and digit of some spans."""
    hidden = {place for one in detections for place in range(one.start, one.end)}
    return all(
        place in hidden or not text[place].isalnum()
        for start, end in spans
        for place in range(start, end)
    )


def redaction_page() -> str:
    """Return docs/redaction.md with the table as measured now."""
    before, _, rest = PAGE.read_text("utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return before + _BEGIN + "".join(f"{line}\n" for line in _table()) + _END + after


def _table() -> list[str]:
    lines = ["| kind | texts | removed | as this kind | look-alikes | false alarms |"]
    lines.append("| --- | --: | --: | --: | --: | --: |")
    figures = measure()
    total = [sum(row[n] for row in figures) for n in range(1, 6)]
    for row in [*figures, KindFigures("all", *total)]:
        lines.append(
            f"| {f'`{row.kind}`' if row.kind in DETECTORS else row.kind} | {row.texts}"
            f" | {row.removed} ({row.removed / row.texts:.0%})"
            f" | {row.named} ({row.named / row.texts:.0%}) | {row.lookalikes}"
            f" | {row.alarms} ({row.alarms / row.lookalikes:.0%}) |"
        )
    return lines
