from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.cassette.tape import Tape
from judgekit.core.errors import ConfigError, JudgeUnavailable
from judgekit.judges.fake import FakeJudge
from judgekit.report.report import Report
from judgekit.suite.run import failed_keys, run_suite
from judgekit.suite.suite import Overrides, build_suite

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "support_assistant" / "suite.yaml"
SAME = ("results.jsonl", "report.json", "tape.jsonl")
SUITE = {
    "cases": "cases.jsonl",
    "judge": "fake/judge",
    "cassette": "tape.jsonl",
    "metrics": {
        "safety": {"threshold": 0.5},
        "prompt_alignment": {"mode": "user", "samples": 2},
        "length": {"maximum": 9},
    },
}


@pytest.fixture
def folder(tmp_path):
    rows = [{"id": f"c{n}", "input": f"Question {n}?", "output": f"Answer {n}."} for n in range(8)]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    return tmp_path


def wired(folder, judge=None, metrics=None, **overrides):
    data = {**SUITE, "metrics": metrics or SUITE["metrics"]}
    suite = build_suite(data, base=folder, overrides=Overrides(**overrides))
    if judge is not None:
        suite.cassette.judge = judge
    return suite


def run(suite, **options):
    return asyncio.run(run_suite(suite, **options))


# -- the same bytes ---------------------------------------------------------------

RUNNER = """
import asyncio, random, sys
from pathlib import Path
from judgekit.suite.suite import Overrides, load_suite
from judgekit.judges.fake import FakeJudge
from judgekit.suite.run import run_suite

folder, record, concurrency, seed = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
text = (folder / "suite.yaml").read_text("utf-8")
(folder / "suite.yaml").write_text(text.replace("CONCURRENCY", concurrency), "utf-8")
delays = random.Random(seed)

class Late:
    model, inner = "fake/judge", FakeJudge()
    async def ask(self, request):
        for _ in range(delays.randrange(9)):
            await asyncio.sleep(0)
        return await self.inner.ask(request)

suite = load_suite(folder / "suite.yaml", Overrides(record=record))
suite.cassette.judge = Late()
asyncio.run(run_suite(suite, out=folder / "out"))
"""


def run_apart(folder, *, record, concurrency, seed, cwd):
    text = json.dumps({**SUITE, "limits": {"concurrency": 0}}).replace(": 0}", ": CONCURRENCY}")
    (folder / "suite.yaml").write_text(text, "utf-8")
    subprocess.run(
        [sys.executable, "-c", RUNNER, str(folder), record, str(concurrency), str(seed)],
        cwd=cwd,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "JUDGEKIT_HOME": str(folder / "home")},
        check=True,
    )
    return [(folder / "out" / name).read_bytes() for name in SAME]


def test_neither_hashing_nor_concurrency_nor_latency_nor_place_changes_a_byte(folder, tmp_path):
    other = tmp_path / "another folder"
    other.mkdir()
    (other / "cases.jsonl").write_bytes((folder / "cases.jsonl").read_bytes())

    live = run_apart(folder, record="new_episodes", concurrency=1, seed=1, cwd=folder)
    tape = (folder / "tape.jsonl").read_bytes()
    apart = run_apart(other, record="all", concurrency=16, seed=2, cwd=tmp_path)
    replay = run_apart(folder, record="none", concurrency=16, seed=3, cwd=tmp_path)

    assert live == apart == replay
    assert tape == live[SAME.index("tape.jsonl")] == (other / "tape.jsonl").read_bytes()


def test_what_depends_on_the_occasion_stands_apart(folder):
    run(wired(folder, record="new_episodes"), out=folder / "out")

    occasion = json.loads((folder / "out" / "run.json").read_text("utf-8"))

    assert {"started", "python", "platform", "seconds", "origins", "record"} <= set(occasion)
    assert occasion["origins"] == {"live": 32}
    for name in SAME:
        text = (folder / "out" / name).read_text("utf-8")
        assert str(folder) not in text
        assert occasion["started"][:10] not in text


# -- replaying --------------------------------------------------------------------

