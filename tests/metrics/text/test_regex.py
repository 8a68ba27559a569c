"""Regex: patterns found, missed, and ended when they run on."""

from __future__ import annotations

import asyncio

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.metrics.text.regex import Regex, match_steps
from tests.each import each


def score(metric, output):
    return asyncio.run(metric.score(Case(id="1", output=output)))


def value(metric, output):
    return score(metric, output).value


@pytest.mark.parametrize(
    ("options", "output", "expected"),
    [
        ({"pattern": r"\d+"}, "room 12", 1),
        ({"pattern": r"\d+", "match": "fullmatch"}, "room 12", 0),
        ({"pattern": r"\d+", "expect": "absent"}, "room 12", 0),
        ({"pattern": "ROOM", "flags": ("ignore_case",)}, "room", 1),
        ({"pattern": "^b$", "flags": ["multiline"]}, "a\nb", 1),
        ({"pattern": r"(\w+) \1"}, "the the", 1),
        ({"pattern": r"(?<=room )\d+", "expect": "absent"}, "hall 12", 1),
        ({"pattern": r"(a|b)+c"}, "abac", 1),
        ({"pattern": "日.語"}, "日本語", 1),
    ],
)
def test_regex_finds_or_misses(options, output, expected):
    assert value(Regex(**options), output) == expected


def test_the_place_is_the_same_in_this_process_and_in_a_child():
    plain = score(Regex(pattern="l+o"), "hello \ud83d world")
    child = score(Regex(pattern="(?:l)+o"), "hello \ud83d world")

    assert plain.details["span"] == child.details["span"] == [2, 5]


def test_a_catastrophic_pattern_ends_with_a_clear_line():
    with pytest.raises(TimeoutError, match="regex: no end after 1 s on an output of 51 characters"):
        score(Regex(pattern="(a+)+$", timeout=1), "a" * 50 + "b")


def test_a_text_too_long_to_search_is_refused():
    with pytest.raises(CaseError, match="more than 4,000,000 characters"):
        score(Regex(pattern="a"), "b" * 4_000_001)


@each(
    ("pattern", "length", "expected"),
    [
        ("abc", 10, 33),
        ("a*b", 10, 242),
        ("a{2,5}", 10, 66),
        ("a{7}", 10, 88),
        ("a|b", 10, 66),
        ("[^a-z]+", 10, 121),
        (r"\b\w\b", 10, 33),
        ("(a+)+", 10, None),
        ("(?:ab)*", 10, None),
        ("(a)\\1", 10, None),
        ("(?=a)a", 10, None),
        ("(?i)a", 10, None),
        ("(?P<x>a)", 10, None),
        ("[]a]", 10, None),
        ("a{,5}", 10, None),
    ],
)
def test_steps_are_bounded_for_simple_patterns_only(pattern, length, expected):
    assert match_steps(pattern, length=length, anywhere=True) == expected


def test_a_verbose_pattern_is_not_called_simple():
    assert match_steps("a b", length=1, anywhere=True, flags=64) is None
    assert value(Regex(pattern="a b", flags=("verbose",)), "ab") == 1
