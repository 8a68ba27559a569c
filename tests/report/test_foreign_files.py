"""What judgekit did not write is neither replaced nor written through."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.tape import write_lines
from judgekit.core.case import Case
from judgekit.core.errors import CassetteError, ConfigError
from judgekit.core.output_file import open_in_place, whole_file
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.text.length import Length
from judgekit.report.export.export import FORMATS, export, parse_exports
from judgekit.report.folder import FILES, ResultsWriter
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync

OLD = Path(__file__).parents[1] / "data" / "run_folders"
"""Run folders of 0.1.0 before folders were checked: a whole one, and one of a killed run."""
CASES = [Case(id=str(number), output="Yes.") for number in range(2)]
FOREIGN = [*FILES, "notes.txt", ".hidden", "rubric.jinja", "cache.db"]


def run(folder):
    return evaluate_sync(CASES, [Length(maximum=9)], out=folder)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refusal(folder):
    with pytest.raises(ConfigError) as caught:
        run(folder)
    return str(caught.value)


# -- folders that may be written ------------------------------------------------------


@pytest.mark.parametrize("made", [False, True])
def test_a_new_or_empty_folder_is_written(tmp_path, made):
    if made:
        (tmp_path / "out").mkdir()

    assert run(tmp_path / "out").figures.cases == 2


@pytest.mark.parametrize(("name", "went_on"), [("finished", None), ("interrupted", True)])
def test_run_folders_of_earlier_versions_are_recognised(tmp_path, name, went_on):
    folder = tmp_path / "out"
    shutil.copytree(OLD / name, folder)
    (folder / "notes.txt").write_text("mine", "utf-8")

    report = run(folder)

    assert report.run.get("went_on") is went_on
    assert sorted(contents(folder)) == ["notes.txt", "report.json", "results.jsonl", "run.json"]


def test_a_run_folder_of_an_earlier_version_is_read():
    report = Report.read(OLD / "finished")

    assert [scored.case.id for scored in report.results] == ["c0", "c1"]


@pytest.mark.parametrize("size", [0, 1, 10, 21])
def test_a_run_that_was_killed_in_its_first_line_is_recognised(tmp_path, size):
    begin = (OLD / "interrupted" / "results.jsonl").read_bytes()[:size]
    (tmp_path / "results.jsonl").write_bytes(begin)
    (tmp_path / ".report.json.12.new").write_bytes(b"{")

    assert run(tmp_path).figures.cases == 2


# -- folders that may not -------------------------------------------------------------


@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_with_a_foreign_file_is_not_written(tmp_path, name):
    (tmp_path / name).write_text("precious", "utf-8")

    said = refusal(tmp_path)

    assert said.startswith(f"{tmp_path}: holds {name!r} and is not a run folder")
    assert said.endswith(f"such as {tmp_path / 'run'}")
    assert contents(tmp_path) == {name: b"precious"}


@pytest.mark.parametrize(
    "begin", [b"", b'{"judgekit":"res', b'{"judgekit":"cassette","version":1}\n']
)
def test_results_that_are_empty_or_foreign_make_no_run_folder(tmp_path, begin):
    (tmp_path / "results.jsonl").write_bytes(begin)
    (tmp_path / "mine.txt").write_text("precious", "utf-8")

    refusal(tmp_path)

    assert contents(tmp_path) == {"results.jsonl": begin, "mine.txt": b"precious"}


def test_a_folder_of_run_folders_is_no_run_folder(tmp_path):
    run(tmp_path / "run")

    assert refusal(tmp_path).endswith(f"such as {tmp_path / 'run-2'}")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("dangling", [False, True])
def test_no_file_of_a_run_is_written_through_a_link(tmp_path, name, dangling):
    target, folder = tmp_path / "target.txt", tmp_path / "out"
    run(folder)
    (folder / name).unlink(missing_ok=True)
    if not dangling:
        target.write_text("precious", "utf-8")
    (folder / name).symlink_to(target)

    said = refusal(folder)

    assert f"{name} is a link" in said
    assert (folder / name).is_symlink()
    assert target.exists() is not dangling
    assert dangling or target.read_text("utf-8") == "precious"


def test_results_with_a_second_name_are_not_overwritten(tmp_path):
    run(tmp_path / "out")
    os.link(tmp_path / "out" / "results.jsonl", tmp_path / "backup.jsonl")
    before = (tmp_path / "backup.jsonl").read_bytes()

    assert "is a hard link" in refusal(tmp_path / "out")

    assert (tmp_path / "backup.jsonl").read_bytes() == before


def test_a_folder_that_is_a_link_is_not_written(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")

    assert refusal(tmp_path / "out").startswith(f"{tmp_path / 'out'}: is a link; name the folder")

    assert contents(tmp_path / "real") == {}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "results.jsonl")

    assert "is not a regular file" in refusal(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("precious", "utf-8")

    assert refusal(tmp_path / "out") == f"{tmp_path / 'out'}: is a file; name a new folder"


def test_a_link_that_appears_after_the_check_is_not_followed(tmp_path, monkeypatch):
    """Where the system can refuse links, it does; elsewhere the second look does."""
    target = tmp_path / "target.txt"
    target.write_text("precious", "utf-8")
    (tmp_path / "link").symlink_to(target)
    monkeypatch.setattr("judgekit.core.output_file.is_link", lambda path: False)

    with pytest.raises(OSError):  # noqa: PT011 - in the words of the system
        os.close(open_in_place(tmp_path / "link", os.O_RDWR))
    monkeypatch.setattr("judgekit.core.output_file.NO_FOLLOW", 0)
    with pytest.raises(OSError, match="not a regular file"):
        os.close(open_in_place(tmp_path / "link", os.O_RDWR))

    with whole_file(tmp_path / "link") as file:
        file.write(b"new")
    assert target.read_text("utf-8") == "precious"


def test_files_that_come_between_the_check_and_the_claim_are_kept(tmp_path, monkeypatch):
    def put(folder):
        folder.mkdir()
        (folder / "results.jsonl").write_text("precious", "utf-8")

    monkeypatch.setattr("judgekit.report.folder.check_folder", put)

    with pytest.raises(ConfigError, match="is not a run folder"):
        ResultsWriter(tmp_path / "out", manifest={})

    assert contents(tmp_path / "out") == {"results.jsonl": b"precious"}


# -- single files ---------------------------------------------------------------------


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_an_export_replaces_what_it_wrote_and_nothing_else(tmp_path, format):
    report = run(tmp_path / "out")
    own, foreign, link = (tmp_path / name for name in ("own", "foreign", "link"))
    foreign.write_text("precious", "utf-8")
    link.symlink_to(foreign)

    export(report, format, own)
    first = own.read_bytes()
    export(report, format, own)

    assert own.read_bytes() == first
    for path, message in ((foreign, "is there already"), (link, "is a link")):
        with pytest.raises(ConfigError, match=message):
            parse_exports([f"{format}={path}"])
    assert foreign.read_text("utf-8") == "precious"


def test_a_page_replaces_a_page_and_nothing_else(tmp_path):
    report = run(tmp_path / "out")
    foreign, link = tmp_path / "foreign.html", tmp_path / "link.html"
    foreign.write_text("<!doctype html><title>precious</title>", "utf-8")
    link.symlink_to(tmp_path / "none.html")

    page = report.to_html(tmp_path / "page.html")

    assert report.to_html(tmp_path / "page.html").read_bytes() == page.read_bytes()
    with pytest.raises(ConfigError, match="is there already and is not a page of judgekit"):
        report.to_html(foreign)
    with pytest.raises(ConfigError, match="is a link"):
        report.to_html(link)
    assert "precious" in foreign.read_text("utf-8")
    assert not (tmp_path / "none.html").exists()


def test_the_page_of_a_comparison_replaces_a_page_and_nothing_else(tmp_path):
    from judgekit.analysis.comparison.compare import compare_all
    from judgekit.pages.comparison.page import write_comparison

    other = [case.model_copy(update={"output": "No."}) for case in CASES]
    base = run(tmp_path / "a")
    new = evaluate_sync(other, [Length(maximum=9)], out=tmp_path / "b")
    found = compare_all(tmp_path / "a", [tmp_path / "b"])
    foreign = tmp_path / "foreign.html"
    foreign.write_text("precious", "utf-8")

    for _ in range(2):
        write_comparison(base, [new], found, tmp_path / "page.html")

    with pytest.raises(ConfigError, match="is not a page of judgekit"):
        write_comparison(base, [new], found, foreign)


def test_a_cassette_that_is_a_link_replays_and_does_not_record(tmp_path):
    tape = OLD / "finished" / "tape.jsonl"
    (tmp_path / "tape.jsonl").symlink_to(tape)
    before = tape.read_bytes()

    with Cassette.open(tmp_path / "tape.jsonl", FakeJudge()) as replay:
        assert len(replay.tape) == 2
    with pytest.raises(ConfigError, match="is a link, which can only be replayed"):
        Cassette.open(tmp_path / "tape.jsonl", FakeJudge(), record="new_episodes")
    with pytest.raises(CassetteError, match="is a link"):
        write_lines(tmp_path / "tape.jsonl", ["x"])

    assert tape.read_bytes() == before
