"""Recordings under older keys: on the tape, in the store, in run folders, and in maintenance."""

from __future__ import annotations

import asyncio
import json

import pytest

from benchmarks.old_keys import GeneratedJudge, check, oldest, reply_of
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.record import Record, encode
from judgekit.cassette.store import Store
from judgekit.cassette.tape import Tape, merge_into
from judgekit.core.errors import CassetteMiss
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.request import About, ChatMessage
from judgekit.report.display import summary_text
from judgekit.report.report import Report
from judgekit.suite.maintenance import explain_misses, prune_unused
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite
from judgekit.suite.watch.watch import Watch
from tests.cassette.conftest import FORM

PARAMS = {"temperature": 0, "user": "ann"}


def request(judge, text="text", **about):
    messages = (ChatMessage(role="user", content=text),)
    return RequestBuilder(judge).request(
        messages=messages, form=FORM, sample=0, about=About(**about)
    )


def written(path, *records):
    found = {one.key: Record(one.key, one, reply) for one, reply in records}
    merge_into(path, found, found.__getitem__)
    return path


def asked(cassette, one, judge):
    return asyncio.run(cassette.ask(one, of=judge)).tries[-1].text


@pytest.fixture
def judge():
    return GeneratedJudge("openai/judge", PARAMS)


def test_generated_requests_get_their_own_recording_and_never_another_one():
    outcomes = check(300, seed=7)

    assert set(outcomes) == {"right", "missed"}
    assert outcomes["right"] > 90


def test_a_hit_by_an_older_key_is_counted_and_written_in_the_new_form(tmp_path, judge):
    new = request(judge)
    tape = written(tmp_path / "tape.jsonl", (oldest(new), reply_of("old")))

    with Cassette(judge, tape=tape) as cassette:
        assert asked(cassette, new, judge) == "old"
        assert cassette.ledger.older == {"parameters": 1}
        assert cassette.older_keys == {new.key: oldest(new).key}
        assert cassette.unused == 0
        cassette.write_used(tmp_path / "used.jsonl")

    (record,) = Tape(tmp_path / "used.jsonl").records()
    assert record.key == new.key
    assert record.request.params == {"temperature": 0}


@pytest.mark.parametrize("params", [{"temperature": 0}, {"temperature": 0, "user": "bob"}])
def test_a_recording_with_other_values_of_such_parameters_is_found(tmp_path, judge, params):
    tape = written(tmp_path / "tape.jsonl", (oldest(request(judge)), reply_of("old")))
    other = GeneratedJudge("openai/judge", params)
    warm = GeneratedJudge("openai/judge", {"temperature": 1, "user": "ann"})

    with Cassette(judge, tape=tape) as cassette:
        assert asked(cassette, request(other), other) == "old"
        assert cassette.ledger.older == {"parameters": 1}
        assert cassette.unused == 0
        with pytest.raises(CassetteMiss, match=r"params\.temperature"):
            asked(cassette, request(warm), warm)


def test_the_newest_of_several_recordings_wins(tmp_path, judge):
    new = request(judge)
    tape = written(tmp_path / "tape.jsonl", (oldest(new), reply_of("old")), (new, reply_of("new")))

    with Cassette(judge, tape=tape) as cassette:
        assert [asked(cassette, new, judge) for _ in range(2)] == ["new", "new"]
        assert cassette.ledger.superseded == 1
        assert not cassette.ledger.older
        assert list(cassette.unused_keys()) == [oldest(new).key]


def test_a_hit_in_the_store_is_stored_in_the_new_form(tmp_path, own_store, judge):
    new = request(judge)
    store = Store(own_store)
    store.put(oldest(new).key, encode(oldest(new), reply_of("old"))[0])
    path = tmp_path / "tape.jsonl"

    with Cassette(judge, tape=path, store=store, record="new_episodes") as cassette:
        assert asked(cassette, new, judge) == "old"
        assert store.get(new.key) is not None

    assert [record.key for record in Tape(path).records()] == [new.key]


def test_a_key_to_ask_again_may_be_an_older_one(tmp_path, own_store):
    judge = GeneratedJudge("recorded/v", {}, "recorded")
    new = request(judge, case="a")
    tape = written(tmp_path / "tape.jsonl", (oldest(new), reply_of("a 0")))
    again = frozenset({oldest(new).key})
    store = Store(own_store)

    with Cassette(judge, tape=tape, store=store, record="new_episodes", again=again) as cassette:
        asked(cassette, new, judge)
        assert cassette.ledger.origins == {"live": 1}


