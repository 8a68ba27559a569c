from __future__ import annotations

import textwrap

from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.display.text import cells, cut, pad, wrap
from tests.each import each


@each(
    ("text", "room"),
    [
        ("abc", 3), ("", 0), ("日本語", 6), ("한국", 4), ("ｆｕｌｌ", 8), ("é", 1), ("e\u0301", 1),
        ("👍", 2), ("👍🏽", 2), ("👩‍🚒", 2), ("👨‍👩‍👧‍👦", 2), ("❤️", 2), ("🇩🇪", 2), ("a\u200bb", 2),
        ("\u0301", 0),
    ],
)  # fmt: skip
def test_room_is_counted_as_terminals_take_it(text, room):
    assert cells(text) == room


words = st.text(alphabet=st.sampled_from("ab -日本👍🏽é\u0301"), max_size=60)


@given(words, st.integers(1, 20))
def test_what_is_cut_fits_and_what_fits_is_not_cut(text, room):
    short = cut(text, room)

    assert cells(short) <= room
    assert (short == text) == (cells(text) <= room)
    assert cells(pad(short, room)) == room


@given(words, st.integers(8, 30))
def test_lines_fit_and_lose_no_sign(text, room):
    lines = wrap(text, room, first="> ", then="  ")

    assert all(cells(line) <= room for line in lines)
    if lines:
        assert lines[0].startswith("> ")
        said = "".join(line[2:] for line in lines)
        assert said.replace(" ", "") == "".join(text.split())


@given(st.text(alphabet="abc -", max_size=80), st.integers(8, 30))
def test_plain_text_is_broken_as_ever(text, room):
    assert wrap(text, room, then="  ") == textwrap.wrap(text, room, subsequent_indent="  ")


def test_words_stay_whole_where_they_fit():
    assert wrap("Grüße an alle", 8) == ["Grüße an", "alle"]
    assert wrap("日本語日本語", 6) == ["日本語", "日本語"]
    assert wrap("c é  gut", 80, first="  1.00  ") == ["  1.00  c é  gut"]
