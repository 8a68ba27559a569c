"""A project of an earlier version: its run folders and its store open in every command.

judgekit b0d53f2 wrote `before` (one call failed), `after`, the tape and the store, against a small
server that answered by fixed rules.
"""

from __future__ import annotations

import json
import shutil
import threading
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.report.report import Report
from judgekit.view.server import Viewer

OLD = Path(__file__).parents[1] / "data" / "old_project"


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "shop"
    shutil.copytree(OLD, folder)
    monkeypatch.chdir(folder)
    return folder


def run(*arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (0, 1, 3), result.output
    return result.output


def results(folder):
    return (folder / "results.jsonl").read_text("utf-8").splitlines()[1:]


def test_report_reads_an_old_run_folder(project):
    assert "kind    0.67" in run("report", "before")
    assert "refund: openai/judge at 127.0.0.1:8765: busy" in run("report", "before")


def test_compare_reads_old_run_folders(project):
    assert "kind: 1 case left out: failed (unavailable) in the base" in run(
        "compare", "before", "after"
    )


def test_agree_reads_an_old_run_folder_and_old_labels(project):
    assert "4 cases by ann, bob" in run("agree", "after", "labels.jsonl")


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as reply:
        return reply.read().decode()


@pytest.mark.loopback
def test_view_shows_old_run_folders(project):
    with Viewer(project) as viewer:
        thread = threading.Thread(target=viewer.serve_forever, kwargs={"poll_interval": 0.005})
        thread.start()
        try:
            listed = json.loads(fetch(f"{viewer.address}api/runs"))["runs"]
            page = fetch(f"{viewer.address}run?run=before")
        finally:
            viewer.shutdown()
            thread.join()

    assert sorted(one["id"] for one in listed) == ["after", "before"]
    assert "We open at nine." in page


def test_the_old_tape_and_the_old_store_replay_the_old_values(project, monkeypatch):
    old = Report.read(project / "after").results
    values = [[row.result.value for row in scored.rows] for scored in old]

    run("run", "suite.yaml", "--out", "taped")
    (project / "tape.jsonl").unlink()
    monkeypatch.setenv("JUDGEKIT_HOME", str(project / "store"))
    run("run", "suite.yaml", "--record", "new_episodes", "--out", "stored")

    for name in ("taped", "stored"):
        found = Report.read(project / name).results
        assert [[row.result.value for row in scored.rows] for scored in found] == values
        assert results(project / name) == results(project / "after")


def test_retry_failed_completes_an_old_run(project):
    run("run", "suite.yaml", "--retry-failed", "before", "--out", "again")

    assert results(project / "again") == results(project / "after")
