"""The page of a run in headless Chromium: its size, and how long it takes to open and to filter.

Runs of 1, 500 and 5,000 cases, judged by two rubrics of five criteria each with reasons and
quotes, over answers of about 200 words, three passages of context and a shared system prompt;
every request and reply is on the tape of the run. Medians of five; times are those a person
waits, by the browser's own clock: from the start of the navigation until the list of cases stands
(and until every text is there), and from a key press or click until the page is painted.

    python benchmarks/page.py [cases ...]
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgekit.cassette.record import Record
from judgekit.cassette.tape import merge_into
from judgekit.core.case import Case
from judgekit.core.judgment import Judgment, Quote
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try, Usage
from judgekit.core.score import Part, Row, Score
from judgekit.pages.run.page import write_page
from judgekit.report.folder import TAPE, Scored
from judgekit.report.report import Figures, Report
from judgekit.report.summary import Tally

SIZES = (1, 500, 5_000)
ROUNDS = 5
BARS = {"size": 10.0, "open": 1.0, "filter": 1.0}
"""Megabytes; seconds."""
METRICS = ("helpful", "faithful")
CRITERIA = ("intent", "complete", "clear", "short", "kind")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu"]

SYLLABLES = (
    "ba", "co", "di", "fe", "gu", "la", "me", "ni", "or", "pa", "qui", "re", "so", "ta", "un",
    "va", "wi", "xe", "yo", "za", "chi", "tra", "ble", "stu",
)  # fmt: skip


class Writer:
    """Writes text that packs about as well as prose: words of a vocabulary, some of them often."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        self._words = [
            "".join(self._random.choices(SYLLABLES, k=self._random.randint(1, 3)))
            for _ in range(6_000)
        ]
        self._weights = [1 / (place + 3) for place in range(len(self._words))]

    def words(self, count: int) -> str:
        """Return a text of so many words."""
        chosen = self._random.choices(self._words, self._weights, k=count)
        return " ".join(chosen).capitalize() + "."

    def share(self) -> float:
        """Return a number on 0..1, mostly high, as judges give them."""
        return round(self._random.betavariate(5, 2), 2)

    def pick(self, options: list[str]) -> str:
        """Return one of several texts."""
        return self._random.choice(options)


FORM = Form(
    questions=tuple(
        Question(id=name, kind="score", text=f"Is the answer {name}?", quotes=True)
        for name in CRITERIA
    )
)


def scored(writer: Writer, count: int, tape: dict[str, Record]) -> Iterator[Scored]:
    """Yield cases with their results, and put what was asked on a tape."""
    system = writer.words(120)
    told = writer.words(300)
    passages = [writer.words(110) for _ in range(400)]
    for number in range(count):
        output = writer.words(200)
        case = Case(
            id=f"case-{number:05}",
            input=writer.words(40),
            output=output,
            system=system,
            context=tuple(writer.pick(passages) for _ in range(3)),
            metadata={"topic": f"topic {number % 9}", "language": ("en", "de")[number % 2],
                      "user": f"u{number}"},
        )  # fmt: skip
        rows = []
        for metric in METRICS:
            answers = {
                name: {"reason": writer.words(22), "quotes": [" ".join(output.split()[9:17])],
                       "value": writer.share()}
                for name in CRITERIA
            }  # fmt: skip
            request = Request(
                messages=(ChatMessage(role="system", content=f"{metric}. {told}"),
                          ChatMessage(role="user", content=f"{case.input}\n\n{output}")),
                form=FORM, model="bench/judge",
            )  # fmt: skip
            reply = Reply(
                tries=(Try(text=json.dumps(answers), finish="stop"),),
                usage=Usage(input_tokens=900, output_tokens=300), cost=0.0004,
            )  # fmt: skip
            tape[request.key] = Record(request.key, request, reply)
            parts = tuple(
                Part(id=name, value=said["value"], weight=0.2, answer=said["value"],
                     reason=said["reason"],
                     quotes=(Quote(text=said["quotes"][0], field="output"),))
                for name, said in answers.items()
            )  # fmt: skip
            score = Score(
                value=round(statistics.fmean(part.value or 0.0 for part in parts), 3),
                parts=parts, source="judge", method="bench/judge by bench@1",
                judgments=(Judgment(request_key=request.key),),
                meta={"rubric": metric, "version": 1, "digest": "0" * 16, "model": "bench/judge"},
            )  # fmt: skip
            rows.append(Row(case=case.id, metric=metric, result=score))
        yield Scored(case, tuple(rows))


