"""`judgekit agree`, as it is typed."""

from __future__ import annotations

import json

import pytest

from judgekit.report.report import Report
from tests.analysis.agreement.simulated import study
from tests.cli.conftest import one_line


@pytest.fixture
def labelled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return study(tmp_path)


def test_the_default_shows_what_a_reader_needs(labelled, judgekit):
    done = judgekit("agree", "run", "labels.jsonl")
    text = " ".join(done.out.split())

    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert "alpha (ordinal) of judge and people" in text
    assert "balanced F1 0." in text
    assert "No label has a probability: labelled cases count as a random sample" in text
    assert "Kendall" not in text
    assert judgekit("agree", "run", "labels.jsonl").out == done.out


def test_all_statistics_labellers_and_systems(labelled, judgekit):
    done = judgekit("agree", "run", "labels.jsonl", "--all", "--alt-test", 0.15, "--system", "bot",
                    "--group", "prompt", "--weights", "linear")  # fmt: skip
    lines = done.out.splitlines()

    assert max(map(len, lines)) <= 80
    for start in ("kappa (linear)", "Kendall's tau-b", "within groups of prompt", "bob",
                  "left out", "m3", "alternative test (epsilon 0.15, accuracy):"):  # fmt: skip
        assert any(line.startswith(start) for line in lines), start


def test_the_options_reach_the_figures(labelled, judgekit):
    flags = ("--labels", "majority", "--failures", "drop", "--cluster", "prompt", "--json")
    found = json.loads(judgekit("agree", "run", "labels.jsonl", *flags).out)

    assert found["cluster"] == "prompt"
    assert found["criteria"][0]["combine"] == "majority"
    assert found["criteria"][0]["clusters"] == 10


def test_the_page_keeps_standard_output_clean(labelled, judgekit, tmp_path):
    done = judgekit("agree", "run", "labels.jsonl", "--markdown", "--html", "page.html")

    assert done.err == "page: page.html\n"
    assert done.out.startswith("### ")
    first = (tmp_path / "page.html").read_bytes()
    done = judgekit("agree", "run", "labels.jsonl", "--html", "page.html")
    assert done.out.endswith("page: page.html\n")
    assert (tmp_path / "page.html").read_bytes() == first


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--labels", "labels.jsonl"), "labels must be each, majority or mean, not 'labels.jsonl'"),
        (("--alt-test", "15"), "alt-test must be an epsilon from 0 to below 1, not 15"),
        (("--alt-test", "yes"), "--alt-test: must be a number"),
        (("--weights", "quadratik"), "did you mean 'quadratic'?"),
        (("--group", "promt"), "did you mean 'prompt'?"),
    ],
)
def test_a_mistake_is_one_line(labelled, judgekit, flags, message):
    assert message in one_line(judgekit("agree", "run", "labels.jsonl", *flags))


def test_the_page_of_the_run_is_written_again(labelled, judgekit, tmp_path):
    page = tmp_path / "run" / "report.html"
    assert not judgekit("agree", "run", "labels.jsonl").err  # it has no page
    (tmp_path / "run" / "agree.json").unlink()
    Report.read(tmp_path / "run").to_html()
    assert "not compared with people" in page.read_text()

    done = judgekit("agree", "run", "labels.jsonl", "--json")
    assert done.err == "written again with the agreement: run/report.html\n"
    json.loads(done.out)
    assert "Against people" in page.read_text()
    note = "the page of the run shows means as judged; `labels:` in the suite corrects them\n"
    assert judgekit("correct", "run", "labels.jsonl").err == note
