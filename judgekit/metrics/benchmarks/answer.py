"""The answer a text states: found by rules in a fixed order, the last statement of a rule wins."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from judgekit.metrics.benchmarks.choice import Choices
from judgekit.metrics.benchmarks.number import numbers, plain
from judgekit.metrics.benchmarks.wording import wording
from judgekit.metrics.lazy_pattern import LazyPattern
from judgekit.metrics.tokens import split_sentences

Kind = Literal["choice", "number", "text", "yes_no"]
MAX_CHARACTERS = 200_000
"""Characters at the end of an output in which an answer is looked for."""

_BOX = LazyPattern(r"\\(?:boxed|fbox)\s?\{")
_STATEMENT = 400
"""Characters a statement may have."""
_STATEMENTS = 32
"""Statements of one kind that are read, the last ones."""
_DECORATION = " \t*_`\"'“”‘’«»$:="
_MARKS = ".,;:!?\n\"'“”‘’()\\[\\]>–—-"
_YES_NO = LazyPattern(
    rf"(?:^[ \t*_]*+|[{_MARKS}][ \t*_]*+|(?<![*_])[*_]++)([^\W_]++)[ \t*_]*+(?=[{_MARKS}]|$)"
)


class Answer(NamedTuple):
    """What a text states as its answer."""

    text: str
    """The answer: a letter in upper case, a number as written, `yes`, `no`, or words."""
    rule: str
    """The rule that found it."""
    said: str
    """The words it was found in."""


class Statement(NamedTuple):
    """What follows a marker, or stands in a box."""

    rule: str
    said: str
    text: str
    at: int


def find_answer(text: str, *, kind: Kind, choices: Choices) -> Answer | None:
    r"""Return the answer a text states; `None` where no rule finds one.

    First what is marked: `\boxed{...}`, `####`, and phrases such as "the answer is"; of these
    the last one that can be read counts. Then, by kind:

    - `choice`: a letter that stands alone, the letter of an only option, a letter in
      parentheses, "option B", the text of a choice, a bare letter in upper case; where the last
      sentence that names any names several, that rule finds nothing;
    - `number`: the last number;
    - `yes_no`: the last yes or no set off by punctuation;
    - `text`: the whole text if it is one line, else its last line.

    >>> find_answer("So the answer is (b).", kind="choice", choices=Choices())
    Answer(text='B', rule='marked', said='answer is (b).')
    """
    text = text[-MAX_CHARACTERS:]
    for statement in reversed(list(_statements(text))):
        found = _read(statement.text, kind, choices)
        if found:
            return Answer(found, statement.rule, _short(statement.said))
    return _unmarked(text, kind, choices)


def _statements(text: str) -> Iterator[Statement]:
    """Yield what is marked as an answer, in the order in which it is said."""
    words = wording()
    found = []
    for mark in deque(words.marker.finditer(text), _STATEMENTS):
        after = text[mark.end() : mark.end() + _STATEMENT]
        lines = after.strip().splitlines()
        if not lines or words.negation.match(after):
            continue
        said = mark[0].strip()
        rule = "####" if said.startswith("#") else "marked"
        found.append(Statement(rule, f"{said} {lines[0]}", lines[0], mark.start()))
    for box in deque(_BOX.finditer(text), _STATEMENTS):
        inner = _boxed(text, box.end())
        if inner is not None:
            found.append(Statement("boxed", f"{box[0]}{inner}}}", inner, box.start()))
    yield from sorted(found, key=lambda statement: statement.at)


def _boxed(text: str, start: int) -> str | None:
    """Return what stands between a brace that was opened and the one that closes it."""
    depth = 1
    for place in range(start, min(len(text), start + _STATEMENT)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[start:place]
    return None


def _read(text: str, kind: Kind, choices: Choices) -> str | None:
    """Return the answer that begins a statement."""
    if kind == "choice":
        return choices.stated(plain(text))
    if kind == "number":
        sentence = next(split_sentences(plain(text)), "")
        after = sentence.rpartition("=")[2]
        found = numbers(after) or numbers(sentence)
        return found[0][0] if found else None
    if kind == "yes_no":
        word = re.match(r"\W*(\w+)", text)
        return wording().yes_no.get(word[1].casefold()) if word else None
    return _words(plain(text))


def _unmarked(text: str, kind: Kind, choices: Choices) -> Answer | None:
    if kind == "choice":
        found = choices.named(text)
        return Answer(found[0], found[1], _short(found[2])) if found else None
    if kind == "number":
        last = numbers(plain(text))[-1:]
        return Answer(last[0][0], "last number", last[0][0]) if last else None
    if kind == "yes_no":
        said = [
            (answer, found[1])
            for found in _YES_NO.finditer(text)
            if (answer := wording().yes_no.get(found[1].casefold()))
        ][-1:]
        return Answer(said[0][0], "set off", said[0][1]) if said else None
    lines = [line for line in text.splitlines() if line.strip()]
    words = _words(lines[-1]) if lines else None
    rule = "whole text" if len(lines) == 1 else "last line"
    return (
        Answer(text.strip() if rule == "whole text" else words, rule, _short(words))
        if words
        else None
    )


def _words(text: str) -> str | None:
    """Return the first sentence of a line, without marks around it."""
    sentence = next(split_sentences(text.replace("**", "").strip(_DECORATION)), "")
    return sentence.strip(_DECORATION).rstrip(".!。").strip(_DECORATION) or None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else text[:159] + "…"


def kind_of(references: Sequence[str], choices: Sequence[str]) -> Kind:
    """Return what kind of answer is wanted, by the references and the choices of a case."""
    from judgekit.metrics.benchmarks.number import is_number

    if choices:
        return "choice"
    if all(is_number(text) for text in references):
        return "number"
    forms = {text.strip().casefold().rstrip(".") for text in references}
    if forms <= set(wording().yes_no):
        return "yes_no"
    letters = all(re.fullmatch(r"\(?[A-J]\)?\.?", text.strip()) for text in references)
    return "choice" if letters else "text"
