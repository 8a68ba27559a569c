"""Ask questions in a terminal, one per line; invalid answers are explained, and undo works."""

import shutil
import sys
import textwrap
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import TypeVar

import typer

from judgekit.authoring.scaffold.interview import InterviewPrompt
from judgekit.core.canonical import printable

T = TypeVar("T")

BACK = "<"
_LONGEST = 4_000
"""Maximum length of an answer, in characters."""


def is_terminal() -> bool:
    """Return whether a person can answer in this terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def ask(interview: Callable[[], Generator[InterviewPrompt, str, T]]) -> T:
    """Ask the questions of an interview and return its result.

    Ctrl-C and the end of input end the program; nothing is written.
    """
    try:
        return _ask_all(interview)
    except KeyboardInterrupt:
        print("\nleft; nothing was written", file=sys.stderr)
        raise typer.Exit(130) from None
    except EOFError:
        print("\nthe input ended; nothing was written", file=sys.stderr)
        raise typer.Exit(2) from None


def print_steps(steps: Sequence[tuple[str, str]]) -> None:
    """Print the commands to run next, each with its purpose."""
    for command, purpose in steps:
        typer.echo(f"  {command}  # {purpose}")


def _ask_all(interview: Callable[[], Generator[InterviewPrompt, str, T]]) -> T:
    with suppress(ImportError):
        import readline  # noqa: F401 - makes answers editable
    _print(f"Enter accepts the answer in brackets, {BACK} goes back, Ctrl-C leaves.")
    answers: list[str] = []
    while True:
        # A generator cannot go back: after BACK, a new one gets the remaining answers.
        questions = interview()
        try:
            question = next(questions)
            for answer in answers:
                question = questions.send(answer)
            while (text := _answer(question)) is not None:
                answers.append(text)
                question = questions.send(text)
        except StopIteration as end:
            result: T = end.value
            return result
        if answers:
            answers.pop()
        else:
            _print("This is the first question.")


def _answer(question: InterviewPrompt) -> str | None:
    """Return a valid answer, or `None` to go back."""
    for number, (word, meaning) in enumerate(question.choices, start=1):
        if meaning:
            _print(f"  {number} {word}: {meaning}")
    while True:
        text = _read(_prompt(question))
        if text == BACK:
            return None
        if not text:
            if question.default is not None:
                return question.default
            problem: str | None = "this needs an answer"
        elif len(text) > _LONGEST:
            problem = f"that is {len(text):,} characters; the limit is {_LONGEST:,}"
        elif question.choices:
            words = [word for word, _ in question.choices]
            if (choice := _choice(text, words)) is not None:
                return choice
            problem = f"{text!r} is not a choice; the choices are {', '.join(words)}"
        else:
            problem = question.fault(text)
        if problem is None:
            return text
        _print(f"  {problem[:1].upper()}{problem[1:]}.")


def _prompt(question: InterviewPrompt) -> str:
    words = [word for word, meaning in question.choices if not meaning]
    choices = f" ({'/'.join(words)})" if words else ""
    default = f" [{question.default}]" if question.default else ""
    *above, last = _wrapped(f"{question.text}{choices}{default}: ")
    for line in above:
        print(line)
    return last + " "


def _choice(text: str, words: list[str]) -> str | None:
    if text.isdecimal():
        number = int(text) if len(text) < 4 else 0
        return words[number - 1] if 1 <= number <= len(words) else None
    # Columns of a table are choices, too: with capitals and line breaks, and some begin alike.
    typed, plain = text.casefold(), {word: " ".join(word.casefold().split()) for word in words}
    matches = [word for word in words if plain[word] == typed]
    matches = matches or [word for word in words if plain[word].startswith(typed)]
    return matches[0] if len(matches) == 1 else None


def _read(prompt: str) -> str:
    try:
        return " ".join(printable(input(prompt)).split())
    except UnicodeDecodeError:
        _print("  That was not UTF-8.")
        return _read(prompt)


def _print(text: str) -> None:
    for line in _wrapped(text):
        print(line)


def _wrapped(text: str) -> list[str]:
    width = max(20, min(100, shutil.get_terminal_size((80, 24)).columns))
    indent = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(text, width, subsequent_indent=indent + "  ") or [""]
