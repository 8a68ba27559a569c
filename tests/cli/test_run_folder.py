"""What `judgekit run` takes and writes where no flag says so."""

from __future__ import annotations

import shutil

import pytest

from judgekit.suite.run import default_out

from .conftest import one_line


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
        ("suite.yaml", "suite"),
        ("./suite.yml", "suite"),
        ("tone.yaml", "tone"),
        ("evals/support/suite.yaml", "support"),
        ("evals/support/tone.yaml", "tone"),
        ("evals/../suite.yaml", "suite"),
        ("/suite.yaml", "suite"),
    ],
)
def test_the_name_is_that_of_the_suite(tmp_path, monkeypatch, suite, name):
    (tmp_path / "evals" / "support").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    assert default_out(tmp_path / suite).as_posix() == f"runs/{name}"
