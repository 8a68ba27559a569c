"""Files that are too large, or no files: one line, and no more memory than a limit allows."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from judgekit.core import input_file as readfile
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.input_file import Unreadable, bounded_lines, read_bytes, read_text
from judgekit.datasets.labels import read_labels
from judgekit.judges import manual
from judgekit.report import folder as run_folder
from judgekit.report.calibration import read_calibration
from judgekit.report.folder import read_json, read_results

DEVICE = Path("/dev/zero")
needs_device = pytest.mark.skipif(not DEVICE.exists(), reason="needs /dev/zero")


def test_a_file_of_the_limit_is_read_and_one_byte_more_is_not(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 10)

    assert read_bytes(path, most=10) == b"x" * 10
    with pytest.raises(Unreadable, match="larger than 9 bytes; make it smaller"):
        read_bytes(path, most=9)


def test_a_text_has_no_mark_and_plain_line_ends(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")

    assert read_text(path, most=100) == "a\nb\nc\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(Unreadable, match="not a regular file but a device or a pipe"):
        read_bytes(tmp_path / "pipe", most=10)


def test_a_folder_is_named_as_one(tmp_path):
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path, most=10)


def test_lines_are_bounded(tmp_path):
    path = tmp_path / "a"
    path.write_text("ab\n\nabc\nd")

    with path.open() as file:
        assert list(bounded_lines(file, most=4)) == ["ab\n", "\n", "abc\n", "d"]
    with path.open("rb") as file, pytest.raises(Unreadable, match="line 3 is longer than 3 char"):
        list(bounded_lines(file, most=3))


def large(path):
    """Make a file that says it has 3 GB and takes no room."""
    with path.open("wb") as file:
        file.truncate(3 * 2**30)
    return path


@needs_device
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", DEVICE),
        ("rubric", "lint", DEVICE),
        ("report", DEVICE),
    ],
)
def test_a_device_is_no_file(refused, arguments):
    assert "/dev/zero" in refused(*arguments)


def test_a_report_of_gigabytes_is_refused(refused, tmp_path):
    large(tmp_path / "report.json")
    (tmp_path / "results.jsonl").write_text('{"judgekit": "results", "version": 1}\n')

    assert "report.json: cannot be read: larger than 268,435,456 bytes" in refused("report", ".")


def test_every_file_of_a_run_folder_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder, "MAX_LINE", 100)
    (tmp_path / "results.jsonl").write_text(
        '{"judgekit": "results", "version": 1}\n' + json.dumps({"type": "case", "x": "y" * 100})
    )

    with pytest.raises(ConfigError, match="line 2 is longer than 100 characters"):
        list(read_results(tmp_path))
    with pytest.raises(ConfigError, match="larger than"):
        read_json(large(tmp_path / "run.json"))
    large(tmp_path / run_folder.AGREEMENT)
    assert read_calibration(tmp_path, dataset="x", manifest="y") is None


def test_labels_and_answers_are_bounded(tmp_path, monkeypatch):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"x": "' + "y" * 5_000_001)

    with pytest.raises(JudgekitError, match="line 1 is longer than 5,000,000 characters"):
        list(read_labels(path))
    monkeypatch.setattr(manual, "MAX_ANSWERS", 100)
    with pytest.raises(JudgekitError, match="larger than 100 bytes"):
        manual._read(path, name="ann")


def test_no_file_is_read_whole_without_a_limit():
    unbounded = []
    for path in sorted(Path(readfile.__file__).parents[1].rglob("*.py")):
        for line in path.read_text("utf-8").splitlines():
            if ".read_text(" in line or ".read_bytes(" in line:
                unbounded.append(f"{path.parent.name}/{path.name}: {line.strip()}")

    # What ships with judgekit, packages that are installed, and models named by their folder.
    allowed = (
        "files(", "entry_points.py", "model_files.py", "FILES", "html.py", "consistency.py",
        "prices.py", "project.py", "pytest_plugin.py", "catalogue.py", "doctor/installation.py",
        "cli/options.py", "core/yaml_file.py", "_DATA.read_text(", "core/generation.py",
        "core/sourced.py",
    )  # fmt: skip
    assert [line for line in unbounded if not any(word in line for word in allowed)] == []
