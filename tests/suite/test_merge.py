"""Shards of a run, and the one run they make together."""

from __future__ import annotations

import asyncio
import json
import shutil

import pytest

from judgekit.core.errors import ConfigError
from judgekit.report.display import summary_text
from judgekit.suite.merge import find_places, merge_shards
from judgekit.suite.run import failing_ids, run_suite
from judgekit.suite.suite import Overrides, load_suite

SAME = ("results.jsonl", "report.json", "tape.jsonl")
SUITE = {
    "cases": "cases.jsonl",
    "judge": "fake/judge",
    "cassette": "recorded.jsonl",
    "gate": {"undecided": "pass", "cost": 1.0},
    "metrics": {
        "safety": {
            "rubric": "safety@1",  # the made-up replies pass in some cases
            "threshold": 0.5,
            "gate": [{"mean": 0.5}, {"where": {"topic": "b"}, "mean": 0.4}, {"not_worse": 0.1}],
        },
        "prompt_alignment": {"mode": "user", "samples": 2},
        "exact_match": {"threshold": 1.0, "gate": {"mean": 0.9, "cluster": "topic"}},
        "embedding": {"metric": "similarity"},
    },
    "limits": {"max_failures": 100},
    "cluster": "user",
}


@pytest.fixture
def folder(tmp_path):
    rows = [
        {
            "id": f"c/{n}\n\u2028é",
            "input": f"Question {n}?",
            "output": f"Answer {n}.",
            "metadata": {"topic": "ab"[n % 2], "user": n % 11},
            # Every fourth case lacks what exact_match needs: a row that failed.
            **({"reference": f"Answer {n % 9}."} if n % 4 else {}),
        }
        for n in range(23)
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE), "utf-8")
    run(tmp_path, "base", record="new_episodes", judge="fake/judge", baseline=None, unraced=True)
    return tmp_path


def run(folder, out, *, unraced=False, **overrides):
    if unraced:  # the baseline itself
        data = json.loads(json.dumps(SUITE))
        data["metrics"]["safety"]["gate"].pop()
        (folder / "first.yaml").write_text(json.dumps(data), "utf-8")
    else:
        overrides["baseline"] = str(folder / "base")
    suite = load_suite(folder / ("first.yaml" if unraced else "suite.yaml"), Overrides(**overrides))
    return asyncio.run(run_suite(suite, out=folder / out))


def merge(folder, *names, **options):
    out = folder / options.pop("out", "merged")
    return merge_shards(folder / "suite.yaml", [folder / n for n in names], out=out, **options)


@pytest.mark.parametrize("of", [1, 2, 5])
def test_merged_shards_are_the_bytes_of_one_run(folder, of):
    whole = run(folder, "whole")
    names = [f"s{number}" for number in range(1, of + 1)]
    for number, name in enumerate(names, 1):
        report = run(folder, name, shard=f"{number}/{of}")
        assert report.figures.gates == ()
        assert report.exit_code == 0
    merged = merge(folder, *reversed(names))

    for name in SAME:
        assert (folder / "merged" / name).read_bytes() == (folder / "whole" / name).read_bytes()
    assert len(merged.figures.gates) == 5
    assert merged.metrics["safety"].clusters == 11
    assert merged.exit_code == whole.exit_code == 1
    assert merged.run["origins"] == whole.run["origins"]
    assert merged.run["shards"] == of


@pytest.mark.thorough
def test_a_large_run_does_not_list_its_keys(folder, monkeypatch):
    for module in ("run", "merge"):
        monkeypatch.setattr(f"judgekit.suite.{module}.MAX_KEYS", 60)
    for number in (1, 2):
        report = run(folder, f"s{number}", shard=f"{number}/2", record="all")
        assert len(report.run["from_store_or_live"]) <= 60
    merged = merge(folder, "s1", "s2").run
    assert merged["origins"]["live"] > 60
    assert "from_store_or_live" not in merged
    assert "from_store_or_live" not in run(folder, "whole", record="all").run


