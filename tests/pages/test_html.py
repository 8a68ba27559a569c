from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CassetteCorrupt, ConfigError
from judgekit.core.score import Failure, Part, Score
from judgekit.datasets.ids import derive_id
from judgekit.pages.analysis import SCRIPTS as RANKING_SCRIPTS
from judgekit.pages.comparison.page import SCRIPTS as COMPARISON_SCRIPTS
from judgekit.pages.figures import number, percent, weight
from judgekit.pages.html import ASSETS
from judgekit.pages.run.facts import dollars
from judgekit.pages.run.page import SCRIPTS, render_page, write_page
from judgekit.pages.run.payload import ALL, KEPT
from judgekit.report.export.target import named
from judgekit.report.folder import TAPE
from judgekit.report.report import Report


class Page(HTMLParser):
    """What a browser would make of a page, as far as these tests need to know."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside: dict[str, list[str]] = {"style": [], "script": []}
        self._open = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in self.inside:
            self._open = tag
            self.inside[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inside[self._open][-1] += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def policy(self) -> str:
        return next(
            a["content"] or ""
            for t, a in self.tags
            if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
        )


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'id="data" data-compressed="(yes|no)">([^<]*)</script>', html)
    assert found
    if found[1] == "no":
        return json.loads(found[2])
    lead, whole = zlib.decompress(base64.b64decode(found[2])).split(b"\n")
    return json.loads(lead) | json.loads(whole)


def one(runs: SimpleNamespace, **more: Any) -> Report:
    return runs.report_of([(Case(id="a", output="x"), {"helpful": runs.judged(0.5)})], **more)


# -- one file, closed to everything else --------------------------------------------


def test_policy_allows_only_what_the_page_brings(rich: Report) -> None:
    page = Page(render_page(rich))

    data, script = page.inside["script"]
    [style] = page.inside["style"]
    directives = dict(d.strip().split(" ", 1) for d in page.policy.split(";"))

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == hashed(script)
    assert directives["style-src"] == hashed(style)
    assert "unsafe" not in page.policy
    assert json.loads(data)["cases"]


def test_page_names_no_other_file(rich: Report) -> None:
    page = Page(render_page(rich))

    for tag, attributes in page.tags:
        assert tag not in {"img", "iframe", "object", "embed", "base", "form"}
        assert "src" not in attributes
        assert "style" not in attributes  # the policy would block it
        assert not [name for name in attributes if name.startswith("on")]
        href = attributes.get("href") or "#"
        assert href.startswith("#") or (tag, href) == ("link", "data:,")
    assert "url(" not in page.inside["style"][0]
    assert "@import" not in page.inside["style"][0]


def test_script_never_parses_markup_or_code() -> None:
    for path in (ASSETS / "script").rglob("*.js"):
        source = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                     "Function(", "DOMParser", "createContextualFragment", "fetch(",
                     "XMLHttpRequest", "</script", "<!--"):  # fmt: skip
            if (word, path.parent.name) != ("fetch(", "view"):  # a server may be asked
                assert word not in source, f"{path.name}: {word}"


def test_every_piece_of_script_is_joined() -> None:
    folder = ASSETS / "script"
    every = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.js")}
    used = {
        *SCRIPTS,
        *COMPARISON_SCRIPTS,
        *RANKING_SCRIPTS,
        "view/list",
        "view/live",
        "view/served",
        "view/windows",
    }
    assert used == every


@pytest.mark.parametrize("pieces", [(*SCRIPTS, "view/served"), COMPARISON_SCRIPTS])
def test_pieces_of_a_script_share_no_name(pieces: tuple[str, ...]) -> None:
    text = "\n".join((ASSETS / "script" / f"{piece}.js").read_text() for piece in pieces)
    names = re.findall(r"^(?:async )?(?:function|const|let) (\w+)", text, re.MULTILINE)

    assert [name for name in set(names) if names.count(name) > 1] == []


HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">\u2028&amp;\u202e'


def test_hostile_text_stays_text(runs: SimpleNamespace) -> None:
    case = Case(id=HOSTILE, input=HOSTILE, output=HOSTILE, metadata={HOSTILE: HOSTILE})
    report = runs.report_of(
        [(case, {HOSTILE: runs.judged(0.1, reason=HOSTILE)}),
         (Case(id="b"), {HOSTILE: Failure(kind="refused", message=HOSTILE)})],
        manifest={"suite": {"name": HOSTILE, "description": HOSTILE}, "notice": HOSTILE},
        incomplete=(HOSTILE,),
        run={"origins": {"live": 1}, HOSTILE: HOSTILE},
    )  # fmt: skip

    html = render_page(report)

    page = Page(html)
    assert len(page.inside["script"]) == 2
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert "\u202e" not in html.replace(page.inside["script"][0], "")
    assert "⟨U+202E⟩" in page.text
    data = data_of(html)
    assert data["cases"][0]["input"] == HOSTILE
    assert data["cases"][0]["metadata"] == {HOSTILE: HOSTILE}
    assert data["metrics"][0]["name"] == HOSTILE


def test_hostile_text_stays_text_when_compressed(runs: SimpleNamespace) -> None:
    rows = [
        (Case(id=f"{n}", input=HOSTILE + "x" * 600), {"m": runs.judged(0.5)}) for n in range(2000)
    ]

    html = render_page(runs.report_of(rows))

    assert 'data-compressed="yes"' in html
    assert data_of(html)["cases"][7]["input"].startswith(HOSTILE)


def test_odd_manifests_do_no_harm(runs: SimpleNamespace) -> None:
    for manifest in ({"metrics": 3}, {"metrics": [1, {"name": "helpful", "made_with": "x"}]},
                     {"suite": "plain"}, {"suite": []}, {"notice": {"a": 1}},
                     {"metrics": [{"name": "helpful", "made_with": {"rubric": "r"}}]}):  # fmt: skip
        assert "helpful" in render_page(one(runs, manifest=manifest))


def test_unseen_characters_are_named() -> None:
    assert named("a\u202eb\x00c\u200bd\U000e0041") == "a⟨U+202E⟩b⟨U+0000⟩c⟨U+200B⟩d⟨U+E0041⟩"
    assert named("שלום 👩‍🚒 e\u0301\n\t") == "שלום 👩‍🚒 e\u0301\n\t"


# -- what it says ---------------------------------------------------------------------


def test_verdict_follows_the_exit_code(runs: SimpleNamespace) -> None:
    held = {"helpful": {"mean": 0.1}}
    missed = {"helpful": {"mean": 0.9}}

    def verdict(**more: Any) -> str:
        return re.search(r'<p class="word">(.*?)</p>', render_page(one(runs, **more)))[1]  # type: ignore[index]

    assert verdict(gates=held) == "Pass"
    assert verdict(gates=missed) == "Gate missed"
    assert verdict(gates={"helpful": {"mean": 0.9, "min": 0.1}}) == "1 of 2 gates missed"
    assert verdict(gates=missed, incomplete=("stopped early",)) == "Incomplete"
    assert verdict() == "Complete"


def test_order_is_verdict_then_cases_then_figures_then_the_run(rich: Report) -> None:
    html = render_page(rich)

    order = ['aria-label="Verdict"', 'id="cases"', 'class="worst-cases"', 'id="browser"',
             'id="figures"', 'id="slices"', 'id="about"', "Digest of the cases"]  # fmt: skip
    places = [html.index(part) for part in order]
    assert places == sorted(places)
    about = html[html.index('id="about"') :]
    assert re.search(r"<details><summary><h2[^>]*>About this run", about)
    for fact in ("Started", "Took", "Avoided", "record mode"):
        assert fact not in html[: html.index('id="about"')].replace("\n", "")


def test_a_run_that_passes_says_how_many_cases_fail(runs: SimpleNamespace) -> None:
    rows: list[Any] = [
        (Case(id=f"c{n}", input=f"Question {n}"),
         {"helpful": runs.judged(n / 10, reason=f"Why {n}."), "brief": Score(value=1.0)})
        for n in range(10)
    ]  # fmt: skip
    rows[9][1]["brief"] = Failure(kind="refused", message="I will not.")
    report = runs.report_of(rows, thresholds={"helpful": 0.35}, gates={"helpful": {"mean": 0.2}})

    html = render_page(report)

    text = Page(html).text
    assert '<section class="verdict mixed"' in html
    assert "Pass 5 of 10 cases fail" in text
    assert "1 case: refused brief" in text
    assert re.search(r"helpful ↑ 0.450 \[[^]]*\] 60 % 4 of 10 below 0.35 0 ✓ mean 0.2", text)
    assert re.search(r"brief ↑ 1.000 \[[^]]*\] – 1 –", text)
    assert "The gate holds helpful: mean 0.450" in text
    worst = html[html.index('class="worst-cases"') : html.index("</ol>")]
    assert re.findall(r"<bdi>(.*?)</bdi>", worst) == ["c0", "c1", "c2"]
    assert "0.00 &lt; 0.35" in worst
    assert "Why 0." in worst
    assert data_of(html)["order"] == [0, 1, 2, 3, 9, 4, 5, 6, 7, 8]


def test_a_run_without_a_failing_case_is_green(runs: SimpleNamespace) -> None:
    rows = [(Case(id=f"c{n}"), {"helpful": runs.judged(0.8)}) for n in range(3)]

    passing = render_page(
        runs.report_of(rows, thresholds={"helpful": 0.5}, gates={"helpful": {"mean": 0.5}})
    )
    unbound = render_page(runs.report_of(rows))

    assert '<section class="verdict pass"' in passing
    assert "Pass All 3 cases pass" in Page(passing).text
    assert "cases pass" not in Page(unbound).text
    assert re.search(r"Complete .*helpful ↑ 0.800", Page(unbound).text)


def test_a_derived_id_comes_with_the_place_of_its_row(runs: SimpleNamespace) -> None:
    cases = [Case(id="x", output=text) for text in ("one", "two")]
    first, second = (case.model_copy(update={"id": derive_id(case)}) for case in cases)
    rows = [(case, {"helpful": runs.judged(0.1)}) for case in (first, second, Case(id="own"))]
    report = runs.report_of(rows)
    report.places[second.id] = "cases.csv:3"

    html = render_page(report)

    assert [case.get("place") for case in data_of(html)["cases"]] == [
        "case 1", "cases.csv:3", None,
    ]  # fmt: skip
    assert f"{second.id} cases.csv:3" in Page(html).text


def test_noise_is_left_out(runs: SimpleNamespace) -> None:
    text = Page(render_page(one(runs, run={"spent": 0.0, "avoided": 0.0}))).text

    for noise in ("computed", "0 fallback", "Avoided", "Spent", "from the store"):
        assert noise not in text.partition("Manifest")[0]


def test_head_says_what_the_run_was(rich: Report) -> None:
    text = Page(render_page(rich)).text

    assert "support Five conversations." in text
    assert "Note Verdicts authored to illustrate this example; no model judged it." in text
    assert "1 rows failed (0 allowed)" in text
    assert "helpful: pass rate 0.500 [too few: 2 of the 5 values that an interval needs]" in text
    assert "Judge fake/judge" in text
    assert "helpful@2 7c499fd7" in text
    replies = "1 live, 5 from the tape record mode new_episodes"
    assert f"{replies}, 2 recorded but not used" in text
    assert "Started 2026-01-02 03:04 UTC" in text
    assert "5 cases · judge fake/judge · 2026-01-02" in text
    assert "Spent unknown" in text
    assert "Avoided $0.0125" in text
    assert "ab" * 32 in text


def test_makers_are_those_the_results_name(runs: SimpleNamespace) -> None:
    meta = {"rubric": "tone", "version": 3, "digest": "feedbeef" * 2, "model": "other/judge"}
    rows = [
        (Case(id="a"), {"wrapped": runs.judged(0.5, meta=meta), "brief": Score(value=1.0)}),
        (Case(id="b"), {"wrapped": runs.judged(0.5, meta=meta), "brief": Score(value=1.0)}),
    ]
    manifest = {"metrics": [{"name": "wrapped", "type": "WithFallback"}]}

    text = Page(render_page(runs.report_of(rows, manifest=manifest))).text

    assert "Judge other/judge Rubric tone@3 feedbeef" in text
    assert "wrapped judged by other/judge, rubric tone@3 · higher is better 0.5" in text
    assert "brief computed · higher is better 1.0" in text
    assert "WithFallback" not in text.partition("Manifest")[0]


def test_an_unknown_price_is_never_zero(runs: SimpleNamespace) -> None:
    assert dollars(None) == "unknown"
    assert dollars(0) == "$0.00"
    assert dollars(12.345) == "$12.35"
    said = Page(render_page(one(runs, run={"spent": 0.01, "unpriced": 3}))).text
    assert "$0.0100 + 3 of unknown price" in said


def test_card_says_where_numbers_come_from(rich: Report) -> None:
    text = Page(render_page(rich)).text

    assert "4.70 too few for an interval n = 2" in text  # scaled
    assert "50 % pass · 1 of 2 at ≥ 5.00" in text
    assert "Only 2 scored: too few for an interval (2 of the 5 values that" in text
    assert "2 judged 1 fallback 1 abstained 1 failed 1 value" in text
    assert (
        "1 value came from a fallback and is not in the mean; with it the mean would be 4.13"
        in text
    )
    assert "1 refused. First: rude: the judge declined: I will not." in text
    assert "lower is better" in text
    assert "no fixed range" in text


def test_metric_without_a_score_shows_none(runs: SimpleNamespace) -> None:
    report = runs.report_of([(Case(id="a"), {"helpful": Failure(kind="empty", message="no text")})])

    text = Page(render_page(report)).text

    assert "Nothing was scored." in text
    assert "1 empty. First: a: no text" in text


def test_no_cases_make_a_page(runs: SimpleNamespace) -> None:
    assert "no cases" in render_page(runs.report_of([], incomplete=("no cases",)))


def test_numbers_are_written_as_people_read_them() -> None:
    assert [number(v) for v in (0.025, -0.015, 12345.6, None)] == ["0.03", "-0.01", "12,346", "–"]
    assert [percent(v) for v in (0.647, 0.999, 0.001, 0.0, 1.0, None)] == [
        "65 %", ">99 %", "<1 %", "0 %", "100 %", "–",
    ]  # fmt: skip
    assert [weight(v) for v in (0.28, -0.5, 0.125)] == ["28 %", "−50 %", "12.5 %"]


# -- data -------------------------------------------------------------------------------


def test_prompts_and_replies_come_from_the_tape(rich: Report) -> None:
    data = data_of(render_page(rich))

    asked = data["cases"][0]["asked"]
    [record] = asked.values()
    assert data["prompts"] == "all"
    assert data["texts"][record["messages"][0][1]] == "You judge answers.\nBe literal."
    assert record["messages"][1][1].endswith("Returns are free within 30 days.")
    assert json.loads(record["tries"][0]["text"])["truth"]["value"] == 0.9
    assert record["cost"] is None
    [refused] = data["cases"][2]["asked"].values()
    assert [t.get("refusal") for t in refused["tries"]] == [None, "I will not."]
    assert refused["usage"] == [321, 12]


def test_page_works_without_a_tape(runs: SimpleNamespace) -> None:
    html = render_page(one(runs))

    assert data_of(html)["prompts"] == "none"
    assert "holds no <code>tape.jsonl</code>" in html


def test_a_key_that_is_none_finds_nothing(tmp_path: Path, runs: SimpleNamespace) -> None:
    runs.write_tape(tmp_path, {"x": "{}"})
    report = runs.report_of(
        [(Case(id="a"), {"helpful": runs.judged(0.5, "not a key")})], folder=tmp_path
    )

    assert data_of(render_page(report))["cases"][0]["asked"] == {}


def test_a_damaged_tape_is_an_error(tmp_path: Path, runs: SimpleNamespace) -> None:
    report = runs.make_rich(tmp_path)
    tape = tmp_path / TAPE
    tape.write_text(tape.read_text().replace("I will not", "I will now"))

    with pytest.raises(CassetteCorrupt):
        render_page(report)


def test_large_pages_keep_prompts_of_the_worst(tmp_path: Path, runs: SimpleNamespace) -> None:
    n = ALL + 1
    keys = runs.write_tape(tmp_path, {f"text {i}": "{}" for i in range(n)})
    rows: list[Any] = [
        (Case(id=f"c{i}"), {"helpful": runs.judged((n - i) / n, keys[f"text {i}"])})
        for i in range(n)
    ]
    failure = Failure(kind="truncated", message="cut off", key=keys["text 3"])
    rows[3] = (Case(id="c3"), {"helpful": failure})

    html = render_page(runs.report_of(rows, folder=tmp_path))

    kept = [n for n, case in enumerate(data_of(html)["cases"]) if "asked" in case]
    assert len(kept) == KEPT
    assert kept[0] == 3  # failed
    assert kept[1:] == list(range(n - KEPT + 1, n))  # lowest
    assert "of the 500 worst" in html


def test_answers_that_parts_repeat_are_left_out(rich: Report) -> None:
    rows = data_of(render_page(rich))["cases"][0]["rows"]

    assert rows["helpful"]["parts"][0]["quotes"][3] == {"text": "we never take anything back"}
    assert "answers" not in rows["helpful"]["judgments"][0]
    assert rows["helpful"]["judgments"][0]["repairs"] == ["fence"]


def test_shared_texts_are_stored_once(runs: SimpleNamespace) -> None:
    html = render_page(runs.report_of(runs.simple_rows(50)))

    assert len(data_of(html)["texts"]) == 1
    assert html.count("You are a helper. You are a helper.") == 10  # one text of twenty


def test_same_run_makes_the_same_bytes(tmp_path: Path, runs: SimpleNamespace) -> None:
    report = runs.make_rich(tmp_path)

    first = write_page(report, tmp_path / "a.html").read_bytes()
    second = write_page(report, tmp_path / "made" / "b.html").read_bytes()

    assert first == second
    assert b"\r" not in first


def test_five_thousand_cases_stay_small(tmp_path: Path, runs: SimpleNamespace) -> None:
    path = write_page(runs.report_of(runs.simple_rows(5000)), tmp_path / "page.html")

    assert path.stat().st_size < 2_000_000


def test_page_goes_beside_the_results(tmp_path: Path, runs: SimpleNamespace) -> None:
    assert runs.make_rich(tmp_path).to_html() == tmp_path / "report.html"


def test_a_page_that_cannot_be_written_is_an_error(tmp_path: Path, runs: SimpleNamespace) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot be written"):
        write_page(one(runs), tmp_path / "file" / "page.html")


def test_means_of_unbounded_metrics_have_an_axis(runs: SimpleNamespace) -> None:
    rows = [(Case(id="a"), {"length": Score(value=7.0)})]

    html = render_page(runs.report_of(rows, ranges={"length": (0.0, float("inf"))}))

    assert 'viewBox="0 42 320 42"' in html


def test_banner_says_what_is_not_known(runs: SimpleNamespace) -> None:
    rows = [(Case(id=str(n)), {"helpful": runs.judged(n / 10)}) for n in range(10)]
    report = runs.report_of(
        rows,
        gates={"helpful": {"mean": 0.5, "undecided": "pass"}},
        manifest={"gates_not_checked": ["safety"]},
    )

    html = render_page(report)

    text = Page(html).text
    assert "cannot tell yet by its interval whether at least 0.5" in text
    assert '<li class="open">helpful: mean 0.450' in html
    assert '<p class="doubt">not compared with people: the judge of helpful' in html
    assert "Gates not checked without a judge: safety." in text
    assert "Only 10 scored: the interval is wide" in text


def test_a_metric_that_tells_nothing_apart_is_said_to_be_saturated(runs: SimpleNamespace) -> None:
    part = Part(id="polite", value=1.0, weight=1.0)
    rows = [(Case(id=str(n)), {"m": runs.judged(1.0, parts=(part,))}) for n in range(12)]

    text = Page(render_page(runs.report_of(rows))).text

    assert "Saturated: 100 % of its values are at the top of its range" in text
    assert "polite nearly all at the top" in text


def test_slices_stand_on_the_page_without_script(runs: SimpleNamespace) -> None:
    text = Page(render_page(runs.report_of(runs.simple_rows(60)))).text

    assert "Figures by topic" in text
    assert re.search(r"blue 20 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\] n 20", text)
    assert "Figures by serial" not in text
