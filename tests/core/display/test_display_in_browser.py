"""What notebooks are given in a real browser: inert, without a request, legible light and dark.

Needs Chromium and Playwright's Python package, neither of which is a dependency; without them
these tests are skipped, and say so.
"""

from __future__ import annotations

import pytest

from tests.browsing import skip_without_a_browser
from tests.core.display.shows import KINDS, everything

skip_without_a_browser("a table of a notebook")

pytestmark = pytest.mark.loopback

HOSTILE = (
    "<script>document.title='owned'</script><img src='http://127.0.0.1:9/x' onerror=alert(1)>"
    "</td></table></div><svg onload=alert(2)></svg><iframe src='http://127.0.0.1:9/y'></iframe>"
    "<style>body{background:url(http://127.0.0.1:9/z)}</style><a href='javascript:alert(3)'>a</a>"
    "\"onmouseover=alert(4) ' onfocus=alert(5) autofocus"
)
THEMES = {
    "light": ("rgb(255, 255, 255)", "rgb(20, 20, 20)"),
    "dark": ("rgb(17, 17, 17)", "rgb(238, 238, 238)"),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return everything(HOSTILE, tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def tab(tab):
    """A tab without the policy of the page of another test."""
    if tab.url != "about:blank":
        tab.goto("about:blank")
    return tab


def show(tab, html, theme="light"):
    tab.set_viewport_size({"width": 900, "height": 700})
    back, front = THEMES[theme]
    style = f"background:{back};color:{front};font:13px sans-serif"
    tab.set_content(f'<!DOCTYPE html><title>own</title><body style="{style}">{html}</body>')


def test_nothing_hostile_comes_alive(hostile, tab):
    shown = "".join(f"<main>{hostile[kind]._repr_html_()}</main>" for kind in KINDS)
    show(tab, shown)

    assert tab.title() == "own"
    found = tab.evaluate(
        "[...document.body.children].map(part => [part.tagName, part.children.length,"
        " [...new Set([...part.querySelectorAll('*')].map(e => e.tagName))], part.innerText])"
    )
    assert len(found) == len(KINDS)
    for kind, (part, count, tags, text) in zip(KINDS, found, strict=True):
        assert (part, count) == ("MAIN", 1), kind
        allowed = {"DIV", "TABLE", "CAPTION", "THEAD", "TBODY", "TR", "TH", "TD", "SPAN"}
        assert set(tags) <= allowed, kind
        assert kind in ("suite", "rubric") or "<script>" in text, kind


@pytest.mark.parametrize("theme", THEMES)
def test_texts_have_the_colours_of_the_notebook(theme, hostile, tab):
    show(tab, hostile["report"]._repr_html_(), theme)

    colours = tab.evaluate(
        "[...new Set([...document.body.querySelectorAll('div, th, td, caption')]"
        ".map(e => getComputedStyle(e).color))]"
    )
    backs = tab.evaluate(
        "[...new Set([...document.body.querySelectorAll('div, table, th, td, caption')]"
        ".map(e => getComputedStyle(e).backgroundColor))]"
    )
    assert colours == [THEMES[theme][1]]
    assert backs == ["rgba(0, 0, 0, 0)"]


def test_a_wide_table_stays_in_the_cell(tab, tmp_path):
    long = everything("https://example.com/" + "x" * 2000, tmp_path)
    for kind in ("report", "scored", "comparison"):
        show(tab, long[kind]._repr_html_())
        wide = tab.evaluate("document.documentElement.scrollWidth")
        assert wide <= 900, kind
