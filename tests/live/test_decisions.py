"""Decision endpoints: both protocols over real HTTP, their faults, and replays without network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import InvalidReply
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.score import Failure, Score
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.decisions import DecisionJudge
from judgekit.pages.run.page import render_page
from judgekit.report.text import note_lines
from judgekit.suite.doctor.examine import examine
from judgekit.suite.doctor.text import diagnosis_text
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

from .asking import MODEL, Outcome, run, write_suite
from .deciding import decide, rule
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback
BOTH = pytest.mark.parametrize("api", ["decisions", "systemone"])


def judge_of(server: Server, api: str, **options: Any) -> DecisionJudge:
    quick: dict[str, Any] = {"timeout": 20.0, "retries": 1, "max_wait": 0.05, **options}
    return DecisionJudge(MODEL, api=api, api_base=server.base, **quick)  # type: ignore[arg-type]


def answers(name: str, options: list[str]) -> list[float]:
    """Know the levels by their labels: 0.7 for the best one."""
    return [{"wholly": 0.7, "partly": 0.2, "not": 0.1}[option] for option in options] or [0.9]


def replay(api: Any, folder: Path) -> Outcome:
    """Run with a judge that cannot be asked."""
    return run(AbsentJudge(MODEL, JudgeSettings(api=api)), ["case-01"], folder)


@BOTH
def test_probabilities_are_recorded_and_replayed(server: Server, tmp_path: Path, api: str) -> None:
    server.rule = rule(answers)

    live = run(judge_of(server, api), ["case-01"], tmp_path)
    again = replay(api, tmp_path)

    score = live.rows["case-01"]
    assert isinstance(score, Score)
    assert score.value == pytest.approx((0.7 + 0.5 * 0.2 + 0.9) / 2)  # expected, and of a yes
    assert [part.answer for part in score.parts] == ["wholly", True]
    assert score.parts[0].distribution.labels == ("not", "partly", "wholly")
    assert score.reason == "right 0.80: wholly, probability 0.70"
    assert again.rows == live.rows
    assert server.calls() == 1
    (seen,) = server.seen
    assert seen.path == f"/v1/{api}"
    text = seen.body.get("input", seen.body.get("state"))
    assert "This is the answer to case-01." in text
    assert "Is it polite?" not in text  # the questions have it


@BOTH
def test_usage_and_names_are_recorded(server: Server, api: str) -> None:
    server.rule = rule(answers)
    judge = judge_of(server, api, price=(1_000_000.0, 0.0))
    request = _request(api)

    import asyncio

    async def ask() -> Any:
        from judgekit.judges.connections import closing_connections

        async with closing_connections():
            return await judge.ask(request)

    reply = asyncio.run(ask())

    assert reply.usage.input_tokens == 40
    assert reply.cost == 40
    assert reply.model in ("gpt-6-luna-2026", "laya-1")
    assert reply.tries[0].text.startswith("{")


def _request(api: str) -> Any:
    from judgekit.core.request import ChatMessage, Form, Question, Request

    question = Question(id="polite", kind="boolean", text="Is it polite?")
    form = Form(questions=(question,), api=api)  # type: ignore[arg-type]
    return Request(messages=(ChatMessage(role="user", content="Hi."),), form=form, model=MODEL)


def first(body: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to `polite`, in either format."""
    given = body["answers"]
    found: dict[str, Any] = given["polite"] if isinstance(given, dict) else given[1]
    return found


def without_polite(body: dict[str, Any]) -> None:
    given = body["answers"]
    del given["polite" if isinstance(given, dict) else 1]


def too_probable(body: dict[str, Any]) -> None:
    name = "noul" if "noul" in first(body) else "probability"
    first(body)[name] = 1.2


def unknown_level(body: dict[str, Any]) -> None:
    given = body["answers"]
    if isinstance(given, dict):
        given["right"]["legend"]["0"] = "never"
    else:
        given[0]["probabilities"][0]["label"] = "never"


def refusal(body: dict[str, Any]) -> None:
    first(body)["type"] = "refusal"


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str]] = {
    "missing": (without_polite, "invalid_reply", "answers.polite is missing"),
    "probability": (too_probable, "invalid_reply", "1.2 is not a probability"),
    "level": (unknown_level, "invalid_reply", "'never' is"),
    "refusal": (refusal, "refused", "declined: polite"),
    "nan": (lambda b: Fault(body=b'{"answers": NaN}'), "invalid_reply", "NaN"),
    "no_answers": (lambda b: Fault(body={"choices": []}), "unavailable", "no choice"),
    "large": (
        lambda b: Fault(body=b'{"answers": "' + b"x" * 9_000_000 + b'"}'),
        "invalid_reply",
        "larger than 8,000,000 bytes",
    ),
    "truncated": (lambda b: Fault(body=b'{"answers": [{'), "unavailable", "not a JSON object"),
    "cut": (lambda b: Fault(body=b, cut=20), "unavailable", "no connection"),
    "429": (lambda b: error(429, "slow down"), "unavailable", "slow down"),
    "500": (lambda b: error(500, "oops"), "unavailable", "oops"),
    "redirect": (
        lambda b: Fault(307, body=b"", headers={"Location": "http://127.0.0.2/v1"}),
        "unavailable",
        "redirects to 127.0.0.2",
    ),
    "policy": (
        lambda b: error(400, "rejected by our safety system", code="content_policy_violation"),
        "refused",
        "content policy",
    ),
}


