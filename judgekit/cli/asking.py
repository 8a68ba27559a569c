"""Asking a person in a terminal: one question a line, bad answers explained, answers taken back."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import TypeVar

import typer

from judgekit.authoring.scaffold.interview import Question
from judgekit.core.canonical import printable

T = TypeVar("T")

BACK = "<"
_LONGEST = 4_000
"""Characters one answer may have."""


def is_terminal() -> bool:
    """Return whether there is a person to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def hold(begin: Callable[[], Generator[Question, str, T]]) -> T:
    """Hold an interview and return what came of it.

    Ctrl-C and the end of input leave the program, with nothing written.
    """
    try:
        return _held(begin)
    except KeyboardInterrupt:  # at a question, or between two
        print("\nleft; nothing was written", file=sys.stderr)
        raise typer.Exit(130) from None
    except EOFError:
        print("\nthe input ended; nothing was written", file=sys.stderr)
        raise typer.Exit(2) from None


def _held(begin: Callable[[], Generator[Question, str, T]]) -> T:
    with suppress(ImportError):
        import readline  # noqa: F401 - makes answers editable
    _say(f"Enter takes what stands in brackets, {BACK} goes back, Ctrl-C leaves.")
    answers: list[str] = []
    while True:
        interview = begin()
        try:
            question = next(interview)
            for answer in answers:
                question = interview.send(answer)
            while True:
                given = _ask(question)
                if given is None:
                    if answers:
                        answers.pop()
                    else:
                        _say("This is the first question.")
                    break
                answers.append(given)
                question = interview.send(given)
        except StopIteration as end:
            made: T = end.value
            return made


def _ask(question: Question) -> str | None:
    """Return an answer that is right, or `None` to go back."""
    for number, (word, meaning) in enumerate(question.choices, start=1):
        if meaning:
            _say(f"  {number} {word}: {meaning}")
    while True:
        given = _read(_prompt(question))
        if given == BACK:
            return None
        if not given:
            if question.default is not None:
                return question.default
            _say("  Something is needed here.")
            continue
        if len(given) > _LONGEST:
            _say(f"  That is {len(given):,} characters; {_LONGEST:,} are the most.")
            continue
        if question.choices:
            chosen = _chosen(given, [word for word, _ in question.choices])
            if chosen is not None:
                return chosen
            words = ", ".join(word for word, _ in question.choices)
            _say(f"  {given!r} is none of {words}.")
            continue
        fault = question.fault(given)
        if fault is None:
            return given
        _say(f"  {fault[:1].upper()}{fault[1:]}.")


def _prompt(question: Question) -> str:
    words = [word for word, meaning in question.choices if not meaning]
    choices = f" ({'/'.join(words)})" if words else ""
    default = f" [{question.default}]" if question.default else ""
    *above, last = _wrapped(f"{question.text}{choices}{default}: ")
    for line in above:
        print(line)
    return last + " "


def _chosen(given: str, words: list[str]) -> str | None:
    if given.isdecimal():
        number = int(given) if len(given) < 4 else 0
        return words[number - 1] if 1 <= number <= len(words) else None
    found = [word for word in words if word.startswith(given.lower())]
    return found[0] if len(found) == 1 else None


def _read(prompt: str) -> str:
    try:
        return " ".join(printable(input(prompt)).split())
    except UnicodeDecodeError:
        _say("  That was not UTF-8.")
        return _read(prompt)


def _say(text: str) -> None:
    for line in _wrapped(text):
        print(line)


def _wrapped(text: str) -> list[str]:
    width = max(20, min(100, shutil.get_terminal_size((80, 24)).columns))
    indent = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(text, width, subsequent_indent=indent + "  ") or [""]
