"""A person labels cases on the page of a run, and what they say counts elsewhere."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from judgekit import FakeJudge, create_metric, evaluate_sync
from judgekit.authoring.persona.labels import read_voice_labels
from judgekit.cli.app import app
from judgekit.core.case import Case, Message
from judgekit.core.judgment import Quote
from judgekit.core.request import About, Detail, Form, Question, Request
from judgekit.core.score import Part, Score
from judgekit.judges.manual import ManualJudge
from judgekit.pages.run.page import write_page
from judgekit.report.report import Report
from judgekit.suite.run import replay_suite
from judgekit.suite.suite import load_suite
from tests.browsing import KINDS, skip_without_a_browser, until
from tests.pages.test_case_forms import ANSWERS, CASES, labelled
from tests.pages.test_case_forms import say as criteria_answers

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

skip_without_a_browser("labelling on the page")

pytestmark = [pytest.mark.loopback, pytest.mark.usefixtures("forgotten")]

EXAMPLE = Path(__file__).parents[2] / "examples" / "support_assistant"
QUESTIONS = (
    {"id": "polite", "kind": "boolean", "text": "Is it polite?"},
    {"id": "length", "kind": "score", "maximum": 10.0, "text": "How short?", "nullable": True},
    {"id": "tone", "kind": "choice", "labels": ["warm", "cold"], "quotes": True, "text": "Tone?"},
    {"id": "points", "kind": "checklist", "items": ["a link", "a name"], "text": "Has it"},
    {"id": "claims", "kind": "checklist", "text": "What it says."},
)
RUBRIC: dict[str, Any] = {
    "name": "manners", "version": 1, "digest": "ab" * 8, "description": "Manners.",
    "metrics": ["manners"], "criteria": [{**q, "weight": 0.2} for q in QUESTIONS],
    "details": [{"name": "odd", "kind": "boolean"}, {"name": "notes", "kind": "list"}],
}  # fmt: skip


def manners(runs: SimpleNamespace, *, count: int = 3) -> Report:
    """A run of which no tape is left: the form is that of the manifest."""
    parts = tuple(
        Part(id=q["id"], value=0.25, weight=0.2, reason="SECRET", quotes=(Quote(text="Q"),))
        for q in QUESTIONS
    )
    rows = [
        (
            Case(id=f"c{n}", input=f"in {n}", output="Kind words here.", labels={"bob": 0.123}),
            {
                "manners": runs.judged(0.25, parts=parts, reason="SECRET"),
                "length": Score(value=7.0),
            },
        )
        for n in range(count)
    ]
    return runs.report_of(
        rows,
        manifest={"rubrics": [RUBRIC]},
        ranges={"length": (0.0, float("inf"))},
        thresholds={"length": 9.0},
    )


def show(tab: Tab, page: Path, fragment: str = "") -> None:
    tab.goto(f"file://{page}{fragment}")
    tab.wait_for_selector("html[data-whole]", timeout=60_000)


def press(tab: Tab, *keys: str) -> None:
    for key in keys:
        tab.keyboard.press(key)


def download(tab: Tab, path: Path) -> list[dict[str, Any]]:
    with tab.expect_download() as waiting:
        tab.click("text=Download labels")
    waiting.value.save_as(path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        assert re.fullmatch("[0-9a-f]{16}", line.pop("output_digest"))
    return lines


def judgekit(*arguments: str | Path) -> str:
    """Run the command in a thread of its own: the browser's event loop has this one."""
    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(CliRunner().invoke, app, [*map(str, arguments)]).result()
    assert done.exit_code == 0, done.output
    return done.stdout


