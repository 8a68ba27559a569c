"""A person judges in a terminal: the whole program on a pty."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing, suppress

import pytest

from judgekit.cassette.tape import Tape
from judgekit.judges.terminal import columns

from .driver import JUDGEKIT, Terminal

RUN = (*JUDGEKIT, "run", "suite.yaml", "--judge", "manual/ann", "--record", "new_episodes")
SUITE = "cases: cases.jsonl\ncassette: tape.jsonl\nmetrics: {tone: }\n"
RUBRIC = """\
---
name: tone
extends: base
description: Whether the answer is friendly and right.
criteria:
  friendly: {weight: 0.5, text: Is it friendly?, levels: {warm: 1.0, cold: 0.0}, quotes: true}
  right: {weight: 0.5, text: Is it right?, kind: boolean, nullable: true}
---
"""


@pytest.fixture
def folder(tmp_path):
    rows = [
        {"id": f"c{n}", "input": f"Why {n}?", "output": f"Dear you, because {n}."}
        for n in (1, 2, 3)
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    (tmp_path / "tone.jinja").write_text(RUBRIC, "utf-8")
    return tmp_path


def judge(terminal, *, friendly="warm", right="y"):
    """Judge the case that is shown, up to its summary."""
    terminal.answer("why>", "it says dear")
    terminal.answer("quote 1 (words of the material; Enter ends the list)>", "Dear you")
    terminal.answer("quote 2 (words of the material; Enter ends the list)>", "")
    terminal.answer("answer (1-2 or the word)>", friendly)
    terminal.answer("why>", "so it is")
    terminal.answer("answer (y/n)>", right)


def record(terminal):
    terminal.answer("Enter records this, undo goes back>", "")


def wait_until_stored(home, count):
    """Wait until so many replies are in the store: recording goes on behind the next question."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with (
            suppress(sqlite3.Error),
            closing(sqlite3.connect(f"file:{home}/cache.db?mode=ro", uri=True)) as store,
        ):
            if store.execute("SELECT count(*) FROM Cache").fetchone()[0] == count:
                return
        time.sleep(0.05)
    raise AssertionError("the reply was not stored")


def said(folder):
    """Return what is on the tape: the answers by the case they are about."""
    tape = Tape(folder / "tape.jsonl")
    try:
        return {
            r.request.messages[-1].content.split("Why ")[1][0]: json.loads(r.reply.tries[-1].text)
            for r in tape.records()
        }
    finally:
        tape.close()


def test_cases_come_in_order_and_are_recorded(folder):
    with Terminal(RUN, cwd=folder) as terminal:
        for case in ("c1", "c2", "c3"):
            terminal.expect(f"Case {case}: tone")
            judge(terminal)
            record(terminal)
        assert terminal.finish() == 0

    assert "3 judged" in terminal.text
    assert "a second" not in terminal.text  # no progress line between questions
    assert said(folder)["2"] == {
        "friendly": {"quotes": ["Dear you"], "reason": "it says dear", "value": "warm"},
        "right": {"reason": "so it is", "value": True},
    }


def test_undo_goes_back_over_questions_and_from_the_summary(folder):
    with Terminal((*RUN, "--limit", "1"), cwd=folder) as terminal:
        terminal.answer("why>", "undo")
        terminal.expect("nothing to undo in this case")
        judge(terminal, friendly="cold")
        terminal.answer("Enter records this, undo goes back>", "undo")
        terminal.answer("answer (y/n)>", "undo")
        terminal.answer("why>", "undo")
        terminal.answer("answer (1-2 or the word)>", "1")
        terminal.answer("why>", "better so")
        terminal.answer("answer (y/n)>", "no")
        record(terminal)
        assert terminal.finish() == 0

    answers = said(folder)["1"]
    assert answers["friendly"]["value"] == "warm"
    assert answers["right"] == {"reason": "better so", "value": False}


def test_skip_abstains_where_the_rubric_allows_it_and_leaves_a_case_otherwise(folder):
    with Terminal((*RUN, "--limit", "2", "--out", "out"), cwd=folder) as terminal:
        terminal.answer("why>", "skip")
        terminal.expect("`skip case` leaves the case for later")
        terminal.answer("why>", "warm words")
        terminal.answer("quote 1", "")
        terminal.answer("answer (1-2 or the word)>", "w")
        terminal.answer("why>", "skip")
        terminal.expect("right: undecided")
        record(terminal)
        terminal.expect("Case c2: tone, 1 judged so far")
        terminal.answer("why>", "skip case")
        assert terminal.finish() == 3

    assert "manual/ann left this for later; run again to judge it" in " ".join(
        terminal.text.split()
    )
    assert said(folder)["1"]["right"] == {"reason": "", "value": None}
    rows = [json.loads(line) for line in (folder / "out/results.jsonl").read_text().splitlines()]
    assert [r["result"].get("kind") for r in rows if "result" in r] == [None, "not_run"]


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["quit\r", "\x04", "\x03"])
def test_stopping_keeps_what_is_done_and_takes_it_up(folder, ending, own_store):
    with Terminal(RUN, cwd=folder) as terminal:
        judge(terminal)
        record(terminal)
        terminal.expect("Case c2: tone")
        terminal.answer("why>", "half of it")
        terminal.expect("quote 1")
        wait_until_stored(own_store, 1)
        terminal.send(ending)
        assert terminal.finish() == 3

    assert list(said(folder)) == ["1"]
    (draft,) = (own_store / "drafts").iterdir()
    assert draft.stat().st_mode & 0o777 == 0o600

    with Terminal(RUN, cwd=folder) as terminal:
        terminal.expect("Case c2: tone")
        terminal.expect("taken up from last time: 1 answer; undo goes back")
        terminal.answer("quote 1", "")
        terminal.answer("answer (1-2 or the word)>", "2")
        terminal.answer("why>", "no")
        terminal.answer("answer (y/n)>", "n")
        record(terminal)
        judge(terminal)
        record(terminal)
        assert terminal.finish() == 0

    assert said(folder)["2"]["friendly"] == {"quotes": [], "reason": "half of it", "value": "cold"}
    assert list((own_store / "drafts").iterdir()) == []


