"""The page of a comparison, read as text: what it says without its script, and what it holds."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from judgekit import Case, Criterion, FakeJudge, create_metric, evaluate_sync
from judgekit.analysis.comparison.compare import compare, compare_all
from judgekit.analysis.comparison.differences import ComparisonSettings
from judgekit.cli.app import app
from judgekit.core.errors import ConfigError
from judgekit.pages.comparison import payload
from judgekit.pages.comparison.page import names_of, render_comparison, unfolded, write_comparison
from judgekit.report.report import Report
from tests.analysis.comparison.marked import Marked

BASE = {f"c{n:02}": {"facts": 0.9, "tone": 0.8} for n in range(12)}
NEW = {**BASE, **{f"c{n:02}": {"facts": (9 - n) / 10, "tone": 0.8} for n in range(1, 8)}}
OPTIONS = {"thresholds": {"worth": 0.6}}


def page_of(base, *new, **options):
    found = compare_all(base, list(new), ComparisonSettings(**options))
    return render_comparison(Report.read(base), [Report.read(one) for one in new], found)


def words(page):
    """Return what a reader sees, without the style sheet, the data and the script."""
    body = re.sub(
        r"<(style|script)\b.*?</\1>",
        " ",
        page.split("<body>")[1].replace("<wbr>", ""),
        flags=re.DOTALL,
    )
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def data_of(page):
    (text,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def test_what_got_worse_is_said_with_its_figures(run):
    page = words(page_of(run("main", BASE, **OPTIONS), run("pr", NEW, **OPTIONS)))

    assert "pr against main" in page
    assert "Worse: worth" in page
    assert "12 cases in both runs; in 5 of them the answer is the same." in page
    assert "−0.117 [−0.198, −0.033] ▼ worse" in page
    assert "7 got worse, 0 better" in page
    assert "p is adjusted (Holm) for 2 tests of metrics" in page
    assert re.search(r"paired t: standard error 0\.\d{3}, t -\d\.\d\d with 11 degrees of", page)
    assert "12 cases detect a true difference of" in page
    assert "2 pass → fail, 0 fail → pass" in page
    # Criteria: the one that moved first.
    assert page.index("facts 0.900") < page.index("tone 0.800")


def test_slices_and_the_mean_over_them_are_a_table(run):
    options = {**OPTIONS, "metadata": lambda id: {"topic": "ab"[int(id[1:]) % 2]}}
    page = words(page_of(run("main", BASE, **options), run("pr", NEW, **options), by="topic"))

    assert "Slices by topic; the mean over them counts each alike" in page
    assert re.search(r"mean over slices 0\.\d{3} 0\.\d{3} −0\.\d{3} \[.+?\] 0\.0\d{2} 12", page)
    assert "Slices by" not in words(page_of(run("m", BASE, **OPTIONS), run("p", NEW, **OPTIONS)))


def test_verdicts_that_turned_over_stand_in_a_matrix(run):
    page = page_of(run("main", BASE, **OPTIONS), run("pr", {**NEW, "c11": None}, **OPTIONS))

    (matrix, facts, tone) = re.findall(r'<table class="flips">.*?</table>', page, re.DOTALL)
    assert "worth , at 0.60 new: pass fail no score base: pass 9 2 1" in words(f"<body>{matrix}")
    assert "facts , at 0.60" in words(f"<body>{facts}")
    assert "base: pass 7 4 1" in words(f"<body>{facts}")
    assert "base: pass 11 0 1" in words(f"<body>{tone}")


def test_regressions_come_with_both_answers_and_both_reasons(run):
    page = page_of(run("main", BASE, **OPTIONS), run("pr", NEW, **OPTIONS))

    ids = re.findall(r'<h4><a href="#case=(c\d\d)">', page)
    assert ids == ["c07", "c06", "c05"]
    first = words("<body>" + page.split('<article class="regression">')[1].split("</article>")[0])
    assert "[taken out: 9 ]" in first
    assert "[put in: 2" in first
    assert "worth 0.85 worth 0.85 0.50 worth 0.5" in first
    assert "facts 0.90 facts is 0.9 0.20 facts is 0.2" in first
    assert "tone is" not in first


def test_what_cannot_be_compared_is_said_first(run):
    made = {"rubric": "tone", "version": 1, "digest": "1" * 64, "model": "m"}
    metrics = [Marked(), Marked("tone", made_with=made)]
    other = [Marked(), Marked("tone", made_with=made | {"digest": "2" * 64})]
    base = run("main", {**BASE, "gone": 0.5, "asked": 0.5}, metrics=metrics)
    new = run("pr", {**NEW, "come": 0.5, "asked": 0.5}, metrics=other, inputs={"asked": "else"})

    page = page_of(base, new)
    text = words(page)

    head = text[: text.index("Differences")]
    assert "tone cannot be compared: the rubric differs" in head
    assert "1 case is only in the base: gone." in head
    assert "1 case is only in the new run: come." in head
    assert "1 case with the same id is another case" in head
    fates = {case["id"]: case["fate"][0] for case in data_of(page)["cases"]}
    assert fates["gone"] == "only_base"
    assert fates["come"] == "only_new"
    assert fates["asked"] == "other"
    assert fates["c07"] == "worse"
    assert fates["c00"] == "same"


def test_one_set_of_answers_is_said_to_be_one(run):
    page = words(page_of(run("main", BASE), run("again", BASE), allow_same=True))

    assert "Both runs have the same answers and the same replies about them." in page
    assert "No case got worse." in page


def test_of_several_runs_there_is_a_table(run):
    runs = run("main", BASE), run("pr-1", NEW), run("pr-2", BASE)

    page = words(page_of(*runs, allow_same=True))

    assert "2 runs against main" in page
    assert "Metric main base pr-1 pr-2 worth 0.850 0.733 −0.117 ▼ worse 0.850 0.000" in page
    assert "pr-1 against main Dot:" in page
    assert "pr-2 against main Dot:" in page


def test_models_are_columns_with_their_names(run):
    def by(model):
        return {"metadata": lambda _: {"answered": {"output": {"model": model}}}}

    runs = [run(f"r{n}", answers, **by(f"lab/m{n}")) for n, answers in enumerate((BASE, NEW))]
    third = run("r2", BASE, manifest={"answered_by": "lab/<m2>"})
    page = page_of(*runs, third, allow_same=True)

    assert "2 models against lab/m0" in words(page)
    assert "Metric lab/m0 base lab/m1 lab/<m2> worth 0.850 0.733" in words(page)
    assert "worth: cases on which the models differ most" in words(page)
    assert "Case lab/m0 lab/m1 lab/<m2> c07 0.85 0.50 0.85 c06 0.85 0.55 0.85" in words(page)
    same = page_of(runs[0], *(run(name, NEW, **by("lab/m0")) for name in ("r3", "r4")))
    assert "2 runs against r0" in words(same)


def test_what_changed_between_the_runs_is_listed(run):
    made = {"rubric": "tone", "version": 1, "digest": "1" * 64, "model": "small"}
    base = run("main", BASE, metrics=[Marked(made_with=made)], manifest={"judgekit": "0.0.1"})
    new = run("pr", NEW, metrics=[Marked(made_with=made | {"model": "large"})])

    page = words(page_of(base, new))

    assert "metrics.worth.made_with.model small large" in page
    assert "judgekit 0.0.1 0.1.0" in page
    assert "both the answers and the judge differ (small, then large)" in page


def test_words_that_changed_in_a_rubric_are_marked():
    changed = "@@ -1,3 +1,3 @@\n [system]\n-Be very kind.\n+Be very strict."

    pieces = unfolded(f"--- base\n+++ new\n{changed}\n@@ -9 +9 @@\n+More.")

    assert [(piece.sign, piece.text) for piece in pieces] == [
        ("=", "[system]\n"),
        ("=", "Be very "),
        ("-", "kind"),
        ("+", "strict"),
        ("=", ".\n"),
        ("=", "⋯\n"),
        ("+", "More.\n"),
    ]


def test_an_answer_is_kept_as_edits_of_the_other():
    assert payload.script("a 👍🏽 b", "a 👍🏽 c") == [7, -1, "c"]  # in units of UTF-16


def test_large_pages_keep_the_texts_of_what_changed(run, monkeypatch):
    monkeypatch.setattr(payload, "ALL", 5)
    page = page_of(run("main", BASE), run("pr", NEW))

    kept = {case["id"] for case in data_of(page)["cases"] if "said" in case}
    assert kept == {f"c{n:02}" for n in range(1, 8)}
    assert "Of 12 cases, this page keeps the texts of 7" in words(page)


def test_texts_are_kept_as_far_as_there_is_room(run, monkeypatch):
    monkeypatch.setattr(payload, "MOST", 500)
    page = page_of(run("main", {**BASE, "long": 0.1}, inputs={"long": "x" * 600}),
                   run("pr", {**NEW, "long": 0.0}, inputs={"long": "x" * 600}))  # fmt: skip

    kept = {case["id"] for case in data_of(page)["cases"] if "said" in case}
    assert "c07" in kept
    assert "long" not in kept
    assert len(kept) < 7


def test_a_very_large_comparison_lists_what_changed_most(run, monkeypatch):
    monkeypatch.setattr(payload.make_payload, "__kwdefaults__",
                        {**payload.make_payload.__kwdefaults__, "most": 5})  # fmt: skip
    base, new = run("main", BASE, **OPTIONS), run("pr", NEW, **OPTIONS)

    page = page_of(base, new)

    data = data_of(page)
    assert [case["id"] for case in data["cases"]] == ["c03", "c04", "c05", "c06", "c07"]
    assert data["of"] == 12
    assert "Of 12 cases, this page keeps the 5 that changed most" in words(page)
    assert "7 got worse, 0 better" in words(page)
    assert page_of(base, new) == page


def test_the_data_of_a_very_large_comparison_are_bounded(run, monkeypatch):
    monkeypatch.setattr(payload.make_payload, "__kwdefaults__",
                        {**payload.make_payload.__kwdefaults__, "most": 8})  # fmt: skip
    monkeypatch.setattr(payload, "MOST_PACKED", 4_000)
    base, new = run("main", BASE, **OPTIONS), run("pr", NEW, **OPTIONS)

    data = data_of(page_of(base, new))

    assert 1 <= len(data["cases"]) < 8
    assert len(json.dumps(data)) < 5_000


def test_the_same_runs_give_the_same_page(run, tmp_path):
    base, new = run("main", BASE), run("pr", NEW)

    assert page_of(base, new) == page_of(base, new)
    found = compare(base, new)
    path = write_comparison(
        Report.read(base), [Report.read(new)], [found], tmp_path / "a" / "p.html"
    )
    assert path.read_text(encoding="utf-8") == page_of(base, new)
    assert found.to_html(tmp_path / "b.html").read_bytes() == path.read_bytes()


def test_nothing_of_the_page_comes_from_elsewhere(run):
    page = page_of(run("main", BASE), run("pr", NEW))

    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in unescape(policy)
    assert "connect-src 'none'" in unescape(policy)
    assert not re.search(r"""(?:src|href)=["']?(?!#|data:)[\w/]""", page)


