"""What is found by its form, and what only looks like it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.privacy.detectors import DETECTORS, find_all
from tests.each import each
from tests.growth import LINEAR, growth

TABLE = Path(__file__).with_name("found.txt").read_text("utf-8")
ROWS = [line.split(" | ", 2) for line in TABLE.splitlines() if line and not line.startswith("#")]
FOUND = [(kind, text, want.split(" && ")) for kind, text, want in ROWS if want != "-"]
NEAR_MISSES = [(kind, text) for kind, text, want in ROWS if want == "-"]


@each(("kind", "text", "want"), FOUND)
def test_a_thing_is_found_in_its_one_spelling(kind, text, want):
    assert [span.value for span in DETECTORS[kind](text)] == want


@each(("kind", "text"), NEAR_MISSES)
def test_a_near_miss_is_left_alone(kind, text):
    assert [text[s.start : s.end] for s in DETECTORS[kind](text)] == []


def test_every_kind_has_things_found_and_near_misses():
    assert {kind for kind, *_ in FOUND} == {kind for kind, _ in NEAR_MISSES} == set(DETECTORS)


def test_a_private_key_is_found_whole_and_to_the_end_of_its_letters_if_cut_off():
    body = "MIIEvQ+/ab\n" * 3
    whole = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----"
    cut = f"-----BEGIN PRIVATE KEY-----\\n{body}"

    assert [f"<{s.value}>" for s in DETECTORS["key"](f"a {whole} b {whole}!")] == [f"<{whole}>"] * 2
    assert [s.value.strip() for s in DETECTORS["key"](f"{cut}! Bye")] == [cut.strip()]


def test_what_two_detectors_see_is_found_once_by_the_first():
    text = "postgres://ann:pa55word@example.com/db"

    (found,) = find_all(text, DETECTORS)

    assert (found.kind, found.span.value) == ("key", "pa55word")


HARD = [
    "a", "@", "a@", "1", "1 ", "4444 ", "1.", "f:", "abc:", "-----BEGIN PRIVATE KEY-----", "sk-",
    "eyJaaaaaaaa.", "(", "+1", "0", "00", "key=", "key : ", "://a:", "://a:b", "tel ", "bearer ",
    "a.", "x@a-", "\u00a0", "password=\"", "2001:", "::ffff:", "1 (", "AKIA",
    "SG.aaaaaaaaaaaaaaaa.",
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("piece", HARD)
def test_time_grows_with_the_text_and_not_faster(piece):
    def make(length):
        return (f"x@{piece}" + piece * length)[:length]

    assert growth(lambda text: find_all(text, DETECTORS), make, 80_000) < LINEAR


@given(st.text("a1.@+-():/ _=sk\n\u00e9", max_size=60))
@settings(max_examples=300, deadline=None)
def test_spans_are_in_order_apart_and_inside_the_text(text):
    end = 0
    for found in find_all(text, DETECTORS):
        assert end <= found.span.start < found.span.end <= len(text)
        end = found.span.end


def test_committed_digests_are_no_keys():
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

    for text in (digest, f'"request_key":"{digest}"', f"sha256 {digest}"):
        assert find_all(text, DETECTORS) == []


def test_no_table_row_is_a_real_persons():
    # Addresses and numbers reserved for examples (RFC 2606, 5737, 3849; 555-01xx), or said so.
    for domain in re.findall(r"@([\w.-]+\.[a-z]+)", TABLE, re.IGNORECASE):
        assert re.search(r"example\.|\.test|\.example|^b\.|^host\.v", domain.lower() + "."), domain
