"""Code: does the program in an answer pass its tests?"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.score import Score
from judgekit.metrics._options import Bounds, Positive, needed_text
from judgekit.metrics.benchmarks.sandbox import ProgramOutcome, Sandbox
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.markdown import parse_markdown

MAX_TESTS = 1000
MAX_CHARACTERS = 1_000_000
_PYTHON = ("", "python", "py", "python3")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


class ProgramTest(NamedTuple):
    """One test of a program."""

    name: str
    code: str = ""
    stdin: str | None = None
    printed: str = ""
    """The expected output for the input."""


class Program(NamedTuple):
    """The program to run before a test."""

    variants: tuple[str, ...]
    source: str
    """The part of the output that contains the program."""


def read_tests(case: Case) -> tuple[ProgramTest, ...]:
    """Return the tests of a case: `expected.test` with `entry_point`, or `expected.tests`.

    Raises:
        CaseError: there are no tests, or one is invalid.
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

    The code is the last fenced block that defines the tested functions, else the last fenced block;
    without fences, the whole output is code. Code that does not define the `entry_point` continues
    the prompt (`input`). Other code is placed after the prompt, because it may need the imports and
    functions of the prompt.

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
    """Return whether two outputs are equal, ignoring white space at the ends of lines and text."""
    return _lines(printed) == _lines(expected)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _defines(code: str, names: set[str]) -> bool:
    definitions = re.findall(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*=", code, re.MULTILINE)
    return any(name in names for pair in definitions for name in pair)


def _imports(prompt: str) -> str:
    return "\n".join(re.findall(r"^(?:import|from)\s.*$", prompt, re.MULTILINE))


def _indented(code: str) -> str:
    """Return the body of a function with restored indentation, of all lines or of the first one."""
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


Counts = Literal["all", "share"]
Language = Literal["python"]


class Code(ComputedMetric):
    """Whether the output, run as a program, passes its tests. Range 0..1, higher is better.

    `expected.tests` is a list of Python snippets (`assert add(1, 2) == 3`), or of `{input: ...,
    output: ...}` for programs that read and print. Alternatively, `expected.test` is one text, with
    `expected.entry_point` as in HumanEval; the output then continues the prompt in `input` or
    repeats the function. The metric removes code fences.

    Every test runs in a separate bubblewrap sandbox, without network or home folder; only a small
    temporary folder is writable. CPU time, wall-clock time, memory, processes and output are
    limited. Without a sandbox the run stops. `unsafe_exec` runs code with these limits only, which
    is **no security boundary**. The metric supports Python and its standard library. A program can
    try to deceive its tests; the sandbox contains it but cannot prevent that. `confidence` is
    always 1: a test passes or it does not.
    """

    name: str = "code"
    language: Language = "python"
    """The language of the programs."""
    counts: Counts = "all"
    """`all`: 1 if every test passes, else 0; the case ends at the first failure, and the mean is
    pass@1 with one answer per case. `share`: tests passed / tests."""
    seconds: Annotated[float, Bounds(0, 3600, above=True)] = 10.0
    """CPU seconds per test; the wall-clock limit is twice that plus two seconds."""
    memory_mb: Positive = 512
    """Memory limit of each process in MB."""
    processes: Positive = 8
    """Maximum number of processes and threads at the same time."""
    output_kb: Positive = 1024
    """Maximum size of the printed output in KB."""
    python: str | None = None
    """The Python interpreter; by default the one that runs judgekit, or the system's."""
    unsafe_exec: bool = False
    """Run code without isolation."""

    needs = ("output", "expected.tests or expected.test", "input (HumanEval's prompt)")
    confidence = "is always 1: a test passes or it does not"

    def prepare(self) -> None:
        """Check and complete the options."""
        if self.python is not None and (not isinstance(self.python, str) or not self.python):
            raise ConfigError(f"{self.name}: python must be the path of an interpreter")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the tests are missing or wrong.
            ConfigError: this machine cannot isolate code.
        """
        output = needed_text(case, "output")
        tests = read_tests(case)
        program = find_program(case, output, tests)
        # Each limit is an option of the same name.
        sandbox = Sandbox(**{limit: getattr(self, limit) for limit in Sandbox._fields})
        outcomes: list[ProgramOutcome] = []
        python = ""
        for test in tests:
            ran = await sandbox.run(program.variants, test.code, test.stdin)
            python = ran.python
            outcomes.append(_checked(test, ran.outcome, ran.output))
            if self.counts == "all" and outcomes[-1].kind != "passed":
                break
        passed = sum(outcome.kind == "passed" for outcome in outcomes)
        share = passed / len(tests)
        return Score(
            value=share if self.counts == "share" else float(passed == len(tests)),
            confidence=1.0,
            method=f"tests run ({'unsafe_exec' if self.unsafe_exec else 'sandbox'})",
            reason=_reason(tests, outcomes, passed),
            details={
                "passed": passed,
                "tests": len(tests),
                "not_run": len(tests) - len(outcomes),
                "outcomes": [
                    {"test": test.name, "outcome": outcome.kind, "said": outcome.message}
                    for test, outcome in zip(tests, outcomes, strict=False)
                ],
                "code": program.source,
            },
            meta={
                "python": python,
                "isolation": "none (unsafe_exec)" if self.unsafe_exec else "bubblewrap",
            },
        )


def _checked(test: ProgramTest, outcome: ProgramOutcome, output: str) -> ProgramOutcome:
    """Return the outcome; if the test compares the printed output, compare it."""
    if test.stdin is None or outcome.kind != "passed" or same_output(output, test.printed):
        return outcome
    printed = " ".join(output.split())
    return ProgramOutcome("failed", f"printed {printed[:100]!r}" if printed else "printed nothing")


def _reason(tests: Sequence[ProgramTest], outcomes: Sequence[ProgramOutcome], passed: int) -> str:
    if passed == len(tests):
        return "The test passed." if passed == 1 else f"All {passed} tests passed."
    at, failed = next((n, o) for n, o in enumerate(outcomes) if o.kind != "passed")
    return f"{passed} of {len(tests)} tests passed; {tests[at].name}: {failed.message}."
