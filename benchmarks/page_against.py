"""The page of a run against that of another version, in alternating rounds of one browser.

Both versions write the page of the same run of `page.py`, and of one with eight metrics. Prints per
version the seconds until the list of cases stands and until all texts are there (median and range),
the layout shift by the browser's own entries, and how many rows the list has at load and on one
screen. The other version is a checkout; its dependencies are those of this one.

    python benchmarks/page_against.py CHECKOUT [cases [rounds]]
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu"]
SCREENS = ((1280, 720), (390, 844))
BARS = {"shift": 0.02, "rows": 3.0}
"""Layout shift; rows at load, as a multiple of those that fit on a screen."""
_WRITE = """
import sys
from pathlib import Path
from benchmarks.page import make_run
from judgekit.pages.run.page import write_page
from tests.report.conftest import many_metrics
folder = Path(sys.argv[1])
write_page(make_run(int(sys.argv[2]), folder), folder / "large.html")
write_page(many_metrics(34), folder / "eight.html")
"""
_WATCH = """window.shift = 0;
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
new MutationObserver(() => {
    const { ready, whole } = document.documentElement.dataset;
    if (ready) window.stood ??= performance.now() / 1000;
    if (whole) window.whole ??= performance.now() / 1000;
}).observe(document, { subtree: true, attributeFilter: ["data-ready", "data-whole"] });"""
_ROWS = """() => {
    const rows = [...document.querySelectorAll(".list tbody tr")];
    const height = rows.reduce((sum, row) => sum + row.getBoundingClientRect().height, 0);
    return [rows.length, innerHeight / (height / rows.length)];
}"""


class Opened(NamedTuple):
    """What the browser says of one page."""

    stood: float
    whole: float
    """Seconds from the start of the navigation."""
    shift: float
    rows: int
    on_a_screen: float


def write_pages(checkout: Path, folder: Path, cases: int) -> None:
    """Write the pages by the code of a checkout."""
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-c", _WRITE, str(folder), str(cases)],
        cwd=checkout, env={**os.environ, "PYTHONPATH": str(checkout)}, check=True,
    )  # fmt: skip


def opened(browser: Any, page: Path, screen: tuple[int, int]) -> Opened:
    """Open a page and return what the browser says of it."""
    tab = browser.new_page(viewport={"width": screen[0], "height": screen[1]})
    tab.add_init_script(_WATCH)
    tab.goto(f"file://{page}", wait_until="commit")
    tab.wait_for_selector("html[data-whole]", state="attached", timeout=60_000)
    tab.wait_for_timeout(300)
    result = Opened(*tab.evaluate("[window.stood, window.whole, window.shift]"),
                    *tab.evaluate(_ROWS))  # fmt: skip
    tab.close()
    return result


def main() -> None:
    """Print a line per version and page."""
    from playwright.sync_api import sync_playwright

    other = Path(sys.argv[1]).resolve()
    cases, rounds = (int(text) for text in (*sys.argv[2:], *("5000", "7")[len(sys.argv) - 2 :]))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        pages = {"before": Path(name) / "before", "now": Path(name) / "now"}
        write_pages(other, pages["before"], cases)
        write_pages(ROOT, pages["now"], cases)
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        opened(browser, pages["now"] / "eight.html", SCREENS[0])  # warms the browser
        took: dict[str, list[Opened]] = {version: [] for version in pages}
        for number in range(rounds):
            for version in list(pages)[:: -1 if number % 2 else 1]:
                took[version].append(opened(browser, pages[version] / "large.html", SCREENS[0]))
        for version, several in took.items():
            for what in ("stood", "whole"):
                times = sorted(getattr(one, what) for one in several)
                print(f"{cases:,} cases, {version}: {what} after {statistics.median(times):.3f} s "
                      f"[{times[0]:.3f}, {times[-1]:.3f}]")  # fmt: skip
        for page in ("large", "eight"):
            for screen in SCREENS:
                for version, folder in pages.items():
                    one = opened(browser, folder / f"{page}.html", screen)
                    held = one.shift < BARS["shift"] and one.rows <= BARS["rows"] * one.on_a_screen
                    print(f"{page} at {screen[0]} px, {version}: layout shift {one.shift:.4f}, "
                          f"{one.rows} rows at load, {one.on_a_screen:.1f} fit on a screen: "
                          f"{'within' if held else 'OVER'} the bars")  # fmt: skip
        browser.close()


if __name__ == "__main__":
    main()
