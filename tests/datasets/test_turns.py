"""Session data: one turn per row, one case per session."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from judgekit.core.errors import ConfigError, DatasetError
from judgekit.datasets import load_cases


def turn(session, index, role, text, **more):
    return {"session_id": session, "turn_index": index, "role": role, "text": text, **more}


ROWS = [
    turn("a", 1, "system", "Be brief.", tags=["greeting"], persona_id="acme"),
    turn("a", 2, "user", "Hello", tags=["greeting"], persona_id="acme"),
    turn("a", 3, "assistant", "Hi!", tags=["short"], persona_id="acme"),
    turn("a", 5, "user", "Where is it?"),
    turn("a", 6, "assistant", "On its way."),
    turn("b", 1, "user", "Anybody?"),
]


def written(tmp_path, rows, name="turns.jsonl"):
    file = tmp_path / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_a_session_is_a_case(tmp_path):
    first, second = load_cases(written(tmp_path, ROWS), format="turns")

    assert first.id == "a"
    assert first.system == "Be brief."
    assert [(m.role, m.content) for m in first.history] == [("user", "Hello"), ("assistant", "Hi!")]
    assert (first.input, first.output) == ("Where is it?", "On its way.")
    assert first.metadata == {"tags": ["greeting", "short"], "persona_id": "acme"}
    assert (second.id, second.input, second.output) == ("b", "Anybody?", None)


def test_objects_and_tables_work_as_well(tmp_path):
    csv = tmp_path / "turns.csv"
    csv.write_text("session_id,turn_index,role,text\ns,1,user,Hi\ns,2,assistant,Hello\n", "utf-8")

    for source in (csv, [turn("s", 1, "user", "Hi"), turn("s", 2, "assistant", "Hello")]):
        (case,) = load_cases(source, format="turns")
        assert (case.id, case.input, case.output) == ("s", "Hi", "Hello")


def test_other_names_are_mapped(tmp_path):
    rows = [{"conversation": {"id": 7}, "speaker": "user", "content": "Hi", "team": "x"}]
    fields = {
        "session_id": "conversation.id",
        "role": "speaker",
        "text": "content",
        "metadata.team": "team",
    }

    (case,) = load_cases(written(tmp_path, rows), format="turns", fields=fields)

    assert (case.id, case.input, case.metadata) == ("7", "Hi", {"team": "x"})


def test_indexes_may_be_left_out():
    rows = [{"session_id": "s", "role": r, "text": r} for r in ("user", "assistant")]

    (case,) = load_cases(rows, format="turns")

    assert (case.input, case.output) == ("user", "assistant")


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ([*ROWS, turn("a", 7, "user", "Me again")], 7, "'a' comes back after another one"),
        ([turn("a", 2, "user", "x"), turn("a", 1, "user", "y")], 2, "1 comes after 2"),
        ([turn("a", 2, "user", "x"), turn("a", 2, "user", "y")], 2, "2 appears twice"),
        ([turn("a", 1, "user", "x"), turn("a", None, "user", "y")], 2, "only some turns"),
        ([turn("a", "one", "user", "x")], 1, "expected a whole number, found text"),
        ([turn("a", 1.5, "user", "x")], 1, "expected a whole number"),
        ([turn("a", 1, "wizard", "x")], 1, "expected one of system"),
        ([turn("a", 1, "user", 3)], 1, "expected text"),
        ([turn(" ", 1, "user", "x")], 1, "a blank text"),
        ([turn([], 1, "user", "x")], 1, "expected text or a whole number"),
        ([{"session_id": "a", "role": "user", "content": "x"}], 1, "unknown key"),
        ([{"session_id": "a", "role": "user"}], 1, "say where it is with fields"),
        ([turn("a", 1, "user", "x", persona="y")], 1, "did you mean 'persona_id'"),
        (["x"], 1, "expected an object"),
        (
            [turn("a", 1, "user", "x", persona_id="p"), turn("a", 2, "user", "y", persona_id="q")],
            2,
            "differs from an earlier turn",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, rows, line, message):
    with pytest.raises(DatasetError) as caught:
        list(load_cases(written(tmp_path, rows), format="turns"))

    assert f"turns.jsonl:{line}: " in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_turns_read_as_rows_are_said_to_be_turns(tmp_path):
    with pytest.raises(DatasetError, match="format='turns'"):
        list(load_cases(written(tmp_path, ROWS)))


def test_a_field_that_no_turn_has_is_refused():
    with pytest.raises(ConfigError, match="'txt' is not a field of a turn; did you mean 'text'"):
        load_cases([], format="turns", fields={"txt": "x"})


def test_whole_cases_are_no_turns():
    (case,) = load_cases([{"id": "x", "output": "y"}])

    with pytest.raises(DatasetError, match="a whole case among turns"):
        list(load_cases([case], format="turns"))


@pytest.mark.thorough
def test_sessions_stream():
    rows = (turn(f"s{n // 4}", n % 4, "assistant", f"{n} " * 200) for n in range(4_000))
    tracemalloc.start()

    count = sum(1 for _ in load_cases(rows, format="turns"))

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 1_000
    assert peak < 3_000_000  # the rows are 3.9 MB


def test_a_session_leaves_before_the_next_is_complete():
    read = []

    def rows():
        for row in ROWS:
            read.append(row["session_id"])
            yield row

    first = next(iter(load_cases(rows(), format="turns")))

    assert first.id == "a"
    assert read.count("b") == 1
