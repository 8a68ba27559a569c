"""What `judgekit run` takes and writes where no flag says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError
from judgekit.report.report import Report
from judgekit.suite.run import default_out

from .conftest import one_line
from .test_looking import BODY
from .test_looking import RUBRIC as FRONT

RUBRIC = FRONT.replace("BODY", BODY)


def made(folder):
    """Return the run folders below a folder."""
    return sorted(str(p.parent.relative_to(folder)) for p in folder.rglob("report.json"))


def test_the_suite_of_the_folder_is_run_and_kept(folder, judgekit):
    done = judgekit("run", "--no-judge", "--only", "length")

    assert done.code == 0
    assert done.out.endswith(" Page: runs/suite/report.html\n")
    assert made(folder) == ["runs/suite"]


def test_either_ending_will_do(folder, judgekit):
    (folder / "suite.yaml").rename(folder / "suite.yml")

    assert judgekit("run", "--no-judge", "--only", "length").code == 0


@pytest.mark.parametrize("verb", ["run", "watch"])
def test_two_suites_or_none_are_one_line(folder, judgekit, verb):
    shutil.copy(folder / "suite.yaml", folder / "suite.yml")
    both = one_line(judgekit(verb))
    (folder / "suite.yaml").unlink()
    (folder / "suite.yml").unlink()
    none = one_line(judgekit(verb))

    assert both == (
        f"which suite? suite.yaml and suite.yml are both here; name one: judgekit {verb} suite.yaml"
    )
    assert none == (
        "which suite? this folder has no suite.yaml or suite.yml; "
        f"name one: judgekit {verb} FILE, or write one: judgekit init"
    )


def test_a_finished_run_is_replaced_and_a_stopped_one_goes_on(folder, judgekit):
    command = ("run", "--no-judge", "--only", "length")
    judgekit(*command)
    results = folder / "runs" / "suite" / "results.jsonl"
    before = results.read_bytes()

    again = judgekit(*command)
    (results.parent / "report.json").unlink()
    continued = judgekit(*command)

    assert "stopped" not in again.err
    assert continued.err.startswith("judgekit: runs/suite: continued an interrupted run")
    assert results.read_bytes() == before


def test_a_folder_of_something_else_is_not_taken(folder, judgekit):
    (folder / "runs" / "suite").mkdir(parents=True)
    (folder / "runs" / "suite" / "report.html").write_text("precious", "utf-8")

    said = one_line(judgekit("run", "--no-judge", "--only", "length"))

    assert said.startswith("runs/suite: holds 'report.html' and is not a run folder")
    assert (folder / "runs" / "suite" / "report.html").read_text("utf-8") == "precious"


def test_nothing_is_written_where_nothing_is_to_be(folder, judgekit):
    done = judgekit("run", "--no-judge", "--only", "length", "--no-out")

    assert done.code == 0
    assert "run folder" not in done.out
    assert not (folder / "runs").exists()


def test_a_folder_and_none_at_once_are_refused(folder, judgekit):
    said = one_line(judgekit("run", "--out", "x", "--no-out"))

    assert said == "give --out or --no-out, not both"


def test_shards_do_not_replace_each_other(folder, judgekit):
    for shard in ("1/2", "2/2"):
        judgekit("run", "--no-judge", "--only", "length", "--shard", shard)

    assert made(folder) == ["runs/suite-1-of-2", "runs/suite-2-of-2"]
    done = judgekit(
        "merge", "suite.yaml", "runs/suite-1-of-2", "runs/suite-2-of-2", "-o", "runs/all"
    )
    assert done.code == 0


def test_a_folder_that_cannot_be_written_is_one_line(folder, judgekit):
    (folder / "runs").write_text("a file", "utf-8")

    said = one_line(judgekit("run", "--no-judge", "--only", "length"))

    assert said == "runs/suite: cannot be written: Not a directory; name another folder"


@pytest.mark.parametrize(
    ("suite", "name"),
    [
        ("suite.yaml", "runs/suite"),
        ("./suite.yml", "runs/suite"),
        ("tone.yaml", "runs/tone"),
        ("evals/support/suite.yaml", "evals/support/runs/suite"),
        ("evals/support/tone.yaml", "evals/support/runs/tone"),
        ("/suite.yaml", "/runs/suite"),
    ],
)
def test_a_run_is_beside_its_suite(tmp_path, monkeypatch, suite, name):
    (tmp_path / "evals" / "support").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    assert default_out(Path(suite)).as_posix() == name


@pytest.mark.parametrize("old", ["runs/support", "runs/support-1-of-2"])
def test_a_run_where_earlier_versions_wrote_it_stays_there(tmp_path, monkeypatch, old):
    shard = "1/2" if "-of-" in old else None
    monkeypatch.chdir(tmp_path)
    (tmp_path / old).mkdir(parents=True)
    suite = Path("evals/support/suite.yaml")
    assert default_out(suite, shard=shard).as_posix().startswith("evals/support/runs/suite")

    (tmp_path / old / "results.jsonl").touch()

    assert default_out(suite, shard=shard).as_posix() == old


def test_the_folder_of_runs_is_ignored_by_git(folder, judgekit):
    judgekit("run", "--no-judge", "--only", "length", "--out", "runs/mine")
    assert not (folder / "runs" / ".gitignore").exists()
    (folder / "evals").mkdir()
    for name in ("suite.yaml", "cases.jsonl"):
        shutil.copy(folder / name, folder / "evals" / name)

    done = judgekit("run", "evals", "--no-judge", "--only", "length")

    assert done.out.endswith("Page: evals/runs/suite/report.html\n")
    assert (folder / "evals" / "runs" / ".gitignore").read_text("utf-8") == "*\n"
    assert judgekit("report", "evals", "-q").out == judgekit("report", "evals/suite.yaml", "-q").out
    assert judgekit("report", "-q").out.endswith("Page: runs/mine/report.html\n")


def test_a_home_folder_is_expanded_in_flags_and_suites(folder, judgekit, monkeypatch):
    monkeypatch.setenv("HOME", str(folder / "home"))
    (folder / "home").mkdir()
    shutil.move(folder / "cases.jsonl", folder / "home" / "cases.jsonl")
    text = (folder / "suite.yaml").read_text("utf-8")
    text = text.replace("cases.jsonl", "~/cases.jsonl").replace("tape.jsonl", "~/tape.jsonl")
    (folder / "suite.yaml").write_text(text, "utf-8")

    done = judgekit("run", "suite.yaml", "--out=~/run", "--record", "new_episodes")
    again = judgekit("run", "--cases=~/cases.jsonl", "--out=~/again", "-q")

    assert (done.code, again.code) == (0, 0)
    assert (folder / "home" / "tape.jsonl").exists()
    report = (folder / "home" / "run" / "report.json").read_text("utf-8")
    assert report == (folder / "home" / "again" / "report.json").read_text("utf-8")
    assert str(folder) not in report


def test_a_home_folder_is_expanded_after_an_equals_sign_and_an_at(folder, judgekit, monkeypatch):
    monkeypatch.setenv("HOME", str(folder / "home"))
    (folder / "home").mkdir()
    (folder / "home" / "answer.txt").write_text("hi", "utf-8")
    (folder / "home" / "mine.jinja").write_text(RUBRIC, "utf-8")
    (folder / "home" / "people.jsonl").write_text("", "utf-8")
    text = (folder / "suite.yaml").read_text("utf-8")
    judge = "judge: {model: manual/ann, answers: ~/people.jsonl}"
    text = text.replace("judge: fake/judge", judge).replace(
        "safety: {", "m: {rubric: ~/mine.jinja, "
    )
    (folder / "own.yaml").write_text(text, "utf-8")

    judgekit("run", "suite.yaml", "-q", "--export", "csv=~/run.csv", "--only", "length")
    scored = judgekit("score", "-m", "exact_match", "-r", "hi", "--output", "@~/answer.txt", "-q")
    asked = judgekit("run", "own.yaml", "--record", "new_episodes", "--no-out")

    assert (folder / "home" / "run.csv").exists()
    assert scored.out == "DONE: exact_match 1.\n"
    assert asked.code == 3
    assert "no answers" in asked.out


@pytest.mark.parametrize("place", ["suite.yaml", ".", "runs/suite"])
def test_a_suite_and_a_run_may_be_named_by_their_folders(recorded, judgekit, place):
    for args in (("doctor", place), ("cassette", "explain", place), ("cassette", "prune", place),
                 ("run", place, "-q"), ("rubric", "upgrade", place)):  # fmt: skip
        assert judgekit(*args).code == 0, args

    for args in (("labels", "plan", place, "-n", "1"), ("rubric", "stats", place),
                 ("compare", place, "runs/suite"), ("report", place)):  # fmt: skip
        done = judgekit(*args)
        said = done.err.startswith("judgekit: run runs/suite\n")
        assert said == (place != "runs/suite" and args[0] != "report"), args
        assert done.code == (2 if args[0] == "compare" else 0), done.err


def test_the_folder_of_a_run_elsewhere_has_no_suite(recorded, judgekit):
    shutil.copytree(recorded / "runs" / "suite", recorded / "elsewhere")

    done = judgekit("cassette", "explain", "elsewhere")

    assert one_line(done) == "elsewhere: is the folder of a run; name the suite file"


def test_shards_may_be_named_by_the_folder_that_has_them(recorded, judgekit):
    for part in ("1/2", "2/2"):
        judgekit("run", "--shard", part, "-q")

    assert judgekit("merge", ".", "runs", "--out", "all", "-q").code == 0


@pytest.mark.parametrize("command", ["report", "compare", "rank", "agree", "labels plan"])
def test_a_page_with_the_extension_of_another_kind_is_refused_first(recorded, judgekit, command):
    done = judgekit(*command.split(), "runs/suite", "x", "--out", "page.pdf")

    message = "page.pdf: a page is HTML; name it page.html; other formats are exports"
    assert one_line(done) == message
    with pytest.raises(ConfigError, match="a page is HTML"):
        Report.read("runs/suite").to_html("page.pdf")
