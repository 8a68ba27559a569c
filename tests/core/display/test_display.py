"""What notebooks and prompts are given: escaped, inert, short, and saying what is left out."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import judgekit
from judgekit.core.case import Case
from judgekit.core.display.html import to_html
from judgekit.core.display.markdown import to_markdown
from judgekit.core.display.parts import DisplayBar, DisplayLine, DisplayTable, cut
from judgekit.core.display.text import to_text
from judgekit.core.score import Failure, Part, Score
from tests.core.display.shows import KINDS, case_of, everything, score_of

PLAIN = "Rain is wet."
HOSTILE = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "</td></tr></table><h1>out</h1>",
    '"><svg/onload=alert(1)>',
    "' onmouseover='alert(1)",
    "&lt;script&gt;&#60;b&#62;",
    "$\\href{javascript:alert(1)}{x}$ $$x$$",
    "{{ 7 * 7 }} {% raw %}",
    "\u202egnp.exe \u2066x\u2069 \x1b[31mred\x1b[0m \x00 \x07",
    "<!-- --><![CDATA[ ]]> <?php ?>",
)
TAGS = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "span"}
ATTRIBUTES = {"style", "scope", "aria-hidden"}


class Reader(HTMLParser):
    """Reads HTML strictly: what it opens it closes, and nothing else is in it than may be."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        for _, value in attrs:
            assert "url(" not in value
            assert "expression" not in value
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    handle_decl = handle_pi = unknown_decl = handle_comment


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader.text


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return everything(PLAIN, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return everything(" ".join(HOSTILE), tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    return everything("A long story. " * 4000, tmp_path_factory.mktemp("long"))


@pytest.mark.parametrize("kind", KINDS)
def test_all_of_them_are_shown(kind, plain):
    shown = plain[kind]._repr_mimebundle_()

    assert set(shown) == {"text/plain", "text/html"}
    assert shown["text/html"] == plain[kind]._repr_html_()
    text = read(shown["text/html"])
    if kind != "suite":
        assert PLAIN in text
        assert PLAIN in " ".join(shown["text/plain"].split())
    assert all(len(line) <= 88 for line in shown["text/plain"].splitlines())


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_text_is_text(kind, hostile):
    shown = hostile[kind]._repr_mimebundle_()

    text = read(shown["text/html"])
    assert "$" not in shown["text/html"]
    assert not set(map(chr, [*range(9), 0x1B, 0x202E, 0x2066])) & set(text)
    assert not set(map(chr, [*range(9), 0x1B, 0x202E, 0x2066])) & set(shown["text/plain"])
    if kind not in ("suite", "rubric"):
        assert "<script>document.title='owned'</script>" in text


@pytest.mark.parametrize("kind", KINDS)
def test_long_text_is_cut_and_counted(kind, long):
    shown = long[kind]._repr_mimebundle_()

    assert len(shown["text/html"]) < 60_000
    assert len(shown["text/plain"]) < 30_000
    if kind != "suite":
        assert "more" in read(shown["text/html"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_repr_is_one_short_line(kind, long):
    line = repr(long[kind])

    assert "\n" not in line
    assert len(line) < 20_000
    assert line.startswith(type(long[kind]).__name__)


def test_a_repr_leaves_out_what_is_not_given():
    assert repr(Case(id="a", input="q")) == "Case(id='a', input='q')"
    assert repr(Failure(kind="refused", message="no")) == "Failure(kind='refused', message='no')"
    assert repr(Score(value=0.5)) == "Score(value=0.5)"
    assert (
        repr(Case(id="a", input="x" * 100)) == f"Case(id='a', input='{'x' * 80}'… (100 characters))"
    )
    many = repr(Score(value=1.0, parts=[Part(id=f"p{n}") for n in range(9)]))
    assert many.count("Part(") == 6
    assert "… (9)" in many


def test_a_report_of_many_cases_shows_the_worst_and_reads_no_results(tmp_path):
    class Long:
        name, range, higher_is_better = "length", (0.0, 1.0), True

        async def score(self, case):
            number = int(case.id)
            return Score(value=number % 100 / 100, reason=f"number {number}")

    cases = (Case(id=str(number)) for number in range(5000))
    judgekit.evaluate_sync(cases, [Long()], out=tmp_path / "run")
    (tmp_path / "run" / "results.jsonl").write_text("gone")
    report = judgekit.Report.read(tmp_path / "run")

    html = report._repr_html_()

    assert "5 worst results, of 5,000 cases" in read(html)
    assert html.count("<tr>") == 8
    assert len(html) < 10_000
    assert "number 100" in html


def test_many_metrics_and_gates_are_counted():
    class One:
        range, higher_is_better = (0.0, 1.0), True

        def __init__(self, name):
            self.name = name

        async def score(self, case):
            return Score(value=0.5)

    names = [f"metric{n}" for n in range(40)]
    report = judgekit.evaluate_sync(
        [Case(id="a")], [One(n) for n in names], gates={n: {"mean": 0.9} for n in names}
    )

    text = read(report._repr_html_())

    assert "20 more metrics: report.to_pandas(per='run')" in text
    assert "25 more gates" in text
    assert len(report._repr_html_()) < 40_000


def test_what_was_missed_comes_first():
    class One:
        name, range, higher_is_better = "m", (0.0, 1.0), True

        async def score(self, case):
            return Score(value=0.5)

    gates = {"m": [{"mean": 0.1}, {"mean": 0.9}]}
    text = read(judgekit.evaluate_sync([Case(id="a")], [One()], gates=gates)._repr_html_())

    assert text.index("MISS  m: mean") < text.index("pass  m: mean")


def test_a_failure_is_never_a_number():
    shown = Failure(kind="cassette_miss", message="nothing recorded")._repr_mimebundle_()

    assert shown["text/plain"].splitlines() == ["no score (cassette miss)", "nothing recorded"]


def test_a_quote_that_is_not_there_is_said_to_be():
    text = read(score_of("x")._repr_html_())

    assert "“x” (in output)" in text
    assert "“x” (NOT FOUND in the case)" in text


def test_a_case_of_a_run_is_found_by_its_id(plain):
    scored = plain["report"].case("fail")

    assert "no score (invalid case)" in read(scored._repr_html_())
    with pytest.raises(judgekit.ConfigError, match="the run has no case 'nowhere'"):
        plain["report"].case("nowhere")


def test_nothing_of_a_case_but_its_id():
    assert "nothing but its id" in read(Case(id="a")._repr_html_())


def test_a_case_shows_the_last_messages():
    case = Case(id="a", history=[{"role": "user", "content": f"turn {n}"} for n in range(9)])

    text = read(case._repr_html_())

    assert "4 more earlier messages" in text
    assert "turn 8" in text
    assert "turn 3" not in text


def test_colours_are_those_of_the_notebook():
    html = to_html(
        [DisplayLine("x", "title"), DisplayTable(("a", "b"), [("x", DisplayBar(0.5, 0.25, 2.0))])]
    )

    assert "color:inherit" in html
    for fixed in ("background:#", "color:#", "<style", "font-family"):
        assert fixed not in html
    assert "left:25.0%;width:75.0%" in html


def test_tables_can_be_read_out():
    html = to_html([DisplayTable(("case", "value"), [("a", "1")], title="worst")])

    assert html.count('scope="col"') == 2
    assert html.count('scope="row"') == 1
    assert "<caption" in html
    assert 'aria-hidden="true"' in to_html([DisplayTable(("a", "b"), [("x", DisplayBar(0.5))])])


@pytest.mark.parametrize("width", [60, 88])
def test_a_grid_fits_its_columns(width):
    grid = DisplayTable(
        ("a", "value", "reason"), [("name " * 20, "1.00", "because " * 60), ("b", "", "x")]
    )

    lines = to_text([grid], width=width).splitlines()

    assert all(len(line) <= width for line in lines)
    assert lines[-1].startswith("b")


def test_names_are_cut_before_numbers():
    grid = DisplayTable(
        ("a", "interval", ""), [("name " * 9, "[-0.123, 0.456]", "w")], numbers=(1,)
    )

    assert to_text([grid], width=30).splitlines()[-1] == "name name…  [-0.123, 0.456]  w"


def test_rows_have_a_style_of_their_own():
    grid = DisplayTable(("a", "b"), [("x", "1"), ("  y", "2")], styles=("bad", "plain"))

    assert to_text([grid], colour=True).splitlines() == [
        "", "\x1b[2ma    b\x1b[0m", "\x1b[31mx    1\x1b[0m", "  y  2",
    ]  # fmt: skip
    assert "\x1b" not in to_text([grid])
    assert to_html([grid]).count("font-weight:600") == 3
    assert "| **x** | 1 |\n| y | 2 |" in to_markdown([grid])


def test_text_is_cut_between_words():
    assert cut("one two three", 5) == "one two three"
    assert cut("word " * 100, 22) == "word word word word … (481 more)"
    assert cut("x" * 100, 10) == "xxxxxxxxxx … (90 more)"


def test_showing_is_loaded_when_it_is_asked_for():
    code = """
import sys, judgekit
case = judgekit.Case(id="a", output="x")
report = judgekit.evaluate_sync([case], [judgekit.create_metric("exact_match")])
before = sorted(name for name in sys.modules if "display" in name and "judgekit" in name)
report._repr_html_()
print([before, "jinja2" in sys.modules, "judgekit.core.display.html" in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout.replace("F", "f").replace("T", "t")) == [[], False, True]


def test_a_case_can_still_be_copied_and_dumped():
    case = case_of("x")

    assert Case.model_validate_json(case.model_dump_json()) == case
    assert set(case.model_dump()) == set(Case.model_fields)


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_shows_the_text(kind, plain):
    from IPython.core.formatters import DisplayFormatter

    value = plain[kind]
    shown = DisplayFormatter(active_types=["text/plain"]).format(value)[0]["text/plain"]

    assert shown == value._repr_mimebundle_()["text/plain"]
    inside = DisplayFormatter().format([value])[0]
    assert "text/html" not in inside
    assert type(value).__name__ in inside["text/plain"]
    assert "worst cases" not in inside["text/plain"]