def test_runs_are_called_by_what_tells_them_apart(tmp_path, run):
    reports = [Report.read(run(name, {"a": 0.5})) for name in ("x/main", "y/main", "pr")]

    assert names_of(reports) == ["x/main", "y/main", "pr"]
    assert names_of([Report(reports[0].figures), reports[2]]) == ["base", "pr"]


def made_by(model: str, version: int = 1) -> dict[str, Any]:
    digest = str(version) * 16
    return {"rubric": "worth", "version": version, "digest": digest, "model": model}


def test_runs_are_named_by_the_judge_and_the_rubric_that_differ(run):
    folders = [
        run(name, BASE, metrics=[Marked(made_with=made_by(model, version))])
        for name, model, version in (("a", "small", 1), ("b", "large", 1), ("c", "large", 2))
    ]
    small, large, newer = map(Report.read, folders)

    assert names_of([small, large]) == ["small", "large"]
    assert names_of([large, newer]) == ["worth@1 11111111", "worth@2 22222222"]
    assert names_of([small, large, newer])[0] == "small, worth@1 11111111"
    assert len(set(names_of([small, large, newer]))) == 3
    found = compare(folders[0], folders[1], allow_same=True)
    assert "large against small" in words(render_comparison(small, [large], [found]))


def test_a_comparison_of_runs_in_no_folder_has_no_page(run):
    report = Report.read(run("main", BASE))
    loose = Report(report.figures, results=list(report.results))

    with pytest.raises(ConfigError, match="in a folder"):
        compare(loose, run("pr", NEW)).to_html("page.html")


