"""The page of a comparison in a real browser: it filters, opens cases, shows what changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgekit import Criterion, FakeJudge, create_metric
from judgekit.analysis.comparison.compare import compare_all
from judgekit.analysis.comparison.differences import ComparisonSettings
from judgekit.core.case import Case, Message
from judgekit.core.score import Part, Score
from judgekit.pages.comparison.page import write_comparison
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync
from tests.analysis.comparison.marked import Marked
from tests.browsing import KINDS, skip_without_a_browser, unfold

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

skip_without_a_browser("the page of a comparison")

pytestmark = pytest.mark.loopback

BASE = {f"c{n:02}": {"facts": 0.9, "tone": 0.8} for n in range(8)}
NEW = {
    **BASE,
    "c01": {"facts": 0.2, "tone": 0.8},
    "c02": {"facts": 0.8, "tone": 0.8},
    "c03": {"facts": 1.0, "tone": 0.9},
    "c04": None,
}


def show(tab: Tab, path: Path, *runs: Path, fragment: str = "", across: bool = False) -> None:
    settings = ComparisonSettings(across_rubrics=across)
    found = compare_all(runs[0], list(runs[1:]), settings)
    reports = [Report.read(run) for run in runs]
    tab.goto(f"file://{write_comparison(reports[0], reports[1:], found, path)}{fragment}")
    tab.wait_for_selector("html[data-ready]", timeout=60_000)


def ids(tab: Tab) -> list[str]:
    return tab.locator("table.list tbody th").all_inner_texts()


@pytest.fixture
def pair(run: Any) -> tuple[Path, Path]:
    options = {"thresholds": {"worth": 0.6}, "metadata": lambda id: {"half": id < "c04"}}
    return run("main", BASE, **options), run("pr", {**NEW, "come": 0.5}, **options)


def test_regressions_come_first_and_filters_stay_in_the_address(
    tab: Tab, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    show(tab, tmp_path / "page.html", *pair)

    assert ids(tab) == ["c01", "c02", "c04", "c03", "c00", "c05", "c06", "c07", "come"]
    first = tab.locator(".list tbody tr").first.locator("td.num")
    assert first.text_content() == "▼−0.350.85 →  then 0.50✗ fails now"
    for status, expected in {
        "worse": ["c01", "c02"],
        "better": ["c03"],
        "flipped": ["c01"],
        "unscored": ["c04"],
        "same": ["c00", "c05", "c06", "c07"],
        "one": ["come"],
    }.items():
        tab.click(f'[data-status="{status}"]')
        assert ids(tab) == expected
        assert f"status={status}" in tab.evaluate("location.hash")
    tab.click('[data-status="all"]')
    tab.fill("#search", "facts is 0.2")
    assert ids(tab) == ["c01"]
    tab.fill("#search", "")
    tab.click('[data-column="metric.worth"]')  # worst first, and what has no pair last
    assert ids(tab)[:2] == ["c01", "c02"]
    tab.click('[data-column="metric.worth"]')
    assert ids(tab)[0] == "c03"


def test_both_sides_of_a_case_open(tab: Tab, pair: tuple[Path, Path], tmp_path: Path) -> None:
    show(tab, tmp_path / "page.html", *pair, fragment="#case=c01")

    drawer = tab.locator("#drawer")
    assert drawer.locator("del").text_content() == "[taken out: 9]"
    assert drawer.locator("ins").text_content() == "[put in: 2]"
    sides = drawer.locator(".answers .text")
    assert sides.nth(0).text_content() == '{"facts": 0.[taken out: 9], "tone": 0.8}'
    assert sides.nth(1).text_content() == '{"facts": 0.[put in: 2], "tone": 0.8}'
    assert "worth 0.85" in drawer.inner_text()
    assert "worth 0.5" in drawer.inner_text()
    row = drawer.locator("table.said tbody tr").first.inner_text()
    assert row.split("\t") == ["facts", "0.90", "facts is 0.9", "0.20", "facts is 0.2"]
    drawer.locator("button", has_text="In one text").click()
    together = '{"facts": 0.[taken out: 9][put in: 2], "tone": 0.8}'
    assert drawer.locator(".answers .text").text_content() == together
    tab.keyboard.press("j")
    assert tab.locator("#drawer-title").inner_text() == "c02"
    assert drawer.locator(".answers .text").count() == 1  # the choice stays
    tab.keyboard.press("Escape")
    assert drawer.is_hidden()


def test_one_rule_of_worse_and_the_steps_of_both_runs(tab: Tab, run: Any, tmp_path: Path) -> None:
    steps = [{"role": "assistant", "content": "Look <b>it</b> up.",
              "tool_calls": [{"name": "find_order", "arguments": {"id": 7}}]}]  # fmt: skip
    # What is better by one metric is worse by the other: the case is one that got worse.
    metrics = [Marked(), Marked("bad", higher=False)]
    folders = [
        run(name, {"c0": value, "c1": 0.5}, metrics=metrics,
            given={"c0": {"steps": steps if name == "main" else []}})
        for name, value in (("main", 0.2), ("pr", 0.9))
    ]  # fmt: skip
    show(tab, tmp_path / "page.html", *folders, fragment="#case=c0")

    drawer = tab.locator("#drawer")
    drawer.locator("summary", has_text="Steps before the answer (1 and 0)").click()
    drawer.locator(".call", has_text="find_order").wait_for()
    assert "Look <b>it</b> up." in drawer.inner_text()
    assert "No steps." in drawer.inner_text()
    tab.keyboard.press("Escape")
    assert "1 of 2 cases got worse, 0 better" in tab.locator(".verdict").inner_text()
    statuses = tab.locator(".statuses").first.inner_text()
    assert "Regressed 1" in statuses
    assert "Improved" not in statuses


def test_what_one_run_lacks_is_said(tab: Tab, pair: tuple[Path, Path], tmp_path: Path) -> None:
    show(tab, tmp_path / "page.html", *pair, fragment="#case=come")

    drawer = tab.locator("#drawer")
    assert "This case is only in pr." in drawer.inner_text()
    assert "Not in this run." in drawer.inner_text()
    tab.goto("about:blank")
    show(tab, tmp_path / "page.html", *pair, fragment="#case=c04")
    assert "0.85 → abstained" in drawer.inner_text()
    assert "no idea" in drawer.inner_text()


def test_any_of_several_runs_is_held_against_the_base(tab: Tab, run: Any, tmp_path: Path) -> None:
    other = {**BASE, "c06": {"facts": 0.1, "tone": 0.8}}
    runs = run("main", BASE), run("pr-1", NEW), run("pr-2", other)
    show(tab, tmp_path / "page.html", *runs)

    assert ids(tab)[0] == "c01"
    tab.select_option("#against", label="pr-2")
    assert ids(tab)[0] == "c06"
    assert "run=1" in tab.evaluate("location.hash")
    tab.click('[data-status="worse"]')
    tab.locator(".list tbody tr").first.click()
    assert tab.locator("#drawer .answers").inner_text().count("pr-2") == 1
    address = tab.url
    tab.goto("about:blank")
    tab.goto(address)
    tab.wait_for_selector("html[data-ready]")
    assert tab.locator("#drawer-title").inner_text() == "c06"
    assert tab.locator("#against").input_value() == "1"


class Echoing:
    """A metric whose words are those of the answer, on both sides."""

    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, name: str, value: float) -> None:
        self.name = name
        self.value = value

    async def score(self, case: Case) -> Score:
        text = case.output or ""
        part = Part(id=text[:900] or "x", value=self.value, weight=1.0, reason=text, answer=text)
        return Score(value=self.value, reason=text, parts=(part,))


@pytest.mark.parametrize("compressed", [False, True])
def test_hostile_text_is_inert(
    tab: Tab,
    run_first: Callable[[str], None],
    tmp_path: Path,
    compressed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if compressed:
        monkeypatch.setattr("judgekit.pages.packing.PLAIN", 0)
    runs = []
    for value, name, more in ((0.9, KINDS["image"][:20], ""), (0.1, "b & c", " more")):
        cases = [
            Case(
                id=f"{kind} {text}",
                input=text,
                output=f"{text}{more} {text}",
                system=text,
                history=(Message(role="user", content=text),),
                context=(text,),
                metadata={"kind": text[:50], text: text},
            )
            for kind, text in KINDS.items()
        ]
        metric = Echoing(KINDS["svg"], value)
        manifest = {"note": KINDS["script"] + more, KINDS["image"]: more}
        folder = tmp_path / name.replace("/", "-")
        evaluate_sync(cases, [metric], out=folder, manifest=manifest)
        runs.append(folder)
    tab.set_viewport_size({"width": 700, "height": 400})  # less to paint
    run_first("window.pwned = () => { window.hurt = true; }")
    show(tab, tmp_path / "page.html", *runs)

    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    # Compression changes nothing once the data is read, so a few cases will do.
    titles = set()
    for _ in range(3 if compressed else len(KINDS)):
        titles.add(tab.locator("#drawer-title").inner_text())
        inserted, pressed = tab.evaluate(
            """() => {
                const drawer = document.getElementById("drawer");
                const inserted = drawer.querySelectorAll("ins").length;
                const pressed = [];
                for (const name of ["In one text", "Side by side"]) {
                    const named = (button) => button.textContent === name;
                    [...drawer.querySelectorAll("button")].find(named).click();
                    pressed.push(drawer.querySelector("[aria-pressed=true]").textContent);
                }
                return [inserted, pressed];
            }"""
        )
        unfold(tab, "#drawer")
        assert inserted >= 1
        assert pressed == ["In one text", "Side by side"]
        alive = "img, iframe, script, style, form, base, meta, b"
        assert tab.locator("#drawer").locator(alive).count() == 0
        tab.keyboard.press("j")
    assert len(titles) == (3 if compressed else len(KINDS))

    assert tab.evaluate("window.hurt") is None
    assert tab.locator("script").count() == 1
    assert tab.locator("img, iframe, object, form, base").count() == 0


def test_policy_stops_what_would_get_in(
    unwatched_tab: Tab, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    tab = unwatched_tab
    show(tab, tmp_path / "page.html", *pair)

    stopped = tab.evaluate(
        """async () => {
            const stopped = [];
            addEventListener("securitypolicyviolation", (e) => stopped.push(e.effectiveDirective));
            const script = document.createElement("script");
            script.textContent = "window.hurt = true";
            document.body.append(script);
            await fetch("https://example.invalid/").catch(() => {});
            await new Promise((done) => setTimeout(done, 100));
            return [window.hurt, stopped.sort()];
        }"""
    )

    assert stopped == [None, ["connect-src", "script-src-elem"]]


@pytest.mark.usefixtures("without_script")
def test_everything_but_the_table_reads_without_script(
    tab: Tab, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    base, new = map(Report.read, pair)
    page = write_comparison(base, [new], compare_all(base, [new]), tmp_path / "page.html")
    tab.goto(f"file://{page}")

    text = tab.locator("body").inner_text()

    for said in ("pr against main", "Regressions", "facts is 0.2", "What changed between the runs",
                 "needs JavaScript"):  # fmt: skip
        assert said in text
    assert tab.locator("del").count() > 1


@pytest.mark.thorough
def test_opening_and_filtering_build_as_much_for_2100_cases_as_for_500(
    tab: Tab, run: Any, tmp_path: Path
) -> None:
    text = "The parcel left on Monday and will be with you by Thursday, as we said. " * 8
    built = []
    for count in (500, 2100):  # a page of more than 2,000 cases leaves texts out
        base = {f"case-{n:04}": {"facts": 0.9, "note": 0.5} for n in range(count)}
        new = {id: {"facts": 0.9 - 0.01 * (n % 40), "note": 0.5} for n, id in enumerate(base)}
        inputs = {id: f"Question {n}: {text}" for n, id in enumerate(base)}
        runs = run(f"main-{count}", base, inputs=inputs), run(f"pr-{count}", new, inputs=inputs)
        show(tab, tmp_path / f"{count}.html", *runs)
        built.append(
            tab.evaluate(  # at once: more rows come while a person scrolls
                """() => {
                    const count = () => document.getElementsByTagName("*").length;
                    const opened = count();
                    document.querySelector('[data-status="worse"]').click();
                    return [opened, count()];
                }"""
            )
        )

    assert (tmp_path / "2100.html").stat().st_size < 4_200_000
    assert tab.locator(".count").inner_text() == "2,047 of 2,100 cases"
    assert [more > 1.5 * few for few, more in zip(*built, strict=True)] == [False, False], built


@pytest.mark.thorough
def test_answers_of_a_megabyte_are_shown(tab: Tab, tmp_path: Path) -> None:
    class Long:
        name = "long"
        range = (0.0, 1.0)
        higher_is_better = True

        async def score(self, case: Case) -> Score:
            return Score(value=json.loads((case.output or "")[-3:]))

    words = [f"w{n * 7919 % 4001}{'.' if n % 13 == 0 else ''}" for n in range(180_000)]
    runs = []
    for name, value in (("a", "0.9"), ("b", "0.1")):
        words[90_000] = f"here-{name}"
        case = Case(id="long", output=f"{' '.join(words)} {value}")
        evaluate_sync([case], [Long()], out=tmp_path / name)
        runs.append(tmp_path / name)

    show(tab, tmp_path / "page.html", *runs, fragment="#case=long")

    drawer = tab.locator("#drawer")
    assert drawer.locator("ins").count() == 2
    assert drawer.locator("ins").first.text_content() == "[put in: b ]"
    new = drawer.locator(".answers .text").nth(1).text_content()
    assert len(new) < 10_000
    assert re.search(r"⋯ [0-9]{3},[0-9]{3} characters that are alike ⋯.*here-", new)


def test_criteria_of_a_case_are_compared_by_text(tab: Tab, tmp_path: Path) -> None:
    folders = []
    sets = {"base": ["Names the dose", "Names the day"], "new": ["Names the day", "Is short"]}
    for name, texts in sets.items():

        def answer(request: Any, run: str = name) -> dict[str, Any]:
            day = {"reason": f"{run} says so", "quotes": [], "value": run == "base"}
            return {q.id: {**day, "value": day["value"] or "day" not in q.text}
                    for q in request.form.questions}  # fmt: skip

        case = Case(id="a", output="O", criteria=[Criterion(text, 1) for text in texts])
        metric = create_metric("points", judge=FakeJudge(answer), calls="all")
        with ThreadPoolExecutor(1) as threads:  # the browser's event loop has this one
            threads.submit(evaluate_sync, [case], [metric], out=tmp_path / name).result()
        folders.append(tmp_path / name)
    show(tab, tmp_path / "page.html", *folders, fragment="#case=a", across=True)

    rows = [
        [cell.inner_text() for cell in row.locator("th, td").all()]
        for row in tab.locator("section.result table.said tbody tr").all()
    ]
    absent = "not a criterion in this run"
    assert rows == [
        ["Names the dose", "1.00", "met · base says so", "–", absent],
        ["Names the day", "1.00", "met · base says so", "0.00", "not met · new says so"],
        ["Is short", "–", absent, "1.00", "met · new says so"],
    ]
