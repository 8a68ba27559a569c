"""`judgekit view` in a real browser: list, open, compare, follow a run while it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.pages.run import payload
from judgekit.pages.run.kept import BOUNDS
from judgekit.view import pages
from judgekit.view.pages import Pages
from tests.browsing import KINDS, skip_without_a_browser
from tests.layout import check_layout

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

    from judgekit.view.server import Viewer

skip_without_a_browser("judgekit view")

pytestmark = pytest.mark.loopback

Make = Callable[..., Path]


@pytest.fixture
def own_site(viewer: Viewer) -> str:
    return viewer.address


def ready(tab: Tab) -> None:
    tab.wait_for_selector("html[data-ready]", timeout=60_000)


def ids(tab: Tab) -> list[str]:
    return tab.locator("table.runs-list tbody th bdi").all_inner_texts()


def test_runs_are_listed_searched_and_sorted(tab: Tab, viewer: Viewer, make: Make) -> None:
    suite = {"manifest": {"suite": {"name": "shop"}}}
    for n in range(3):
        folder = make(f"of shop {n}", [0.2 + n / 10], gates={"worth": {"mean": 0.3}}, **suite)
        for file in folder.iterdir():
            os.utime(file, (n, n))
    make("one", [0.9], notes="x")
    make("two", [0.2, 0.3])
    tab.goto(viewer.address)
    ready(tab)

    # One line over the runs of a suite, with its newest run; other runs have none.
    assert tab.locator(".trend").count() == 1
    trend = tab.locator("tr", has_text="of shop 2").locator(".trend")
    assert trend.get_attribute("aria-label") == "worth over the last 3 runs of shop"
    heights = [float(p.split(",")[1])
               for p in trend.locator("polyline").get_attribute("points").split()]  # fmt: skip
    assert heights == sorted(heights, reverse=True)
    options = tab.locator("select option").all_inner_texts()
    assert options == ["All verdicts (5)", "Pass (2)", "Gate missed (1)", "Complete (2)"]
    tab.select_option("select", "missed")
    assert ids(tab) == ["of shop 0"]
    assert "verdict=missed" in tab.evaluate("location.hash")
    tab.select_option("select", "complete")
    assert sorted(ids(tab)) == ["one", "two"]
    row = tab.locator("table.runs-list tbody tr", has_text="two").inner_text()
    for said in ("just now", "Complete", "worth", "0.250", "fake/judge"):
        assert said in row
    tab.click('[data-column="cases"]')
    assert ids(tab) == ["two", "one"]
    tab.click('[data-column="id"]')
    assert ids(tab) == ["one", "two"]
    tab.fill("input[type=search]", "tw")
    assert ids(tab) == ["two"]
    assert "q=tw" in tab.evaluate("location.hash")
    tab.fill("input[type=search]", "nothing of the kind")
    assert tab.locator(".empty").inner_text() == "No run matches."


def test_a_new_run_appears_by_itself(tab: Tab, viewer: Viewer, make: Make) -> None:
    tab.goto(viewer.address)
    ready(tab)
    assert "No run yet" in tab.locator(".empty").inner_text()

    make("fresh", [0.9])

    tab.locator("table.runs-list bdi", has_text="fresh").wait_for(timeout=60_000)


def test_a_run_is_opened_and_its_case_explained(tab: Tab, viewer: Viewer, make: Make) -> None:
    make("main", [0.9, 0.2])
    tab.goto(viewer.address)
    tab.click("text=main")
    ready(tab)

    assert "run=main" in tab.url
    tab.click(".list >> text=case-0001")
    assert "It says 0.2." in tab.locator("#drawer").inner_text()
    tab.keyboard.press("Escape")
    tab.click("text=All runs")
    ready(tab)
    assert ids(tab) == ["main"]


def test_two_ticked_runs_are_compared(tab: Tab, viewer: Viewer, make: Make) -> None:
    make("main", [0.9, 0.8, 0.7])
    make("pr", [0.9, 0.2, 0.6])
    tab.goto(viewer.address)
    ready(tab)
    assert tab.locator(".compare-bar a.go").count() == 0
    tab.check('[data-pick="main"]')
    tab.check('[data-pick="pr"]')
    assert tab.locator(".compare-bar p").inner_text() == "Base: main, compared with it: pr"

    tab.reload()
    ready(tab)
    tab.click("text=Swap")
    assert tab.locator(".compare-bar p").inner_text() == "Base: pr, compared with it: main"
    tab.click("text=Swap")
    tab.click(".compare-bar a.go")
    ready(tab)

    assert tab.locator("h1").inner_text() == "pr against main"
    tab.click(".list tbody tr >> nth=0")
    assert tab.locator("#drawer-title").inner_text() == "case-0001"
    assert "0.80 → 0.20" in tab.locator("#drawer").inner_text()
    tab.locator("#drawer .legend a", has_text="pr").click()
    ready(tab)
    assert tab.locator("#drawer-title").inner_text() == "case-0001"
    assert "It says 0.2." in tab.locator("#drawer").inner_text()


def test_what_a_large_page_leaves_out_is_fetched(
    tab: Tab, viewer: Viewer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload, "ALL", 2)
    monkeypatch.setattr(payload, "KEPT", 1)
    make("main", [0.9, 0.8, 0.1])
    tab.goto(f"{viewer.address}run?run=main#case=case-0000")
    ready(tab)
    drawer = tab.locator("#drawer")
    assert "Judge this" not in drawer.inner_text()

    drawer.locator("summary", has_text="Technical data").click()
    drawer.locator("button", has_text="Show the rendered prompt").click()
    drawer.locator("summary", has_text="Rendered prompt").click()
    drawer.locator("pre", has_text="Judge this: 0.9").wait_for()


def test_a_tape_that_is_damaged_by_now_is_said_where_it_was_wanted(
    unwatched_tab: Tab, viewer: Viewer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload, "ALL", 2)
    monkeypatch.setattr(payload, "KEPT", 1)
    folder = make("main", [0.9, 0.8, 0.1])
    page = unwatched_tab
    page.goto(f"{viewer.address}run?run=main#case=case-0000")
    ready(page)
    (folder / "tape.jsonl").write_text("no tape\n")

    page.locator("summary", has_text="Technical data").click()
    page.locator("button", has_text="Show the rendered prompt").click()

    page.locator(".trouble", has_text="not a cassette").wait_for()
    assert page.locator("button", has_text="Show the rendered prompt").is_enabled()


@pytest.mark.thorough
def test_a_page_says_that_its_run_was_written_anew(tab: Tab, viewer: Viewer, make: Make) -> None:
    make("main", [0.9])
    tab.goto(f"{viewer.address}run?run=main")
    ready(tab)
    assert tab.locator("#changed").is_hidden()

    make("main", [0.1])

    tab.locator("#changed").wait_for(timeout=60_000)
    tab.click("#again")
    tab.wait_for_selector("html[data-ready]")
    assert "0.10" in tab.locator(".list tbody").inner_text()


SUITE = """
name: Slow
cases: '-'
metrics:
  length: {maximum: 50, unit: words, threshold: 0.5}