@pytest.mark.parametrize("flags", [(), ("--json",), ("--markdown",)])
def test_the_verb_writes_the_page(run, tmp_path, flags):
    out = tmp_path / "there" / "page.html"
    arguments = [str(run("main", BASE)), str(run("pr", NEW)), "--out", str(out), *flags]

    done = CliRunner().invoke(app, ["compare", *arguments])

    assert done.exit_code == 0, done.output
    assert "pr against main" in words(out.read_text(encoding="utf-8"))
    assert f"page: {out}" in (done.stderr if flags else done.stdout)
    if flags == ("--json",):
        json.loads(done.stdout)


def test_a_page_that_cannot_be_written_is_one_line(run, tmp_path):
    arguments = ["compare", str(run("main", BASE)), str(run("pr", NEW)), "-o", str(tmp_path)]

    done = CliRunner().invoke(app, arguments)

    assert isinstance(done.exception, ConfigError)
    assert "is a folder; name a file" in str(done.exception)
    assert Path(tmp_path).is_dir()


SETS = {"a": "Names the dose", "b": "Names the day", "c": "Names the day"}


@pytest.mark.parametrize(
    ("across", "length", "fates"),
    [
        (False, False, ["other", "worse", "worse"]),
        (False, True, ["same", "worse", "worse"]),
        (True, True, ["worse", "worse", "worse"]),
    ],
)
def test_a_case_with_other_criteria_is_neither_better_nor_worse(tmp_path, across, length, fates):
    for name, first in (("base", SETS["a"]), ("new", "Is short")):
        cases = [
            Case(id=id, output=name, criteria=[Criterion(text, 1)])
            for id, text in (SETS | {"a": first}).items()
        ]
        answer = {"c1": {"reason": name, "quotes": [], "value": name == "base"}}
        judge = FakeJudge(lambda _, answer=answer: answer)
        metrics = [create_metric("points", judge=judge, calls="all")]
        metrics += [create_metric("length", maximum=5)] if length else []
        evaluate_sync(cases, metrics, thresholds={"points": 0.5}, out=tmp_path / name)

    page = page_of(tmp_path / "base", tmp_path / "new", tmp_path / "new", across_rubrics=across)

    lines = data_of(page)["cases"]
    assert [line["fate"] for line in lines] == [[fate, fate] for fate in fates]
    place = [name["name"] for name in data_of(page)["metrics"]].index("points")
    assert [line.get("left_out") for line in lines] == [
        None if across else [[place], [place]], None, None,
    ]  # fmt: skip
    read = words(page)
    worse = fates.count("worse")
    assert f"{worse} of 3 cases got worse" in read
    # The table of verdicts leaves the case out, too.
    one = page_of(tmp_path / "base", tmp_path / "new", across_rubrics=across)
    table = re.search(r'<table class="flips">.*?</table>', one, re.DOTALL)[0]
    assert f"base: pass 0 {worse} " in words(f"<body>{table}")
