"""The page in the dark, on paper, on a small screen, by keyboard, and read aloud."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from judgekit.pages.run.page import write_page
from judgekit.report.report import Report
from judgekit.suite.run import replay_suite
from judgekit.suite.suite import load_suite
from tests.browsing import skip_without_a_browser, until

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

skip_without_a_browser("the page, for everybody,")

pytestmark = pytest.mark.loopback

EXAMPLE = Path(__file__).parents[2] / "examples" / "support_assistant" / "suite.yaml"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a shipped example."""
    folder = tmp_path_factory.mktemp("run")
    replay_suite(load_suite(EXAMPLE), out=folder)
    return write_page(Report.read(folder), folder / "report.html")


def show(tab: Tab, page: Path) -> None:
    tab.goto(f"file://{page}")
    tab.wait_for_selector("html[data-whole]")


def test_tables_name_what_they_hold(tab: Tab, page: Path) -> None:
    show(tab, page)

    tables = tab.locator("table")
    assert tables.count() > 8
    for table in tables.all():
        assert table.locator("caption").text_content()
        assert table.locator("thead th:not([scope=col])").count() == 0
        assert table.locator("tbody th:not([scope=row], [scope=rowgroup])").count() == 0
    nameless = tab.evaluate(
        """() => [...document.querySelectorAll('button, input, select, textarea, svg, [role]')]
            .filter((e) => e.getAttribute("aria-hidden") !== "true" && !e.closest("[hidden]")
                && !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")
                     || e.textContent.trim() || e.labels?.length
                     || ["status", "note"].includes(e.getAttribute("role"))))
            .map((e) => e.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
    order = tab.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => h.tagName[1])")
    assert order[0] == "1"
    assert all(int(b) - int(a) <= 1 for a, b in pairwise(order))


def test_filters_are_announced(tab: Tab, page: Path) -> None:
    show(tab, page)
    status = tab.locator(".count[role=status]")

    tab.fill("#search", "boots")

    assert re.fullmatch(r"\d of 34 cases", status.inner_text())


def test_everything_is_reached_by_keyboard(tab: Tab, page: Path) -> None:
    show(tab, page)
    tab.focus("#search")
    seen = []
    for _ in range(16):
        tab.keyboard.press("Tab")
        seen.append(tab.evaluate("(document.activeElement.innerText || '').split('\\n')[0]"))
    assert [each for each in seen if each.startswith(("All", "Below", "topic", "Label these"))]
    assert {"Case", "Input", "safety", "quality"} <= set(seen)

    tab.focus('[data-column="metric.safety"]')
    tab.keyboard.press("Enter")
    assert (
        tab.locator('th:has([data-column="metric.safety"])').get_attribute("aria-sort")
        == "ascending"
    )
    assert tab.evaluate("document.activeElement.dataset.column") == "metric.safety"
    tab.focus(".facet summary")
    for key in ("Enter", "Tab", "Space"):
        tab.keyboard.press(key)
    assert "meta.topic=" in tab.evaluate("location.hash")
    tab.keyboard.press("Escape")
    tab.focus(".list tbody tr")
    for key in ("Enter", "j", "k"):
        tab.keyboard.press(key)
    assert tab.locator("#drawer .place").inner_text() == "1 of 2"
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.tagName") == "TR"


def test_paper_has_every_figure_and_no_controls(tab: Tab, page: Path) -> None:
    show(tab, page)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")

    text = tab.locator("#page").inner_text()

    assert "hallucinated_policy" in text  # a slice that was folded
    assert "in passing, or without practical use" in text  # a level of a rubric
    assert len(tab.locator(".list tbody tr").all()) == 34
    for control in (".controls", ".keys", ".action", ".skip"):
        assert not [each for each in tab.locator(control).all() if each.is_visible()]
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details.maker[open]").count() == 0


def test_the_values_of_a_field_fit_on_a_small_screen(tab: Tab, page: Path) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    show(tab, page)

    tab.locator(".facet summary").last.click()

    box = tab.locator(".facet[open] fieldset").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.usefixtures("without_script")
def test_summary_slices_and_cards_read_without_script(tab: Tab, page: Path) -> None:
    tab.goto(f"file://{page}")

    assert "22 of 34 cases fail" in tab.locator(".verdict").inner_text()
    text = tab.locator("body").text_content() or ""
    assert "prompt_alignment: mean 0.658 [0.555, 0.747] over 34 meets at least 0.55" in text
    assert "Slices" in text
    assert "membership" in text
    assert "prompt_alignment@1" in text


@pytest.mark.thorough
@pytest.mark.slow
def test_opening_and_filtering_build_as_much_for_2100_cases_as_for_500(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    built = []
    for count in (500, 2100):  # a page of more than 2,000 cases leaves texts out
        page = write_page(runs.report_of(runs.simple_rows(count)), tmp_path / f"{count}.html")
        tab.goto(f"file://{page}")
        tab.wait_for_selector("html[data-whole]")
        built.append(
            tab.evaluate(
                """() => {
                    const search = document.getElementById("search");
                    const built = {};
                    const count = (name, act) => {
                        act();
                        built[name] = document.getElementsByTagName("*").length;
                    };
                    const find = (text) => () => {
                        search.value = text;
                        search.dispatchEvent(new Event("input"));
                    };
                    count("open", () => {});
                    count("search", find("answer number 9"));
                    count("all", find(""));
                    count("facet", () => document.querySelector(".facet input").click());
                    count("status", () => document.querySelector("[data-status]").click());
                    const column = document.querySelector('[data-column="metric.brief"]');
                    count("sort", () => column.click());
                    return built;
                }"""
            )
        )

    few, more = built
    assert {name: (few[name], more[name]) for name in few if more[name] > 1.5 * few[name]} == {}
    until(tab, "document.querySelectorAll('.list tbody tr').length > 20")
