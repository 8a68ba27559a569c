"""A comparison as people read it: in a terminal, in Markdown, by the command."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from judgekit.analysis.comparison.compare import compare
from judgekit.cli.app import app
from tests import forks
from tests.analysis.comparison.marked import Marked

BASE = [{"clear": 0.9, "true": 0.7 + n % 3 / 10} for n in range(30)]
NEW = [{"clear": 0.9, "true": 0.4 + n % 5 / 10} for n in range(30)]
HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "safe\u202egnp",
    "<script>alert(1)</script>",
    "| a | b |\n| --- |",
    "[x](javascript:alert(1))",
    "![x](https://e.example/p.png)",
    "@everyone #1 `code` $x$",
    "~~gone~~ **bold** _it_",
    "https://e.example",
    "word " * 200,
]


@pytest.fixture
def folders(run):
    options = {"thresholds": {"worth": 0.75}}
    return run("base", BASE, **options), run("new", NEW, **options)


def test_what_got_worse_comes_first_with_both_reasons(folders):
    text = compare(*folders).text()
    lines = text.splitlines()

    head = lines[: lines.index("")]  # the paths of the runs may take several lines
    assert head[-1] == "30 cases in both; worse: worth"
    assert max(map(len, lines)) <= 80
    case = next(at for at, line in enumerate(lines) if line.startswith("c005"))
    assert lines[case : case + 2] == [
        "c005          base   0.90  true 0.90: true is 0.9",
        "pass -> fail  new    0.65  true 0.40: true is 0.4",
    ]


def test_only_a_terminal_gets_colours(folders):
    found = compare(*folders)

    assert "\x1b" not in found.text()
    assert "\x1b[31m" in found.text(colour=True)


def test_a_notebook_shows_20_metrics_and_criteria_and_the_text_all(run):
    names = [f"m{n:02}" for n in range(24)]
    metrics = [Marked(name) for name in names]
    found = compare(run("a", BASE, metrics=metrics), run("b", NEW, metrics=metrics))

    notebook = found._repr_mimebundle_()["text/plain"]

    assert all(f"{name}: 24 of 30 cases got worse" in found.text() for name in names)
    assert "m19: 24 of 30 cases got worse" in notebook
    assert "m20: 24" not in notebook
    assert "4 more metrics: to_pandas()" in notebook
    assert "6 more notes: .metrics" in notebook


class Hostile(Marked):
    def __init__(self, text):
        super().__init__()
        self.text = text

    async def score(self, case):
        score = await super().score(case)
        parts = tuple(p.model_copy(update={"reason": self.text}) for p in score.parts)
        return score.model_copy(update={"reason": self.text, "parts": parts})


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_are_only_words(text, run):
    id = text[:90]
    base = run("base", {id: 0.9, "b": 0.8}, metrics=[Hostile(text)])
    new = run("new", {id: 0.3, "b": 0.7}, metrics=[Hostile(text)])

    found = compare(base, new)
    plain, markdown = found.text(), found.markdown()

    assert "\x1b" not in plain + markdown
    assert "\u202e" not in plain + markdown
    assert max(map(len, plain.splitlines())) <= 80
    assert "<" not in markdown.replace("&lt;", "")
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    # Every row of a table has as many cells as one of our own.
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} <= {5, 8}
    unescaped = re.sub(r"\\.", "", markdown)
    assert not re.search(r"\]\(|!\[|@|`|~~|https?:", unescaped)


# -- the command ------------------------------------------------------------------


def typed(*words):
    return CliRunner().invoke(app, ["compare", *map(str, words)])


def test_the_command_compares(folders):
    done = typed(*folders)

    assert (done.exit_code, done.stderr) == (0, "")
    assert "worse: worth" in done.stdout


@pytest.mark.parametrize(
    ("turned", "wanted", "code"),
    [
        (False, "regressions", 1),
        (True, "regressions", 0),
        (False, "warnings", 1),
        (True, "warnings", 0),
    ],
)
def test_exit_codes_say_what_was_asked_for(folders, turned, wanted, code):
    done = typed(*(reversed(folders) if turned else folders), "--fail-on", wanted)

    assert done.exit_code == code


def test_warnings_can_fail_a_build(run, tmp_path):
    import shutil

    base = run("base", BASE)
    copy = shutil.copytree(base, tmp_path / "copy")

    assert "the same replies" in str(typed(base, copy).exception)
    assert typed(base, copy, "--allow-same", "--fail-on", "regressions").exit_code == 0
    assert typed(base, copy, "--allow-same", "--fail-on", "warnings").exit_code == 1


def test_json_is_json_alone(folders):
    done = typed(*folders, "--json")
    (found,) = json.loads(done.stdout)["comparisons"]

    assert found["metrics"][0]["verdict"] == "worse"
    assert found["pairs"] == 30


def test_several_runs_are_compared_with_one_base(folders, run):
    third = run("third", BASE[:20], thresholds={"worth": 0.75})

    done = typed(*folders, third, "--allow-same")

    assert done.stdout.count("cases in both") == 2
    assert "2 tests" in done.stdout  # a mean and the verdicts; of the third run nothing differs


def test_markdown_is_a_table(folders):
    done = typed(*folders, "--markdown")

    assert done.stdout.startswith("### base")
    assert "> **30 cases in both; worse\\: worth**" in done.stdout
    assert "| case | run | score | reason |" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["BASE", "nowhere"], "nowhere: not a run folder: report.json is missing"),
        (["BASE", "BASE"], "is compared with itself"),
        (["BASE", "NEW", "--fail-on", "regression"], "did you mean 'regressions'?"),
        (["BASE", "NEW", "--cluster", "user"], "no case has 'user' in its metadata"),
    ],
)
def test_mistakes_cost_one_line(folders, words, message):
    places = {"BASE": str(folders[0]), "NEW": str(folders[1])}
    done = forks.run(["compare", *(places.get(w, w) for w in words)])

    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


BROKEN = {
    "results.jsonl": [b"", b"\x00\xff", b"[]\n", b'{"judgekit":"results","version":1}\n{"a":1}\n'],
    "report.json": [b"", b"{}", b"[" * 100_000, b"\xff", b'{"manifest": NaN}'],
    "run.json": [b"[]", b"{"],
}


@pytest.mark.parametrize(
    ("name", "data"), [(name, data) for name, several in BROKEN.items() for data in several]
)
def test_broken_folders_cost_one_line(folders, name, data):
    from judgekit.core.errors import ConfigError

    (folders[1] / name).write_bytes(data)

    with pytest.raises(ConfigError) as caught:
        compare(*folders)

    assert str(folders[1]) in str(caught.value)


def test_a_hostile_manifest_is_only_data(folders):
    path = folders[1] / "report.json"
    report = json.loads(path.read_text())
    deep = 7
    for _ in range(60):
        deep = {"made_with": {"rubric": "r", "digest": ["x"]}, "options": deep}
    report["manifest"] = {"metrics": [{"name": "worth", "options": deep}, 3, None], "judge": [1]}
    path.write_text(json.dumps(report))

    text = compare(*folders, across_rubrics=True).text()

    assert "changed: judge: none -> [1]" in text