def make_run(count: int, folder: Path) -> Report:
    """Return a run of so many cases, with its tape in a folder."""
    tape: dict[str, Record] = {}
    results = list(scored(Writer(), count, tape))
    merge_into(folder / TAPE, tape, tape.__getitem__)
    tallies = {
        name: Tally(name, range=(0.0, 1.0), higher_is_better=True, threshold=0.6)
        for name in METRICS
    }
    for one in results:
        for row in one.rows:
            tallies[row.metric].add(row.case, row.result)
    figures = Figures(
        manifest={"judgekit": "bench", "suite": {"name": f"{count:,} cases"}},
        cases=count,
        dataset="0" * 64,
        metrics=tuple(tally.finish() for tally in tallies.values()),
    )
    return Report(figures, results=results, folder=folder)


_WATCH = """new MutationObserver(() => {
    const { ready, whole } = document.documentElement.dataset;
    if (ready) window.stood ??= performance.now() / 1000;
    if (whole) window.whole ??= performance.now() / 1000;
}).observe(document, { subtree: true, attributeFilter: ["data-ready", "data-whole"] });"""
_FILTER = """async (what) => {
    const painted = () => new Promise((done) =>
        requestAnimationFrame(() => { const port = new MessageChannel();
                                      port.port1.onmessage = done; port.port2.postMessage(0); }));
    await painted();
    const start = performance.now();
    if (what.text !== undefined) {
        const search = document.getElementById("search");
        search.value = what.text;
        search.dispatchEvent(new Event("input"));
    } else {
        document.querySelector(what.click)?.click();
    }
    await painted();
    return (performance.now() - start) / 1000;
}"""
_STEPS: dict[str, dict[str, str]] = {
    "first search": {"text": "quista"},
    "search": {"text": "topic 4 ba"},
    "search for all": {"text": ""},
    "facet": {"click": '[data-facet="topic"] input'},
    "status": {"click": '[data-status="below"]'},
    "sort": {"click": '[data-column="metric.helpful"]'},
    "open a case": {"click": ".list tbody tr"},
}


def opened(browser: Any, page: Path) -> tuple[float, float, dict[str, float], int]:
    """Return seconds until the page stands and until its texts are there, those of every step,
    and how many requests left it.
    """
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.add_init_script(_WATCH)
    tab.goto(f"file://{page}", wait_until="commit")
    tab.wait_for_selector("html[data-whole]", state="attached", timeout=60_000)
    took, whole = tab.evaluate("[window.stood, window.whole]")
    steps = {name: tab.evaluate(_FILTER, step) for name, step in _STEPS.items()}
    tab.close()
    return took, whole, steps, sum(not url.startswith("file://") for url in asked)


def main() -> None:
    """Print a row for every size."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    sizes = [int(text) for text in sys.argv[1:]] or list(SIZES)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        opened(browser, write_page(make_run(1, Path(folder)), Path(folder) / "warm.html"))
        for size in sizes:
            report = make_run(size, Path(folder))
            start = time.perf_counter()
            page = write_page(report, Path(folder) / "page.html")
            made = time.perf_counter() - start
            megabytes = page.stat().st_size / 1e6
            rounds = [opened(browser, page) for _ in range(ROUNDS)]
            opening = statistics.median(took for took, *_ in rounds)
            whole = statistics.median(took for _, took, *_ in rounds)
            steps = {n: statistics.median(s[n] for _, _, s, _ in rounds) for n in _STEPS}
            left = sum(asked for *_, asked in rounds)
            print(f"{size:,} cases: {megabytes:.2f} MB, written in {made:.1f} s, opens in "
                  f"{opening:.2f} s (all texts in {whole:.2f} s), {left} requests")  # fmt: skip
            print("  " + ", ".join(f"{name} {took:.3f} s" for name, took in steps.items()))
            worst = max(steps.values())
            held = megabytes < BARS["size"] and opening < BARS["open"] and worst < BARS["filter"]
            print(f"  {'within' if held else 'OVER'} the bars: {BARS}")
        browser.close()


if __name__ == "__main__":
    main()
