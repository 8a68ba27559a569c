"""The program an answer states, and the tests a case has for it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError
from judgekit.metrics.markdown import parse_markdown

MAX_TESTS = 1000
MAX_CHARACTERS = 1_000_000
_PYTHON = ("", "python", "py", "python3")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


class ProgramTest(NamedTuple):
    """One thing to check."""

    name: str
    code: str = ""
    stdin: str | None = None
    printed: str = ""
    """What is to be printed for that input."""


class Program(NamedTuple):
    """What to run before a test."""

    variants: tuple[str, ...]
    source: str
    """Where in the output it was found."""


def read_tests(case: Case) -> tuple[ProgramTest, ...]:
    """Return the tests of a case: `expected.test` with `entry_point`, or `expected.tests`.

    Raises:
        CaseError: there are none, or one is none.
    """
    expected = case.expected
    whole, entry = expected.get("test"), _entry(case)
    if whole is not None:
        if not isinstance(whole, str) or not has_text(whole):
            raise CaseError("expected.test is not a text of Python code")
        if entry is not None and re.search(r"^def check\(", whole, re.MULTILINE):
            whole = f"{whole}\n\ncheck({entry})\n"
        return (ProgramTest("test", whole),)
    listed = expected.get("tests")
    if listed is None:
        raise CaseError("needs tests (field 'expected.tests', or 'expected.test')")
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_TESTS:
        raise CaseError(f"expected.tests is not a list of 1 to {MAX_TESTS:,} tests")
    setup = expected.get("setup", "")
    if not isinstance(setup, str):
        raise CaseError("expected.setup is not a text of Python code")
    return tuple(_test(test, number, setup) for number, test in enumerate(listed))


def _test(test: Any, number: int, setup: str) -> ProgramTest:
    where = f"expected.tests.{number}"
    if isinstance(test, str) and has_text(test):
        return ProgramTest(_short(test), f"{setup}\n{test}\n" if setup else test)
    if isinstance(test, dict):
        unknown = sorted(set(test) - {"input", "output"})
        stdin, printed = test.get("input", ""), test.get("output")
        if not unknown and isinstance(stdin, str) and isinstance(printed, str):
            return ProgramTest(f"input {_short(stdin)!r}", stdin=stdin, printed=printed)
    raise CaseError(f"{where}: write Python code, or {{input: TEXT, output: TEXT}}")


def _entry(case: Case) -> str | None:
    entry = case.expected.get("entry_point")
    if entry is None:
        return None
    if not isinstance(entry, str) or not entry.isidentifier():
        raise CaseError("expected.entry_point is not the name of a function")
    return entry


def find_program(case: Case, output: str, tests: Sequence[ProgramTest]) -> Program:
    """Return the program to test.

    Code is taken from the last fenced block that defines what the tests call, else the last
    one; without a fence all of the output is code. Code that does not define the
    `entry_point` goes on where the prompt (`input`) ends; other code comes after the prompt, so
    that the imports and the other functions of the prompt are there.

    Raises:
        CaseError: the output is too long.
    """
    if len(output) > MAX_CHARACTERS:
        raise CaseError(f"the output has more than {MAX_CHARACTERS:,} characters")
    entry = _entry(case)
    called = {entry} if entry else {name for t in tests for name in _CALLED.findall(t.code)}
    blocks = [f.code for f in parse_markdown(output).fences if f.language in _PYTHON]
    defining = [code for code in blocks if _defines(code, called)]
    code = (defining or blocks or [output])[-1]
    source = "fenced block" if blocks else "whole output"
    prompt = case.input or ""
    if entry is None or not _defines(prompt, {entry}):
        return Program((code,), source)
    if _defines(code, {entry}):
        return Program((f"{prompt}\n\n{code}", f"{_imports(prompt)}\n{code}"), source)
    joint = "" if prompt.endswith("\n") else "\n"
    return Program((f"{prompt}{joint}{code}", f"{prompt}{joint}{_indented(code)}"), source)


def same_output(printed: str, expected: str) -> bool:
    """Return whether two outputs are the same but for white space at the ends of lines and text."""
    return _lines(printed) == _lines(expected)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _defines(code: str, names: set[str]) -> bool:
    definitions = re.findall(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*=", code, re.MULTILINE)
    return any(name in names for pair in definitions for name in pair)


def _imports(prompt: str) -> str:
    return "\n".join(re.findall(r"^(?:import|from)\s.*$", prompt, re.MULTILINE))


def _indented(code: str) -> str:
    """Return the body of a function whose indentation was lost, all of it or the first line's."""
    lines = [line for line in code.splitlines() if line.strip()]
    if not lines or lines[0][0].isspace():
        return code
    rest_is_in = len(lines) > 1 and all(line[0].isspace() for line in lines[1:])
    if rest_is_in and not lines[0].rstrip().endswith(":"):
        return "    " + code.lstrip()
    return textwrap.indent(code, "    ")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 120 else text[:119] + "…"
