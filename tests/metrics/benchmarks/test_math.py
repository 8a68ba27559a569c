"""Equal expressions, and hostile ones: compared in processes that end in time."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError, MissingExtra
from judgekit.metrics.benchmarks import math as math_module
from judgekit.metrics.benchmarks.math import Math


def score(output, reference, **options):
    return asyncio.run(Math(**options).score(Case(id="1", output=output, reference=reference)))


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        (r"The answer is $\frac{2}{4}$.", "0.5"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        ("1/3", r"$\frac{1}{3}$"),
        ("50%", "0.5"),
        (r"$\{2, 1\}$", r"\{1, 2\}"),
        ("$[0, 1)$", "[0,1)"),
        ("10 cm", "10"),
        ("$(x+1)^2$", "x^2 + 2x + 1"),
        ("so $x = 3$", "3"),
        ("1,000", "1000"),
        (r"$\sqrt{8}$", r"2\sqrt{2}"),
        (r"$\begin{pmatrix}1\\2\end{pmatrix}$", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    ],
)
def test_equal_expressions_match(output, reference):
    found = score(output, reference, seconds=60)  # a busy machine is slow

    assert (found.value, found.details["outcome"]) == (1, "matched"), found


@pytest.mark.parametrize(
    ("output", "reference"),
    [("$[0, 1]$", "[0,1)"), ("0.34", "1/3"), (r"$\{1, 2, 3\}$", r"\{1, 2\}"), ("$y + 1$", "x+1")],
)
def test_other_expressions_differ(output, reference):
    found = score(output, reference)

    assert (found.value, found.details["outcome"]) == (0, "differs")
    assert "is not equal to the reference" in found.reason


def test_any_of_several_references_will_do():
    found = score("$2$", ["1", "4/2"])

    assert (found.value, found.details["matched"], found.ground_truth) == (1, "4/2", ["1", "4/2"])
    assert set(found.meta) == {"math-verify", "sympy"}


def test_no_expression_is_wrong_and_told_apart():
    found = score("I would rather not say.", "4")

    assert (found.value, found.details["outcome"]) == (0, "no_answer")


def test_a_reference_that_is_no_expression_is_said():
    with pytest.raises(CaseError, match="the reference 'hello there' is not an expression"):
        score("4", "hello there")
    with pytest.raises(CaseError, match="at most 50 references of 2,000 characters"):
        score("4", "1" * 2001)


HOSTILE = {
    "tower": "$9^{9^{9^{9}}}$",
    "plain tower": "9^9^9^9",
    "parentheses": "(" * 50 + "4" + ")" * 50,
    "latex parentheses": "$" + "(" * 50 + "x" + ")" * 50 + "$",
    "a megabyte of parentheses": "(" * 1_000_000,
    "a megabyte of digits": "1" * 1_000_000,
    "a megabyte of dollars": "$" * 1_000_000,
    "null bytes": "\x00" * 1000 + "$4$" + "\x00" * 1000,
    "factorial": "$1000000000!$",
    "sum": r"$\sum_{k=1}^{1000000000} \sin(k)$",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough if number % 2 else ())
        for number, name in enumerate(HOSTILE)
    ],
)
def test_hostile_texts_end(name):
    found = score(HOSTILE[name], "4", seconds=0.2)

    assert found.details["outcome"] in ("undecided", "differs", "no_answer", "matched")
    assert (found.value is None) == (found.details["outcome"] == "undecided")
    assert score("4", "4").value == 1


def test_what_cannot_be_decided_abstains_or_counts_as_wrong():
    abstained = score("$9^{9^{9^{9}}}$", "4", seconds=0.2)
    wrong = score("$9^{9^{9^{9}}}$", "4", seconds=0.2, undecided="wrong")

    assert (abstained.status, abstained.value) == ("abstained", None)
    assert abstained.reason == "Could not be decided: it took longer than 0.2 s."
    assert (wrong.status, wrong.value) == ("scored", 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(math_module, "MEMORY", 1 << 20)

    found = score("$9^{9^{9^{9}}}$", "4")

    assert found.reason == "Could not be decided: it took too much memory."
    assert found.value is None


def test_a_host_that_was_killed_is_started_again():
    score("4", "4")
    os.kill(math_module._host._process.pid, signal.SIGKILL)
    math_module._host._process.wait(10)

    assert score("$2^2$", "4").value == 1


def test_one_answer_is_nothing_to_the_next():
    alone = score(r"$\frac{10}{4}$", "2.5")
    score("$9^{9^{9^{9}}}$", "4", seconds=0.2)

    assert score(r"$\frac{10}{4}$", "2.5") == alone


def test_the_event_loop_goes_on():
    score("4", "4")
    ticks = 0

    async def both():
        nonlocal ticks
        case = Case(id="1", output="$9^{9^{9^{9}}}$", reference="4")
        task = asyncio.create_task(Math(seconds=0.2).score(case))
        while not task.done():
            ticks += 1
            await asyncio.sleep(0.01)

    asyncio.run(both())

    assert ticks > 5


def test_without_the_library_it_says_which_extra(monkeypatch):
    monkeypatch.setattr(math_module, "find_spec", lambda name: None)

    with pytest.raises(MissingExtra, match=r"math needs an extra: pip install .*\[benchmarks\]"):
        score("4", "4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0}, "seconds must be a number above 0"),
        ({"seconds": float("nan")}, "seconds must be"),
        ({"strict": "yes"}, "strict must be true or false"),
        ({"undecided": "skip"}, "undecided must be one of abstain, wrong"),
    ],
)
def test_wrong_options_are_said(options, message):
    with pytest.raises(ConfigError, match=message):
        Math(**options)


@pytest.mark.thorough
@given(st.text(min_size=1, max_size=40).filter(str.strip))
@settings(max_examples=25, deadline=None)
def test_any_text_scores_in_range_and_twice_the_same(output):
    found = score(output, "4")

    assert found.value in (0, 1, None)
    assert found == score(output, "4")


@given(st.integers(-999, 999), st.integers(1, 99))
@settings(max_examples=15, deadline=None)
def test_a_fraction_is_its_decimal_and_itself(over, under):
    assert score(rf"$\frac{{{over}}}{{{under}}}$", f"{over}/{under}").value == 1
    assert score(f"{over + 1}", f"{over}").value == 0


RUN = """
import sys
from judgekit.cli import main
sys.argv = ["judgekit", "run", "suite.yaml"]
main()
"""


def children(mark):
    """Return the processes that carry a word in their environment, but this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize(
    "how",
    [
        [signal.SIGINT],
        pytest.param([signal.SIGINT] * 2, marks=pytest.mark.thorough),
        [signal.SIGKILL],
    ],
)
def test_ctrl_c_and_worse_leave_nothing_behind(how, tmp_path):
    mark = f"JUDGEKIT_TEST_MARK={os.getpid()}{len(how)}{int(how[0])}"
    rows = "\n".join(
        f'{{"id": "{n}", "output": "$9^{{9^{{9^{{9}}}}}}$", "reference": "4"}}' for n in range(4)
    )
    (tmp_path / "cases.jsonl").write_text(rows, "utf-8")
    (tmp_path / "suite.yaml").write_text(
        "cases: cases.jsonl\nmetrics: {math: {seconds: 60}}\n", "utf-8"
    )
    name, _, value = mark.partition("=")
    process = subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=tmp_path,
        env={**os.environ, name: value},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    end = time.monotonic() + 300
    while len(children(mark)) < 3 and time.monotonic() < end:  # itself, the host, a copy
        time.sleep(0.05)
    assert len(children(mark)) >= 3

    for number in how:
        process.send_signal(number)
        time.sleep(0.2)
    said = process.communicate(timeout=300)[0]

    while children(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert children(mark) == []
    assert b"Traceback" not in said, said
