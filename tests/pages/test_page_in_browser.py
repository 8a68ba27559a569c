"""The page in a real browser: it runs, filters, opens cases, and nothing hostile comes alive.

Needs Chromium and Playwright's Python package, neither of which is a dependency; without them
these tests are skipped, and say so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from judgekit import Criterion, FakeJudge, create_metric
from judgekit.core.case import Case, Message
from judgekit.core.judgment import Quote
from judgekit.core.score import Failure, Part, Score
from judgekit.metrics.quote import find_quote
from judgekit.pages.run.page import write_page
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.suite import load_suite
from tests.browsing import KINDS, filled, skip_without_a_browser, unfold, until

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

skip_without_a_browser("the page")

pytestmark = pytest.mark.loopback


def show(tab: Tab, report: Report, path: Path, fragment: str = "") -> None:
    tab.goto(f"file://{write_page(report, path)}{fragment}")
    tab.wait_for_selector("html[data-whole]", timeout=60_000)


def ids(tab: Tab) -> list[str]:
    return tab.locator("table.list tbody th").all_inner_texts()


def test_table_lists_every_case(tab: Tab, rich: Report, tmp_path: Path) -> None:
    show(tab, rich, tmp_path / "page.html")

    # The worst first: below the threshold, without a score, then by how far below the mean.
    worst = ["empty-handed", "rude", "returns-free", "late-parcel", "unclear"]
    assert ids(tab) == worst
    row = tab.locator(".list tbody tr", has_text="late-parcel")
    assert "3.00" in row.inner_text()
    assert "fallback" in row.inner_text()
    assert tab.locator(".list tbody tr").nth(1).locator(".chip.bad").inner_text() == "refused"
    assert tab.locator(".count").inner_text() == "5 cases"
    tab.click(".order")
    assert ids(tab) == ["returns-free", "late-parcel", "rude", "unclear", "empty-handed"]
    assert "sort=input-order" in tab.evaluate("location.hash")
    tab.click(".order")
    assert ids(tab) == worst


def test_filters_narrow_the_table_and_stay_in_the_address(
    tab: Tab, rich: Report, tmp_path: Path
) -> None:
    show(tab, rich, tmp_path / "page.html")

    tab.click('[data-status="failed"]')
    assert ids(tab) == ["rude"]
    assert "status=failed" in tab.evaluate("location.hash")
    tab.click('[data-status="below"]')
    assert ids(tab) == ["empty-handed"]
    tab.click('[data-status="unfound"]')
    assert ids(tab) == ["returns-free"]
    tab.click('[data-status="all"]')
    choose(tab, "language", "de")
    assert ids(tab) == ["late-parcel"]
    assert "meta.language=de" in tab.evaluate("location.hash")
    tab.click(".status-line .clear")
    tab.fill("#search", "Parcel my")
    assert ids(tab) == ["rude"]
    tab.fill("#search", "nothing of the kind")
    assert tab.locator(".empty").is_visible()


def choose(tab: Tab, field: str, *values: str) -> None:
    menu = tab.locator(f'[data-facet="{field}"]')
    if not menu.evaluate("d => d.open"):
        menu.locator("summary").click()
    for value in values:
        menu.locator("label", has_text=value).locator("input").check()
    tab.keyboard.press("Escape")


def counts(tab: Tab, field: str) -> list[str]:
    texts = tab.locator(f'[data-facet="{field}"] label').all_text_contents()
    return [" ".join(text.split()) for text in texts]


def test_facets_count_combine_and_take_several_values(
    tab: Tab, rich: Report, tmp_path: Path
) -> None:
    show(tab, rich, tmp_path / "page.html")

    assert counts(tab, "topic") == ["orders4", "returns1"]
    choose(tab, "language", "de", "en")
    assert len(ids(tab)) == 5
    choose(tab, "topic", "returns")
    assert ids(tab) == ["returns-free"]
    # What each value would leave, all other choices kept.
    assert counts(tab, "topic") == ["orders4", "returns1"]
    assert counts(tab, "language") == ["de0", "en1"]
    assert tab.locator('[data-status="all"] b').inner_text() == "1"
    fragment = tab.evaluate("location.hash")
    assert fragment == "#meta.language=de&meta.language=en&meta.topic=returns"
    tab.locator('[data-facet="topic"] summary').click()
    tab.locator('[data-facet="topic"] .clear').click()
    assert len(ids(tab)) == 5
    tab.keyboard.press("Escape")
    assert tab.locator("details.facet[open]").count() == 0
    assert tab.evaluate("document.activeElement.closest('details').dataset.facet") == "topic"


def test_back_and_forward_walk_through_the_filters(tab: Tab, rich: Report, tmp_path: Path) -> None:
    show(tab, rich, tmp_path / "page.html")
    tab.click('[data-status="failed"]')
    choose(tab, "language", "en")
    tab.click('[data-column="id"]')
    assert tab.locator(".count").inner_text() == "1 of 5 cases"

    tab.go_back()
    until(tab, "location.hash === '#status=failed&meta.language=en'")
    tab.go_back()
    tab.go_back()
    until(tab, "document.querySelectorAll('.list tbody tr').length === 5")
    assert not tab.locator('[data-facet="language"] input').nth(1).is_checked()
    tab.go_forward()
    until(tab, "document.querySelectorAll('.list tbody tr').length === 1")
    assert tab.locator('[data-status="failed"]').get_attribute("aria-pressed") == "true"


def test_cases_without_a_field_can_be_chosen(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    said = [{"topic": "a", "__proto__": "x"}, {"topic": "a"}, {}, {"topic": ""}]
    rows = [(Case(id=f"c{n}", metadata=m), {"m": runs.judged(n / 4)}) for n, m in enumerate(said)]
    show(tab, runs.report_of(rows), tmp_path / "page.html")

    choose(tab, "topic", "(none)", "(empty)")
    assert ids(tab) == ["c2", "c3"]
    assert tab.evaluate("location.hash") == "#meta.topic=&without=topic"
    tab.click(".status-line .clear")
    choose(tab, "__proto__", "x")
    assert ids(tab) == ["c0"]
    tab.reload()
    tab.wait_for_selector("html[data-whole]")
    assert ids(tab) == ["c0"]


def test_slices_lead_to_their_cases(tab: Tab, rich: Report, tmp_path: Path) -> None:
    show(tab, rich, tmp_path / "page.html")

    tab.locator(".slices a", has_text="orders").click()

    until(tab, "document.querySelectorAll('.list tbody tr').length === 4")
    assert tab.locator('[data-facet="topic"] input').first.is_checked()
    assert tab.evaluate("document.querySelector('#cases').getBoundingClientRect().top < 300")


def test_address_restores_the_view(tab: Tab, rich: Report, tmp_path: Path) -> None:
    fragment = "#q=parcel&meta.topic=orders&sort=id&order=down&case=rude"

    show(tab, rich, tmp_path / "page.html", fragment)

    assert ids(tab) == ["rude", "late-parcel"]
    assert tab.locator("#search").input_value() == "parcel"
    assert tab.locator("#drawer-title").inner_text() == "rude"
    assert tab.evaluate("location.hash") == fragment


def test_sorting_puts_missing_values_last(tab: Tab, rich: Report, tmp_path: Path) -> None:
    show(tab, rich, tmp_path / "page.html")
    head = tab.locator('th:has([data-column="metric.helpful"])')

    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert ids(tab) == ["empty-handed", "late-parcel", "returns-free", "rude", "unclear"]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert ids(tab) == ["returns-free", "late-parcel", "empty-handed", "rude", "unclear"]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "none"
    tab.click('[data-column="metric.length"]')  # lower is better: worst first
    assert ids(tab)[0] == "returns-free"


@pytest.mark.usefixtures("forgotten")
def test_columns_are_chosen_and_remembered(tab: Tab, runs: SimpleNamespace, tmp_path: Path) -> None:
    parts = (Part(id="clear", value=0.25, weight=1.0, reason="why"),)
    rows = [
        (Case(id=f"c{n}", input="in", output="\n out", metadata={"topic": "ab"[n % 2],
              "note": "n" * 70 + str(n), "rare": {"x": n}, "long": "l" * 90 + "ab"[n % 2]}),
         {"helpful": runs.judged(n / 9, parts=parts), "brief": Score(value=0.5)})
        for n in range(9)
    ]  # fmt: skip
    show(tab, runs.report_of(rows), tmp_path / "page.html")

    def heads() -> list[str]:
        return [text.split("\xa0")[0] for text in tab.locator(".list thead th").all_inner_texts()]

    assert heads() == ["Case", "Input", "Output", "helpful", "brief", "topic", "long"]
    cells = tab.locator(".list tbody tr").first.locator("td").all_inner_texts()
    assert cells[1] == "out"
    assert cells[-1] == "l" * 59 + "…"  # shortened, not left out
    tab.click(".columns summary")
    for name in ("Input", "clear", "note"):
        tab.locator(".columns label", has_text=name).locator("input").click()
    tab.reload()
    tab.wait_for_selector("html[data-whole]")
    assert heads() == ["Case", "Output", "helpful", "brief", "helpful\nclear", "topic", "long",
                       "note"]  # fmt: skip
    tab.set_viewport_size({"width": 390, "height": 800})
    cells = tab.locator(".list tbody tr").first.locator("td:visible").all_inner_texts()
    assert (cells[2], cells[-1]) == ("0.25", "n" * 59 + "…")  # what was asked for, on phones too
    # Head and first column stay while the table is scrolled in both directions.
    tab.evaluate("document.querySelector('.scroller').style.maxHeight = '200px'")
    tab.evaluate("document.querySelector('.scroller').scrollTo(150, 150)")
    head, box = (tab.locator(each).bounding_box() for each in (".list thead th.id", ".scroller"))
    assert abs(head["y"] - box["y"]) <= 2
    assert abs(head["x"] - box["x"]) <= 2
    stored = json.dumps({"input": "<b>", "x": [1], "__proto__": True})
    tab.evaluate(f"localStorage.setItem('judgekit-columns', {json.dumps(stored)})")
    tab.reload()
    tab.wait_for_selector("html[data-whole]")
    assert "Input" not in heads()
    assert "note" not in heads()


def test_case_shows_what_explains_its_number(tab: Tab, rich: Report, tmp_path: Path) -> None:
    show(tab, rich, tmp_path / "page.html")

    tab.click(".list >> text=returns-free")

    drawer = tab.locator("#drawer")
    marks = [text.splitlines()[0] for text in drawer.locator("mark").all_inner_texts()]
    assert "".join(marks).startswith("free within 30 days")
    assert drawer.locator("#mark-2").count() == 1  # found across line ends and outer quotes
    assert drawer.locator("#mark-3").inner_text().startswith("returns within 30 days of delivery")
    assert drawer.locator("#mark-4").count() == 0
    # What fails comes first, what passes is folded, and a quote in it opens it.
    assert drawer.locator(".result h3").all_inner_texts() == ["length", "helpful"]
    assert not drawer.locator("#quote-4").is_visible()
    drawer.locator(".to-result", has_text="helpful").click()
    assert "not found in the text" in drawer.locator("#quote-4").inner_text()
    drawer.locator("summary", has_text="Technical data").click()
    filled(tab, "#drawer")
    text = drawer.inner_text()
    for said in ("7.40", "passes ≥ 5.00", "Right, but it gives no link.", "weight 60 %",
                 "names the period", "find_order", "alice", "2 tries · repairs: fence",
                 "Policy: returns within"):  # fmt: skip
        assert said in text
    drawer.locator("summary", has_text="Rendered prompt").click()
    drawer.locator("summary", has_text="Raw reply").click()
    drawer.locator("pre", has_text='{"truth": {"reason": "It says so.", "value": 0.9}}').wait_for()
    assert "You judge answers.\nBe literal." in drawer.inner_text()


def test_a_large_page_shows_the_list_before_the_texts_and_the_same_list(
    tab: Tab,
    run_first: Callable[[str], None],
    rich: Report,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_first(
        """new MutationObserver(() => {
            const { ready, whole } = document.documentElement.dataset;
            if (ready && !whole) window.early ??= document.querySelector("#browser").innerText;
        }).observe(document, {subtree: true, attributeFilter: ["data-ready", "data-whole"]});"""
    )
    show(tab, rich, tmp_path / "plain.html")
    browser = tab.locator("#browser")
    plain = browser.inner_text()
    monkeypatch.setattr("judgekit.pages.packing.PLAIN", 0)

    show(tab, rich, tmp_path / "packed.html")

    assert tab.evaluate("window.early") == plain
    assert browser.inner_text() == plain
    tab.click('[data-status="unfound"]')
    assert ids(tab) == ["returns-free"]


@pytest.mark.parametrize("fragment", ["#q=parcel&case=rude", "#case=rude&label=helpful"])
def test_what_a_link_asks_for_waits_for_the_texts(
    tab: Tab, rich: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fragment: str
) -> None:
    monkeypatch.setattr("judgekit.pages.packing.PLAIN", 0)

    show(tab, rich, tmp_path / "page.html", fragment)

    shown = tab.locator("#labelling" if "label" in fragment else "#drawer")
    shown.wait_for()
    assert "A rude answer" in shown.inner_text()
    assert tab.evaluate("location.hash") == fragment
    assert len(ids(tab)) == (2 if "q=" in fragment else 5)


def test_every_reply_says_where_it_came_from(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    keys = runs.write_tape(tmp_path, {"a": "{}", "b": "{}"})
    rows = [(Case(id=name), {"m": runs.judged(1.0, key)}) for name, key in keys.items()]
    mixed = {"origins": {"live": 1, "tape": 1, "store": 0}, "from_store_or_live": [keys["a"]]}
    said = []
    for run in (mixed, {"origins": {"tape": 2}}, {"origins": 3, "from_store_or_live": 3}):
        report = runs.report_of(rows, run=run, folder=tmp_path)
        show(tab, report, tmp_path / f"{len(said)}.html", "#case=a&sort=id")
        for name in keys:
            assert tab.locator("#drawer-title").inner_text() == name
            unfold(tab, "#drawer .result")
            said.append(" ".join(tab.locator("#drawer .origin-of").all_inner_texts()))
            tab.keyboard.press("j")

    assert said == ["asked live", "from the tape", "from the tape", "from the tape", "", ""]


def test_a_reply_that_is_not_recorded_has_no_origin(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    runs.write_tape(tmp_path, {"b": "{}"})
    missed = Failure(kind="cassette_miss", message="not recorded", key="0" * 64)
    report = runs.report_of(
        [(Case(id="a"), {"m": missed})], run={"origins": {"tape": 1}}, folder=tmp_path
    )

    show(tab, report, tmp_path / "page.html", "#case=a")

    drawer = tab.locator("#drawer")
    assert drawer.locator(".origin-of").count() == 0
    assert "judgekit run --record new_episodes" in drawer.locator(".legend").inner_text()


def test_quotes_with_plain_marks_are_found_where_the_text_has_typographic_ones(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    case = Case(id="one", output="Yes – it “rains” … and  it’s wet.")
    quotes = (
        Quote(text='"Yes - it "rains" ..."', field=find_quote('Yes - it "rains" ...', case)),
        Quote(text="and it's wet", field=find_quote("and it's wet", case)),
        Quote(text="it was wet", field=find_quote("it was wet", case)),
    )
    part = Part(id="a", value=0.5, weight=1.0, quotes=quotes)
    rows = [(case, {"helpful": runs.judged(0.5, "0" * 64, parts=(part,))})]

    show(tab, runs.report_of(rows), tmp_path / "page.html", "#case=one")

    drawer = tab.locator("#drawer")
    assert drawer.locator("#mark-1").inner_text().startswith("Yes – it “rains")
    assert drawer.locator("#mark-2").inner_text().startswith("and  it’s wet")
    assert drawer.locator("#mark-3").count() == 0
    assert "not found in the text" in drawer.locator("#quote-3").inner_text()


def test_failure_shows_kind_key_and_every_try(tab: Tab, rich: Report, tmp_path: Path) -> None:
    show(tab, rich, tmp_path / "page.html", "#case=rude")

    drawer = tab.locator("#drawer")
    drawer.locator("summary", has_text="Technical data").click()
    filled(tab, "#drawer")
    drawer.locator("summary", has_text="Raw reply (2 tries").click()
    drawer.locator("pre", has_text="not json").wait_for()
    text = drawer.inner_text()
    assert "failed: refused" in text
    assert "the judge declined: I will not." in text
    assert len(drawer.locator(".key code").inner_text()) == 64


def test_keyboard_moves_opens_and_closes(tab: Tab, rich: Report, tmp_path: Path) -> None:
    show(tab, rich, tmp_path / "page.html", "#sort=input-order")

    for key in ("j", "j", "k", "j"):
        tab.keyboard.press(key)
    assert tab.locator("tr.selected th").inner_text() == "late-parcel"
    tab.keyboard.press("Enter")
    assert tab.locator("#drawer-title").inner_text() == "late-parcel"
    assert "case=late-parcel" in tab.evaluate("location.hash")
    tab.keyboard.press("j")
    assert tab.locator("#drawer-title").inner_text() == "rude"
    tab.keyboard.press("Escape")
    assert tab.locator("#drawer").is_hidden()
    assert "case=" not in tab.evaluate("location.hash")
    assert tab.evaluate("document.activeElement.innerText").startswith("rude")
    tab.keyboard.press("/")
    tab.keyboard.type("jk")
    assert tab.locator("#search").input_value() == "jk"


def test_back_closes_the_case(tab: Tab, rich: Report, tmp_path: Path) -> None:
    show(tab, rich, tmp_path / "page.html")

    tab.click(".list >> text=rude")
    tab.go_back()

    tab.wait_for_selector("#drawer", state="hidden")


def hostile_report(runs: SimpleNamespace, folder: Path) -> Report:
    keys = runs.write_tape(folder, {text: text for text in KINDS.values()})
    rows = []
    for kind, text in KINDS.items():
        case = Case(
            id=f"{kind} {text}",
            input=text,
            output=f"x {text} y",
            system=text,
            history=(Message(role="user", name=text, content=text),),
            reference=(text,),
            context=(text,),
            choices=(text,),
            expected={text: text},
            labels={text: text},
            metadata={"kind": text[:50], text: text, "constructor": "a"},
        )
        part = Part(
            id=text,
            value=0.5,
            weight=1.0,
            answer=text,
            reason=text,
            quotes=(Quote(text=text, field="output"), Quote(text=text)),
            items=({"item": text, "met": True, "reason": text}, text),
            details={text: text},
        )
        score = runs.judged(
            0.5,
            keys[text],
            parts=(part,),
            reason=text,
            method=text,
            details={text: text, "band": text[:20]},
        )
        failure = Failure(kind="invalid_reply", message=text, key=keys[text])
        rows.append((case, {"helpful": score, KINDS["image"]: failure, "__proto__": failure}))
    return runs.report_of(
        rows,
        thresholds={"helpful": 0.6},
        manifest={
            "suite": {"name": KINDS["closing script"], "description": KINDS["overrides"]},
            "notice": KINDS["image"],
        },
        incomplete=(KINDS["svg"],),
        folder=folder,
    )


@pytest.mark.parametrize("compressed", [False, True])
def test_hostile_text_is_inert(
    tab: Tab,
    run_first: Callable[[str], None],
    runs: SimpleNamespace,
    tmp_path: Path,
    compressed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if compressed:
        monkeypatch.setattr("judgekit.pages.packing.PLAIN", 0)
    tab.set_viewport_size({"width": 700, "height": 400})  # less to paint
    run_first("window.pwned = () => { window.hurt = true; }")
    show(tab, hostile_report(runs, tmp_path), tmp_path / "page.html", "#sort=input-order")

    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    drawer = tab.locator("#drawer")
    if not compressed:
        tab.click(".as-markdown")  # answers; inputs stay plain
    for kind, text in list(KINDS.items())[: 3 if compressed else None]:
        raw, shown, alive = drawer.evaluate(
            """async (drawer) => {
                for (let time = 0; time < 2; time++) { // again for what is folded inside
                    drawer.querySelectorAll("details").forEach((each) => each.open = true);
                    await new Promise((done) => setTimeout(done, 30));
                }
                const tags = "img, iframe, script, style, form, base, meta, object, b, input, "
                    + "textarea";
                return [drawer.querySelectorAll(".raw pre").length,
                    drawer.querySelector(".turn.input .text").innerText,
                    drawer.querySelectorAll(`${tags}, .markdown :is(a, [href], [src])`).length];
            }"""
        )
        assert raw > 2, kind
        if text.isprintable():
            assert shown == text
        assert alive == 0, kind
        tab.keyboard.press("j")
    tab.keyboard.press("Escape")
    tab.fill("#search", "<script>")
    assert "%3Cscript%3E" in tab.evaluate("location.hash")

    assert tab.evaluate("window.hurt") is None
    assert tab.evaluate("({}).item") is None
    assert tab.locator("script").count() == 1  # the data was taken out, the page's own is left
    assert tab.locator("img, iframe, object, form, base").count() == 0


def test_answers_are_shown_as_markdown_on_request(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    # Each of the last would take minutes if its end were looked for from every place.
    hostile = ["[" * 60_000 + "](", "[a](" * 15_000, "`" * 30_001, "*a " * 20_000, "> " * 30_000]
    answer = """# Steps
