"""Find the thoughts that models write into their texts, by the forms in `data/thoughts.json`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from judgekit.core.sourced import FactTables, read_tables

_DATA = Path(__file__).with_name("data") / "thoughts.json"
_MAX_FRAMES = 8
"""Maximum number of frames removed from an end of a text; a real message has two or three."""


class ThoughtMark(NamedTuple):
    """The begin or the end of a thought in a text."""

    start: int
    end: int
    """Index after the mark."""
    closes: bool
    """Whether a thought ends here."""


@cache
def _data() -> FactTables:
    return read_tables(_DATA)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of marks and of frames. Only texts that need repair compile them."""
    data = _data()
    names = "|".join(re.escape(row["name"]) for row in data["tags"])
    # A prefix or suffix has at most 30 characters, so that a match takes linear time.
    tag = rf"<(?P<slash>/?)(?:[a-z_]{{1,30}}:)?(?:{names})(?::[a-z_]{{1,30}})?\s{{0,3}}>"
    begins = "|".join(re.escape(row["open"]) for row in data["marks"] if "open" in row)
    ends = "|".join(re.escape(row["close"]) for row in data["marks"] if "close" in row)
    marks = re.compile(f"{tag}|(?P<open>{begins})|(?P<close>{ends})", re.IGNORECASE)
    frames = "|".join(re.escape(row["text"]) for row in data["frames"])
    return marks, re.compile(rf"\s+|{frames}")


@cache
def thought_parts() -> frozenset[str]:
    """Return the types of parts of a message that are thoughts.

    >>> "thinking" in thought_parts()
    True
    """
    return frozenset(row["type"] for row in _data()["parts"])


def thought_marks(text: str) -> list[ThoughtMark]:
    """Return all begins and ends of thoughts in a text, in its order.

    >>> [(mark.start, mark.closes) for mark in thought_marks("<think>hm</think>Yes.")]
    [(0, False), (9, True)]
    """
    pattern, _ = _patterns()
    return [
        ThoughtMark(found.start(), found.end(), bool(found["slash"] or found["close"]))
        for found in pattern.finditer(text)
    ]


def without_frames(text: str) -> str:
    """Return a text without white space and the tokens that frame a message.

    >>> without_frames("<|start|>assistant ok <|end|>")
    'ok'
    """
    _, frames = _patterns()
    return frames.sub("", text)


def leading_thought(text: str) -> tuple[str, str] | None:
    r"""Split a text that begins with a thought into the thought and the rest.

    The thought ends at its first end, so that no word of the rest is taken for a thought. A thought
    without an end is the whole text.

    >>> leading_thought("<think>Is it?</think>\n\nIt is.")
    ('Is it?', 'It is.')
    >>> leading_thought("It is. <think>Is it?</think>") is None
    True

    Returns:
        Both texts, without the marks, frames and white space around them; `None` if the text does
        not begin with a thought.
    """
    marks = thought_marks(text)
    if not marks or marks[0].closes or without_frames(text[: marks[0].start]):
        return None
    end = next((mark for mark in marks if mark.closes), None)
    if end is None:
        return text[marks[0].end :].strip(), ""
    return _stripped(text[marks[0].end : end.start]), _stripped(text[end.end :])


def split_thoughts(text: str) -> tuple[tuple[str, ...], str]:
    r"""Split the thoughts off the start of an answer.

    Without a begin, which some servers keep for themselves, the first end counts if it is alone on
    its line: an answer may well mention such a mark.

    >>> split_thoughts("<think>Nine?</think>\n\nAt nine.")
    (('Nine?',), 'At nine.')
    >>> split_thoughts("The tag </think> ends a thought.")
    ((), 'The tag </think> ends a thought.')
    """
    thoughts: list[str] = []
    rest = text
    while len(thoughts) < _MAX_THOUGHTS and rest.lstrip()[:1] in _FIRST:
        split = leading_thought(rest)
        if split is None:
            break
        thoughts.append(split[0])
        rest = split[1]
    if not thoughts and _ALONE.search(text) is not None:
        mark = next(iter(thought_marks(text)), None)
        if mark is not None and mark.closes and _is_line(text, mark):
            thoughts, rest = [text[: mark.start].strip()], _stripped(text[mark.end :])
    return tuple(filter(None, thoughts)), rest


_FIRST = ("<", "[", "◁")
"""The first characters of all marks and frames."""
_ALONE = re.compile(r"^[ \t]*[<\[◁][^\n]{2,60}[ \t]*$", re.MULTILINE)
_MAX_THOUGHTS = 8
"""Maximum number of thoughts in a row; each is searched for in the whole rest."""


def _is_line(text: str, mark: ThoughtMark) -> bool:
    """Return whether a mark after some text is alone on its line."""
    before, newline, line = text[: mark.start].rpartition("\n")
    after = text[mark.end :].partition("\n")[0]
    return bool(newline and before.strip()) and not line.strip() and not after.strip()


def _stripped(text: str) -> str:
    """Return a text without white space and frames around it."""
    frames = [row["text"] for row in _data()["frames"]]
    for _ in range(_MAX_FRAMES):
        text = text.strip()
        start = next((frame for frame in frames if text.startswith(frame)), "")
        end = next((frame for frame in frames if text.endswith(frame)), "")
        if not start and not end:
            break
        text = text.removeprefix(start).removesuffix(end)
    return text
