"""A run that stops: replies to calls in flight are stored before the error is raised."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store
from judgekit.core.case import Case
from judgekit.core.errors import JudgeRejected
from judgekit.embedders.hosted import HostedEmbedder
from judgekit.embedders.shared import SharedEmbedder
from judgekit.judges.connections import closing_connections
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.metrics.embedding.similarity import Similarity
from judgekit.metrics.rubric import RubricMetric
from judgekit.report.report import Report
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate, score_sync

from .asking import (
    MODEL,
    Outcome,
    cases,
    judge_of,
    run,
    run_async,
    stored,
    tokens,
    write_rubric,
    write_suite,
)
from .endpoints import embeddings
from .server import Fault, Server, always, error
from .test_replies import request

pytestmark = pytest.mark.loopback


def test_rejection_stores_the_replies_to_calls_in_flight(server: Server, tmp_path: Path) -> None:
    server.latency = 0.3
    server.plan = {"case-005": always(error(401, "no such key"))}

    with pytest.raises(JudgeRejected):
        run(judge_of(server), tokens(40), tmp_path, concurrency=8, window=16)

    answered = {seen.token for seen in server.seen} - {"case-005"}
    assert len(answered) >= 7
    assert stored(tmp_path / "suite.yaml") == answered


def asked_and_cancelled(server: Server, folder: Path, *, times: int) -> int:
    """Cancel 8 requests with 4 calls in flight; return the number of stored replies."""

    async def work() -> int:
        judge = LimitedJudge(judge_of(server), concurrency=4)
        store = Store(folder / "store")
        cassette = Cassette(judge, store=store, record="new_episodes")
        async with closing_connections():
            asks = [asyncio.ensure_future(cassette.ask(request(f"case-{n}"))) for n in range(8)]
            await asyncio.to_thread(server.wait_for, 4)
            for _ in range(times):
                for ask in asks:
                    ask.cancel()
                await asyncio.sleep(0)
            results = await asyncio.gather(*asks, return_exceptions=True)
        assert {type(result) for result in results} == {asyncio.CancelledError}
        count = len(list(store.keys()))
        cassette.close()
        return count

    return asyncio.run(work())


def test_cancelled_calls_end_and_are_stored_and_none_starts(server: Server, tmp_path: Path) -> None:
    server.latency = 0.3

    assert asked_and_cancelled(server, tmp_path, times=1) == server.calls() == 4


def test_second_cancellation_ends_the_calls_at_once(server: Server, tmp_path: Path) -> None:
    server.latency = 20.0

    assert asked_and_cancelled(server, tmp_path, times=3) == 0


def test_call_that_waits_for_another_attempt_is_not_in_flight(
    server: Server, tmp_path: Path
) -> None:
    server.plan = {"*": always(error(500, "oops", headers={"retry-after": "30"}))}

    async def work() -> None:
        judge = LimitedJudge(judge_of(server, retries=1, max_wait=60))
        cassette = Cassette(judge, store=Store(tmp_path / "store"), record="new_episodes")
        async with closing_connections():
            ask = asyncio.ensure_future(cassette.ask(request()))
            await asyncio.to_thread(server.wait_for, 1)
            await asyncio.sleep(0.5)
            async with asyncio.timeout(15):
                ask.cancel()
                await asyncio.gather(ask, return_exceptions=True)
        assert ask.cancelled()
        cassette.close()

    asyncio.run(work())


def stop_after(server: Server, calls: int, stop: asyncio.Event) -> asyncio.Task[None]:
    async def wait() -> None:
        await asyncio.to_thread(server.wait_for, calls)
        stop.set()

    return asyncio.create_task(wait())


def test_stopped_run_reports_the_replies_to_calls_in_flight(server: Server, tmp_path: Path) -> None:
    server.latency = 0.3
    judge = judge_of(server)

    async def work() -> Outcome:
        stop = asyncio.Event()
        stopper = stop_after(server, 12, stop)
        async with asyncio.timeout(60):
            outcome = await run_async(
                judge, tokens(40), tmp_path, concurrency=4, window=16, stop=stop
            )
            await stopper
        return outcome

    outcome = asyncio.run(work())

    answered = {seen.token for seen in server.seen}
    assert 12 <= len(answered) < 40
    assert stored(tmp_path / "suite.yaml") == answered
    assert outcome.kinds == dict.fromkeys(sorted(answered), "scored")
    assert outcome.report.figures.incomplete


def test_stopped_run_keeps_an_invalid_reply_that_waits_for_its_second_request(
    server: Server, tmp_path: Path
) -> None:
    busy = error(500, "oops", headers={"retry-after": "30"})
    server.plan = {"case-000": [Fault(text="no JSON at all"), busy]}

    async def work() -> Outcome:
        stop = asyncio.Event()
        judge = judge_of(server, retries=1, max_wait=60)
        stopper = stop_after(server, 2, stop)
        async with asyncio.timeout(15):
            outcome = await run_async(judge, tokens(1), tmp_path, stop=stop)
            await stopper
        return outcome

    outcome = asyncio.run(work())

    assert outcome.kinds == {"case-000": "invalid_reply"}
    assert stored(tmp_path / "suite.yaml") == {"case-000"}
    assert outcome.cassette.ledger.origins["live"] == 1


def test_ctrl_c_in_synchronous_code_waits_for_the_call_and_keeps_its_reply(
    server: Server, tmp_path: Path
) -> None:
    server.latency = 0.5
    store = Store(tmp_path / "store")
    cassette = Cassette(LimitedJudge(judge_of(server)), store=store, record="new_episodes")
    metric = RubricMetric(load_rubric(write_rubric(tmp_path)), judge=cassette)

    def interrupt() -> None:
        server.wait_for(1)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        score_sync(cases(["case-000"])[0], metric)
    thread.join()

    assert len(list(store.keys())) == 1
    cassette.close()


@pytest.mark.thorough
def test_embeddings_in_flight_are_stored_and_none_is_sent_after_the_stop(
    server: Server, tmp_path: Path
) -> None:
    texts: list[str] = []

    def answer(body: Any) -> Fault:
        texts.extend(body["input"])
        return Fault(body=embeddings(body), delay=0.4)

    server.rule = answer
    judge = LiteLLMJudge(MODEL, api_base=server.base)
    store = Store(tmp_path / "store")
    cassette = Cassette(judge, store=store, record="new_episodes")
    shared = SharedEmbedder(HostedEmbedder(cassette))
    metric = Similarity(embedder=shared)
    rows = [Case(id=f"c{n}", output=f"o{n}" * 4000, reference=f"r{n}" * 4000) for n in range(300)]

    async def work() -> Report:
        stop = asyncio.Event()
        stopper = stop_after(server, 3, stop)
        report = await evaluate(rows, [metric], window=150, stop=stop)
        await stopper
        return report

    asyncio.run(work())

    assert 0 < len(texts) < 600
    assert len(list(store.keys())) == len(texts)
    cassette.close()


def on_small_disk(
    folder: Path, command: list[str], *, size: str
) -> subprocess.CompletedProcess[str]:
    """Run a command with a small file system mounted at a folder; what it holds is copied out."""
    script = (
        'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && "$@"; code=$?; '
        f'cp -a "{folder}/." "{folder}.copy"; exit $code'
    )
    folder.mkdir()
    unshared = ["unshare", "-Urm", "sh", "-c", script, "sh", size, str(folder), *command]
    return subprocess.run(unshared, capture_output=True, text=True, timeout=120)


def mounts() -> bool:
    test = ["unshare", "-Urm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    try:
        return subprocess.run(test, capture_output=True).returncode == 0
    except OSError:
        return False


def recorded_on(
    server: Server, folder: Path, full: str, *, size: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, set[bytes]]:
    """Run a suite that fills a disk; return its last line and the tokens of the kept replies."""
    disk = folder / "disk"
    suite = write_suite(folder, server, tokens(60))
    places = {"out": folder / "out", "store": folder / "store"}
    data = json.loads(suite.read_text())
    if full == "tape":
        data["cassette"] = "disk/tape.jsonl"
        suite.write_text(json.dumps(data))
    else:
        places[full] = disk
    monkeypatch.setenv("JUDGEKIT_HOME", str(places["store"]))
    command = [sys.executable, "-m", "judgekit", "run", str(suite), "--record", "new_episodes"]

    done = on_small_disk(disk, [*command, "--out", str(places["out"])], size=size)

    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    names = ("tape.jsonl", "cache.db", "cache.db-wal")
    files = [path for path in folder.rglob("*") if path.is_file() and path.name in names]
    kept = {token for path in files for token in re.findall(rb"case-\d{3}", path.read_bytes())}
    return done.stderr.strip().splitlines()[-1], kept


needs_mounts = pytest.mark.skipif(
    not mounts(), reason="this system mounts no file system without privileges"
)
FULL = pytest.mark.parametrize(
    "full",
    [
        pytest.param("out", marks=pytest.mark.thorough),
        pytest.param("store", marks=pytest.mark.thorough),
        "tape",
    ],
)


@needs_mounts
@FULL
def test_disk_that_fills_up_loses_no_reply(
    server: Server, tmp_path: Path, full: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.latency = 0.1
    long = Fault(text=lambda good: good.replace("Because.", "Because. " * 6_000))
    server.plan = {"*": always(long)}

    line, kept = recorded_on(server, tmp_path, full, size="1300k", monkeypatch=monkeypatch)

    answered = {seen.token.encode() for seen in server.seen if seen.answered and seen.token}
    assert len(answered) > 5, line
    assert answered <= kept, line
    assert "No space left on device" in line or "disk is full" in line


@needs_mounts
@FULL
def test_full_disk_is_noticed_before_the_first_call(
    server: Server, tmp_path: Path, full: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, _ = recorded_on(server, tmp_path, full, size="500k", monkeypatch=monkeypatch)

    assert server.calls() == 0
    assert "bytes are free on its disk; make room" in line
    assert str(tmp_path / "disk") in line


def limited_run(server: Server, folder: Path, *, files: int, count: int) -> Any:
    """Run a suite with 256 calls at once and few open files."""
    suite = write_suite(folder, server, tokens(count))
    data = json.loads(suite.read_text())
    data["limits"]["concurrency"] = 256
    suite.write_text(json.dumps(data))
    words = [sys.executable, "-m", "judgekit", "run", str(suite), "--record", "new_episodes"]
    limited = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *words]
    out = ["--out", str(folder / "out")]
    return subprocess.run([*limited, *out], capture_output=True, text=True, timeout=120)


def test_rejections_with_few_open_files_stop_the_run(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "store"))
    server.plan = {"*": always(error(404, "no such thing"))}

    done = limited_run(server, tmp_path, files=90, count=60)

    assert done.returncode == 2, done.stdout + done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("limit", "count"), [pytest.param(80, 40, marks=pytest.mark.thorough), (256, 400)]
)
def test_few_open_files_lower_the_concurrency(
    server: Server, tmp_path: Path, limit: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "store"))
    server.latency = 0.2

    done = limited_run(server, tmp_path, files=limit, count=count)

    assert done.returncode == 0, done.stdout + done.stderr
    assert server.most_in_flight <= limit
    assert f"this process may open {limit} files" in done.stderr
    assert len(stored(tmp_path / "suite.yaml")) == count