def test_a_power_cut_costs_no_answer(folder, own_store):
    with Terminal(RUN, cwd=folder) as terminal:
        judge(terminal)
        record(terminal)
        terminal.expect("Case c2: tone")
        terminal.answer("why>", "half of it")
        terminal.expect("quote 1")
        wait_until_stored(own_store, 1)
        terminal.kill()

    with Terminal(RUN, cwd=folder) as terminal:
        terminal.expect("Case c2: tone")
        terminal.answer("taken up from last time: 1 answer; undo goes back", "quit")
        assert terminal.finish() == 3

    assert list(said(folder)) == ["1"]


def test_a_hostile_case_does_not_touch_the_terminal(folder):
    text = (
        "\x1b[2J\x1b[H\x1b]0;owned\x07 \x9b31m \u202eback\u202c \r over \x08\x08 \x1b[?1049h fine"
    )
    row = {"id": "c1 \x1b[31m", "input": "Why 1?", "output": text}
    (folder / "cases.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    with Terminal(RUN, cwd=folder, environment={"NO_COLOR": "1"}) as terminal:
        terminal.answer("why>", "prompt")
        terminal.expect("--- system")
        terminal.answer("why>", "\x1b[A and on")
        terminal.expect("arrow and function keys do not work here")
        terminal.answer("why>", "quit")
        assert terminal.finish() == 3

    shown = terminal.raw.replace("^[[A", "")
    assert "\x1b" not in shown
    assert not set(shown) & {"\x07", "\x08", "\x9b", "\u202e"}
    assert "over" in shown


@pytest.mark.parametrize(
    ("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_go_when_they_are_not_wanted(folder, settings, coloured):
    with Terminal(RUN, cwd=folder, environment=settings) as terminal:
        terminal.expect("why>")
        assert ("\x1b[1m" in terminal.raw) is coloured
        terminal.send("\x04")
        assert terminal.finish() == 3


def test_the_case_fits_the_window_and_follows_its_size(folder):
    text = "Wide 判定者は答えを読む。" * 12 + " " + "unbroken" * 40
    row = {"id": "c1", "input": "Why 1?", "output": text}
    (folder / "cases.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    with Terminal(RUN, cwd=folder, columns=120, environment={"NO_COLOR": "1"}) as terminal:
        terminal.expect("why>")
        assert max(map(columns, terminal.text.splitlines())) == 100
        before = len(terminal.text)
        terminal.resize(80, 24)
        terminal.send("case\r")
        terminal.expect("why>")
        again = terminal.text[before:]
        assert max(map(columns, again.splitlines())) == 80
        assert "".join(again.replace("| ", "").split()).count("unbroken" * 40) == 1
        terminal.send("\x04")
        terminal.finish()


def test_a_paste_of_several_lines_answers_nothing(folder):
    with Terminal((*RUN, "--limit", "1"), cwd=folder) as terminal:
        terminal.expect("why>")
        terminal.send("one\rtwo\rthree")
        terminal.expect("several lines came at once and were not taken; give one line")
        judge(terminal)
        record(terminal)
        assert terminal.finish() == 0

    assert said(folder)["1"]["friendly"]["reason"] == "it says dear"


def test_two_persons_share_a_terminal_one_after_the_other(folder):
    (folder / "suite.yaml").write_text(
        "cases: {path: cases.jsonl, limit: 1}\ncassette: tape.jsonl\nrecord: new_episodes\n"
        "judge: manual/ann\njudges: {second: manual/bob}\n"
        "metrics: {tone: , again: {rubric: tone, judge: second}}\n",
        "utf-8",
    )
    with Terminal((*JUDGEKIT, "run", "suite.yaml"), cwd=folder) as terminal:
        for metric in ("tone", "again"):
            terminal.expect(f"Case c1: {metric}")
            judge(terminal)
            record(terminal)
        assert terminal.finish() == 0


def test_one_case_is_scored_by_a_person(folder):
    command = (
        *JUDGEKIT,
        "score",
        "--rubric",
        "tone.jinja",
        "--judge",
        "manual/ann",
        "-o",
        "Dear you.",
    )
    with Terminal((*command, "-i", "Why 1?"), cwd=folder) as terminal:
        judge(terminal)
        record(terminal)
        assert terminal.finish() == 0

    assert "friendly: 1.00 (weight 0.50) it says dear" in terminal.text
