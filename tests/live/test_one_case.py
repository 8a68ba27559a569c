"""A rejection costs its own case, until other replies or a probe show that all are rejected."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import JudgeRejected
from judgekit.core.score import Failure
from judgekit.judges.connections import closing_connections
from judgekit.judges.pace import LocalPace
from judgekit.judges.rejections import FIRST_CASES

from .asking import judge_of, run, tokens
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback

PAGE = b"<!DOCTYPE html>\n<html><title>Blocked</title>Your insufficient balance was blocked.</html>"
HTML = {"Content-Type": "text/html"}
REJECTIONS = {
    "400": error(400, "unsupported character"),
    "403": error(403, "forbidden"),
    "404": error(404, "no such thing"),
    "418": error(418, "short and stout"),
    "422": error(422, "invalid"),
    "422 about the format": error(422, "response_format: the generated text is no json_schema"),
    "451": error(451, "legal reasons"),
    "page": Fault(403, body=PAGE, headers=HTML),
    "page with success": Fault(200, body=PAGE, headers=HTML),
    "page without a type": Fault(406, body=PAGE),
    "000": Fault(0, body={}),
    "101": Fault(101, body={}),
    "600": Fault(600, body={}),
    "999": error(999, "request denied"),
    "code: true": Fault(body={"error": {"code": True, "message": "something"}}),
    "text in a 200": Fault(body={"error": "something"}),
}
DOUBTFUL = ("page with success", "code: true", "text in a 200")
"""An outage or a firewall: the run stops as in an outage, with exit code 3."""
BAD = "case-007"


def rule_for_all(fault: Fault) -> Any:
    return lambda body: fault


@pytest.mark.parametrize("name", REJECTIONS)
@pytest.mark.parametrize("concurrency", [1, 64])
def test_one_rejected_case_is_one_failed_row(
    server: Server, tmp_path: Path, name: str, concurrency: int
) -> None:
    server.plan = {BAD: always(REJECTIONS[name])}
    # After a 101, the rest of its bytes may end the connection of the next request.
    judge = judge_of(server, retries=int(name == "101"))

    outcome = run(judge, tokens(40), tmp_path, concurrency=concurrency, window=64, max_outages=5)

    assert outcome.kinds == {**dict.fromkeys(tokens(40), "scored"), BAD: "unavailable"}
    assert outcome.limited.outages == 0
    assert len(outcome.cassette.not_from_tape) == 39

    # It is not recorded: as soon as the server takes it, it is scored.
    server.forget()
    server.plan = {}
    assert set(run(judge_of(server), tokens(40), tmp_path).kinds.values()) == {"scored"}
    assert [seen.token for seen in server.seen] == [BAD]


@pytest.mark.parametrize("name", REJECTIONS)
@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_same_on_every_case_stops_the_run(
    server: Server, tmp_path: Path, name: str, concurrency: int
) -> None:
    server.rule = rule_for_all(REJECTIONS[name])

    judge = judge_of(server, retries=3)
    if name in DOUBTFUL:
        outcome = run(judge, tokens(40), tmp_path, concurrency=concurrency, window=64)
        assert server.calls() <= concurrency + 1
        assert set(outcome.kinds.values()) == {"unavailable", "not_run"}
        return
    with pytest.raises(JudgeRejected, match=r"probe.*\(case case-\d{3}\)") as caught:
        run(judge, tokens(40), tmp_path, concurrency=concurrency, window=64)

    assert server.calls() <= concurrency + 1
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("concurrency", [5, 8, 64])
def test_a_server_that_takes_probes_alone_stops_the_run(
    server: Server, tmp_path: Path, concurrency: int
) -> None:
    server.rule = lambda body: error(403, "no") if "case-" in str(body["messages"]) else None

    with pytest.raises(JudgeRejected, match=r"each of the first .* cases is rejected"):
        run(judge_of(server), tokens(80), tmp_path, concurrency=concurrency, window=64)

    # The probe, and what begins in the places of the cases that are rejected before the last one.
    assert server.calls() <= concurrency + FIRST_CASES


def test_the_first_cases_may_be_bad(server: Server, tmp_path: Path) -> None:
    server.plan = {token: always(error(403, "no")) for token in tokens(4)}

    outcome = run(judge_of(server), tokens(12), tmp_path, concurrency=1, window=1)

    assert list(outcome.kinds.values()) == ["unavailable"] * 4 + ["scored"] * 8
    assert server.calls("") == 1  # one probe in all


def test_many_requests_about_one_case_are_one_case(server: Server, tmp_path: Path) -> None:
    from judgekit.core.case import Case
    from judgekit.metrics.rubric import RubricMetric
    from judgekit.rubric.load import load_rubric
    from judgekit.runner.evaluation import evaluate

    from .asking import write_rubric

    server.plan = {"case-000": always(error(403, "no"))}
    rubric = load_rubric(write_rubric(tmp_path))
    metric = RubricMetric(rubric, judge=judge_of(server), samples=9, calls="each")
    asked = [Case(id=token, output=f"The answer to {token}.") for token in tokens(2)]

    report = asyncio.run(evaluate(asked, [metric], window=1))

    kinds = [scored.rows[0].result for scored in report.results]
    assert isinstance(kinds[0], Failure)
    assert (kinds[0].kind, kinds[1].type) == ("unavailable", "score")


def test_a_block_that_begins_later_stops_the_run(server: Server, tmp_path: Path) -> None:
    server.plan = {token: always(error(403, "blocked now")) for token in tokens(80)[10:]}
    server.plan[""] = always(error(403, "blocked now"))

    with pytest.raises(JudgeRejected, match=r"20 cases in a row and a probe are rejected"):
        run(judge_of(server), tokens(80), tmp_path, concurrency=1, window=1)

    assert server.calls() == 10 + 20 + 1


def test_a_replayed_run_does_not_show_that_the_server_takes_requests(
    server: Server, tmp_path: Path
) -> None:
    run(judge_of(server), tokens(10), tmp_path)
    server.forget()
    server.plan = {"case-new": always(error(418, "no"))}

    outcome = run(judge_of(server), [*tokens(10), "case-new"], tmp_path)
    assert outcome.kinds == {**dict.fromkeys(tokens(10), "scored"), "case-new": "unavailable"}
    assert [seen.token for seen in server.seen] == ["case-new", ""]

    server.rule = rule_for_all(error(418, "no"))
    with pytest.raises(JudgeRejected, match="case-new"):
        run(judge_of(server), [*tokens(10), "case-new"], tmp_path)


def test_a_probe_that_finds_the_account_empty_stops_the_run(server: Server, tmp_path: Path) -> None:
    server.plan = {
        "case-000": always(error(403, "no")),
        "": always(error(400, "Your credit balance is too low")),
    }

    with pytest.raises(JudgeRejected, match="account cannot be used"):
        run(judge_of(server), tokens(3), tmp_path, concurrency=1, window=1)


def test_an_outage_of_the_probe_proves_nothing(server: Server, tmp_path: Path) -> None:
    server.plan = {"case-000": always(error(403, "no")), "": always(error(500, "oops"))}

    outcome = run(judge_of(server), tokens(3), tmp_path, concurrency=1, window=1)

    assert list(outcome.kinds.values()) == ["unavailable", "scored", "scored"]


def test_a_cancelled_run_does_not_wait_for_a_decision(server: Server, tmp_path: Path) -> None:
    # The rejected request waits for the slow one.
    server.plan = {"case-000": always(error(403, "no")), "case-001": [Fault(delay=30)]}

    async def stopped() -> None:
        from .asking import run_async

        task = asyncio.create_task(
            run_async(judge_of(server, timeout=1), tokens(2), tmp_path, concurrency=2)
        )
        while server.calls() < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(stopped(), 20))


def test_a_probe_is_paid_for_by_the_budget(server: Server, tmp_path: Path) -> None:
    server.plan = {"case-000": always(error(403, "no"))}
    judge = judge_of(server, price=(0.0, 50_000.0))  # a reply costs one dollar

    outcome = run(judge, tokens(5), tmp_path, concurrency=1, window=1, max_cost=1.0)

    # The probe has used the budget up.
    assert list(outcome.kinds.values()) == ["unavailable"] + ["not_run"] * 4
    assert outcome.limited.budget.spent == 1.0


@pytest.mark.parametrize("auto", [False, True])
def test_a_rejection_is_no_news_for_a_pace(server: Server, tmp_path: Path, auto: bool) -> None:
    server.plan = {BAD: always(error(403, "no"))}
    pace = LocalPace("judge", concurrency="auto" if auto else None, rpm=60_000)

    outcome = run(judge_of(server, pace=pace), tokens(40), tmp_path, concurrency=64, window=64)

    assert list(outcome.kinds.values()).count("scored") == 39


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_embedders_lose_one_text(server: Server, tmp_path: Path, via: str) -> None:
    from judgekit.core.errors import RequestRejected
    from judgekit.core.judge_wrapper import RequestBuilder
    from judgekit.core.request import About, ChatMessage, Form

    judge = judge_of(server, mode=None, via=via)

    def vectors(body: dict[str, Any]) -> Fault:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        if refuses or BAD in texts:
            return error(403, "no")
        data = [{"index": n, "embedding": [1.0, 2.0]} for n in range(len(texts))]
        return Fault(body={"object": "list", "data": data, "model": "m", "usage": {}})

    async def ask_all(count: int) -> list[Any]:
        def one(text: str) -> Any:
            message = (ChatMessage(role="user", content=text),)
            form = Form(want="embedding")
            return RequestBuilder(judge).request(
                messages=message, form=form, sample=0, about=About()
            )

        asked = [judge.ask(one(text)) for text in tokens(count)]
        async with closing_connections():
            return await asyncio.gather(*asked, return_exceptions=True)

    refuses = False
    server.rule = vectors
    replies = asyncio.run(ask_all(40))
    assert [type(reply) for reply in replies].count(RequestRejected) == 1

    judge, refuses = judge_of(server, mode=None, via=via), True
    server.forget()
    replies = asyncio.run(ask_all(40))
    assert {type(reply) for reply in replies} == {JudgeRejected}
    assert server.calls() == 2  # a batch and a probe