def test_a_shard_without_cases_is_one_all_the_same(folder):
    (folder / "cases.jsonl").write_text(
        '{"id": "a", "input": "q", "output": "x", "metadata": {"topic": "a"}}\n', "utf-8"
    )
    codes = [run(folder, f"s{n}", shard=f"{n}/3").exit_code for n in (1, 2, 3)]

    # The only case is not recorded, and the limit allows that it fails.
    assert codes == [0, 0, 0]
    assert merge(folder, "s1", "s2", "s3").figures.cases == 1


def test_what_does_not_fit_together_is_refused_in_one_line(folder):
    for number in (1, 2, 3):
        run(folder, f"s{number}", shard=f"{number}/3")
    run(folder, "whole")
    run(folder, "half", shard="1/2")
    run(folder, "flagged", shard="3/3", only=["embedding"])
    cases = folder / "cases.jsonl"
    kept = cases.read_text("utf-8")
    cases.write_text(kept + '{"id": "new", "input": "q", "output": "x"}\n', "utf-8")
    run(folder, "other", shard="3/3")
    cases.write_text(kept, "utf-8")
    shutil.copytree(folder / "s3", folder / "killed")
    (folder / "killed" / "report.json").unlink()
    shutil.copytree(folder / "s3", folder / "cut")
    results = folder / "cut" / "results.jsonl"
    text = results.read_text("utf-8")
    results.write_text(text[: text.rindex('{"type":"case"')], "utf-8")
    shutil.copytree(folder / "s3", folder / "moved")
    moved = json.loads((folder / "moved" / "shard.json").read_text("utf-8"))
    first, _, rest = moved["places"].partition(" ")
    moved["places"] = f"{int(first) + 1} {rest}"
    (folder / "moved" / "shard.json").write_text(json.dumps(moved), "utf-8")

    def told(*names, out="merged"):
        with pytest.raises(ConfigError) as caught:
            merge(folder, *names, out=out)
        message = str(caught.value)
        assert "\n" not in message
        return message.replace(f"{folder}/", "")

    assert told().startswith("which shards?")
    assert told("s1", "s2") == "shard 3 of 3 is missing"
    assert told("s1") == "shards 2, 3 of 3 are missing"
    assert told("s1", "s2", "s2") == "s2: is shard 2/3, as s2 is"
    assert told("s1", "s2", "whole").startswith("whole: shard.json is missing")
    assert told("s1", "s2", "half") == "s1: is shard 1/3, and half is shard 1/2"
    assert told("s1", "s2", "flagged") == "flagged: has other flags than s1"
    assert told("s1", "s2", "other") == "other: has other cases than s1"
    assert told("s1", "s2", "killed").startswith("killed: the run is still going, or was stopped")
    assert told("s1", "s2", "cut") == "cut: has fewer cases than shard.json lists"
    assert "the shards do not fit together" in told("s1", "s2", "moved")
    assert told("s1", "s2", "s3", out="s2") == "s2: is one of the shards; merge into another folder"
    suite = json.loads((folder / "suite.yaml").read_text("utf-8"))
    suite["metrics"]["safety"]["threshold"] = 0.6
    (folder / "suite.yaml").write_text(json.dumps(suite), "utf-8")
    assert told("s1", "s2", "s3").startswith("s1: is not a run of this suite as it is now")


@pytest.mark.parametrize(
    "said",
    [
        "[]", "{", "{}", '{"shard": "1/2"}',
        '{"shard": "9/2", "cases": 1, "ids": "", "finished": true}',
        '{"shard": "1/1", "cases": -1, "ids": "", "finished": true}',
        '{"shard": "1/1", "cases": 1, "ids": "", "finished": true, "places": "0 -1"}',
        '{"shard": "1/1", "cases": 1, "ids": "", "finished": true, "flags": {"record": "all"}}',
        '{"shard": "1/1", "cases": 1, "ids": "", "finished": true, "flags": {"x": 1}}',
    ],
)  # fmt: skip
def test_a_tampered_shard_is_refused(folder, said):
    run(folder, "s1", shard="1/1")
    (folder / "s1" / "shard.json").write_text(said, "utf-8")

    with pytest.raises(ConfigError) as caught:
        merge(folder, "s1")

    assert "\n" not in str(caught.value)


