"""What a server calls itself, and runs that mix the replies of several."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.ledger import Ledger
from judgekit.cassette.store import Store
from judgekit.core.request import Reply, Try, request_from
from judgekit.judges import endpoint
from judgekit.judges.connections import closing_connections
from judgekit.report.display import summary_text
from judgekit.report.report import Report
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite

from .asking import judge_of, run, tokens, write_suite
from .server import Fault, Server
from .test_replies import ask, request

pytestmark = pytest.mark.loopback


def named(server: Server, *models: dict[str, Any]) -> Server:
    server.models = list(models)
    return server


def test_server_is_asked_its_name_once(server: Server, tmp_path: Path) -> None:
    named(server, {"id": "qwen3-8b"})

    outcome = run(judge_of(server), tokens(10), tmp_path, concurrency=5)

    assert server.listed == 1
    store = outcome.cassette
    assert store.ledger.servers == {"openai/judge": {"qwen3-8b"}}


@pytest.mark.parametrize(
    ("models", "name"),
    [
        ([{"id": "qwen3-8b"}], "qwen3-8b"),
        ([{"id": "judge"}, {"id": "other"}], "judge"),
        ([{"id": "judge", "root": "Qwen/Qwen3-8B-AWQ"}], "judge (Qwen/Qwen3-8B-AWQ)"),
        ([{"id": "/home/ann/models/x.gguf"}], "x.gguf"),
        ([{"id": "C:\\models\\x.gguf"}], "x.gguf"),
        (
            [{"id": "x.gguf", "meta": {"n_params": 8030261248}}],
            "x.gguf (8,030,261,248 parameters)",
        ),
        (
            [{"id": "x.gguf", "meta": {"n_params": 8030261248, "size": 4920733696}}],
            "x.gguf (8,030,261,248 parameters, 4,920,733,696 bytes)",
        ),
        ([{"id": "x", "meta": {"size": True, "n_params": "many"}}], "x"),
        ([{"id": "x", "quantization": "Q4_K_M"}], "x (Q4_K_M)"),
        ([{"id": "x", "details": {"quantization_level": "Q8_0"}}], "x (Q8_0)"),
        ([{"id": "x", "digest": f"sha256:{64 * 'a'}"}], "x (aaaaaaaaaaaa)"),
        ([{"id": "a", "meta": {"size": 7}}, {"id": "b", "meta": {"size": 8}}], "a, b"),
        ([{"id": "b"}, {"id": "a"}], "a, b"),
        ([{"id": f"m{n}"} for n in range(9)], "m0, m1, m2, m3, m4 and 4 more"),
        ([{"id": "a\x1b[31m\nb"}], "a\ufffd[31m b"),
        ([], None),
        ([{"name": "no id"}], None),
        (None, None),
    ],
)
def test_name_is_what_tells_the_weights(server: Server, models: Any, name: str | None) -> None:
    server.models = models

    assert ask(judge_of(server), request()).server == name


def test_name_is_no_part_of_a_key(server: Server, tmp_path: Path) -> None:
    named(server, {"id": "qwen3-8b"})
    reply = ask(judge_of(server), request())

    assert reply.server == "qwen3-8b"
    assert "qwen3" not in request().canonical
    assert request_from({"messages": [], "form": {}, "model": "m"}).key


def test_server_that_does_not_say_is_no_trouble(server: Server) -> None:
    assert ask(judge_of(server), request()).server is None
    assert server.listed == 1


def suite_run(suite: Path, asked: list[str], *, record: str = "new_episodes") -> Report:
    write = suite.with_name("cases.jsonl")
    write.write_text(
        "".join(f'{{"id": "{token}", "output": "About {token}."}}\n' for token in asked)
    )
    wired = load_suite(suite, Overrides(record=record))
    return asyncio.run(run_suite(wired, out=suite.with_name("out")))


def test_run_that_mixes_servers_says_so(server: Server, tmp_path: Path) -> None:
    named(server, {"id": "qwen3-8b"})
    suite_run(write_suite(tmp_path, server, ["case-1"]), ["case-1"])
    with Server() as other:
        named(other, {"id": "llama3-70b"})
        suite = write_suite(tmp_path, other, ["case-1"])

        report = suite_run(suite, ["case-1", "case-2"])

    assert report.run["mixed"] == {"openai/judge": ["llama3-70b", "qwen3-8b"]}
    said = " ".join(summary_text(report, width=80).split())
    assert "replies of openai/judge came from several: llama3-70b; qwen3-8b" in said
    # and so does every later replay of what was mixed
    replayed = suite_run(suite, ["case-1", "case-2"], record="none")
    assert replayed.run["mixed"] == report.run["mixed"]
    assert "llama3-70b" in replayed.to_html().read_text("utf-8")


def test_model_that_changed_under_its_name_is_said(server: Server, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, server, ["case-1"])
    suite_run(suite, ["case-1"])
    server.rule = lambda body: Fault(change=lambda said: said.update(model="fake-model-2027"))

    report = suite_run(suite, ["case-1", "case-2"])

    assert report.run["mixed"] == {"openai/judge": ["fake-model-2026", "fake-model-2027"]}


def test_run_says_how_its_judge_was_asked(server: Server, tmp_path: Path) -> None:
    named(server, {"id": "qwen3-8b"})
    suite = write_suite(tmp_path, server, ["case-1"], params={"temperature": 0})

    def rule(body: dict[str, Any]) -> Fault | None:
        if "temperature" in body:
            message = "`temperature` is deprecated for this model"
        elif (body.get("response_format") or {}).get("type") == "json_schema":
            message = "response_format.type must be json_object"
        else:
            return None
        return Fault(status=400, body={"error": {"message": message}})

    server.rule = rule

    report = suite_run(suite, ["case-1"])

    found = report.run["judges"]["judge"]
    assert found["mode"] == "json_object_schema"
    said = summary_text(report, width=200)
    assert "judge openai/judge: asked by json_object_schema (probed), served as qwen3-8b" in said
    assert "not by json_schema: HTTP 400: response_format.type must be json_object" in said
    assert "temperature not sent: HTTP 400: `temperature` is deprecated" in said


def test_other_weights_of_the_same_size_are_told_apart(server: Server, tmp_path: Path) -> None:
    named(server, {"id": "x.gguf", "meta": {"n_params": 7, "size": 9}, "quantization": "Q4_0"})
    suite_run(write_suite(tmp_path, server, ["case-1"]), ["case-1"])
    with Server() as other:
        named(other, {"id": "x.gguf", "meta": {"n_params": 7, "size": 9}, "quantization": "Q4_1"})
        suite = write_suite(tmp_path, other, ["case-1"])

        report = suite_run(suite, ["case-1", "case-2"])

    assert report.run["mixed"] == {
        "openai/judge": [
            "x.gguf (7 parameters, 9 bytes, Q4_0)",
            "x.gguf (7 parameters, 9 bytes, Q4_1)",
        ]
    }


def test_weights_that_changed_since_the_recording_are_said(server: Server, tmp_path: Path) -> None:
    digests = {"old": "sha256:" + "a1" * 32, "new": "b2" * 32}
    listed = {"id": "judge", "object": "model", "created": 7, "owned_by": "library"}
    named(server, listed, {**listed, "id": "other"})
    server.tags = [{"name": "judge", "model": "judge", "digest": digests["old"]}]
    suite_run(write_suite(tmp_path, server, ["case-1", "case-2"]), ["case-1", "case-2"])
    with Server() as other:
        named(other, listed)
        other.tags = [{"name": "judge", "model": "judge", "digest": digests["new"]}]
        suite = write_suite(tmp_path, other, ["case-1", "case-2"])

        report = suite_run(suite, ["case-1", "case-2", "case-3"])

        assert (other.listed, other.tagged) == (1, 1)
    assert report.run["mixed"] == {"openai/judge": ["judge (a1a1a1a1a1a1)", "judge (b2b2b2b2b2b2)"]}
    assert report.run["weights_changed"] == {"openai/judge": 2}
    line = "the weights of openai/judge have changed since 2 of these verdicts were recorded"
    assert line in " ".join(summary_text(report, width=80).split())
    assert line in report.to_html().read_text("utf-8")
    replayed = suite_run(suite, ["case-1", "case-2"], record="none")
    assert "weights_changed" not in replayed.run  # no server was asked


@pytest.mark.parametrize("tags", [None, [3], [{"name": "judge"}], [{"name": "judge", "digest": 3}]])
def test_a_server_without_digests_has_its_name(server: Server, tags: Any) -> None:
    named(server, {"id": "judge", "owned_by": "library"})
    server.tags = tags

    assert endpoint.server_name(server.base, "openai/judge", None, 5.0) == "judge"
    assert server.tagged == 1


@pytest.mark.parametrize("owner", ["llamacpp", "vllm", "openai", None, 3])
def test_only_servers_with_a_list_of_digests_are_asked_for_it(server: Server, owner: Any) -> None:
    named(server, {"id": "judge", "owned_by": owner})

    assert endpoint.server_name(server.base, "openai/judge", None, 5.0) == "judge"
    assert server.tagged == 0


@pytest.mark.parametrize(
    ("recorded", "now", "changed"),
    [
        ("x (7 parameters, 9 bytes, Q4_0)", "x (7 parameters, 9 bytes, Q4_1)", 3),
        ("x (7 parameters)", "x (7 parameters, 9 bytes)", 0),
        ("x (a1a1a1a1a1a1)", "x", 0),
        ("x", "y", 0),
        ("x (a1a1a1a1a1a1)", "x (b2b2b2b2b2b2)", 3),
    ],
)
def test_weights_have_changed_if_the_same_name_has_other_facts(
    recorded: str, now: str, changed: int
) -> None:
    ledger, asked = Ledger(), request()
    for _ in range(3):
        ledger.add("tape", asked, Reply(tries=(Try(text="{}"),), server=recorded))
    ledger.add("live", asked, Reply(tries=(Try(text="{}"),), server=now))

    assert ledger.changed(asked.model) == changed


@pytest.mark.parametrize(
    ("names", "mixed"),
    [
        (["x"], []),
        (["x (7 parameters)", "x (7 parameters, 9 bytes)"], []),
        (["x", "x (7 parameters)", "x (7 parameters, 9 bytes, Q4_0)"], []),
        (["x (8,030 parameters)", "x (8,030 parameters, 4,920 bytes)"], []),
        (
            ["x (7 parameters, 9 bytes)", "x (7 parameters, 8 bytes)", "x (7 parameters)"],
            ["x (7 parameters, 8 bytes)", "x (7 parameters, 9 bytes)"],
        ),
        (["x (7 parameters)", "y (7 parameters, 9 bytes)"], None),
        (["a, b", "a"], None),
    ],
)
def test_a_name_of_an_older_tape_is_the_same_server(
    names: list[str], mixed: list[str] | None
) -> None:
    ledger = Ledger()
    ledger.servers["m"] = set(names)

    assert ledger.mixed("m") == (sorted(names) if mixed is None else mixed)


def test_a_reply_is_stored_before_the_server_is_asked_its_name(
    server: Server, tmp_path: Path
) -> None:
    named(server, {"id": "qwen3-8b"})
    server.listing = threading.Event()
    store = Store(tmp_path / "store")
    cassette = Cassette(judge_of(server), store=store, record="new_episodes")

    async def killed() -> None:
        async with closing_connections():
            asking = asyncio.create_task(cassette.ask(request()))
            while not server.listed:
                await asyncio.sleep(0.01)
            assert store.get(request().key) is not None
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking
            assert server.listing is not None
            server.listing.set()

    asyncio.run(killed())

    assert cassette.ledger.origins["live"] == 1
    again = Cassette(judge_of(server), store=store, record="new_episodes")
    assert asyncio.run(again.ask(request())).tries[-1].text
    assert server.calls() == 1
    store.close()


def test_a_list_of_models_that_comes_too_slowly_is_left(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(server, {"id": "x" * 100_000})
    monkeypatch.setattr(endpoint, "_PIECE", 10)

    assert endpoint.server_name(server.base, model="openai/y", api_key=None, timeout=1e-9) is None