1. Open **the *small* door**, `a_b_c` and a_b_c
   and [the page](javascript:pwned()).
  - ![x](https://example.invalid/x.png)

| a | b |
|---|--:|
| 1 | <b>2</b> |
```
# no heading
```
> שלום
"""
    cases = [Case(id=f"c{n}", output=text) for n, text in enumerate([answer, *hostile])]
    rows = [(case, {"m": runs.judged(1.0)}) for case in cases]
    show(tab, runs.report_of(rows), tmp_path / "p.html", "#case=c0&sort=id")

    assert "# Steps" in tab.locator(".turn.output").inner_text()
    tab.click(".as-markdown")
    text = tab.locator(".markdown")
    assert text.get_by_role("heading").inner_text() == "Steps"
    assert text.locator("li").count() == 2
    assert text.locator("strong em").inner_text() == "small"
    assert text.locator("li >> nth=0").locator("code").all_inner_texts() == [
        "a_b_c", "javascript:pwned(",
    ]  # fmt: skip
    assert text.locator("td").all_inner_texts() == ["1", "<b>2</b>"]
    assert text.locator("pre").inner_text() == "# no heading"
    assert text.locator("blockquote").inner_text() == "שלום"
    assert text.locator("a, img, b, [href], [src]").count() == 0
    for n in range(len(hostile)):
        tab.keyboard.press("j")
        until(tab, f"document.querySelector('#drawer-title').textContent === 'c{n + 1}'")
    tab.click(".as-markdown")
    assert tab.locator(".markdown").count() == 0


def test_unseen_characters_show(tab: Tab, runs: SimpleNamespace, tmp_path: Path) -> None:
    case = Case(id="a", output="pay\u202etnemyap\u202c now\x07")
    show(tab, runs.report_of([(case, {"m": runs.judged(1.0)})]), tmp_path / "p.html", "#case=a")

    text = tab.locator(".turn.output .text")
    assert text.inner_text() == "pay⟨U+202E⟩tnemyap⟨U+202C⟩ now⟨U+0007⟩"


def test_policy_stops_what_would_get_in(unwatched_tab: Tab, rich: Report, tmp_path: Path) -> None:
    tab = unwatched_tab
    asked: list[str] = []
    tab.on("requestfailed", lambda request: asked.append(f"{request.url} {request.failure}"))
    show(tab, rich, tmp_path / "page.html")

    stopped = tab.evaluate(
        """async () => {
            const stopped = [];
            addEventListener("securitypolicyviolation", (e) => stopped.push(e.effectiveDirective));
            const script = document.createElement("script");
            script.textContent = "window.hurt = true";
            document.body.append(script);
            const image = document.createElement("img");
            image.src = "https://example.invalid/x.png";
            document.body.append(image);
            await fetch("https://example.invalid/").catch(() => {});
            await new Promise((done) => setTimeout(done, 100));
            return [window.hurt, stopped.sort()];
        }"""
    )

    assert stopped == [None, ["connect-src", "img-src", "script-src-elem"]]
    assert all(request.endswith(" csp") for request in asked)


@pytest.mark.usefixtures("without_script")
def test_summary_reads_without_script(tab: Tab, rich: Report, tmp_path: Path) -> None:
    tab.goto(f"file://{write_page(rich, tmp_path / 'page.html')}")

    text = tab.locator("body").inner_text()

    assert "Incomplete" in text
    assert "4.70" in text
    assert "needs JavaScript" in text


def test_a_table_wider_than_its_place_shows_that_it_scrolls(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    show(tab, runs.many_metrics(34), tmp_path / "eight.html")
    for width in (390, 768, 1280):
        tab.set_viewport_size({"width": width, "height": 800})
        until(
            tab,
            """[...document.querySelectorAll(".scroller, .wide-table, .slice-table")].every(
            (box) => !box.checkVisibility() || box.dataset.more.includes("right")
                     === (box.scrollWidth > box.clientWidth + 1))""",
        )
        assert tab.evaluate("document.querySelector('.list tbody tr').offsetHeight") < 75
    tab.set_viewport_size({"width": 390, "height": 800})
    until(tab, "document.querySelector('.scroller').dataset.more === 'right'")
    tab.locator(".scroller").evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    until(tab, "document.querySelector('.scroller').dataset.more === 'left'")


def test_the_worst_cases_come_first_and_the_figures_stay_in_reach(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    show(tab, runs.many_metrics(34), tmp_path / "page.html")

    worst = tab.locator(".worst-cases h3").all_inner_texts()
    assert len(worst) == 3
    assert tab.locator(".list tbody tr").count() == 10
    tops = tab.evaluate(
        """["#cases", ".worst-cases", ".list", "#figures", "#about"].map(
            (each) => document.querySelector(each).getBoundingClientRect().top)"""
    )
    assert tops == sorted(tops)
    for width, height in ((390, 844), (1280, 720)):
        tab.set_viewport_size({"width": width, "height": height})
        box = tab.locator(".overview").bounding_box()
        assert box["y"] + box["height"] <= height
    assert "↕" in tab.evaluate(
        "getComputedStyle(document.querySelector('.list th button'), '::after').content"
    )
    assert not tab.locator("#about dl").first.is_visible()
    tab.click(".show-all")
    assert tab.locator(".list tbody tr").count() == 34
    assert tab.locator(".show-all").is_hidden()

    tab.click(".overview .pass a >> nth=0")
    until(tab, "document.querySelector('#cases').getBoundingClientRect().top < 300")
    assert "status=below" in tab.evaluate("location.hash")
    tab.locator(".worst-cases a").first.click()
    assert tab.locator("#drawer-title").inner_text() == worst[0]


def test_opinions_of_a_jury_have_a_row_each(tab: Tab, tmp_path: Path) -> None:
    suite = load_suite(Path(__file__).parents[2] / "examples" / "jury" / "suite.yaml")
    report = evaluate_sync(suite.cases(), suite.metrics)
    suite.close()

    show(tab, report, tmp_path / "page.html", "#case=customs-norway")
    tab.click("summary:has-text('3 opinions')")

    table = tab.locator("table.opinions")
    table.wait_for()
    assert table.locator("thead th").all_inner_texts() == ["Judge", "Value", "solved", "Reason"]
    rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    assert [row[:3] for row in rows] == [
        ["careful", "0.00", "no"],
        ["fluent", "0.00", "no"],
        ["quick", "0.00", "no"],
    ]
    assert rows[0][3] == "Simulated: careful rejects the answer."


def test_claims_stand_with_their_verdicts_and_quotes(tab: Tab, tmp_path: Path) -> None:
    suite = load_suite(Path(__file__).parents[2] / "examples" / "rag" / "suite.yaml")
    report = evaluate_sync(suite.cases(), suite.metrics)
    suite.close()

    show(tab, report, tmp_path / "page.html", "#case=hives")

    section = tab.locator("section.result", has_text="faithfulness").first
    claims = section.locator("ol.parts > li")
    assert claims.count() == 3
    assert "claim 2" in claims.nth(1).inner_text()
    assert "unsupported" in claims.nth(1).inner_text()
    assert "The bee warden's signature costs 10 crowns." in claims.nth(1).inner_text()
    assert claims.nth(0).locator("blockquote").count() == 1
    claims.nth(0).locator("blockquote button").click()
    assert "once the bee warden has signed" in tab.locator("#mark-1").inner_text()
    # Hallucination quotes the same words; its number leads to the same mark.
    assert tab.locator("mark #mark-2").inner_text() == "2"
    # Four replies made this score; they are folded away, and open when wanted.
    assert section.locator(".judgment").count() == 0
    section.locator("summary", has_text="4 judgments").click()
    section.locator(".judgment").nth(3).wait_for()  # what opens is filled a moment later
    assert section.locator(".judgment").count() == 4


def test_a_tree_of_criteria_folds_and_has_a_row_for_each(tab: Tab, tmp_path: Path) -> None:
    leaves = [Criterion(f"Names step {n}", n, negate=n == 3) for n in range(1, 14)]
    code = Criterion("The code is complete", 2, of=leaves)
    wrong = Criterion("Advises to skip a step", -1)
    reply = {"reason": "It is there.", "quotes": ["Step one"], "value": False}
    judge = FakeJudge(lambda request: {question.id: reply for question in request.form.questions})
    case = Case(id="a", input="How?", output="Step one, then step two.", criteria=[code, wrong])

    report = evaluate_sync([case], [create_metric("points", judge=judge, calls="all")])
    show(tab, report, tmp_path / "page.html", "#case=a")

    tree = tab.locator("section.result ol.parts").first
    head = tree.locator("> li > details > summary")
    assert head.inner_text() == "1 The code is complete (2 points): 0.03"
    row = tree.locator("li.part, ol.parts > li", has_text="Names step 3 (").first
    assert not row.is_visible()  # a large tree is folded
    head.click()
    assert tree.locator("ol.parts > li").count() == 13
    # They are there once, and not in the expected values, too.
    said = tab.locator(".talk").first.inner_text()
    assert "14 criteria, under points" in said
    assert "Names step 3" not in said
    for text in ("criterion 1.3", "not met", "weight 3.3 %", "1.00", "It is there.", "Step one"):
        assert text in row.inner_text()
    last = tree.locator("> li").last
    assert "weight -50 %" in last.inner_text()
    # The property was not wanted, and is not there.
    assert last.locator(".sign").get_attribute("aria-label") == "as wanted"


@pytest.mark.thorough
@pytest.mark.slow
def test_a_case_among_five_thousand_is_found(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    show(tab, runs.report_of(runs.simple_rows(5000)), tmp_path / "page.html")
    assert len(ids(tab)) < 300

    tab.fill("#search", "number 4999:")
    assert ids(tab) == ["case-4999"]


def test_the_baseline_stands_beside_the_output(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    case = Case(id="steered", input="How are you?", output="Mustn't grumble.", baseline="Great!")
    report = runs.report_of([(case, {"helpful": runs.judged(0.5)})])

    show(tab, report, tmp_path / "page.html", "#case=steered")

    parts = tab.locator(".beside > section")
    assert parts.all_inner_texts() == ["Baseline\nGreat!", "Output\nMustn't grumble."]
    left, right = (parts.nth(n).bounding_box() for n in (0, 1))
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
