"""What is written as Markdown: titles, bullets and tables of text that nobody has checked."""

from __future__ import annotations

import re

import pytest

from judgekit.core.display.markdown import escaped, to_markdown
from judgekit.core.display.parts import DisplayBar, DisplayLine, DisplayTable
from judgekit.core.display.text import to_text
from judgekit.core.document import Document
from tests.core.display.shows import everything

HOSTILE = (
    "a | b",
    "two\nlines\r\n# and a title",
    "<b>bold</b><script>alert(1)</script>",
    "@all, see #1",
    "- one",
    "- - -",
    "1. one",
    "+ one",
    "[x](http://x) ![y](y)",
    "`code` **bold** _it_ ~~no~~ $x$",
    "| --- |",
    "> quote",
    "\x1b[31mred\x00",
)


def test_parts_are_titles_bullets_quotes_and_tables():
    table = DisplayTable(
        ("name", "mean", "", "why"),
        [("a", "0.50", DisplayBar(0.5), "short"), ("b", "-0.25", None, "")],
        title="figures",
        numbers=(1,),
        left="1 more row",
    )
    parts = [
        DisplayLine("a title", "title"),
        DisplayLine("wrong", "bad"),
        DisplayLine("one"),
        DisplayLine("two", "note"),
        DisplayLine(""),
        table,
        DisplayLine("three", "good"),
    ]

    assert to_markdown(parts) == (
        "### a title\n\n> **wrong**\n\n- one\n- two\n\n**figures**\n\n"
        "| name | mean | why |\n| --- | --: | --- |\n| a | 0.50 | short |\n| b | -0.25 |  |\n\n"
        "- 1 more row\n- three\n"
    )


def test_nothing_is_an_empty_line():
    assert to_markdown([]) == "\n"
    assert to_markdown([DisplayLine(""), DisplayLine("a"), DisplayLine("")]) == "- a\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_where_it_is(text):
    table = DisplayTable((text, "n"), [(text, "1"), ("b", text)], title=text, left=text)
    lines = to_markdown([DisplayLine(text, "title"), DisplayLine(text, "bad"),
                         DisplayLine(text), table]).splitlines()  # fmt: skip

    shown = escaped(text)
    assert lines == [
        f"### {shown}", "", f"> **{shown}**", "", f"- {shown}", "", f"**{shown}**", "",
        f"| {shown} | n |", "| --- | --- |", f"| {shown} | 1 |", f"| b | {shown} |", "",
        f"- {shown}",
    ]  # fmt: skip
    bare = re.sub(r"\\.", "", shown)
    assert not re.search(r"[<>|`*_\[\]@#$~\x00-\x1f]", bare.replace("&#8203;", "")), shown
    assert not re.match(r"(\d*[-+.]|[-+]) ", bare), shown


def test_a_negative_number_is_not_escaped():
    assert escaped("-0.25") == "-0.25"
    assert escaped("1.5 of 2") == "1.5 of 2"
    assert escaped("--- x") == r"\--- x"


def test_every_document_is_the_same_in_a_terminal_and_in_markdown(tmp_path):
    shown = everything("rain | <b>snow</b> @all", tmp_path)
    documents = [one for one in shown.values() if isinstance(one, Document)]

    assert len(documents) == 3
    for document in documents:
        markdown = document.markdown()
        assert "<b>" not in markdown
        assert not re.search(r"@(?!&#8203;)", markdown)
        assert max(map(len, document.text(width=60).splitlines())) <= 60
        words = re.sub(r"\\(.)", r"\1", markdown).replace("&#8203;", "")
        for line in document._parts_shown():
            if isinstance(line, DisplayLine):
                text = " ".join(line.text.split()).replace("<", "&lt;").replace(">", "&gt;")
                assert text in words


def test_many_columns_and_wide_characters_stay_in_the_width():
    head = ("judge / people", *(f"category {n}" for n in range(30)))
    many = DisplayTable(head, [("a", *["1"] * 30)], numbers=range(1, 31))
    wide = DisplayTable(("名前", "x"), [("日本語", "1"), ("ab", "2")])

    assert max(map(len, to_text([many], width=60).splitlines())) <= 60
    assert to_text([wide]).splitlines() == ["", "名前    x", "日本語  1", "ab      2"]
