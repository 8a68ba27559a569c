"""Code: does the program an answer states pass its tests?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.metrics._options import Bounds, Positive, needed_text
from judgekit.metrics.benchmarks.outcome import ProgramOutcome
from judgekit.metrics.benchmarks.program import ProgramTest, find_program, read_tests, same_output
from judgekit.metrics.benchmarks.sandbox import Sandbox, SandboxJob, SandboxLimits
from judgekit.metrics.computed import ComputedMetric

Counts = Literal["all", "share"]
Language = Literal["python"]


class Code(ComputedMetric):
    """Whether the output, as a program, passes its tests; 0..1, higher is better.

    The tests are `expected.tests`, a list of Python code (`assert add(1, 2) == 3`) or of
    `{input: ..., output: ...}` for programs that read and print; or one text `expected.test`, as
    in HumanEval with `expected.entry_point`, where the output goes on from the prompt in
    `input` or repeats the function. Code is taken out of its fence.

    Every test runs in a sandbox of its own: bubblewrap, without network, home, or anything
    writable but a small temporary folder, with limits on processor time, time by the clock,
    memory, processes and output. Where that cannot be had the run stops; `unsafe_exec` runs code
    with limits only, which is **no security boundary**. Python only, with its standard library.
    A program that means to deceive its tests may: it is contained, not made honest. `confidence`
    is always 1: a test passes or it does not.
    """

    name: str = "code"
    language: Language = "python"
    """The language of the programs."""
    counts: Counts = "all"
    """`all`: 1 if every test passes, else 0, so that the mean is pass@1 of one answer a case; the
    first failure ends the case. `share`: tests passed / tests."""
    seconds: Annotated[float, Bounds(0, 3600, above=True)] = 10.0
    """Of processor time, a test; by the clock twice as long and two seconds more."""
    memory_mb: Positive = 512
    """Of each process."""
    processes: Positive = 8
    """And threads, at once."""
    output_kb: Positive = 1024
    """What may be printed."""
    python: str | None = None
    """The interpreter; the one judgekit runs on, or the system's, if not given."""
    unsafe_exec: bool = False
    """Run code without isolation."""

    needs = (
        "output",
        "expected.tests or expected.test",
        "input (HumanEval's prompt)",
    )
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
        limits = SandboxLimits(
            seconds=self.seconds,
            memory_mb=self.memory_mb,
            processes=self.processes,
            output_kb=self.output_kb,
        )
        sandbox = Sandbox(limits=limits, python=self.python, unsafe_exec=self.unsafe_exec)
        outcomes: list[ProgramOutcome] = []
        python = ""
        for test in tests:
            ran = await sandbox.run(SandboxJob(program.variants, test.code, test.stdin))
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
    """Return the outcome, with what was printed compared where that is the test."""
    if test.stdin is None or outcome.kind != "passed" or same_output(output, test.printed):
        return outcome
    printed = " ".join(output.split())
    return ProgramOutcome("failed", f"printed {printed[:100]!r}" if printed else "printed nothing")


def _reason(tests: Sequence[ProgramTest], outcomes: Sequence[ProgramOutcome], passed: int) -> str:
    if passed == len(tests):
        return "The test passed." if passed == 1 else f"All {passed} tests passed."
    at, failed = next((n, o) for n, o in enumerate(outcomes) if o.kind != "passed")
    return f"{passed} of {len(tests)} tests passed; {tests[at].name}: {failed.message}."
