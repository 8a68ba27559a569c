"""A test for each case of a file: the marker `judgekit_cases`."""

from __future__ import annotations

import pytest


def test_cases_of_a_file_are_tests_of_their_own(project, run):
    (project / "cases.jsonl").write_text(
        '{"id": "one", "output": "Hello."}\n{"id": "zwei/ä", "output": "x"}\n', "utf-8"
    )
    (project / "test_tone.py").write_text(
        "import pytest\n"
        "@pytest.mark.judgekit_cases('cases.jsonl')\n"
        "def test_short(judgekit, case):\n"
        "    judgekit.check(case, 'length', threshold=1.0, maximum=3)\n",
        "utf-8",
    )

    code, out = run("-v")

    assert code == 0, out
    assert "test_short[one] PASSED" in out
    assert out.count("PASSED") == 2


@pytest.mark.parametrize(
    ("marker", "argument", "message"),
    [
        ("'none.jsonl'", "case", "no such file"),
        ("'empty.jsonl'", "case", "there are no cases in it"),
        ("'empty.jsonl'", "other", "judgekit_cases gives the argument `case`"),
        ("'empty.jsonl', formt='x'", "case", "formt"),
    ],
)
def test_a_file_of_cases_that_gives_none_is_an_error(project, run, marker, argument, message):
    (project / "empty.jsonl").write_text("", "utf-8")
    (project / "test_tone.py").write_text(
        f"import pytest\n@pytest.mark.judgekit_cases({marker})\ndef test_x({argument}): pass\n",
        "utf-8",
    )

    code, out = run()

    assert code == 2
    assert message in out
