from __future__ import annotations

import asyncio
from typing import Any

import pytest

from judgekit.core.errors import (
    BudgetExceeded,
    CircuitOpen,
    JudgekitError,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try
from judgekit.judges.fake import FakeJudge
from judgekit.judges.limits import LimitedJudge

FORM = Form(questions=(Question(id="right", kind="boolean", text="Is it right?"),))


def request(number: int = 0) -> Request:
    messages = (ChatMessage(role="user", content=f"Judge {number}."),)
    return Request(messages=messages, form=FORM, model="fake/judge")


def priced(cost: float | None) -> Reply:
    return Reply(tries=(Try(text="{}", finish="stop"),), cost=cost)


class Says:
    """A script that says or raises one thing after another."""

    def __init__(self, *said: Any) -> None:
        self.said = list(said)

    def __call__(self, _: Request) -> Any:
        said = self.said.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


def outcomes(judge: LimitedJudge, count: int) -> list[str]:
    async def asking() -> list[str]:
        names = []
        for number in range(count):
            try:
                await judge.ask(request(number))
            except JudgekitError as exc:
                names.append(type(exc).__name__)
            else:
                names.append("ok")
        return names

    return asyncio.run(asking())


def test_outages_in_a_row_open_the_circuit() -> None:
    fake = FakeJudge(Says(*[JudgeUnavailable("down")] * 2))
    judge = LimitedJudge(fake, max_outages=2)

    assert outcomes(judge, 4) == ["JudgeUnavailable"] * 2 + ["CircuitOpen"] * 2
    assert judge.open
    assert len(fake.asked) == 2


def test_any_word_of_the_judge_begins_the_count_anew() -> None:
    down = JudgeUnavailable("down")
    script = Says(down, priced(0), down, JudgeRefused("no"), down, priced(0))

    assert "CircuitOpen" not in outcomes(LimitedJudge(FakeJudge(script), max_outages=2), 6)


def test_no_bound_on_outages_means_always_ask() -> None:
    fake = FakeJudge(Says(*[JudgeUnavailable("down")] * 9))

    outcomes(LimitedJudge(fake, max_outages=0), 9)

    assert len(fake.asked) == 9


def test_rejection_holds_for_all_later_requests() -> None:
    fake = FakeJudge(Says(JudgeRejected("HTTP 401: no")))
    judge = LimitedJudge(fake)

    assert outcomes(judge, 3) == ["JudgeRejected"] * 3
    assert len(fake.asked) == 1


def test_money_is_counted() -> None:
    judge = LimitedJudge(FakeJudge(Says(priced(0.6), priced(0.6))), max_cost=1.0)

    assert outcomes(judge, 3) == ["ok", "ok", "BudgetExceeded"]
    assert judge.purse.spent == pytest.approx(1.2)


def test_money_that_cannot_be_counted_ends_the_asking_only_if_it_is_bounded() -> None:
    bounded = LimitedJudge(FakeJudge(Says(priced(None))), max_cost=1.0)
    unbounded = LimitedJudge(FakeJudge(Says(priced(None), priced(None))))

    assert outcomes(bounded, 2) == ["ok", "BudgetExceeded"]
    assert outcomes(unbounded, 2) == ["ok", "ok"]


def test_errors_say_what_happened() -> None:
    judge = LimitedJudge(FakeJudge(Says(JudgeUnavailable("down"))), max_outages=1)
    outcomes(judge, 1)

    with pytest.raises(CircuitOpen, match="not asked: fake/judge failed 1 times in a row"):
        asyncio.run(judge.ask(request()))
    spent = LimitedJudge(FakeJudge(Says(priced(2.0))), max_cost=1.5)
    outcomes(spent, 1)
    with pytest.raises(BudgetExceeded, match=r"not asked: \$2.0000 of \$1.5 is spent"):
        asyncio.run(spent.ask(request()))


def test_limits_pass_on_what_goes_into_keys() -> None:
    class Named(FakeJudge):
        identity = "qwen3-8b-q4"
        mode = "text"
        params: Any = {"seed": 1}  # noqa: RUF012

    judge = LimitedJudge(Named())

    assert (judge.model, judge.identity, judge.mode) == ("fake/judge", "qwen3-8b-q4", "text")
    assert judge.params == {"seed": 1}
