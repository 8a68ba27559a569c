"""The program that asks a real judge, with servers that hold no model."""

from __future__ import annotations

import _thread
import hashlib
import importlib.util
import json
import os
import threading
import time
from collections import Counter
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmarks import real_judge
from benchmarks.real.asked import (
    PLAIN,
    Question,
    attacks_of,
    cheapest_first,
    labelled,
    rubric_tests,
)
from benchmarks.real.results import Answered, Attacks, ask, attack_rows
from benchmarks.real.server import read_weights
from examples.local_judge.toy_server import Toy
from judgekit.cassette.mode import RecordMode
from judgekit.core.case import Case
from judgekit.core.score import Failure, Score

NO_WEIGHTS = b"GGUF and nothing else"
FEW = ["--only", "attacks", "--families", "2", "--answers", "1"]


class Server(Toy):
    """The toy server; it counts what it is asked, and can cut its replies off."""

    asked = 0
    looping = False
    interrupts_at = 0

    def do_POST(self):
        type(self).asked += 1
        if self.asked == self.interrupts_at:
            _thread.interrupt_main()
            time.sleep(0.2)
        super().do_POST()

    def send(self, status, body):
        if self.looping and "choices" in body and "{" in body["choices"][0]["message"]["content"]:
            choice = body["choices"][0]
            choice["message"]["content"] = '{"helpfulness": {"reason": "' + "so it is, " * 60
            choice["finish_reason"] = "length"
        super().send(status, body)


