from __future__ import annotations

import asyncio
import json

import pytest

from judgekit.cassette.tape import Tape
from judgekit.core.errors import ConfigError
from judgekit.suite.maintenance import explain_misses, prune_unused
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
    text, misses = explain_misses(suite)

    assert (text, misses) == ("no misses: every request is recorded\n", 0)


def test_each_miss_is_explained_up_to_a_number(suite):
    write_cases(suite.parent, "One!", "Two!", "Three!")

    text, misses = explain_misses(suite, most=2)

    assert misses == 3
    assert text.count("nearest record: ") == 2
    assert text.endswith("and 1 more (--most)\n")


def test_nothing_is_asked_and_nothing_written_while_explaining(suite):
    write_cases(suite.parent, "One!")
    suite.write_text(SUITE + "record: all\n", "utf-8")
    before = (suite.parent / "tape.jsonl").read_bytes()

    _, misses = explain_misses(suite)

    assert misses == 1
    assert (suite.parent / "tape.jsonl").read_bytes() == before


def test_only_what_is_used_is_left(suite):
    write_cases(suite.parent, "One.", "Three.")

    assert "1 record" in prune_unused(suite, remove=False)
    assert len(Tape(suite.parent / "tape.jsonl")) == 3
    prune_unused(suite, remove=True)

    assert len(Tape(suite.parent / "tape.jsonl")) == 2
    assert "every record is used" in prune_unused(suite, remove=False)


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