def test_shards_that_asked_keep_all_that_was_said(folder):
    (folder / "recorded.jsonl").unlink()
    for number in (1, 2):
        run(folder, f"s{number}", shard=f"{number}/2", record="all", judge="fake/judge")
    merged = merge(folder, "s1", "s2")

    # Each case: safety, the requirements of the prompt, and two samples of prompt_alignment.
    assert merged.run["origins"] == {"live": 92}
    assert not any(summary.missed for summary in [])
    assert merged.metrics["safety"].judged == 23


def test_a_run_of_some_cases_says_which(folder):
    report = run(folder, "some", where=["topic=b"], limit=3)

    assert report.figures.cases == 3
    assert report.run["selected"] == {"where": ["topic=b"], "limit": 3}
    assert "only the first 3 cases with topic=b\n" in summary_text(report)
    assert "unused" not in report.run


def test_what_failed_can_be_run_alone(folder):
    whole = run(folder, "whole")
    failing = failing_ids(folder / "whole")
    expected = {
        row.case
        for scored in whole.results
        for row in scored.rows
        if row.metric in ("exact_match", "safety")
        and (row.result.type == "failure" or row.result.value < {"safety": 0.5}.get(row.metric, 1))
    }
    report = run(folder, "again", ids=failing)

    assert failing == expected
    assert 0 < len(expected) < 23
    assert report.figures.cases == len(expected)


def test_nothing_is_written_where_nothing_is_chosen(folder):
    with pytest.raises(ConfigError, match="no case has this value"):
        run(folder, "none", where=["topic=c"])

    assert not (folder / "none").exists()


def test_shards_share_the_flags_that_affect_the_exit_code(folder):
    """Six rows fail; the suite allows 100."""
    strict = {"only": ["exact_match"], "max_failures": 2}
    whole = run(folder, "whole", **strict)
    shards = [run(folder, f"s{n}", shard=f"{n}/3", **strict) for n in (1, 2, 3)]
    run(folder, "lax", shard="3/3", only=["exact_match"])
    merged = merge(folder, "s1", "s2", "s3")

    assert [shard.exit_code for shard in shards] == [0, 0, 3]
    assert merged.exit_code == whole.exit_code == 3
    assert merged.figures.incomplete == ("6 rows failed (2 allowed)",)
    for name in SAME:
        assert (folder / "merged" / name).read_bytes() == (folder / "whole" / name).read_bytes()
    with pytest.raises(ConfigError, match="lax: has other flags than"):
        merge(folder, "s1", "s2", "lax")


def test_a_merge_replaces_only_flags_that_affect_the_exit_code(folder):
    for number in (1, 2):
        run(folder, f"s{number}", shard=f"{number}/2", only=["exact_match"])

    lax = merge(folder, "s1", "s2", overrides=Overrides(max_failures=6))
    strict = merge(folder, "s1", "s2", overrides=Overrides(max_failures=5))

    assert (lax.exit_code, strict.exit_code) == (0, 3)
    with pytest.raises(ConfigError, match="merge takes no limit"):
        merge(folder, "s1", "s2", overrides=Overrides(limit=1))


def test_places_of_merged_cases_need_the_flags_of_the_shards(folder):
    """The gate `not_worse` has its baseline only from a flag."""
    run(folder, "s1", shard="1/1")

    places = find_places(folder / "suite.yaml", [folder / "s1"], {"c/1\n\u2028é"})

    assert places == {"c/1\n\u2028é": (str(folder / "cases.jsonl"), 2)}


def test_places_of_merged_cases_are_those_in_the_cases_of_the_shards(folder):
    lines = (folder / "cases.jsonl").read_text("utf-8").split("\n")
    other = folder / "other.jsonl"
    other.write_text("\n\n" + "\n".join(lines), "utf-8")
    for number in (1, 2):
        run(folder, f"s{number}", shard=f"{number}/2", cases=str(other))
    run(folder, "plain", shard="1/1")

    shards = [folder / "s1", folder / "s2"]
    places = find_places(folder / "suite.yaml", shards, {"c/1\n\u2028é"})

    assert places == {"c/1\n\u2028é": (str(other), 4)}
    merge(folder, "s1", "s2")
    assert "source" not in json.loads((folder / "plain/shard.json").read_text())
    other.unlink()
    assert find_places(folder / "suite.yaml", shards, {"c/1\n\u2028é"}) == {}