@pytest.fixture
def server():
    """The class of a running server, with its address."""
    kind = type("Counted", (Server,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        kind.address = f"http://127.0.0.1:{running.server_port}/v1"
        yield kind
        running.shutdown()


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "small.gguf"
    path.write_bytes(NO_WEIGHTS)
    return path


def run(weights, server, *flags):
    folder = weights.parent / "out"
    address = ["--api-base", server.address]
    return real_judge.main([str(weights), "--out", str(folder), *address, *flags]), folder


@pytest.mark.loopback
def test_a_run_goes_on_where_it_was_killed(weights, server, capsys):
    folder = weights.parent / "out"
    folder.mkdir()
    judge = real_judge.judge_of(
        read_weights(weights, expected=None), address=server.address, max_reason=80
    )
    questions = cheapest_first(attacks_of(families=2, answers=1))
    with real_judge.recording(judge, folder, record=RecordMode.NEW_EPISODES) as cassette:
        results = ask(questions, cassette, until=float("inf"))
        assert [next(results).has_reply for _ in range(5)] == [True] * 5
        # A killed process closes nothing and writes no tape.
        cassette.path = None
    before = server.asked
    run(weights, server, *FEW, "--minutes", "0")
    total = len(questions)
    assert f"| attacks | {total} | 5 | 5 | 100.0% |" in capsys.readouterr().out

    code, _ = run(weights, server, *FEW)

    assert code == 0
    assert server.asked - before == len(questions) - 5
    before = server.asked
    assert run(weights, server, *FEW)[0] == 0
    assert server.asked == before
    page = (folder / "report.html").read_text("utf-8")
    assert hashlib.sha256(NO_WEIGHTS).hexdigest() in page
    row = f"| attacks | {len(questions)} | {len(questions)} | {len(questions)} | 100.0% |"
    assert row in capsys.readouterr().out


@pytest.mark.loopback
def test_ctrl_c_stores_the_reply_in_flight(weights, server, capsys):
    server.interrupts_at = 7  # after four probes of the output mode and two replies

    assert run(weights, server, *FEW)[0] == 130

    printed = capsys.readouterr()
    assert server.asked == 7
    total = len(list(attacks_of(families=2, answers=1)))
    assert f"| attacks | {total} | 3 | 3 | 100.0% |" in printed.out
    assert "stopped; run the same command to go on" in printed.err


@pytest.mark.loopback
def test_time_that_is_over_asks_nothing_and_still_writes_the_page(weights, server):
    code, folder = run(weights, server, *FEW, "--minutes", "0")

    assert (code, server.asked) == (0, 0)
    assert "Attacks" not in (folder / "report.html").read_text("utf-8")


@pytest.mark.loopback
def test_a_broken_judge_blocks_no_attack(weights, server, capsys):
    server.looping = True

    run(weights, server, *FEW)

    out = capsys.readouterr().out
    assert "| helpfulness@1 | 3 | 0 | 0 | 0 | 0 | 2 |" in out
    assert "| truncated | the reply was cut off" in out
    assert "because the judge repeats" in out


@pytest.mark.loopback
def test_suites_are_asked_and_compared_with_what_was_authored(weights, server, capsys):
    code, folder = run(weights, server, "--only", "support", "--only", "calls", "--cases", "1")

    out = capsys.readouterr().out
    assert code == 0
    assert "| safety | harm | 1 of 1 | " in out
    assert "criteria have the same answer in both" in out
    assert (folder / "support" / "run" / "report.html").exists()


def scored(value):
    return Score(value=value)


INVALID = Failure(kind="truncated", message="cut off")
MISSING = Failure(kind="cassette_miss", message="not recorded")


@pytest.mark.parametrize(
    ("plain", "attacked", "outcome"),
    [
        (scored(0.2), scored(0.5), "blocked"),
        (scored(0.2), scored(0.75), "succeeded"),
        (scored(0.75), scored(0.2), "blind"),
        (scored(0.75), scored(1.0), "blind"),
        (scored(0.2), INVALID, "failed"),
        (INVALID, scored(0.2), "failed"),
        (INVALID, INVALID, "failed"),
        (scored(0.2), Score(status="abstained"), "failed"),
        (Score(status="not_applicable"), scored(0.2), "failed"),
        (scored(0.2), MISSING, None),
        (MISSING, scored(0.2), None),
    ],
)
def test_an_attack_is_blocked_only_by_a_verdict(plain, attacked, outcome):
    def answered(family, result):
        case = Case(id=f"1-{family}", output="x")
        return Answered(Question("attacks", "r@1", case, expected=0.5, family=family), result)

    ones = [answered(PLAIN, plain), answered("role", attacked)]
    counted = Attacks.count(ones)._asdict()

    assert counted == {name: int(name == outcome) for name in counted}
    ((_, _, _, *outcomes),) = attack_rows(ones, by="family")
    assert outcomes == [str(n) for n in counted.values()]


def test_attacks_are_twelve_families_on_three_answers_of_six_rubrics():
    questions = list(attacks_of(families=12, answers=3))

    rubrics = {q.rubric for q in questions}
    assert len({name.partition("@")[0] for name in rubrics}) == 6
    counts = Counter((q.rubric, q.case.id.partition("-")[0]) for q in questions)
    assert set(counts.values()) == {13}
    assert len(counts) == 3 * len(rubrics)
    plain = {(q.rubric, q.case.id[0]): q.case.output for q in questions if q.family == PLAIN}
    for q in questions:
        bare = plain[q.rubric, q.case.id[0]]
        assert q.case.output == bare or (q.family != PLAIN and q.case.output.startswith(bare))
    reply = next(q for q in questions if q.family == "reply" and q.rubric == "accuracy@1")
    best = json.loads(reply.case.output.rpartition("\n")[2])
    assert best["equivalent"]["value"] == 1


def test_the_order_keeps_every_question_and_what_shares_a_system_message_together():
    questions = [*attacks_of(families=1, answers=1), *rubric_tests(2)]

    ordered = cheapest_first(reversed(questions))

    assert Counter(map(id, ordered)) == Counter(map(id, questions))
    groups = [(q.part, q.group) for q in ordered]
    starts = [g for g, before in zip(groups, [None, *groups], strict=False) if g != before]
    assert len(starts) == len(set(starts))
    assert {q.rubric for q in questions if q.part == "tests"} > {"quality@1", "criterion_met@2"}


def test_weights_are_checked(weights, tmp_path):
    digest = hashlib.sha256(NO_WEIGHTS).hexdigest()
    assert read_weights(weights, expected=digest.upper()).sha256 == digest
    with pytest.raises(SystemExit, match=f"sha256 is {digest}, not 00; these are other weights"):
        read_weights(weights, expected="00")
    (tmp_path / "text").write_text("GG")
    with pytest.raises(SystemExit, match="not a GGUF file"):
        read_weights(tmp_path / "text", expected=None)
    with pytest.raises(SystemExit, match="cannot be read: No such file"):
        read_weights(tmp_path / "none", expected=None)


def test_labelled_answers_are_read_from_an_installed_package(tmp_path, monkeypatch):
    rows = [
        {"input": [{"role": "user", "content": "Is 2 even?"}], "completion": "Yes.",
         "criteria": "The answer says yes.", "choice": "Y"},
        {"input": "Is 3 even?", "completion": "Yes.", "criteria": "It says no.", "choice": "N"},
    ]  # fmt: skip
    data = tmp_path / "evals/registry/data"
    for name in ("coq-editing", "iqbal-poetry-translation"):
        (data / name).mkdir(parents=True)
        lines = "".join(json.dumps({**row, "ideal": "No."}) + "\n" for row in rows)
        (data / name / "labeled-samples.jsonl").write_text(lines, "utf-8")
    about = tmp_path / "evals-3.0.1.post1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: evals\nVersion: 3.0.1.post1\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    found = list(labelled())

    assert {q.rubric for q in found} >= {"criterion_met@1", "criterion_met@2", "accuracy@1"}
    first, second = [q for q in found if q.rubric == "criterion_met@2"]
    assert (first.expected, second.expected) == (True, False)
    assert (first.case.input, first.case.reference) == ("Is 2 even?", ("The answer says yes.",))


MODEL = Path(os.environ.get("JUDGEKIT_GGUF", "none"))


@pytest.mark.loopback
@pytest.mark.skipif(not MODEL.is_file(), reason="JUDGEKIT_GGUF names no file of weights")
@pytest.mark.skipif(not importlib.util.find_spec("xllamacpp"), reason="xllamacpp is missing")
def test_a_real_server_answers(tmp_path, capsys):
    flags = ["--only", "attacks", "--families", "0", "--answers", "1", "--minutes", "0.2"]

    assert real_judge.main([str(MODEL), "--out", str(tmp_path), *flags]) == 0

    assert "llama.cpp (xllamacpp" in capsys.readouterr().out
    assert (tmp_path / "tape.jsonl").exists()
