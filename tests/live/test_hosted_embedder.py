"""A suite whose texts are embedded on a server: batched, recorded, replayed, and never guessed."""

from __future__ import annotations

import json

import pytest

from judgekit.core.errors import ConfigError
from judgekit.metrics.vectors import cosine
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import replay_suite
from judgekit.suite.suite import load_suite

from .endpoints import embeddings, vector_of
from .server import Fault, error

pytestmark = pytest.mark.loopback
CANARY = "sk-canary-0123456789abcdef"


def write(folder, server, embedder=None, rows=40, **more):
    cases = [
        {"id": f"c{n}", "output": f"Answer number {n}.", "reference": f"Reference {n % 3}."}
        for n in range(rows)
    ]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)) + "\n")
    suite = {
        "cases": "cases.jsonl",
        "cassette": "tape.jsonl",
        "embedder": embedder or {"model": "openai/embedder", "api_base": server.base, "retries": 0},
        "metrics": {"similarity": {}},
        **more,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite))
    return path


def recorded(path):
    suite = load_suite(path, Overrides(record="new_episodes"))
    try:
        return evaluate_sync(suite.cases(), suite.metrics, window=16)
    finally:
        suite.close()


def values(report):
    return {s.case.id: s.rows[0].result.value for s in report.results}


def kinds(report):
    return {s.case.id: getattr(s.rows[0].result, "kind", "scored") for s in report.results}


def serve(server, change=None, size=4):
    def rule(body):
        made = embeddings(body, size)
        if change is not None:
            change(body, made)
        return Fault(body=made)

    server.rule = rule


def test_texts_go_together_are_recorded_and_replay_without_a_server(tmp_path, server):
    serve(server)
    path = write(tmp_path, server)

    live = recorded(path)
    calls = server.calls()
    server.rule = lambda body: error(500)
    replayed = replay_suite(load_suite(path))

    texts = [text for seen in server.seen for text in seen.body["input"]]
    assert len(texts) == len(set(texts)) == 43  # each once
    assert calls < 20
    assert server.calls() == calls
    assert values(live)["c5"] == round(
        cosine(vector_of("Answer number 5."), vector_of("Reference 2.")), 4
    )
    assert [s.rows for s in live.results] == [s.rows for s in replayed.results]
    meta = next(iter(replayed.results)).rows[0].result.meta
    assert meta == {"embedder": "openai/embedder"}
    assert replayed.exit_code == 0


@pytest.mark.parametrize("embedder", ["role", "text"])
def test_it_may_be_a_role_or_a_name(embedder, tmp_path, server):
    serve(server)
    judges = {"vectors": {"model": "openai/embedder", "api_base": server.base}}
    path = write(tmp_path, server, {"role": "vectors"}, rows=3, judges=judges)
    first = recorded(path)
    if embedder == "text":  # the address is no part of any key
        path = write(tmp_path, server, "litellm:openai/embedder", rows=3)

    assert values(replay_suite(load_suite(path))) == values(first)


def test_other_params_are_other_vectors_and_say_so(tmp_path, server):
    serve(server, size=2)
    base = {"model": "openai/embedder", "api_base": server.base}
    report = recorded(write(tmp_path, server, {**base, "params": {"dimensions": 2}}, rows=2))

    meta = next(iter(report.results)).rows[0].result.meta
    assert meta == {"embedder": 'openai/embedder {"params":{"dimensions":2}}'}
    replayed = replay_suite(load_suite(write(tmp_path, server, base, rows=2)))
    assert set(kinds(replayed).values()) == {"cassette_miss"}


def test_vectors_of_another_length_than_asked_for_are_a_failure(tmp_path, server):
    serve(server, size=3)
    base = {"model": "openai/embedder", "api_base": server.base, "params": {"dimensions": 2}}

    report = recorded(write(tmp_path, server, base, rows=2))

    assert set(kinds(report).values()) == {"invalid_reply"}
    assert report.exit_code == 3


def test_a_text_the_server_does_not_take_costs_its_rows_alone(tmp_path, server):
    def spoil(body, made):
        for place, text in enumerate(body["input"]):
            if text == "Answer number 7.":
                made["data"][place]["embedding"][0] = float("nan")

    serve(server, spoil)

    report = recorded(write(tmp_path, server, rows=20))

    assert {case for case, kind in kinds(report).items() if kind != "scored"} == {"c7"}
    assert kinds(report)["c7"] == "invalid_reply"


def test_an_outage_is_unavailable_and_no_number(tmp_path, server):
    server.rule = lambda body: error(503)

    report = recorded(write(tmp_path, server, rows=12))

    assert set(kinds(report).values()) <= {"unavailable", "not_run"}
    assert report.exit_code == 3


def test_what_is_not_recorded_is_missed_and_counted(tmp_path, server):
    report = replay_suite(load_suite(write(tmp_path, server, rows=3)))

    assert set(kinds(report).values()) == {"cassette_miss"}
    assert report.run["missed"] == 6  # an output and a reference each, three times
    assert server.calls() == 0


def test_the_key_is_in_nothing_that_is_written(tmp_path, server, monkeypatch):
    monkeypatch.setenv("VECTOR_KEY", CANARY)
    serve(server)
    base = {"model": "openai/embedder", "api_base": server.base, "api_key_env": "VECTOR_KEY"}
    suite = load_suite(write(tmp_path, server, base, rows=3), Overrides(record="new_episodes"))
    evaluate_sync(suite.cases(), suite.metrics, out=tmp_path / "out", manifest=suite.manifest())
    suite.close()

    assert server.seen[0].headers["authorization"] == f"Bearer {CANARY}"
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("embedder", "told"),
    [
        ({"model": "openai/x", "api_key": "sk-1"}, "api_key_env"),
        ({"model": "openai/x", "api_bsae": "http://h"}, "did you mean 'api_base'"),
        ({"model": ""}, "model"),
        ({"model": "manual/alex"}, "is a person"),
        ({"role": "nobody"}, "no judge has the role 'nobody'"),
        ({"role": "vectors", "params": {}}, "a role takes no other key"),
    ],
)
def test_what_is_set_up_wrongly_is_said(embedder, told, tmp_path, server):
    path = write(tmp_path, server, embedder, judges={"vectors": "fake/vectors"})

    with pytest.raises(ConfigError, match=told):
        load_suite(path)


def test_a_server_no_metric_takes_is_not_wired(tmp_path, server):
    base = {"model": "openai/x", "api_key_env": "NO_SUCH_KEY"}
    path = write(tmp_path, server, base, metrics={"length": {"maximum": 9}})

    suite = load_suite(path, Overrides(record="new_episodes"))

    assert suite.cassette is None