"""


def test_a_run_is_followed_while_it_writes(
    tab: Tab, viewer: Viewer, root: Path, tmp_path: Path
) -> None:
    """A real run, fed case by case; nobody reloads anything."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    tab.goto(viewer.address)
    ready(tab)
    run = subprocess.Popen(
        [sys.executable, "-m", "judgekit", "run", "suite.yaml", "--out", str(root / "now"), "-q"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip

    def feed(*names: str) -> None:
        for name in names:
            run.stdin.write(json.dumps({"id": name, "input": "Q", "output": "word " * 60}) + "\n")
        run.stdin.flush()

    try:
        feed("a", "b")
        tab.locator("table.runs-list tr", has_text="Running").wait_for(timeout=60_000)
        tab.click("text=now")
        ready(tab)
        assert tab.locator("#word").inner_text() == "Running"
        for name in ("c", "d", "e"):
            tab.wait_for_timeout(600)  # rows are handed over twice a second
            feed(name)
        tab.locator("#latest th", has_text="c").first.wait_for(timeout=60_000)
        assert "length" in tab.locator("#metrics").inner_text()
        run.stdin.close()
        tab.locator("h1", has_text="Slow").wait_for(timeout=60_000)  # its page, by itself
        ready(tab)
        assert tab.locator(".count").inner_text() == "5 cases"
        assert run.wait(timeout=120) == 0, run.stdout.read()
    finally:
        run.kill()
        run.stdout.close()


def test_damaged_folders_are_lines_of_the_list(tab: Tab, viewer: Viewer, make: Make) -> None:
    make("good", [0.9])
    (make("bad", [0.9]) / "report.json").write_text("{")
    tab.goto(viewer.address)
    ready(tab)

    row = tab.locator("table.runs-list tr", has_text="bad")
    assert "Damaged" in row.inner_text()
    assert row.locator("a").count() == 0
    assert row.locator("input").is_disabled()


def test_hostile_names_are_inert(
    tab: Tab, run_first: Callable[[str], None], viewer: Viewer, make: Make, root: Path
) -> None:
    for n, (kind, text) in enumerate(KINDS.items()):
        name = f"{n:02} {text[:60]}".replace("/", "⁄").replace("\x00", "")
        folder = make(name, [0.9], manifest={"suite": {"name": text}})
        data = json.loads((folder / "report.json").read_text())
        data["metrics"][0]["metric"] = text
        (folder / "report.json").write_text(json.dumps(data))
        if kind == "image":
            (folder / "report.json").unlink()
    (root / "damaged").mkdir()
    (root / "damaged" / "results.jsonl").write_text('{"judgekit":"results","version":"<b>"}\n')
    run_first("window.pwned = () => { window.hurt = true; }")
    tab.goto(viewer.address)
    ready(tab)

    assert len(ids(tab)) == len(KINDS) + 1
    for link in tab.locator("table.runs-list a").all():
        assert link.get_attribute("href").startswith("/run?run=")
    tab.goto(f"{viewer.address}run?run=03+%3Cimg+src%3Dx+onerror%3Dpwned()%3E")
    ready(tab)
    assert tab.locator("h1").inner_text() == "03 <img src=x onerror=pwned()>"
    assert tab.evaluate("window.hurt") is None
    assert tab.locator("img, iframe, object, form, base, b script").count() == 0


def test_the_list_fits_and_reads_well(tab: Tab, viewer: Viewer, make: Make) -> None:
    make("a/rather/long/name-of-a-run-that-somebody-made", [0.9, 0.1])
    make("b", [0.9, 0.1])
    tab.goto(f"{viewer.address}#run=b")
    ready(tab)

    check_layout(tab, order=("h1", "input[type=search]", ".compare-bar", "table"))


def test_a_foreign_page_reads_nothing(unwatched_tab: Tab, viewer: Viewer, make: Make) -> None:
    """What a page of another origin can do: its requests are refused, and it learns nothing."""
    make("main", [0.9])
    page = unwatched_tab
    page.goto("data:text/html,<title>elsewhere</title>")

    learnt = page.evaluate(
        """async (address) => {
            const tried = [];
            for (const mode of ["cors", "no-cors"]) {
                try {
                    const reply = await fetch(address + "api/runs", { mode });
                    tried.push([mode, reply.status, (await reply.text()).length]);
                } catch {
                    tried.push([mode, "refused"]);
                }
            }
            const frame = document.createElement("iframe");
            frame.src = address;
            document.body.append(frame);
            await new Promise((done) => (frame.onload = done));
            tried.push(["frame", frame.contentDocument === null]);
            return tried;
        }""",
        viewer.address,
    )

    assert learnt[0] == ["cors", "refused"]
    assert learnt[1][1:] in (["refused"], [0, 0])
    assert learnt[2] == ["frame", True]


def test_cases_that_a_page_does_not_keep_are_shown_in_windows(
    tab: Tab, viewer: Viewer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer.pages = Pages(bounds=BOUNDS._replace(cases=4))
    monkeypatch.setattr(pages, "WINDOW", 5)
    make("main", [n / 20 for n in range(20)])
    tab.goto(viewer.address + "run?run=main")
    ready(tab)
    listed = tab.locator(".list tbody th bdi")
    count = tab.locator("#browser .count")
    said = tab.locator(".windows .count")
    assert count.inner_text() == "the 4 kept cases of 20"
    kept = listed.all_inner_texts()

    tab.click(".windows >> text=Show")
    said.get_by_text("1 to 5 of 20").wait_for()
    assert listed.all_inner_texts() == [f"case-{n:04}" for n in range(5)]
    tab.click(".windows >> text=Next")
    said.get_by_text("6 to 10 of 20").wait_for()
    tab.click(".list >> text=case-0007")
    assert "It says 0.35." in tab.locator("#drawer").inner_text()
    tab.keyboard.press("Escape")
    tab.select_option(".windows select >> nth=0", "passes")
    said.get_by_text("1 to 5 of 10").wait_for()
    assert count.inner_text() == "5 cases"
    # A label of a case that is not kept is still there when the list has other cases.
    tab.keyboard.press("l")
    question = tab.locator("#labelling .question").first
    question.locator("textarea").first.fill("says little")
    question.locator('input[type="number"]').fill("0.5")
    assert tab.locator(".kept").inner_text().startswith("1 label ")
    tab.click('#labelling button[aria-label^="Close"]')
    tab.click(".windows >> text=Back to the kept cases")
    assert listed.all_inner_texts() == kept
    tab.click("text=Label these cases")
    assert tab.locator(".kept").inner_text().startswith("1 label ")
    tab.reload()
    tab.locator(".kept", has_text="1 label ").wait_for()
    # A link to a case that is not kept opens it.
    other = next(f"case-{n:04}" for n in range(20) if f"case-{n:04}" not in kept)
    tab.goto(viewer.address + f"run?run=main#case={other}")
    tab.locator("#drawer-title", has_text=other).wait_for()