def test_labels_go_the_whole_way_round(tab: Tab, tmp_path: Path) -> None:
    replay_suite(load_suite(EXAMPLE / "suite.yaml"), out=tmp_path / "run")
    show(
        tab,
        write_page(Report.read(tmp_path / "run"), tmp_path / "run" / "report.html"),
        "#sort=input-order",
    )
    tab.fill("#search", "boots")
    count = tab.locator(".list tbody tr").count()
    assert count == 3
    press(tab, "Enter")
    tab.click("text=Label these cases")
    tab.fill("#labeller", "ann")
    tab.select_option("#label-metric", label="quality")
    # By keyboard alone from here on: a reason, Enter, a verdict, and so on to the next case.
    for case in range(count):
        for criterion in range(5):
            tab.keyboard.type(f"w {case}{criterion}")
            press(tab, "Enter", str(1 + (case + criterion) % 3))
        press(tab, "Enter")
    assert tab.locator(".kept").inner_text().startswith("3 labels · kept in this browser")
    labels = tmp_path / "labels.jsonl"
    lines = download(tab, labels)

    assert [set(line) for line in lines] == [{"case", "metric", "labeller", "answers"}] * 3
    first = lines[0]["answers"]["helpfulness"]
    assert list(first.items()) == [("reason", "w 00"), ("value", "excellent")]

    said = judgekit("agree", tmp_path / "run", labels)
    assert "quality" in said
    assert "helpfulness" in said
    agreement = json.loads((tmp_path / "run" / "agree.json").read_text())
    assert [(a["metric"], a["cases"]) for a in agreement["criteria"]] == [("quality", 3)] * 5
    assert not any(a["without_digest"] or a["left_out"] for a in agreement["criteria"])

    ids = {line["case"] for line in lines}
    cases = (EXAMPLE / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "cases.jsonl").write_text(
        "\n".join(line for line in cases if json.loads(line)["id"] in ids) + "\n"
    )
    (tmp_path / "suite.yaml").write_text(
        "cases: cases.jsonl\njudge: {model: manual/ann, answers: labels.jsonl}\n"
        "cassette: tape.jsonl\nmetrics: {quality: {}}\n"
    )
    judgekit("run", tmp_path / "suite.yaml", "--record", "new_episodes", "--out",
             tmp_path / "people")  # fmt: skip
    people = Report.read(tmp_path / "people")
    assert people.metrics["quality"].judged == 3
    [score, *_] = [row.result for scored in people.results for row in scored.rows]
    assert score.parts[0].reason == "w 00"


def test_a_plan_is_labelled_on_its_page_and_its_labels_weigh(tab: Tab, tmp_path: Path) -> None:
    run, page = tmp_path / "run", tmp_path / "plan.html"
    replay_suite(load_suite(EXAMPLE / "suite.yaml"), out=run)
    plan = judgekit("labels", "plan", run, "-n", "4", "--metric", "quality", "--labeller", "ann",
                    "--page", page)  # fmt: skip
    (tmp_path / "plan.jsonl").write_text(plan, encoding="utf-8")
    chances = {line["case"]: line["probability"] for line in map(json.loads, plan.splitlines())}
    assert len(chances) == 4

    show(tab, page)
    assert tab.locator(".list tbody tr").count() == 4
    # The page opens where cases are labelled, and the verdicts of the judge are not seen.
    assert tab.input_value("#label-metric") == "2"
    tab.fill("#labeller", "ann")
    tab.focus("#labelling textarea")
    for case in range(4):
        for criterion in range(5):
            press(tab, "Enter", str(1 + (case + criterion) % 3))
        press(tab, "Enter")
    exported = tmp_path / "exported.jsonl"
    lines = download(tab, exported)

    assert {line["case"] for line in lines} == chances.keys()
    options = ("--plan", tmp_path / "plan.jsonl")
    labels = tmp_path / "labels.jsonl"
    labels.write_text(judgekit("labels", "import", exported, *options), encoding="utf-8")
    assert "no problems" in judgekit("labels", "check", labels, run, *options)
    for line in map(json.loads, labels.read_text(encoding="utf-8").splitlines()):
        assert line["probability"] == chances[line["case"]]
    assert "Weighted by 1 / probability" in judgekit("agree", run, labels)