REPLAY = """
import socket, sys

def refused(*args, **kwargs):
    raise AssertionError("a replay reached for the network")

socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused
from judgekit.cli import main
sys.argv = ["judgekit", "run", sys.argv[1], "--quiet", "--out", "out"]
try:
    main()
except SystemExit as exc:
    code = exc.code
heavy = {"litellm", "instructor", "openai", "diskcache", "tenacity", "aiohttp", "httpx"}
loaded = sorted(heavy & set(sys.modules))
assert not loaded, f"a replay loaded {loaded}"
raise SystemExit(code)
"""


def test_the_example_replays_without_network_or_provider(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", REPLAY, str(EXAMPLE)],
        cwd=tmp_path,
        env={**os.environ, "JUDGEKIT_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PASS: 4 gates, ")
    assert not (tmp_path / "home").exists()


def test_the_example_uses_every_record_of_its_tape():
    from judgekit.suite.suite import load_suite

    suite = load_suite(EXAMPLE)
    report = run(suite)

    assert report.exit_code == 0
    assert report.run["unused"] == 0
    assert report.run["missed"] == 0
    assert report.run["spent"] == 0.0


def test_a_run_folder_replays_from_its_own_tape(folder):
    first = run(wired(folder, record="new_episodes"), out=folder / "out")
    (folder / "tape.jsonl").unlink()
    (folder / "out" / "tape.jsonl").rename(folder / "tape.jsonl")

    again = run(wired(folder))

    assert again.figures.metrics == first.figures.metrics
    assert again.run["origins"] == {"tape": 32}


def test_nothing_recorded_and_nothing_allowed_is_incomplete(folder):
    judge = FakeJudge()

    report = run(wired(folder, judge))

    assert judge.asked == []
    assert report.exit_code == 3
    assert report.metrics["safety"].failures == {"cassette_miss": 8}
    assert report.metrics["length"].scored == 8
    assert report.run["missed"] == 8 + 8  # safety, and the requirements of the prompts


def test_a_run_without_a_judge_needs_no_tape(folder):
    report = run(
        wired(folder, metrics={"quality": {}}, no_judge=True),
        out=folder / "out",
    )

    assert report.exit_code == 0
    assert report.metrics["quality"].fallback == 8
    assert report.metrics["quality"].mean is None
    assert not (folder / "out" / "tape.jsonl").exists()


# -- asking again for what failed -------------------------------------------------


class Flaky(FakeJudge):
    """Makes answers up, but says or raises something else for some cases."""

    def __init__(self, wrong):
        super().__init__()
        self.wrong = wrong

    async def ask(self, request):
        said = self.wrong.get(request.about.case)
        if said is None:
            return await super().ask(request)
        self.asked.append(request)
        if isinstance(said, Exception):
            raise said
        return await FakeJudge(lambda _: said).ask(request)


ONE = {"safety": {}, "length": {"maximum": 9}}


def test_retrying_asks_only_for_what_failed(folder):
    flaky = Flaky({"c2": JudgeUnavailable("down"), "c5": JudgeUnavailable("down")})
    first = run(wired(folder, flaky, ONE, record="new_episodes"), out=folder / "one")
    judge = FakeJudge()

    again = run(
        wired(folder, judge, ONE, record="new_episodes"),
        out=folder / "two",
        retry_failed=folder / "one",
    )

    assert first.metrics["safety"].failures == {"unavailable": 2}
    assert [request.about.case for request in judge.asked] == ["c2", "c5"]
    assert again.exit_code == 0
    before = {s.case.id: s.rows for s in Report.read(folder / "one").results}
    after = {s.case.id: s.rows for s in Report.read(folder / "two").results}
    assert all(before[id] == after[id] for id in before if id not in ("c2", "c5"))


def test_retrying_asks_again_for_a_recorded_reply_that_was_no_verdict(folder):
    flaky = Flaky({"c2": "no verdict"})
    run(wired(folder, flaky, ONE, record="new_episodes"), out=folder / "one")
    judge = FakeJudge()

    again = run(
        wired(folder, judge, ONE, record="new_episodes", again=failed_keys(folder / "one")),
        out=folder / "two",
        retry_failed=folder / "one",
    )

    assert [request.about.case for request in judge.asked] == ["c2"]
    assert again.exit_code == 0


def test_retrying_scores_again_what_has_changed(folder):
    run(wired(folder, metrics=ONE, record="new_episodes"), out=folder / "one")
    path = folder / "cases.jsonl"
    path.write_text(path.read_text("utf-8").replace("Answer 3.", "Another 3."), "utf-8")
    judge = FakeJudge()

    run(wired(folder, judge, ONE, record="new_episodes"), retry_failed=folder / "one")

    assert [request.about.case for request in judge.asked] == ["c3"]


def test_retrying_takes_no_fallback_over(folder):
    metrics = {"safety": {"fallback": {"use": "length", "maximum": 9}}}
    down = Flaky({f"c{n}": JudgeUnavailable("down") for n in range(8)})
    first = run(wired(folder, down, metrics, record="new_episodes"), out=folder / "one")
    judge = FakeJudge()

    again = run(wired(folder, judge, metrics, record="new_episodes"), retry_failed=folder / "one")

    assert first.metrics["safety"].fallback == 8
    assert len(judge.asked) == 8
    assert again.metrics["safety"].judged == 8


def test_retrying_with_other_options_scores_anew(folder):
    run(wired(folder, metrics={"length": {"maximum": 9}}), out=folder / "one")

    again = run(wired(folder, metrics={"length": {"maximum": 1}}), retry_failed=folder / "one")

    assert again.metrics["length"].mean < 1


@pytest.mark.parametrize("look", [failed_keys, Report.read])
def test_what_is_no_run_folder_is_said(tmp_path, look):
    with pytest.raises(ConfigError, match="not a run folder"):
        list(look(tmp_path))


def test_a_killed_run_can_still_be_retried(folder):
    run(wired(folder, metrics=ONE, record="new_episodes"), out=folder / "one")
    results = folder / "one" / "results.jsonl"
    lines = results.read_text("utf-8").splitlines(keepends=True)
    results.write_text("".join(lines[:7]) + lines[7][:20], "utf-8")
    (folder / "one" / "report.json").unlink()
    judge = FakeJudge()

    again = run(wired(folder, judge, ONE), out=folder / "two", retry_failed=folder / "one")

    assert again.exit_code == 0
    assert judge.asked == []


def test_a_run_may_write_over_the_folder_it_retries(folder):
    flaky = Flaky({"c2": JudgeUnavailable("down")})
    run(wired(folder, flaky, ONE, record="new_episodes"), out=folder / "one")

    again = run(
        wired(folder, FakeJudge(), ONE, record="new_episodes"),
        out=folder / "one",
        retry_failed=folder / "one",
    )

    assert again.exit_code == 0
    assert len(list(Report.read(folder / "one").results)) == 8
    # The records behind the results that were taken over are there, too.
    assert len(Tape(folder / "one" / "tape.jsonl")) == 8


# -- ends -------------------------------------------------------------------------


def test_what_was_asked_is_kept_when_a_run_ends_early(folder):
    class Broken(FakeJudge):
        async def ask(self, request):
            if len(self.asked) == 3:
                raise ConfigError("broken")
            return await super().ask(request)

    with pytest.raises(ConfigError, match="broken"):
        run(wired(folder, Broken(), ONE, record="new_episodes"))
    judge = FakeJudge()
    run(wired(folder, judge, ONE, record="new_episodes"))

    assert len(judge.asked) == 5
    assert len(Tape(folder / "tape.jsonl")) == 8


def test_a_stopped_run_is_incomplete_and_keeps_its_tape(folder):
    class Stuck(FakeJudge):
        async def ask(self, request):
            if "Question 5?" in request.messages[-1].content:
                await asyncio.Event().wait()
            return await super().ask(request)

    async def stopped():
        stop = asyncio.Event()
        suite = wired(folder, Stuck(), metrics=ONE, record="new_episodes")
        return await run_suite(suite, out=folder / "out", stop=stop, progress=lambda _: stop.set())

    report = asyncio.run(stopped())

    assert report.exit_code == 3
    assert 1 <= report.figures.cases <= 7  # all but the one that never ends
    assert len(Tape(folder / "tape.jsonl")) >= report.figures.cases
    assert (folder / "out" / "run.json").exists()
