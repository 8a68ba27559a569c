from __future__ import annotations

import asyncio
import json

import pytest

from judgekit.cassette.tape import Tape
from judgekit.core.errors import ConfigError
from judgekit.suite.maintenance import (
    explain_misses,
    prune_unjustified,
    prune_unused,
    unjustified_records,
)
from judgekit.suite.run import run_suite
from judgekit.suite.suite import Overrides, load_suite

SUITE = "cases: cases.jsonl\njudge: fake/judge\ncassette: tape.jsonl\nmetrics: {safety: }\n"


def write_cases(folder, *outputs):
    rows = [{"id": f"c{n}", "output": output} for n, output in enumerate(outputs)]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE, "utf-8")
    write_cases(tmp_path, "One.", "Two.", "Three.")
    asyncio.run(run_suite(load_suite(path, Overrides(record="all"))))
    return path


def test_a_full_replay_has_nothing_to_explain(suite):
    misses = explain_misses(suite)

    assert (misses.text(), misses.missed) == ("no misses: every request is recorded\n", 0)


def test_each_miss_is_explained_up_to_a_number(suite):
    write_cases(suite.parent, "One!", "Two!", "Three!")

    misses = explain_misses(suite, most=2)

    assert misses.missed == 3
    assert misses.text().count("nearest record: ") == 2
    assert misses.text().endswith("and 1 more (--most)\n")


def test_nothing_is_asked_and_nothing_written_while_explaining(suite):
    write_cases(suite.parent, "One!")
    suite.write_text(SUITE + "record: all\n", "utf-8")
    before = (suite.parent / "tape.jsonl").read_bytes()

    assert explain_misses(suite).missed == 1
    assert (suite.parent / "tape.jsonl").read_bytes() == before


def test_only_what_is_used_is_left(suite):
    write_cases(suite.parent, "One.", "Three.")

    assert "1 record not used" in prune_unused(suite, remove=False)[0].text()
    assert len(Tape(suite.parent / "tape.jsonl")) == 3
    prune_unused(suite, remove=True)

    assert len(Tape(suite.parent / "tape.jsonl")) == 2
    assert "every record is used" in prune_unused(suite, remove=False)[0].text()


def test_pruning_is_refused_while_the_replay_misses(suite):
    write_cases(suite.parent, "One!", "Two!", "Three!")

    with pytest.raises(ConfigError, match="3 requests of the suite are not recorded"):
        prune_unused(suite, remove=True)

    assert len(Tape(suite.parent / "tape.jsonl")) == 3


@pytest.mark.parametrize("look", [explain_misses, lambda path: prune_unused(path, remove=True)])
def test_a_suite_without_a_cassette_is_said(suite, look):
    suite.write_text("cases: cases.jsonl\nmetrics: {length: {maximum: 9}}\n", "utf-8")

    with pytest.raises(ConfigError, match="the suite has no cassette"):
        look(suite)


@pytest.fixture
def doubtful(suite):
    """The same suite; its first record is a rejection that is not about the case."""
    from judgekit.cassette.record import encode
    from judgekit.cassette.store import Store, store_folder
    from judgekit.cassette.tape import merge_into
    from judgekit.core.errors import CaseError
    from judgekit.core.request import Fault, Reply, Try

    tape = suite.parent / "tape.jsonl"
    record = next(Tape(tape).records())
    message = "the judge took other requests but not this one: HTTP 400: insufficient balance"
    reply = Reply(tries=(Try(fault=Fault.of(CaseError(message))),))
    line, *shared = encode(record.request, reply)
    merge_into(tape, {record.key}, lambda _: shared)
    store = Store(store_folder(suite.parent))
    store.put(record.key, line)
    store.close()
    return suite, record.key


def test_unjustified_records_are_listed_and_removed(doubtful):
    path, key = doubtful
    tape = path.parent / "tape.jsonl"
    others = {record.key for record in Tape(tape).records()} - {key}

    assert list(unjustified_records(tape)) == [key]
    told = [one.text() for one in prune_unjustified(path, remove=False)]
    assert [line.partition(": ")[2] for line in told] == [
        "1 record would not be recorded today; remove with --yes"
    ] * 2
    assert len(Tape(tape)) == 3

    told = [one.text() for one in prune_unjustified(path, remove=True)]
    assert [line.partition(": ")[2] for line in told] == ["1 record removed"] * 2
    assert {record.key for record in Tape(tape).records()} == others
    for argument in (path, tape):
        told = [one.text() for one in prune_unjustified(argument, remove=True)]
        assert [line.partition(": ")[2] for line in told] == ["every record is justified"] * 2

    # The next run asks again, and nothing else.
    suite = load_suite(path, Overrides(record="new_episodes"))
    report = asyncio.run(run_suite(suite))
    assert report.run["origins"]["live"] == 1


def test_a_record_that_is_not_justified_replays_as_before(doubtful):
    report = asyncio.run(run_suite(load_suite(doubtful[0], Overrides())))

    assert report.figures.metrics[0].failures == {"invalid_case": 1}
