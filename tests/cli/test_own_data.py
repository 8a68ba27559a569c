"""From a spreadsheet to a score on an own rubric: the commands of a first visit, in their order."""

from __future__ import annotations

from datetime import date

import openpyxl
import pytest

from judgekit.core.yaml_file import parse_yaml
from judgekit.report.report import Report

from .conftest import one_line

TABLE = (
    'Ticket-Nr.;"Frage des\nKunden (wörtlich)";Antwort vom Bot;Erwartete Antwort;Team?\r\n'
    '17;"Wann öffnet ihr?\nSamstag?";"Um neun; außer sonntags.";Um neun;A\r\n'
    '18;Was kostet es?;"Zwei ""Kronen""";Zwei Kronen;\r\n'
    ";;;;\r\n"
)
CRITERIA = ["Is the answer correct?", "How friendly is the reply?", "is short=Is it short?"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tickets.csv").write_text("\ufeff" + TABLE, "utf-8", newline="")
    return tmp_path


def test_a_spreadsheet_is_scored_in_three_commands(table, judgekit):
    flags = [word for text in CRITERIA for word in ("-c", text)]
    assert judgekit("rubric", "new", "support", *flags).code == 0
    begun = judgekit("init", "--cases", "tickets.csv", "--judge", "fake/judge")
    done = judgekit("run", "--record", "new_episodes")

    assert begun.code == 0
    assert "Frage des Kunden (wörtlich)  input      Wann öffnet ihr? Samstag?\n" in begun.out
    assert "suite.yaml: 2 cases of tickets.csv\n" in begun.out
    assert done.out.splitlines()[-1].startswith("DONE: no gate, ")
    cases = [scored.case for scored in Report.read(table / "runs" / "suite").results]
    assert [case.id for case in cases] == ["17", "18"]
    assert [case.output for case in cases] == ["Um neun; außer sonntags.", 'Zwei "Kronen"']
    assert cases[0].metadata == {"Team?": "A"}
    again = one_line(judgekit("init", "--cases", "tickets.csv"))
    assert again.startswith("suite.yaml: this file exists")
    rubric = (table / "rubrics/support.jinja").read_text("utf-8")
    assert [word in rubric for word in ("fairly: 0.67", "partly: 0.5", "is_short:")] == [True] * 3


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8"])
@pytest.mark.parametrize("delimiter", [";", "\t", ",", "|"])
def test_encodings_and_delimiters_are_found(table, judgekit, encoding, delimiter):
    text = "Frage;Antwort\r\nöffnet?;neun\r\n".replace(";", delimiter)
    (table / "t.csv").write_bytes(text.encode(encoding))

    done = judgekit("init", "--cases", "t.csv", "--judge", "none")

    assert done.code == 0
    entry = parse_yaml((table / "suite.yaml").read_text("utf-8"), file="")[0]["cases"]
    assert entry["fields"] == {"input": "Frage", "output": "Antwort"}
    assert ("encoding" in entry) == (encoding == "cp1252")
    assert ("delimiter" in entry) == (delimiter == "|")
    assert judgekit("run", "--quiet").out.startswith("DONE: no gate, 1 case.")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.jsonl", '{"q": "a", "r": {"text": "b"}}\n{"q": "c", "r": {"text": "d"}, "n": 1}\n'),
        ("t.json", '[{"q": "a", "r": {"text": "b"}}, {"q": "c", "r": {"text": "d"}}]'),
    ],
)
def test_objects_are_mapped_by_paths(table, judgekit, name, text):
    (table / name).write_text(text, "utf-8")
    flags = ["--map", "r.text=output", "--map", "input=q", "--judge", "none"]

    assert judgekit("init", "--cases", name, *flags).code == 0
    assert judgekit("run", "-q").code == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "n.csv: which column has the answer to score? the columns are 'Foo', 'Bar';"
         " write --map Foo=output"),
        (["--map", "Foo"], "--map Foo: write it as COLUMN=FIELD, such as question=input"),
        (["--map", "Foo=ouptut"],
         "--map Foo=ouptut: a case has no field 'ouptut'; did you mean 'output'?"),
        (["--map", "Fo=output"],
         "--map Fo=output: n.csv has no column 'Fo'; did you mean 'Foo'?"),
        (["--map", "Foo=output", "--map", "Bar=output"],
         "--map: two columns are given for 'output'; choose one"),
        (["--map", "Bar=output"],
         "the rubric quality needs input, and no column is that; write --map COLUMN=input, "
         "or name another rubric with --rubric"),
        (["--map", "Bar=output", "--api-base", "http://x"],
         "--api-base is the address of a model; add its name: --judge openai/NAME"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_asked_for(table, judgekit, flags, message):
    (table / "n.csv").write_text("Foo;Bar\na;b\n", "utf-8")

    assert one_line(judgekit("init", "--cases", "n.csv", *flags)) == message
    assert not (table / "suite.yaml").exists()


def test_equal_problems_are_one_line_and_a_mapping_mends_them(table, judgekit):
    (table / "f.csv").write_text("Frage;Antwort;X\n" + "a;b;c\n" * 40, "utf-8")

    unknown = judgekit("cases", "lint", "f.csv")
    known = judgekit("cases", "lint", "f.csv", "--map", "Frage=input")

    assert unknown.code == 1
    assert unknown.out.count("unreadable") == 1
    assert "(and 39 more: lines 3, 4, 5, 6, 7, ...)" in unknown.out
    assert unknown.err == (
        "judgekit: which column is what? add --map Frage=input --map Antwort=output; "
        "init --cases writes a suite\n"
    )
    assert "unreadable" not in known.out


@pytest.mark.parametrize("flags", [(), ("--rubric", "rubrics/support.jinja")])
def test_a_rubric_of_the_working_folder_is_used_in_another_one(table, judgekit, flags):
    judgekit("rubric", "new", "support", "-c", "Is the answer correct?")
    flags = ("--judge", "fake/judge", *flags)

    assert judgekit("init", "desk", "--cases", "tickets.csv", *flags).code == 0
    assert judgekit("run", "desk", "--record", "new_episodes", "-q").code == 0
    assert list(Report.read(table / "desk" / "runs" / "suite").metrics) == ["support"]


def test_a_workbook_is_a_table_of_cases_and_of_labels(table, judgekit):
    made = openpyxl.Workbook()
    made.active.title = "Desk"
    for row in (
        ["Ticket", "Question", "Answer", "Day"],
        ["c1", "When?", "At nine.", date(2026, 3, 1)],
    ):
        made.active.append(row)
    made.create_sheet("Notes").append(["x"])
    made.save(table / "tickets.xlsx")
    people = openpyxl.Workbook()
    for row in (["Ticket", "harm"], ["c1", "none"]):
        people.active.append(row)
    people.save(table / "people.xlsx")

    line = one_line(judgekit("init", "--cases", "tickets.xlsx"))
    assert line.endswith("('Desk', 'Notes'); name one: --sheet Desk, or cases: {sheet: ...}")
    flags = ("--sheet", "Desk", "--map", "Ticket=id", "--rubric", "safety", "--judge", "fake/judge")
    assert judgekit("init", "--cases", "tickets.xlsx", *flags).code == 0
    assert judgekit("run", "--record", "new_episodes", "-q").code == 0
    (scored,) = Report.read("runs/suite").results
    assert (scored.case.id, scored.case.metadata) == ("c1", {"Day": "2026-03-01"})

    line = one_line(judgekit("agree", "runs/suite", "people.xlsx"))
    assert line == (
        "people.xlsx: a table; make labels of it: judgekit labels import people.xlsx > labels.jsonl"
    )
    labels = judgekit("labels", "import", "people.xlsx", "--run", ".", "--map", "Ticket=case").out
    (table / "labels.jsonl").write_text(labels, "utf-8")
    assert judgekit("agree", ".", "labels.jsonl", "--json").code == 0
