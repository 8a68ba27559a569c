"""What is run, of which answer, against which tests. Programs of ours, so mostly unprotected."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.metrics.benchmarks.code import Code, find_program, read_tests, same_output

PROMPT = 'from typing import List\n\n\ndef total(numbers: List[int]) -> int:\n    """Sum."""\n'
CHECK = "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n"
HUMANEVAL = {"test": CHECK, "entry_point": "total"}


def score(output, expected, *, prompt=None, **options):
    case = Case(id="1", input=prompt, output=output, expected=expected)
    return asyncio.run(Code(**{"unsafe_exec": True, **options}).score(case))


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("    return sum(numbers)\n", 1),
        ("return sum(numbers)", 1),
        ("result = 0\n    for n in numbers:\n        result += n\n    return result", 1),
        ("for n in numbers:\n    pass\nreturn sum(numbers)", 1),
        ("def total(numbers: List[int]) -> int:\n    return sum(numbers)", 1),
        ("Here:\n\n```python\ndef total(numbers):\n    return sum(numbers)\n```\nDone.", 1),
        ("```\n    return sum(numbers)\n```", 1),
        ("```python\ndef total(n):\n    return sum(n)\n```\nUse:\n```python\ntotal([1])\n```", 1),
        ("```python\nfrom x import y\n```\n```js\nfunction total() {}\n```", 0),
        ("    return 4\n", 0),
        ("I cannot do that.", 0),
    ],
)
def test_humaneval_answers_in_every_form_people_get_them(output, value):
    assert score(output, HUMANEVAL, prompt=PROMPT).value == value


def test_a_prompt_that_is_no_python_by_itself_gives_its_imports():
    prompt = "from math import gcd\ndef total(numbers):\n"

    output = "def total(numbers):\n    return gcd(*numbers) + 2"

    assert (
        score(output, {**HUMANEVAL, "test": "assert total([1, 2]) == 3"}, prompt=prompt).value == 1
    )


def test_other_functions_of_the_prompt_are_there():
    prompt = f"def double(n):\n    return 2 * n\n\n{PROMPT}"

    assert (
        score("def total(n):\n    return double(sum(n)) // 2", HUMANEVAL, prompt=prompt).value == 1
    )


def test_tests_are_counted_as_a_share_or_all_together():
    tests = {
        "tests": ["assert f(1) == 1", "assert f(2) == 5", "assert f(3) == 9", "assert f(0) == 0"]
    }
    answer = "def f(n):\n    return n * n"

    share, together = (score(answer, tests, counts=counts) for counts in ("share", "all"))

    assert (share.value, share.details["passed"], share.details["not_run"]) == (0.75, 3, 0)
    assert (together.value, together.details["passed"], together.details["not_run"]) == (0, 1, 2)
    assert together.reason == "1 of 4 tests passed; assert f(2) == 5: AssertionError."


def test_mbpp_setup_and_list():
    expected = {"setup": "import math", "tests": ["assert f(4) == math.isqrt(16)"]}

    assert score("```python\ndef f(n):\n    return n\n```", expected).value == 1


def test_a_program_that_reads_and_prints():
    program = "import sys\nfor line in sys.stdin:\n    print(line.strip()[::-1])"
    tests = {"tests": [{"input": "ab\nçd\n", "output": "ba\ndç"}, {"input": "", "output": "x"}]}

    found = score(program, tests, counts="share")

    assert found.value == 0.5
    assert [o["said"] for o in found.details["outcomes"]] == ["passed", "printed nothing"]


def test_a_main_guard_runs_and_exit_is_a_good_end_for_a_program_that_prints():
    program = (
        "def main():\n    print(int(input()) + 1)\n"
        "if __name__ == '__main__':\n    main()\n    exit(0)"
    )

    assert score(program, {"tests": [{"input": "41\n", "output": "42"}]}).value == 1
    assert score("print(42)\nexit(3)", {"tests": [{"output": "42"}]}).value == 0


def test_dataclasses_and_annotations_work_in_an_answer():
    program = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass P:\n    x: int\n"
    )

    assert score(program, {"tests": ["assert P(1) == P(x=1)"]}).value == 1


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({}, "needs tests"),
        ({"tests": []}, "a list of 1 to 1,000 tests"),
        ({"tests": "assert 1"}, "a list of 1 to 1,000 tests"),
        ({"tests": [1]}, r"expected.tests.0: write Python code"),
        ({"tests": [{"input": "x"}]}, r"expected.tests.0: write"),
        ({"tests": [{"output": "x", "more": 1}]}, r"expected.tests.0: write"),
        ({"test": " "}, "expected.test is not a text"),
        ({"tests": ["x"], "setup": 1}, "expected.setup"),
        ({"test": "x", "entry_point": "no name"}, "entry_point is not the name"),
    ],
)
def test_wrong_tests_are_said(expected, message):
    with pytest.raises(CaseError, match=message):
        score("x = 1", expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "rust"}, "language must be one of python"),
        ({"counts": "half"}, "counts must be one of all, share"),
        ({"seconds": 0}, "seconds must be a number above 0"),
        ({"seconds": float("inf")}, "seconds must be"),
        ({"memory_mb": 0}, "memory_mb must be a whole number"),
        ({"unsafe_exec": "yes"}, "unsafe_exec must be true or false"),
        ({"python": ""}, "python must be the path"),
    ],
)
def test_wrong_options_are_said(options, message):
    with pytest.raises(ConfigError, match=message):
        Code(**options)


def test_a_long_output_and_a_missing_one_are_said():
    with pytest.raises(CaseError, match="more than 1,000,000 characters"):
        score("x" * 1_000_001, {"tests": ["1"]})
    with pytest.raises(CaseError, match="needs an output"):
        score(None, {"tests": ["1"]})


@pytest.mark.parametrize(
    "output",
    ["é" * 1000, "\x00", "(" * 10_000, "日本語", "\ud800".encode("utf-8", "replace").decode()],
)
def test_odd_answers_fail_their_tests(output):
    assert score(output, {"tests": ["assert True"]}).value == 0


@given(st.text(min_size=1).filter(str.strip), st.sampled_from([None, "f"]))
@settings(max_examples=200)
def test_a_program_is_found_in_any_text_and_twice_the_same(output, entry):
    expected = {"tests": ["assert f(1)"], **({"entry_point": entry} if entry else {})}
    case = Case(id="1", input="def f(x):\n", output=output, expected=expected)
    tests = read_tests(case)

    first = find_program(case, output, tests)

    assert first == find_program(case, output, tests)
    assert first.variants


@given(st.text(alphabet="ab \n\t"))
def test_outputs_compare_but_for_white_space_at_ends(text):
    assert same_output(text, text + " \n")
    assert not same_output(text + "x", text)