def test_criteria_of_the_case_are_labelled_each_by_its_kind(tab: Tab, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    points = create_metric("points", judge=FakeJudge(criteria_answers), calls="all")
    with ThreadPoolExecutor(1) as threads:
        threads.submit(evaluate_sync, CASES, [points], out=folder).result()
    show(tab, write_page(Report.read(folder), folder / "report.html"), "#sort=input-order")

    tab.click("text=Label these cases")
    names = tab.locator(".question legend strong")
    assert names.all_inner_texts() == ["criterion 1", "criterion 2"]
    for case in CASES:
        asked = tab.locator(".question")
        for place, value in enumerate(ANSWERS[case.id]):
            question = asked.nth(place)
            word = "yes" if value is True else value or "cannot tell"
            if value == 3:
                assert "For example: a table" in question.inner_text()
                question.locator("input[type=number]").fill(str(value))
            else:
                question.get_by_label(str(word), exact=True).check()
        press(tab, "Control+Enter")
    lines = download(tab, tmp_path / "labels.jsonl")

    expected = [labelled(case, ANSWERS[case.id]) for case in CASES]
    assert lines == [{k: v for k, v in one.items() if k != "output_digest"} for one in expected]


def test_a_comparison_says_which_answer_is_a(tab: Tab, tmp_path: Path) -> None:
    suite = EXAMPLE.parent / "preference" / "suite.yaml"
    replay_suite(load_suite(suite), out=tmp_path / "run")
    page = write_page(Report.read(tmp_path / "run"), tmp_path / "run" / "report.html")
    show(tab, page)

    press(tab, "l")

    heads = tab.locator("#labelling .beside h3").all_inner_texts()
    assert [head.lower() for head in heads] == ["baseline: answer b", "output: answer a"]
    show(tab, page, "#case=day-ticket")
    heads = tab.locator(".beside h3:visible").all_inner_texts()
    assert [head.lower() for head in heads] == ["baseline", "output"]


def test_a_comparison_with_a_reference_does_not_call_the_baseline_b(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    winner = {"id": "winner", "kind": "choice", "labels": ["A", "B"], "text": "Which?"}
    rubric = {**RUBRIC, "name": "better", "metrics": ["better"], "details": [],
              "criteria": [{**winner, "weight": 1.0}]}  # fmt: skip
    score = runs.judged(1.0, parts=(Part(id="winner", value=1.0, weight=1.0),), reason="R")
    pair: dict[str, Any] = {"a": "output", "b": "reference", "winner": "a"}
    score = score.model_copy(update={"details": {"pairwise": pair}})
    case = Case(id="c", input="I", output="O", baseline="B", reference=("R1", "R2"))
    report = runs.report_of([(case, {"better": score})], manifest={"rubrics": [rubric]})
    show(tab, write_page(report, tmp_path / "p.html"))

    press(tab, "l")

    heads = [head.lower() for head in tab.locator("#labelling h3").all_inner_texts()]
    wanted = ["input", "baseline", "output: answer a", "reference 1: answer b", "reference 2"]
    assert heads[:5] == wanted


def test_every_kind_of_question_is_answered(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    show(tab, write_page(manners(runs), tmp_path / "p.html"))
    tab.click("text=Label these cases")
    asked = tab.locator(".question")
    assert asked.count() == 6

    asked.nth(0).locator("textarea").fill("says please")
    asked.nth(0).get_by_label("yes").check()
    number = asked.nth(1).locator('input[type="number"]')
    number.fill("11")
    assert asked.nth(1).locator(".problem").inner_text() == "a number from 0 to 10"
    number.fill("7.5")
    tab.locator(".talk .output .text").evaluate(
        "e => getSelection().setBaseAndExtent(e.firstChild, 0, e.firstChild, 10)"
    )
    asked.nth(2).locator("text=Take the selected words").click()
    asked.nth(2).get_by_label("warm").check()
    for place, word in enumerate(("met", "not met")):
        asked.nth(3).locator("li").nth(place).get_by_label(word, exact=True).check()
    asked.nth(4).locator("text=Add a point").click()
    point = asked.nth(4).locator("li")
    point.locator("textarea").first.fill("It is kind.")
    point.get_by_label("met", exact=True).check()
    assert tab.locator(".kept").inner_text().startswith("1 label · 1 unfinished")
    asked.nth(5).get_by_label("no", exact=True).check()
    asked.nth(5).locator("textarea").fill("one\n\n two ")
    [line] = download(tab, tmp_path / "labels.jsonl")

    assert line == {
        "case": "c0",
        "metric": "manners",
        "answers": {
            "polite": {"reason": "says please", "value": True},
            "length": {"reason": "", "value": 7.5},
            "tone": {"reason": "", "quotes": ["Kind words"], "value": "warm"},
            "points": {"items": [{"item": "a link", "reason": "", "met": True},
                                 {"item": "a name", "reason": "", "met": False}]},
            "claims": {"items": [{"item": "It is kind.", "reason": "", "met": True}]},
        },
        "details": {"odd": False, "notes": ["one", "two"]},
    }  # fmt: skip
    form = Form(
        questions=tuple(Question(**q) for q in QUESTIONS),
        details=tuple(Detail(**d) for d in RUBRIC["details"]),
    )
    judge = ManualJudge("ann", tmp_path / "labels.jsonl")
    about = About(case="c0", metric="manners")
    request = Request(messages=(), form=form, model=judge.model, about=about)
    with ThreadPoolExecutor(1) as threads:  # the browser's event loop has this one
        reply = threads.submit(asyncio.run, judge.ask(request)).result()
    assert json.loads(reply.tries[0].text)["length"]["value"] == 7.5


def test_what_is_not_whole_is_a_label_all_the_same(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    show(tab, write_page(manners(runs), tmp_path / "p.html"))
    tab.click("text=Label these cases")
    tab.locator(".question").nth(1).get_by_label("cannot tell").check()
    tab.locator(".question").nth(4).get_by_label("there are none").check()
    tab.select_option("#label-metric", label="length")
    tab.locator(".question").get_by_label("fail").check()

    lines = download(tab, tmp_path / "labels.jsonl")

    assert lines == [
        {"case": "c0", "metric": "manners", "values": {"length": None, "claims": None}},
        {"case": "c0", "metric": "length", "value": "fail"},
    ]
    # Such lines are for `agree`; a person as a judge has no answer there.
    assert ManualJudge("ann", tmp_path / "labels.jsonl")._answers == {}


def test_verdicts_on_authenticity_are_labels_of_the_persona(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    said = (Message(role="user", content="Hi"), Message(role="assistant", content="Yes?"))
    replies = {"friendly": "No worries, it's on us!", "cold": "Noted.\u2028Wait.", "talk": "Bye."}
    rows = [
        (
            Case(id=id, output=text, history=said if id == "talk" else ()),
            {"authenticity": Score(value=0.5), "length": Score(value=0.5)},
        )
        for id, text in replies.items()
    ]
    metric = {"name": "authenticity", "type": "Authenticity", "made_with": {"persona": "Acme"}}
    thresholds = {"authenticity": 0.6, "length": 0.6}
    report = runs.report_of(rows, manifest={"metrics": [metric]}, thresholds=thresholds)
    show(tab, write_page(report, tmp_path / "p.html"), "#sort=input-order")
    tab.click("text=Label these cases")
    assert not tab.is_visible("text=Download persona labels")
    tab.fill("#labeller", "ann")
    for word in ("on brand", "off brand", "on brand"):
        assert "Does the reply sound like Acme?" in tab.inner_text("#labelling")
        tab.locator(".question").get_by_label(word, exact=True).check()
        press(tab, "Control+Enter")

    with tab.expect_download() as waiting:
        tab.click("text=Download persona labels")
    waiting.value.save_as(tmp_path / "persona.jsonl")

    assert waiting.value.suggested_filename == "persona-labels-ann.jsonl"
    labels = read_voice_labels(tmp_path / "persona.jsonl", persona=["Acme"])
    # A verdict on a conversation is no label of a reply.
    assert [(each.text, each.label) for each in labels.labels] == [
        (replies["friendly"], 1), (replies["cold"], 0),
    ]  # fmt: skip
    assert [line["value"] for line in download(tab, tmp_path / "l.jsonl")] == [
        "pass", "fail", "pass",
    ]  # fmt: skip


def test_the_judge_is_not_seen_until_asked_for(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    show(tab, write_page(manners(runs), tmp_path / "p.html"))
    press(tab, "l")

    pane = tab.locator("#labelling")
    assert "Kind words here." in pane.inner_text()
    for said in ("SECRET", "0.25", "0.123", "judged"):
        assert said not in pane.inner_text()
    pane.locator("text=Show the judge's verdict").click()
    assert "SECRET" in pane.inner_text()
    pane.get_by_label("yes").first.check()
    assert "1 made after seeing the judge" in tab.locator(".kept").inner_text()


def test_labels_outlive_the_page_until_they_are_cleared(
    tab: Tab, runs: SimpleNamespace, tmp_path: Path
) -> None:
    page = write_page(manners(runs), tmp_path / "p.html")
    for _ in range(5):
        # One reload in a hundred, on a busy machine, Chromium itself returns an empty storage.
        show(tab, page, "#case=c1&label=manners")
        assert tab.locator("#labelling-title").inner_text() == "Label c1"
        tab.fill("#labeller", "Ann B.")
        tab.locator(".question").first.get_by_label("no", exact=True).check()
        until(tab, "localStorage.length === 1")
        tab.reload()
        tab.wait_for_selector("html[data-whole]")
        if tab.evaluate("localStorage.length"):
            break

    assert tab.locator("#labeller").input_value() == "Ann B."
    assert tab.locator(".question").first.get_by_label("no", exact=True).is_checked()
    tab.get_by_role("button", name="Clear", exact=True).click()
    assert tab.evaluate("localStorage.length") == 1
    tab.click("text=Press again")
    assert tab.evaluate("localStorage.length") == 0
    assert not tab.locator(".question").first.get_by_label("no", exact=True).is_checked()
    assert tab.locator("text=Download labels").is_disabled()


def test_a_browser_that_keeps_nothing_is_said_to(
    tab: Tab, run_first: Callable[[str], None], runs: SimpleNamespace, tmp_path: Path
) -> None:
    run_first("Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})")
    show(tab, write_page(manners(runs), tmp_path / "p.html"), "#case=c1&label=length")

    tab.locator(".question").get_by_label("pass").check()

    assert "NOT kept by this browser" in tab.locator(".kept").inner_text()
    assert download(tab, tmp_path / "l.jsonl") == [{"case": "c1", "metric": "length",
                                                    "value": "pass"}]  # fmt: skip


STORED = (
    "x", "3", "null", '{"labels": 3}', '{"labels": [null, {"case": 1}]}',
    '{"labeller": {}, "labels": [{"case": "c0", "metric": "manners", "answers": [["polite", 3],'
    ' ["points", [["items", [null, 3, {"met": "x"}]]]], ["tone", [["quotes", 7]]]],'
    ' "details": {}, "verdict": {}}]}',
)  # fmt: skip


def test_what_is_stored_may_be_anything(
    tab: Tab, run_first: Callable[[str], None], runs: SimpleNamespace, tmp_path: Path
) -> None:
    page = write_page(manners(runs), tmp_path / "p.html")
    for number, stored in enumerate(STORED):
        run_first(f"localStorage.setItem('judgekit-labels {'ab' * 32}', {stored!r})")
        show(tab, page, f"?{number}#case=c0&label=manners")  # a new page, not only a fragment

        first = tab.locator(".question").first.get_by_label("yes")
        assert not first.is_checked(), stored
        first.check()

        assert tab.locator(".kept").inner_text().startswith("1 label "), stored


def test_keys_walk_through_cases_and_leave(tab: Tab, runs: SimpleNamespace, tmp_path: Path) -> None:
    show(tab, write_page(manners(runs), tmp_path / "p.html"))
    press(tab, "j", "l")
    title = tab.locator("#labelling-title")

    press(tab, "Control+Enter")
    assert title.inner_text() == "Label c1"
    assert tab.evaluate("location.hash") == "#case=c1&label=manners"
    tab.keyboard.type("j is typed")
    press(tab, "Escape", "k")
    assert title.inner_text() == "Label c0"
    tab.locator(".question").first.get_by_label("yes").check()
    tab.click("text=Next without a label")
    tab.click("text=Next without a label")
    assert title.inner_text() == "Label c2"
    press(tab, "Escape", "Escape")
    assert tab.locator("#labelling").is_hidden()
    assert tab.evaluate("location.hash") in ("", "#")
    assert tab.evaluate("document.activeElement.innerText").startswith("c2")
    tab.go_back()
    until(tab, "location.hash === ''")


def test_hostile_forms_and_labellers_are_inert(
    tab: Tab, run_first: Callable[[str], None], runs: SimpleNamespace, tmp_path: Path
) -> None:
    run_first("window.pwned = () => { window.hurt = true; }")
    texts = list(KINDS.values())
    questions = [
        {"id": text, "kind": "choice", "labels": [text, "__proto__"], "text": text, "weight": 1,
         "levels": [{"label": text, "text": text}, {"label": "__proto__", "text": text}],
         "details": [{"name": text + ".", "kind": "text", "text": text}]}
        for text in texts
    ]  # fmt: skip
    metric = KINDS["image"]
    rubric = {**RUBRIC, "metrics": [metric], "criteria": questions, "details": []}
    parts = tuple(Part(id=text, value=1.0, weight=1.0) for text in texts)
    case = Case(id="__proto__", output="x")
    report = runs.report_of(
        [(case, {metric: runs.judged(1.0, parts=parts)})], manifest={"rubrics": [rubric]}
    )
    show(tab, write_page(report, tmp_path / "p.html"))
    press(tab, "l")
    tab.fill("#labeller", KINDS["closing script"])
    assert tab.locator(".question").count() == len(texts)
    for number in range(len(texts)):
        question = tab.locator(".question").nth(number)
        question.locator("textarea").first.fill(KINDS["image"])
        question.locator("input[type=radio]").nth(number % 2).check()

    [line] = download(tab, tmp_path / "labels.jsonl")

    assert line["case"] == "__proto__"
    assert line["labeller"] == KINDS["closing script"]
    assert list(line["answers"]) == texts
    assert line["answers"]["__proto__"]["reason"] == KINDS["image"]
    assert tab.evaluate("window.hurt") is None
    assert tab.evaluate("({}).reason") is None
    assert tab.locator("#labelling :is(img, iframe, script, style, form, base)").count() == 0
