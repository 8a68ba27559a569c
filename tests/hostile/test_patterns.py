"""No regular expression takes more than linear time, whatever the text.

The attacks are derived from the patterns' own repeats (see pump). `benchmarks/patterns.py` tries
all of them with texts of up to a megabyte.
"""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.errors import InvalidReply
from judgekit.core.json_extraction import _COMMAS, extract_object
from judgekit.judges.terminal import _fences
from judgekit.metrics.quote import _without_ends
from tests.hostile.every_pattern import BUILT, ROOT, WORDS, Use, built_patterns, caller, uses
from tests.hostile.pump import Attack, attacks, growth

LENGTH = 8_192
MOST = 5
"""Attacks on one pattern that are tried here, spread over all that are derived."""


@pytest.fixture
def in_time():
    """Let a test look at hundreds of patterns."""


def faults(use, length=LENGTH, most=MOST):
    """Return what is wrong with a pattern."""
    tried = attacks(use.source, use.flags)
    step = max(1, len(tried) // most)
    call = caller(use)
    for attack in tried[::step]:
        if fault := growth(call, attack, length):
            return [f"{use.where}: {use.source[:80]!r}: {fault}"]
    return []


@pytest.mark.parametrize(
    ("source", "length"),
    [
        # As long as it takes to see on a slow machine; a longer text only takes longer.
        pytest.param(r"\s*$", 4_096, marks=pytest.mark.thorough),
        (r"(a+)+b", 1_024),
        pytest.param(r"(?:\w+\s*)*;", 1_024, marks=pytest.mark.thorough),
        pytest.param(r'"(?:[^"\\]|\\.)*"', 4_096, marks=pytest.mark.thorough),
        (r"x.*y", 12_288),
    ],
)
def test_an_attack_is_found(source, length):
    use = Use("here", source, re.DOTALL, False)
    assert any(faults(use, length=length << doubled, most=100) for doubled in range(4))


@pytest.mark.parametrize("source", [r"\S+", r"(?<!\s)\s++x", r'"[^"]*+(?:"|\Z)', r"a{1,5}b"])
def test_a_linear_pattern_has_no_fault(source):
    assert not faults(Use("here", source, 0, False), most=100)


def test_every_pattern_of_the_package_is_linear():
    readable, _ = uses()

    assert len(readable) > 200
    assert [fault for use in readable for fault in faults(use)] == []


def test_every_pattern_that_is_built_is_linear():
    assert [fault for use in built_patterns() for fault in faults(use, most=3)] == []


def test_every_file_that_builds_patterns_is_known():
    _, built = uses()

    assert built == {name.split()[0] for name in BUILT} | WORDS.keys()


_LITERAL = re.compile(
    r"(?<=[(= ])/((?:[^/*\\\n\[ ]|\\.|\[(?:[^\]\\\n]|\\.)*\])[^\n]*?)/[gu]*[.,;)]"
)
"""A regular expression in a script."""


def test_every_pattern_of_a_page_is_linear():
    literals = []
    for path in sorted(ROOT.rglob("*.js")):
        for source in _LITERAL.findall(path.read_text("utf-8")):
            text = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), source)
            text = text.replace(r"\p{L}\p{N}", r"\w")
            literals.append(Use(path.name, text, 0, False))

    assert len(literals) >= 8
    assert [fault for use in literals for fault in faults(use)] == []


@given(st.lists(st.sampled_from(["...", ".", '"', "'", " ", "a", "b"]), max_size=12).map("".join))
def test_ends_of_quotes_are_left_out_as_before(text):
    before = re.sub(r"""^(?:\.\.\.|["' ])+|(?:\.\.\.|["' ])+$""", "", text)

    assert _without_ends(text) == before


@given(st.text(alphabet='{}[]",\\ \na1:', max_size=30))
def test_commas_are_removed_as_before(text):
    old = re.compile(r'"(?:[^"\\]|\\.)*+"|,(?=\s*[}\]])', re.DOTALL)
    # Where every string ends, the two are the same.
    if not re.sub(r'"(?:[^"\\]|\\.)*+"', "", text, flags=re.DOTALL).count('"'):
        assert [m[0] for m in _COMMAS.finditer(text)] == [m[0] for m in old.finditer(text)]


_HEX = "0123456789abcdef"


@given(
    st.lists(
        st.sampled_from(
            [f"<a-{_HEX}>", f"</a-{_HEX}>", f"<b-{_HEX}>", f"</b-{_HEX}>", "\n", "\n", "x", "<"]
        ),
        max_size=14,
    ).map("".join)
)
def test_fences_are_found_as_before(text):
    old = re.compile(r"<([A-Za-z_][\w-]*)-([0-9a-f]{16})>\n(.*?)\n</\1-\2>", re.DOTALL)

    assert [(tag, opens.start(), closes.end()) for tag, opens, closes in _fences(text)] == [
        (m[1], m.start(), m.end()) for m in old.finditer(text)
    ]


def test_a_reply_of_quotation_marks_ends_soon():
    def call(text):
        with contextlib.suppress(InvalidReply):
            extract_object(text)

    for attack in (
        Attack('{"good": true,} "', '\\"', ""),
        Attack('{"good": true,} ', '"', ""),
        Attack('{"good": true,} ', ", ", "x"),
        Attack("", " ", "<"),
        Attack("```\n", "`", "{"),
    ):
        assert growth(call, attack, 65_536) is None
