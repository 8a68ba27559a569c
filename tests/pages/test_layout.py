"""The run page and the comparison page at three widths, light and dark."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.analysis.comparison.compare import compare_all
from judgekit.pages.comparison.page import write_comparison
from judgekit.pages.run.page import write_page
from judgekit.report.report import Report
from judgekit.suite.run import replay_suite
from judgekit.suite.suite import load_suite
from tests.analysis.comparison.marked import Marked
from tests.browsing import skip_without_a_browser
from tests.layout import check_layout

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

skip_without_a_browser("the layout of pages")

pytestmark = pytest.mark.loopback

EXAMPLE = Path(__file__).parents[2] / "examples" / "support_assistant" / "suite.yaml"
PARTS = (".verdict", ".worst-cases", "#browser", "#figures", "#about")
COMPARISON_PARTS = (".verdict", ".regression", "#browser", "#figures", "#about")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A run of 34 cases, judged with rubrics."""
    folder = tmp_path_factory.mktemp("example")
    replay_suite(load_suite(EXAMPLE), out=folder)
    return Report.read(folder)


def simple(runs: Any, count: int) -> Report:
    report: Report = runs.report_of(
        runs.simple_rows(count),
        thresholds={"helpful": 0.5, "brief": 0.5},
        gates={"helpful": {"mean": 0.4}, "brief": {"mean": 0.6}},
    )
    return report


def unfold(tab: Tab) -> None:
    # Twice: what is unfolded may hold something folded that is drawn only then.
    for _ in range(2):
        tab.evaluate(
            "document.querySelectorAll('details:not(.facet)').forEach((each) => each.open = true)"
        )
        tab.wait_for_timeout(30)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param("1 case", marks=pytest.mark.thorough),
        pytest.param("34 cases", marks=pytest.mark.thorough),
        "5000 cases",
        "8 metrics",
        "rare states",
    ],
)
def test_the_page_fits_reads_well_and_keeps_its_order(
    tab: Tab, runs: SimpleNamespace, example: Report, tmp_path: Path, run: str
) -> None:
    report = {
        "1 case": lambda: simple(runs, 1),
        "34 cases": lambda: example,
        "5000 cases": lambda: simple(runs, 5000),
        "8 metrics": lambda: runs.many_metrics(34),
        "rare states": lambda: runs.make_rich(tmp_path),
    }[run]()
    tab.goto(f"file://{write_page(report, tmp_path / 'page.html')}")
    tab.wait_for_selector("html[data-whole]")

    assert tab.locator("#about details[open]").count() == 0
    check_layout(tab, order=[each for each in PARTS if tab.locator(each).count()])
    unfold(tab)
    check_layout(tab)


def test_an_open_case_fits_and_reads_well(tab: Tab, example: Report, tmp_path: Path) -> None:
    page = write_page(example, tmp_path / "page.html")
    tab.goto(f"file://{page}#case=return-worn-boots")
    tab.wait_for_selector("html[data-whole]")

    unfold(tab)
    check_layout(tab, "case")
    for metric in ("quality", "prompt_alignment"):
        tab.goto(f"file://{page}#case=return-worn-boots&label={metric}")
        tab.locator("#labelling").wait_for()
        tab.locator("#label-metric option:checked", has_text=metric).wait_for(state="attached")
        unfold(tab)
        check_layout(tab, metric)


def test_an_open_case_with_rare_states_fits_and_reads_well(
    tab: Tab, rich: Report, tmp_path: Path
) -> None:
    page = write_page(rich, tmp_path / "page.html")
    for case in ("returns-free", "rude", "late-parcel"):
        tab.goto(f"file://{page}#case={case}")
        tab.wait_for_selector("html[data-whole]")
        tab.locator("#drawer-title", has_text=case).wait_for()
        unfold(tab)
        check_layout(tab, case)


@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.thorough), 3])
def test_a_comparison_fits_and_reads_well(tab: Tab, run: Any, tmp_path: Path, count: int) -> None:
    folders = [
        run(
            name,
            {
                f"c{n:02}": {"facts": (n + 3 * place) % 10 / 10, "tone_of_voice": n % 7 / 7}
                for n in range(34)
            },
            metrics=[Marked(name) for name in ("helpfulness", "prompt_alignment", "tone")],
            thresholds={"tone": 0.6},
            metadata=lambda id: {"half": id < "c17"},
        )
        for place, name in enumerate(["main", "a-long-name-of-a-branch", "third"][:count])
    ]
    reports = [Report.read(folder) for folder in folders]
    compared = compare_all(folders[0], folders[1:])
    page = write_comparison(reports[0], reports[1:], compared, tmp_path / "page.html")
    tab.goto(f"file://{page}")
    tab.wait_for_selector("html[data-ready]")

    check_layout(tab, order=COMPARISON_PARTS)
    unfold(tab)
    check_layout(tab)
    tab.set_viewport_size({"width": 390, "height": 900})
    columns = tab.locator(".matrix thead th")
    # Every run is a column of the figures and, for each of the three metrics, of the cases.
    assert [each.is_visible() for each in columns.all()] == [True] * (16 if count == 3 else 0)
    tab.locator(".list tbody tr").first.click()
    check_layout(tab)
