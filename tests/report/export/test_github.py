from __future__ import annotations

import re

import pytest

from judgekit.report.export.findings import findings_of
from judgekit.report.export.github import (
    MOST_BYTES,
    add_summary,
    annotation_lines,
    command,
    quiet,
)
from judgekit.report.export.markdown import markdown_lines
from tests.each import each
from tests.report.export.conftest import HOSTILE, make_report


def lines_of(report, find=lambda ids: {}):
    return list(annotation_lines(report, findings_of(report), find))


def test_annotations_name_the_gate_the_case_and_the_line():
    asked = []

    def find(ids):
        asked.append(ids)
        return {"plain/bad": ("data/cases.jsonl", 3), "plain/error": ("data/cases.jsonl", None)}

    lines = lines_of(make_report(), find)

    assert lines[2].startswith("::error title=judgekit%3A tone::tone: mean 0.625")
    assert (
        "::error title=tone%3A plain/error,file=data/cases.jsonl::invalid_case: cannot: so so"
        in lines
    )
    assert lines[-1] == (
        "::warning title=tone%3A plain/bad,file=data/cases.jsonl,line=3::"
        "0.25 is below the threshold 0.5: so so / steps 0 / not met: so so: so so"
    )
    assert asked == [{"plain/bad", "plain/error", "plain/refused"}]


def test_a_kind_has_ten_annotations_and_a_word_on_the_rest():
    report = make_report(texts={f"t{n}": "x" for n in range(12)}, hows=("bad",), gates={})

    lines = lines_of(report)

    assert len(lines) == 10
    assert lines[-1] == "::warning title=judgekit::and 3 more; the summary of the job has them"


def test_hostile_text_gives_no_command_of_its_own(hostile):
    for line in lines_of(hostile):
        assert "\n" not in line
        assert "\r" not in line
        found = re.fullmatch(r"::(error|warning) title=([^,:]*)::(.*)", line)
        assert found, line


@each("text", HOSTILE.values(), ids=HOSTILE)
def test_a_command_can_be_read_back(text):
    line = command("error", text, text, at=(f"a,b:{text}".replace("\n", "").replace("\r", ""), 1))

    head, _, message = line.removeprefix("::error ").partition("::")
    properties = dict(part.split("=", 1) for part in head.split(","))
    assert list(properties) == ["title", "file", "line"]
    assert "%25" in message or "%" not in text


def test_what_is_printed_between_is_not_taken_for_commands():
    said = []

    with quiet(said.append):
        said.append("::error::x")
    with quiet(said.append):
        pass

    begin, _, end, other, _ = said
    word = begin.removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", word)
    assert end == f"::{word}::"
    assert other != begin


def test_a_summary_is_cut_where_github_would_refuse_it(tmp_path):
    report = make_report(texts={f"t{n}": "word " * 300 for n in range(50)}, hows=("bad", "error"))
    path = tmp_path / "summary.md"
    path.write_text("x" * (MOST_BYTES - 20_000), "utf-8")

    add_summary(report, findings_of(report), path)

    data = path.read_bytes()
    assert MOST_BYTES - 5000 < len(data) <= MOST_BYTES
    assert data.decode().rstrip().endswith("the page and the results have it.")


def test_a_full_disk_is_one_line(tmp_path):
    from pathlib import Path

    from judgekit.core.errors import ConfigError

    with pytest.raises(ConfigError, match="/dev/full: cannot be written: No space left"):
        add_summary(make_report(), findings_of(make_report()), Path("/dev/full"))


def test_markdown_says_what_to_look_at():
    text = "\n".join(markdown_lines(make_report(), findings_of(make_report())))

    assert "**Incomplete**" in text
    assert "- **MISS**: tone\\: mean 0.625" in text
    assert "### tone: 2 without a score" in text
    assert "### tone: 1 below the threshold" in text


def test_hostile_text_makes_no_markdown(hostile):
    lines = list(markdown_lines(hostile, findings_of(hostile)))

    for line in lines:
        plain = line.replace("<br>", "")
        assert not re.search(r"<|(?<!\\)[@`]|(?<!\\)\]\(", plain), line
        assert not re.search(r"@(?!&#8203;)", plain), line
        assert not re.search(r"[\x00-\x1f\u202e\u2028]", line), line
        if line.startswith("| ") and "---" not in line:
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 6), line
    heads = [line for line in lines if line.startswith("#")]
    assert len(heads) == 3