@BOTH
@pytest.mark.parametrize(("change", "kind", "message"), FAULTS.values(), ids=FAULTS)
def test_fault_is_a_typed_row(
    server: Server, tmp_path: Path, api: str, change: Any, kind: str, message: str
) -> None:
    server.rule = rule(answers, change)

    outcome = run(judge_of(server, api), ["case-01"], tmp_path)

    failure = outcome.rows["case-01"]
    assert isinstance(failure, Failure)
    assert failure.kind == kind
    assert message in failure.message
    if kind in ("invalid_reply", "refused") and change not in (FAULTS["policy"][0],):
        again = replay(api, tmp_path).rows["case-01"]  # what was paid for is recorded
        assert isinstance(again, Failure)
        assert (again.kind, again.message) == (failure.kind, failure.message)
        assert server.calls() == 1


@BOTH
def test_one_outage_costs_one_more_call(server: Server, tmp_path: Path, api: str) -> None:
    outages = iter([error(429, "slow down", headers={"Retry-After": "0"})])
    server.rule = rule(answers, lambda body: next(outages, body))

    outcome = run(judge_of(server, api), ["case-01"], tmp_path)

    assert outcome.kinds == {"case-01": "scored"}
    assert server.calls() == 2


def test_strict_server_rejects_what_the_formats_do_not_have() -> None:
    question = {"type": "predicate", "name": "q", "instructions": "?"}
    body: dict[str, Any] = {"model": "m", "input": "x", "questions": [question]}
    assert decide(body)["answers"][0]["probability"] == 0.75
    for change in ({"input": [{"role": "system"}]}, {"questions": [question] * 2}, {"n": 1}):
        with pytest.raises(ValueError, match=r"texts|names|fields"):
            decide({**body, **change})


def test_rejected_parameter_is_dropped(server: Server, tmp_path: Path) -> None:
    def picky(body: dict[str, Any]) -> Fault | None:
        if "temperature" in body:
            return error(400, "Unknown parameter: 'temperature'.", param="temperature")
        return rule(answers)(body)

    server.rule = picky
    judge = judge_of(server, "decisions", params={"temperature": 0})

    assert run(judge, ["case-01"], tmp_path).kinds == {"case-01": "scored"}
    findings = judge.knowledge.findings()
    assert list(findings["dropped_params"]) == ["temperature"]  # type: ignore[arg-type]
    assert findings["api"] == "decisions"


@BOTH
def test_doctor_asks_a_small_question(server: Server, tmp_path: Path, api: str) -> None:
    server.rule = rule(answers)
    suite = write_suite(tmp_path, server, ["case-01"], api=api)

    diagnosis = examine(suite, ask=True, times=2)

    (role,) = diagnosis.roles
    assert (role.problem, role.asked, role.repeats) == (None, 3, True)
    assert f"/v1/{api}" in {seen.path for seen in server.seen}
    assert all("temperature" not in seen.body for seen in server.seen)
    assert "a decision endpoint" in diagnosis_text(diagnosis)


def test_page_and_manifest_name_the_api_and_what_it_does_not_give(
    server: Server, tmp_path: Path
) -> None:
    server.rule = rule(answers)
    path = write_suite(tmp_path, server, ["case-01"], api="systemone")
    suite = load_suite(path, Overrides(record="new_episodes"))

    report = run_suite_sync(suite)

    assert suite.manifest()["judge"]["api"] == "systemone"
    lines = [line.text for line in note_lines(report)]
    assert any(line.endswith("asked by api: systemone") for line in lines)
    assert not any("no output mode" in line for line in lines)
    page = render_page(report)
    assert "Not asked for brief" in page
    assert ">reasons<" in page
    assert ">systemone<" in page


def test_doctor_names_what_is_wrong_with_an_endpoint(server: Server, tmp_path: Path) -> None:
    server.plan = {"*": always(Fault(body={"answers": []}))}
    suite = write_suite(tmp_path, server, ["case-01"], api="decisions")

    diagnosis = examine(suite, ask=True, times=0)

    assert "answers.prime is missing" in str(diagnosis.roles[0].problem)


def test_malformed_reply_is_an_error_for_python_too(server: Server) -> None:
    from judgekit.core.judgment import read_reply
    from judgekit.core.request import Reply, Try

    request = _request("decisions")
    reply = Reply(tries=(Try(text='{"answers": []}', finish="stop"),))
    with pytest.raises(InvalidReply, match=r"answers\.polite is missing"):
        read_reply(reply, form=request.form, request_key=request.key)
