"""Merges in several processes give what a merge in one process gives."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.synchronous import Flag
from judgekit.suite import merge_workers
from judgekit.suite.merge import merge_shards
from judgekit.suite.merge_workers import LEAST_ROWS, processes
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import Overrides, load_suite

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="one process elsewhere")

THOROUGH = pytest.mark.thorough
SAME = ("results.jsonl", "report.json")
SUITE: dict[str, Any] = {
    "cases": "cases.jsonl",
    "metrics": {
        "length": {"maximum": 3, "unit": "words", "threshold": 1.0, "gate": {"mean": 0.5}},
        "exact_match": {"threshold": 1.0, "gate": {"pass_rate": 0.2}},
        "token_f1": {"threshold": 0.4},
        "bleu": {},  # has a figure over all rows, apart from the mean
    },
    "labels": "labels.jsonl",
    "limits": {"max_failures": 100},
    "cluster": "user",
}
ROWS = [
    {
        "id": f'c/{n}\n\u2028é"',
        "output": "word " * (n * 7 % 11),
        "metadata": {"user": n % 13},
        # Every fourth case lacks what two metrics need: rows that failed.
        **({"reference": "word " * (n % 5 + 1)} if n % 4 else {}),
    }
    for n in range(40)
]


@pytest.fixture
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(merge_workers, "CHUNK", 7)
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    labels = [{"case": row["id"], "metric": "token_f1", "value": 0.5} for row in ROWS[:30]]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)), "utf-8")
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE), "utf-8")
    for number in (1, 2, 3):
        suite = load_suite(tmp_path / "suite.yaml", Overrides(shard=f"{number}/3"))
        run_suite_sync(suite, out=tmp_path / f"s{number}")
    return [tmp_path / f"s{number}" for number in (1, 2, 3)]


def merge(shards: list[Path], workers: int, **options: Any) -> list[bytes]:
    root = shards[0].parent
    out = root / f"merged-{workers}"
    merge_shards(root / "suite.yaml", shards, out=out, workers=workers, **options)
    return [(out / name).read_bytes() for name in SAME]


def error_of(shards: list[Path], workers: int) -> str:
    with pytest.raises(ConfigError) as caught:
        merge(shards, workers)
    return str(caught.value).replace(f"merged-{workers}", "merged")


def edit(shards: list[Path], old: str, new: str, *, count: int = 1) -> None:
    path = shards[1] / "results.jsonl"
    text = path.read_bytes()
    assert old.encode() in text
    path.write_bytes(text.replace(old.encode(), new.encode(), count))


@pytest.mark.parametrize("workers", [3, pytest.param(2, marks=THOROUGH)])
def test_the_bytes_are_those_of_one_process(shards: list[Path], workers: int) -> None:
    assert merge(shards, workers) == merge(shards, 1)


def test_chunks_are_bounded_by_bytes(shards: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_workers, "MOST_BYTES", 1_500)

    assert merge(shards, 3) == merge(shards, 1)


def test_rows_in_another_order_are_those_of_their_metrics(shards: list[Path]) -> None:
    path = shards[1] / "results.jsonl"
    head, *lines = path.read_bytes().splitlines(keepends=True)
    moved = [
        line
        for n in range(0, len(lines), 5)
        for line in [lines[n], *reversed(lines[n + 1 : n + 5])]
    ]
    path.write_bytes(b"".join([head, *moved]))

    assert merge(shards, 3) == merge(shards, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            '"metric":"token_f1","result":{"type":"score"',
            '"metric":"token_f1","result":{"type":"x"',
        ),
        ('"metric":"length"', '"metric":"other"'),
        ('{"type":"case","case":{', '{"type":"case","case":[{'),
        *(
            pytest.param(*one, marks=THOROUGH)
            for one in [
                ('"metric":"length","result":{', '"metric":"length","result":[{'),
                ('"metric":"token_f1"', '"metric":"length"'),
                ('{"type":"case","case":{"id":"', '{"type":"case","case":{"id":7,"x":"'),
                ('{"case":"c/', '{"case":"d/'),
                ('{"judgekit":"results"', '{"judgekit":"other"'),
                ('"version":1}', '"version":99}'),
                ('{"case":"c/', '{"case": "c/'),
            ]
        ),
    ],
)
def test_what_is_damaged_is_the_same_line(shards: list[Path], old: str, new: str) -> None:
    edit(shards, old, new)

    try:
        expected: Any = merge(shards, 1)
    except ConfigError:
        expected = error_of(shards, 1)

    found: Any = error_of(shards, 3) if isinstance(expected, str) else merge(shards, 3)
    assert found == expected


@pytest.mark.thorough
def test_overlapping_and_short_shards_are_the_same_line(shards: list[Path]) -> None:
    file = shards[1] / "shard.json"
    kept = file.read_text("utf-8")
    places = json.loads((shards[0] / "shard.json").read_text("utf-8"))["places"]
    file.write_text(json.dumps({**json.loads(kept), "places": places}), "utf-8")
    assert error_of(shards, 3) == error_of(shards, 1)
    file.write_text(kept, "utf-8")
    results = shards[1] / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-3_000])
    assert error_of(shards, 3) == error_of(shards, 1)


class Killer:
    """Kills the processes of this one, as the system does when there is no memory."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, progress: object) -> None:
        from multiprocessing import active_children

        if self.left and getattr(progress, "cases", 0) % 7 == 3:
            self.left -= 1
            for child in active_children():
                os.kill(child.pid or 0, signal.SIGKILL)
                child.join()


def test_a_killed_process_is_replaced(shards: list[Path]) -> None:
    assert merge(shards, 3, progress=Killer(1)) == merge(shards, 1)


def test_processes_that_are_killed_again_end_the_merge(shards: list[Path]) -> None:
    with pytest.raises(ConfigError, match=r"a process of the merge ended twice \(signal 9\)"):
        merge(shards, 3, progress=Killer(5))
    assert not (shards[0].parent / "merged-3" / "report.json").exists()


def test_a_stop_ends_all_processes_with_the_same_cases(shards: list[Path]) -> None:
    from multiprocessing import active_children

    stop = Flag()
    out = shards[0].parent / "stopped"
    report = merge_shards(
        shards[0].parent / "suite.yaml", shards, out=out, workers=3, stop=stop,
        progress=lambda progress: stop.set() if progress.cases == 10 else None,
    )  # fmt: skip

    assert report.figures.cases < 40
    assert [one.rows for one in report.figures.metrics] == [report.figures.cases] * 4
    assert len(list(report.results)) == report.figures.cases
    assert report.exit_code == 3
    assert active_children() == []


def test_several_processes_are_used_where_they_pay() -> None:
    assert processes(4, cases=LEAST_ROWS, wanted=2) == 2
    assert processes(1, cases=10**6) == 1
    assert processes(4, cases=10, wanted=None) == 1
    assert processes(3, cases=10, wanted=64) == 3
