"""What is run again when a file of a suite is saved, and that it comes to what a fresh run does."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from judgekit.report.verdict import verdict_line
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import replay_suite, run_suite
from judgekit.suite.suite import load_suite
from judgekit.suite.watch.files import changed, files_of, stamp_of, wait_for_change
from judgekit.suite.watch.text import changes_text
from judgekit.suite.watch.watch import Watch, recording_command

from .conftest import RUBRIC, SUITE, write_cases, write_suite

RECORD = Overrides(record="new_episodes")


def run(suite, reuse):
    if suite.at_once:
        return replay_suite(suite, reuse=reuse)
    return asyncio.run(run_suite(suite, reuse=reuse))


class Person:
    """Somebody who saves files while a suite is watched: one edit a round."""

    def __init__(self, overrides=None):
        self.edits = []
        self._rounds = Watch(
            Path("suite.yaml"), overrides or Overrides(), run=run, sleep=self._sleep
        ).rounds()
        self._overrides = overrides
        self.first = next(self._rounds)

    def _sleep(self, seconds):
        if self.edits:
            self.edits.pop(0)()

    def save(self, *edits):
        """Make some edits, one between two looks; return what comes of them."""
        self.edits += edits
        return next(self._rounds)

    def fresh(self):
        return run(load_suite("suite.yaml", Overrides()), None)


def write(path, text):
    def edit():
        beside = Path(path).with_suffix(".part")
        beside.write_text(text, "utf-8")
        beside.replace(path)

    return edit


def suite(**changes):
    return lambda: write_suite(Path(), **changes)


def metrics(**changes):
    return {"metrics": {**SUITE["metrics"], **changes}}


def record():
    run(load_suite("suite.yaml", RECORD), None)


def same(report, other):
    assert report.figures == other.figures
    assert [s.rows for s in report.results] == [s.rows for s in other.results]


@pytest.fixture
def person(project):
    record()
    return Person()


def test_the_first_round_runs_everything(person):
    assert (person.first.fresh, person.first.rows, person.first.changes) == (6, 6, None)
    assert person.first.report.exit_code == 0


def test_another_option_reruns_its_metric_and_a_bound_no_row(person):
    done = person.save(suite(**metrics(length={"maximum": 2})))

    assert [p.name for p in done.saved] == ["suite.yaml"]
    assert done.fresh == 3
    assert [(m.case, m.metric) for m in done.changes.rows] == [("c", "length"), ("b", "length")]
    same(done.report, person.fresh())

    gate = {"polite": {**SUITE["metrics"]["polite"], "gate": {"mean": 0.9}}}
    done = person.save(suite(**metrics(**gate, length={"maximum": 2})))
    assert done.fresh == 0
    ((then, now),) = done.changes.gates
    assert (then.passed, now.passed) == (True, False)
    same(done.report, person.fresh())


def test_a_changed_case_is_run_again_and_the_others_are_taken_over(person):
    def edit():
        write_cases(Path(), {"a": "One two three four five.", "b": "One two three.", "d": "One."})

    done = person.save(edit)

    assert done.fresh == 4  # a and d, by both metrics
    assert (done.changes.added, done.changes.gone) == (1, 1)
    assert done.changes.missed == {"polite": 2}
    same(done.report, person.fresh())


def change(text):
    return text.replace("kind?", "kind, really?").replace("a child", "an adult")


@pytest.mark.parametrize("name", ["polite.jinja", "_tone.jinja"])
def test_a_changed_rubric_is_missed_then_recorded_by_others_and_compared_with_before(person, name):
    path = Path("rubrics") / name
    text = path.read_text("utf-8")
    done = person.save(write(path, change(text)))

    assert done.fresh == 3
    assert done.changes.missed == {"polite": 3}
    assert done.changes.rows == ()
    same(done.report, person.fresh())

    done = person.save(record)  # as another terminal does
    assert done.fresh == 3
    assert done.changes.recorded == 3
    assert all(change.old.value is not None for change in done.changes.rows)
    same(done.report, person.fresh())


def test_weights_alone_are_judged_again_from_what_is_recorded(person):
    text = RUBRIC.replace("version: 1", "version: 2")
    done = person.save(write("rubrics/polite.jinja", text))

    assert done.fresh == 3
    assert done.changes.rows == ()
    same(done.report, person.fresh())


@pytest.mark.parametrize(
    ("edit", "words", "mend"),
    [
        (write("suite.yaml", "metrics: {"), "suite.yaml:2: not valid YAML", suite()),
        (
            write("rubrics/polite.jinja", RUBRIC.replace("kind: bool", "knd: bool")),
            "rubrics/polite.jinja:", write("rubrics/polite.jinja", RUBRIC),
        ),
        (
            write("rubrics/polite.jinja", RUBRIC.replace("_tone", "_tome")),
            "_tome", write("rubrics/_tome.jinja", "Think of a child.\n"),
        ),
        (
            write("cases.jsonl", '{"id": "a"\n'), "cases.jsonl:1",
            lambda: write_cases(Path(), {"a": "One two."}),
        ),
        (Path("cases.jsonl").unlink, "no such file of cases",
         lambda: write_cases(Path(), {"a": "One two."})),
        (suite(cases="other.jsonl"), "other.jsonl", write("other.jsonl", '{"output": "Yes."}\n')),
    ],
    ids=["suite", "rubric", "partial", "case", "removed", "not there yet"],
)  # fmt: skip
def test_a_wrong_file_is_one_line_and_mending_it_goes_on(person, edit, words, mend):
    done = person.save(edit)
    assert words in done.error
    assert "\n" not in done.error
    assert done.report is None

    done = person.save(mend)
    assert done.error is None
    same(done.report, person.fresh())


def test_editors_that_save_in_steps_make_one_round(person):
    target = Path("suite.yaml")
    text = json.dumps({**SUITE, **metrics(length={"maximum": 2})})
    done = person.save(
        lambda: target.rename("suite.yaml~"),
        lambda: target.write_text("", "utf-8"),
        lambda: target.write_text(text[:40], "utf-8"),
        lambda: target.write_text(text, "utf-8"),
    )

    assert done.error is None
    assert done.fresh == 3


def test_what_the_watch_itself_records_starts_no_round(project):
    person = Person(RECORD)
    assert person.first.suite.cassette.added == 3

    done = person.save(lambda: None, suite(**metrics(length={"maximum": 2})))

    assert [p.name for p in done.saved] == ["suite.yaml"]
    assert done.fresh == 3


def test_a_rubric_that_comes_to_hide_another_is_noticed(project):
    write_suite(project, metrics={"polite": {"rubric": "polite"}})
    record()
    person = Person()
    text = RUBRIC.replace("kind?", "kind? Really?").replace('{% include "_tone.jinja" %}', "")
    done = person.save(write("polite.jinja", text))

    assert [p.name for p in done.saved] == ["polite.jinja"]
    assert done.changes.missed == {"polite": 3}


def test_examples_and_options_that_name_files_count(project):
    row = {"case": {"output": "Yes."}, "answers": {"kind": {"reason": "It is.", "value": True}}}
    Path("rubrics/labelled.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    text = RUBRIC.replace("requires:", "examples: {file: labelled.jsonl, count: 1}\nrequires:")
    Path("rubrics/polite.jinja").write_text(text, "utf-8")
    Path("voice.yaml").write_text("id: kind\nlexicon: {preferred: [please]}\n", "utf-8")
    write_suite(project, **metrics(authenticity={"persona": "voice.yaml"}))
    record()
    person = Person()

    row["case"]["output"] = "No."
    done = person.save(write("rubrics/labelled.jsonl", json.dumps(row) + "\n"))
    assert done.changes.missed == {"polite": 3}
    done = person.save(write("voice.yaml", "id: kind\nlexicon: {preferred: [three]}\n"))
    assert done.fresh == 3 + 3  # the persona's metric, and what is still not recorded
    assert {change.metric for change in done.changes.rows} == {"authenticity"}
    same(done.report, person.fresh())


def test_a_save_that_changes_nothing_says_so(person):
    done = person.save(lambda: os.utime("suite.yaml", (1, 1)))

    assert (done.fresh, done.changes.rows, done.changes.means) == (0, (), ())


def test_the_text_says_what_moved_within_the_width(person):
    def edit():
        write_cases(Path(), {"日本語" * 20: "One two.", "b" * 200: "One.", "c": "\x1b[31m"})
        write_suite(Path(), **metrics(length={"maximum": 1}))

    done = person.save(edit)
    for width in (60, 80):
        text = changes_text(done.changes, done.report, command="judgekit run", width=width)
        assert "to record:\n    judgekit run\n" in text
        assert "\x1b" not in text
        from judgekit.core.display.text import cells

        assert max(map(cells, text.splitlines())) <= width
    assert verdict_line(done.report).startswith("INCOMPLETE: 2 rows failed")


def test_the_command_repeats_what_decides_the_calls():
    chosen = Overrides(
        judge="openai/a", judges={"second": "openai/b"}, params={"temperature": 0},
        settings={"tone": {"audience": "young children"}}, only=["tone"], limit=3,
    )  # fmt: skip
    assert recording_command(Path("my suite.yaml"), chosen, ["tone"]) == (
        "judgekit run 'my suite.yaml' --judge openai/a --judge second=openai/b "
        "--param temperature=0 --set 'tone.audience=young children' --only tone --limit 3 "
        "--record new_episodes"
    )


def test_waiting_ends_even_if_somebody_writes_all_the_time(project):
    files = files_of(Path("suite.yaml"), None)
    counter = iter(range(1000))

    def busy(_):
        Path("suite.yaml").write_text(" " * next(counter), "utf-8")

    saved, _ = wait_for_change(files.stamps(), files, sleep=busy)
    assert [p.name for p in saved] == ["suite.yaml"]


def test_stamps_tell_a_file_put_in_anothers_place(tmp_path):
    path = tmp_path / "a"
    path.write_text("1")
    before = {path: stamp_of(path)}
    (tmp_path / "b").write_text("2")
    os.utime(tmp_path / "b", ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    (tmp_path / "b").replace(path)
    assert changed(before, {path: stamp_of(path)}) == [path]
    assert stamp_of(tmp_path / "\x00") is None