def test_an_old_verdict_is_used_only_for_the_case_that_has_it(tmp_path):
    judge = GeneratedJudge("recorded/v", {}, "recorded")
    first, second = request(judge, case="a"), request(judge, case="b")
    tape = written(tmp_path / "tape.jsonl", (oldest(first), reply_of("a 0")))

    with Cassette(judge, tape=tape) as cassette:
        with pytest.raises(CassetteMiss, match="for another case with the same text"):
            asked(cassette, second, judge)
        assert asked(cassette, first, judge) == "a 0"


def test_a_miss_says_what_differs_whether_an_older_version_hits_and_what_decides(tmp_path, judge):
    tape = written(tmp_path / "tape.jsonl", (request(judge, "one"), reply_of("old")))

    with Cassette(judge, tape=tape) as cassette, pytest.raises(CassetteMiss) as missed:
        asked(cassette, request(judge, "two"), judge)

    differs, older, decides = str(missed.value).rsplit("; ", 2)
    assert "differs in message 1 (user)" in differs
    assert older == "no older version would hit"
    assert decides == "`--record new_episodes` asks the judge"


# -- suites -------------------------------------------------------------------------


SUITE = """\
cases: cases.jsonl
judge: {model: openai/judge, api_base: http://127.0.0.1:1/v1, params: {user: ann, seed: 1}}
cassette: tape.jsonl
metrics:
  kind: {criteria: {kind: Is it kind?}}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose tape has the keys of the first generation."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    rows = [{"id": id, "output": f"Yes, {id}."} for id in "abc"]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    suite = load_suite(tmp_path / "suite.yaml")
    (metric,) = suite.metrics
    requests = [one for case in suite.cases() for one in metric.requests(case)[1]]
    verdict = reply_of(json.dumps({"kind": {"reason": "r", "value": 1}}))
    written(tmp_path / "tape.jsonl", *((oldest(one), verdict) for one in requests))
    suite.close()
    return tmp_path


def test_a_run_says_once_how_many_replies_have_an_older_key(project):
    report = run_suite_sync(project / "suite.yaml", out=project / "run")

    assert report.run["older"] == {"parameters": 3}
    assert report.run["unused"] == 0
    assert "replies: 3 from the tape (3 under an older key);" in summary_text(report)
    keys = {row.result.judgments[0].request_key for one in report.results for row in one.rows}
    assert {record.key for record in Tape(project / "run/tape.jsonl").records()} == keys
    assert report.run["older_keys"].keys() == keys


def test_prune_keeps_and_explain_finds_records_of_older_keys(project):
    assert "every record is used" in prune_unused(project / "suite.yaml", remove=True)[0].text()
    assert explain_misses(project / "suite.yaml").missed == 0


def test_rows_of_an_earlier_run_keep_their_records(project):
    run_suite_sync(project / "suite.yaml", out=project / "run")

    again = run_suite_sync(
        project / "suite.yaml", out=project / "again", retry_failed=project / "run"
    )

    assert again.run["unused"] == 0
    assert len(list(Tape(project / "again/tape.jsonl").records())) == 3
    assert Report.read(project / "again").run["missed"] == 0


def test_a_watched_suite_uses_its_older_records_in_every_round(project):
    rows = (project / "cases.jsonl").read_text("utf-8").splitlines(keepends=True)
    saves = []

    def save(_):
        if saves:  # once, and then the file is quiet
            (project / "cases.jsonl").write_text("".join(rows[: saves.pop()]), "utf-8")

    rounds = Watch(
        project / "suite.yaml",
        Overrides(),
        run=lambda suite, reuse: run_suite_sync(suite, reuse=reuse),
        sleep=save,
    ).rounds()
    reports = [next(rounds).report]
    for count in (2, 1):
        saves.append(count)
        reports.append(next(rounds).report)

    assert [report.run["origins"].get("tape", 0) for report in reports] == [3, 0, 0]
    assert [report.run["unused"] for report in reports] == [0, 1, 2]
    assert [len(report.run["older_keys"]) for report in reports] == [3, 2, 1]


def test_cases_with_equal_texts_get_their_own_recorded_verdicts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases = [{"id": f"c{n}", "output": "The same."} for n in range(4)]
    verdicts = [
        {"case": f"c{n}", "rubric": "kind", "answers": {"kind": {"value": float(n == 0)}}}
        for n in range(4)
    ]
    for name, rows in {"cases.jsonl": cases, "verdicts.jsonl": verdicts}.items():
        (tmp_path / name).write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    suite = SUITE.replace(SUITE.splitlines()[1], "judge: {recorded: verdicts.jsonl}")
    (tmp_path / "suite.yaml").write_text(suite + "record: new_episodes\n", "utf-8")

    report = run_suite_sync(tmp_path / "suite.yaml", out=tmp_path / "run")

    assert [one.rows[0].result.value for one in report.results] == [1, 0, 0, 0]
    assert len(list(Tape(tmp_path / "tape.jsonl").records())) == 4
