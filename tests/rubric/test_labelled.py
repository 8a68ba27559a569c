"""Examples from a labelled file: which rows a judge is shown, and for which case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import RubricError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.load import load_rubric, open_rubric

ROOT = Path(__file__).parents[2]
FRONT = """\
name: tone
extends: base
description: Tone.
criteria: {a: {text: A.}}
examples: """


def row(number, value, **more):
    return {
        "case": {"id": f"c{number}", "input": f"Q{number}", "output": f"A{number}"},
        "answers": {"a": {"reason": f"r{number}", "value": value}},
        **more,
    }


@pytest.fixture
def labelled(tmp_path):
    """Write labelled rows and a rubric that takes its examples from them; return its path."""

    def write(rows, said="{file: labelled.jsonl, count: 3}"):
        lines = "".join(
            (line if isinstance(line, str) else json.dumps(line)) + "\n" for line in rows
        )
        (tmp_path / "labelled.jsonl").write_text(lines, "utf-8")
        path = tmp_path / "tone.jinja"
        path.write_text(f"---\n{FRONT}{said}\n---\n", "utf-8")
        return path

    return write


ROWS = [row(n, value) for n, value in enumerate([0.9, 0.1, 0.5, 1.0, 0.0, 0.45, 0.2])]


def ids(rubric):
    return sorted(example.case.id for example in rubric.examples)


def request(rubric, case):
    _, (made,) = RubricMetric(rubric, judge=FakeJudge()).requests(case)
    return made


def test_spread_goes_from_the_lowest_value_to_the_highest(labelled):
    rubric = load_rubric(labelled(ROWS))

    # In the order of their digests: neither rising nor falling.
    assert [example.answers["a"]["value"] for example in rubric.examples] == [0.5, 0.0, 1.0]
    assert ids(rubric) == ["c2", "c3", "c4"]


def test_the_choice_does_not_depend_on_the_order_of_the_file(labelled):
    forward = load_rubric(labelled(ROWS)).examples

    assert load_rubric(labelled(ROWS[::-1])).examples == forward


def test_first_takes_them_as_they_come(labelled):
    rubric = load_rubric(labelled(ROWS, "{file: labelled.jsonl, count: 2, choose: first}"))

    assert [example.case.id for example in rubric.examples] == ["c0", "c1"]


def test_the_judge_sees_them_in_the_prompt(labelled):
    text = request(load_rubric(labelled(ROWS)), Case(id="x", output="X")).messages[0].content

    assert "A3" in text
    assert '"reason":"r4"' in text
    assert "A1" not in text


@pytest.mark.parametrize(
    "case",
    [
        Case(id="c3", input="Q3", output="A3"),
        Case(id="c3", input="Other", output="words"),
        Case(id="elsewhere", input=" Q3", output="A3\n"),
        Case(id="changed", parent="c3", input="Q 3", output="A 3"),
    ],
)
def test_a_case_is_never_its_own_example_and_another_takes_its_place(labelled, case):
    rubric = load_rubric(labelled(ROWS))
    usual = request(rubric, Case(id="x", output="X")).messages[0].content

    own = request(rubric, case).messages[0].content

    assert '"reason":"r3"' in usual
    assert '"reason":"r3"' not in own
    assert own.count("The right verdict:") == usual.count("The right verdict:") == 3
    assert '"reason":"r0"' in own
    # Rendered again in between, nothing of the one reaches the other.
    assert request(rubric, Case(id="x", output="X")).messages[0].content == usual


def test_only_cases_that_are_shown_have_a_prompt_of_their_own(labelled):
    rubric = load_rubric(labelled(ROWS))
    usual = request(rubric, Case(id="x", output="X")).messages[0].content

    prompts = {
        data["case"]["id"]: request(rubric, Case.model_validate(data["case"])).messages[0].content
        for data in ROWS
    }

    assert {id for id, text in prompts.items() if text != usual} == {"c2", "c3", "c4"}


def test_the_digest_covers_the_file(labelled):
    before = load_rubric(labelled(ROWS))
    after = load_rubric(labelled([*ROWS[:1], row(1, 0.15), *ROWS[2:]]))

    assert before.digest != after.digest
    case = Case(id="x", output="X")
    assert request(before, case).key == request(after, case).key  # that row is not shown


def test_line_ends_of_another_system_change_nothing(labelled):
    path = labelled(ROWS)
    before = load_rubric(path).digest
    file = path.with_name("labelled.jsonl")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))

    assert load_rubric(path).digest == before


def test_a_persons_verdicts_are_labelled_rows(tmp_path):
    for name in ("verdicts.jsonl", "cases.jsonl"):
        shutil.copy(ROOT / "examples" / "support_assistant" / name, tmp_path)
    path = tmp_path / "strict.jinja"
    path.write_text(
        "---\nname: strict\nextends: quality\ndescription: Q.\nexamples:\n"
        "  {file: verdicts.jsonl, cases: cases.jsonl, metric: quality, count: 4}\n---\n",
        "utf-8",
    )

    rubric = load_rubric(path)

    assert len(rubric.examples) == 4
    assert all(set(e.answers) >= {"helpfulness", "clarity"} for e in rubric.examples)
    assert all(e.case.input for e in rubric.examples)


def test_rows_of_other_metrics_do_not_count(labelled):
    rows = [
        row(1, 0.1, metric="tone"),
        row(2, 0.2, rubric="tone"),
        row(3, 0.3, metric="other"),
        {"case": "x", "metric": "other", "answers": {"zz": 1}},
        row(4, 0.4),
    ]

    assert ids(load_rubric(labelled(rows))) == ["c1", "c2", "c4"]


def test_rows_that_abstain_come_last(labelled):
    rows = [row(n, None) for n in range(3)] + [row(3, 0.5)]
    path = labelled(rows)
    path.write_text(path.read_text("utf-8").replace("text: A.", "text: A., nullable: true"))

    rubric = load_rubric(path)

    assert "c3" in ids(rubric)
    assert len(rubric.examples) == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{nope", "not a row: "),
        (row(1, 7), "the answers do not fit the criteria: a.value: Input should be less than"),
        (row(1, 0.5, answer=1), "unknown key 'answer'; did you mean 'answers'?"),
        ({"case": {"output": "x"}, "answers": {}}, "answers none of the criteria"),
        ({"case": {"output": "x"}, "answers": {"b": 1}}, "the answers do not fit the criteria: b:"),
        ({"case": {"outptu": "x"}, "answers": {}}, "case: unknown key 'outptu'; did you mean"),
        ({"case": {"output": "x"}}, "needs 'answers': {criterion: {...}}"),
        ({"answers": {}}, "needs 'case': a case, or the id of one"),
        (
            {"case": "c9", "answers": {}},
            "case 'c9' needs a file of cases: write examples",
        ),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(labelled, line, message):
    path = labelled([ROWS[0], line, *ROWS[1:]])

    with pytest.raises(RubricError) as caught:
        load_rubric(path)

    assert str(caught.value).startswith(f"{path.with_name('labelled.jsonl')}:2: {message}")
    assert str(caught.value) in [str(fault) for fault in open_rubric(path).faults]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{file: labelled.jsonl, count: 8}", "has 7 rows of 'tone', fewer than the 8 examples"),
        ("{file: labelled.jsonl, metric: kind, count: 8}", "has 7 rows of 'kind', fewer than"),
        ("{file: labeled.jsonl}", "no such file: "),
        ("{file: labelled.jsonl, count: 0}", "examples.count: must be at least 1"),
        ("{file: labelled.jsonl, count: 21}", "examples.count: must be at most 20"),
        ("{file: labelled.jsonl, choose: best}", "examples.choose: must be 'spread' or '"),
        ("{fil: labelled.jsonl}", "unknown key 'examples.fil'; did you mean 'file'?"),
        ("[{cse: {output: x}, answers: {}}]", "unknown key 'examples.0.cse'; did you mean 'case'?"),
        ("labelled.jsonl", "examples: "),
    ],
)
def test_a_wrong_choice_is_refused_with_its_line(labelled, said, message):
    path = labelled(ROWS, said)

    with pytest.raises(RubricError) as caught:
        load_rubric(path)

    assert str(caught.value).startswith(f"{path}:6: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "file", ["../out.jsonl", "/etc/hostname", "link.jsonl", "a/../../out.jsonl", "C:\\x", "./x", ""]
)
def test_nothing_outside_the_rubrics_folder_is_read(labelled, tmp_path, file):
    inner = tmp_path / "rubrics"
    inner.mkdir()
    (tmp_path / "out.jsonl").write_text(json.dumps(row(1, 0.5)) + "\n", "utf-8")
    (inner / "link.jsonl").symlink_to("../out.jsonl")
    path = inner / "tone.jinja"
    for said in (f"{{file: '{file}', count: 1}}", f"{{file: tone.jinja, cases: '{file}'}}"):
        path.write_text(f"---\n{FRONT}{said}\n---\n", "utf-8")

        with pytest.raises(RubricError) as caught:
            load_rubric(path)

        assert "0.5" not in str(caught.value)
        assert any(
            words in str(caught.value)
            for words in ("must be in the rubric's own folder", "must not be empty", "not a row")
        )


def test_a_case_among_the_cases_is_found_by_its_id_alone(labelled, tmp_path):
    (tmp_path / "cases.jsonl").write_text('{"id": "c1", "output": "A1"}\n', "utf-8")
    rows = [{"case": "c2", "answers": ROWS[0]["answers"]}]
    path = labelled(rows, "{file: labelled.jsonl, cases: cases.jsonl, count: 1}")

    with pytest.raises(RubricError, match="no case 'c2' among the cases; known: c1"):
        load_rubric(path)


def test_what_would_fill_the_prompt_is_refused(labelled):
    rows = [row(n, 0.5) for n in range(2)]
    for data in rows:
        data["case"]["output"] = "x" * 150_000

    with pytest.raises(RubricError, match="of 200,000 at most; show fewer"):
        load_rubric(labelled(rows, "{file: labelled.jsonl, count: 2}"))


def test_a_rubric_in_use_says_what_a_fresh_one_says(labelled):
    path = labelled(ROWS)
    used = load_rubric(path)
    cases = [Case.model_validate(data["case"]) for data in ROWS] * 2
    cases += [Case(id=f"x{n}", input=f"X{n}", output=f"Y{n}") for n in range(3)]

    for case in cases:
        assert request(used, case).key == request(load_rubric(path), case).key
