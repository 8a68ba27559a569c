"""The page of a comparison in headless Chromium: its size, and how long it takes to be made.

Two runs as `page.py` makes them; in the new one two answers in five have other words and other
scores. Medians of five; the bars are those of the page of a run.

    python benchmarks/compare_page.py [cases ...]
"""

from __future__ import annotations

import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from page import ARGUMENTS, BARS, ROUNDS, SIZES, Writer, make_run, opened

from judgekit.analysis.comparison.compare import compare_all
from judgekit.pages.comparison.page import write_comparison
from judgekit.report.folder import Scored
from judgekit.report.report import Report


def changed(base: Report, writer: Writer) -> Report:
    """Return a run over the same cases, some of which were answered in other words."""
    draw = random.Random(11)
    results = [reworded(one, writer, draw) if draw.random() < 0.4 else one for one in base.results]
    return Report(base.figures, results=results)


def reworded(one: Scored, writer: Writer, draw: random.Random) -> Scored:
    """Return a case with 25 words of its answer replaced, and worse scores."""
    words = (one.case.output or "").split()
    at = draw.randrange(150)
    words[at : at + 25] = writer.words(30).split()
    case = one.case.model_copy(update={"output": " ".join(words)})
    rows = []
    for row in one.rows:
        value = round((row.result.value or 0) * draw.random(), 3)
        rows.append(
            row.model_copy(update={"result": row.result.model_copy(update={"value": value})})
        )
    return Scored(case, tuple(rows))


def main() -> None:
    """Print a row for every size."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    sizes = [int(text) for text in sys.argv[1:]] or list(SIZES[1:])
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for size in sizes:
            base = make_run(size, Path(folder) / str(size))
            new = changed(base, Writer())
            found = compare_all(base, [new])
            start = time.perf_counter()
            page = write_comparison(base, [new], found, Path(folder) / "page.html")
            made = time.perf_counter() - start
            megabytes = page.stat().st_size / 1e6
            rounds = [opened(browser, page) for _ in range(ROUNDS)]
            opening = statistics.median(took for took, _, _ in rounds)
            steps = {n: statistics.median(s[n] for _, s, _ in rounds) for n in rounds[0][1]}
            left = sum(asked for *_, asked in rounds)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{size:,} cases: {megabytes:.2f} MB, written in {made:.1f} s (at most "
                  f"{peak:.0f} MB of memory, runs included), opens in {opening:.2f} s, "
                  f"{left} requests")  # fmt: skip
            print("  " + ", ".join(f"{name} {took:.3f} s" for name, took in steps.items()))
            worst = max(steps.values())
            held = megabytes < BARS["size"] and opening < BARS["open"] and worst < BARS["filter"]
            print(f"  {'within' if held else 'OVER'} the bars: {BARS}")
        browser.close()


if __name__ == "__main__":
    main()
