"""Names, numbers and sentences of strangers, in every place of the page where a text may stand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.core.case import Case
from judgekit.core.judgment import Quote
from judgekit.core.score import Fallback, Part, Score
from judgekit.pages.run.page import write_page
from judgekit.report.export.target import named
from judgekit.report.folder import AGREEMENT
from judgekit.report.report import Report
from tests.browsing import KINDS, skip_without_a_browser, unfold, until

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

skip_without_a_browser("the page, given hostile texts,")

pytestmark = pytest.mark.loopback

ALIVE = ":is(img, iframe, object, embed, base, form, math, svg [onload], [onerror], [onclick])"


def hostile_names(runs: SimpleNamespace, folder: Path) -> Report:
    """A run in which whatever has a name is called something that would do harm."""
    texts = list(KINDS.values())
    parts = tuple(
        Part(id=text, value=0.5, weight=0.1, answer=text, reason=text,
             quotes=(Quote(text=text, field=text[:9]),))
        for text in texts
    )  # fmt: skip
    meta = {"rubric": KINDS["image"], "version": KINDS["svg"], "digest": KINDS["script"],
            "model": KINDS["closing script"]}  # fmt: skip
    rows = []
    for number, text in enumerate(texts):
        results: dict[str, Any] = {
            metric: Score(value=0.25, fallback=Fallback(substitute=text, cause=text), scale=10.0)
            for metric in texts[::3]
        }
        # One metric with all the parts, or the page has twenty thousand elements.
        own = parts[number : number + 1] if number else parts
        results[text] = runs.judged(0.5, parts=own, meta=meta, method=text, reason=text)
        case = Case(id=f"{number} {text}", output=text, metadata={text[:50]: texts[number % 2]})
        rows.append((case, results))
    rubric = {
        "name": KINDS["image"], "version": KINDS["svg"], "digest": KINDS["script"],
        "description": KINDS["document"], "combine": KINDS["closing script"],
        "metrics": texts, "default_mode": KINDS["prototype"],
        "modes": {text: {text: 0.5} for text in texts},
        "criteria": [{"id": text, "kind": "choice", "text": text, "labels": [text], "weight": 0.1,
                      "levels": [{"label": text, "value": 1, "text": text}]} for text in texts],
    }  # fmt: skip
    report = runs.report_of(
        rows,
        thresholds=dict.fromkeys(texts[::2], 0.4),
        gates={text: {"mean": 0.4} for text in texts},
        manifest={
            "judgekit": KINDS["image"],
            "suite": {"name": KINDS["document"], "description": KINDS["svg"]},
            "notice": KINDS["script"],
            "rubrics": [rubric],
            "judges": {text: {"model": KINDS["image"], "params": {text: text}, "mode": text}
                       for text in texts},
            "gates_not_checked": texts,
        },
        run={"origins": {"live": 1}, "record": KINDS["image"], "started": KINDS["svg"],
             "mixed": dict.fromkeys(texts, texts), "spent": KINDS["script"],
             "judges": {text: {"mode": text, "mode_from": text, "server": text,
                               "dropped_params": {text: text}} for text in texts}},
        incomplete=tuple(texts),
        folder=folder,
    )  # fmt: skip
    (folder / AGREEMENT).write_text(json.dumps({"judgekit": KINDS["image"]}))
    return report


def test_names_are_inert_wherever_they_stand(
    tab: Tab, run_first: Callable[[str], None], runs: SimpleNamespace, tmp_path: Path
) -> None:
    run_first("window.pwned = () => { window.hurt = true; }")
    page = write_page(hostile_names(runs, tmp_path), tmp_path / "page.html")
    tab.goto(f"file://{page}")
    tab.wait_for_selector("html[data-whole]")
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")

    banner = tab.locator(".verdict").inner_text()
    text = tab.locator("#page").inner_text()
    for kind, hostile in KINDS.items():
        said = " ".join(named(hostile).split())
        assert f"{said}: mean 0.500" in " ".join(banner.split()), kind
        assert " ".join(text.split()).count(said[:60]) > 9, kind
    assert tab.title().startswith(KINDS["document"])
    assert tab.locator(f"body {ALIVE}").count() == 0
    assert tab.locator("script").count() == 1

    tab.click(".show-all")
    for number, count in ((0, len(KINDS)), (3, 1), (6, 1)):
        tab.locator(".list tbody th", has_text=re.compile(rf"^\s*{number} ")).click()
        drawer = tab.locator("#drawer")
        assert drawer.locator(".parts > li").count() >= count
        unfold(tab, "#drawer")
        until(tab, "!document.getElementById('drawer').hidden")
        assert drawer.locator(ALIVE).count() == 0
        tab.keyboard.press("Escape")
    for facet in tab.locator("details.facet").all()[:3]:
        facet.evaluate("d => d.open = true")
        facet.locator("input").first.check()
        facet.locator(".clear").click()
    for link in tab.locator(".slices a").all()[:3]:
        link.click()
    for column in tab.locator("th button").all()[:3]:
        column.click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1400
    tab.emulate_media(media="print")
    assert tab.evaluate("window.hurt") is None
    assert tab.evaluate("Object.keys(Object.prototype).length") == 0


@pytest.mark.thorough
def test_a_text_of_a_hundred_thousand_lines_opens(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    output = "\n".join(f"line {n} <b>" for n in range(100_000))
    quote = Quote(text="line 99999", field="output")
    part = Part(id="p", value=1.0, weight=1.0, quotes=(quote,))
    rows = [(Case(id="long", output=output), {"m": runs.judged(1.0, parts=(part,))}),
            (Case(id="wide", output="w" * 1_000_000), {"m": runs.judged(1.0)})]  # fmt: skip
    page = write_page(runs.report_of(rows), tmp_path / "page.html")
    tab.goto(f"file://{page}#case=long")

    tab.wait_for_selector("html[data-whole]")

    assert tab.locator("mark").inner_text().startswith("line 99999")
    tab.keyboard.press("j")
    assert tab.locator("#drawer-title").inner_text() == "wide"
    assert tab.locator(".text.endless").count() == 1  # laid out in a moment, not in 15 s
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1400
    tab.keyboard.press("Escape")
    tab.fill("#search", "line 77777")
    assert tab.locator(".list tbody th").all_inner_texts() == ["long"]


def test_details_of_any_name_are_named(tab: Tab, runs: SimpleNamespace, tmp_path: Path) -> None:
    details = json.loads('{"__proto__": "first", "constructor": {"x": ["' + "y" * 90 + '"]}}')
    rows = [(Case(id="a"), {"m": runs.judged(1.0, details=details)})]
    page = write_page(runs.report_of(rows), tmp_path / "page.html")
    tab.goto(f"file://{page}#case=a")
    tab.wait_for_selector("html[data-whole]")

    tab.locator("summary", has_text="Details").click()

    tab.locator("#drawer pre", has_text="constructor").wait_for()
    assert "first" in tab.locator("#drawer details .details").first.inner_text()


def test_half_characters_make_a_page(tab: Tab, runs: SimpleNamespace, tmp_path: Path) -> None:
    case = Case.model_construct(
        **{**Case(id="half").model_dump(), "output": "a\ud800b", "metadata": {"k\udfff": "v\ud800"}}
    )
    report = runs.report_of([(case, {"m": runs.judged(1.0, reason="r\udc00")})])
    tab.goto(f"file://{write_page(report, tmp_path / 'page.html')}#case=half")

    tab.wait_for_selector("html[data-whole]")

    assert tab.locator(".turn.output .text").inner_text() == "a?b"
