"""Runs over sessions: the turns of the assistant are answers, those of the user the question."""

from __future__ import annotations

import pytest

import judgekit
from judgekit.analysis.comparison.pairs import entry_of
from judgekit.core.case import Case, Message
from judgekit.report.folder import Scored

SAME = ("assistant", "Here you are.")


def entry(**fields):
    history = [
        Message(role="system", content="Be brief."),
        Message(role="user", content="help"),
        Message(role="assistant", content="Here you are."),
    ]
    whole = {"input": "ok?", "output": "Yes.", "history": history, **fields}
    return entry_of(Scored(Case(id="s1", **whole), ()))


def talk(*turns):
    return [Message(role=role, content=text) for role, text in turns]


@pytest.mark.parametrize(
    "fields",
    [
        {"output": "No."},
        {"history": talk(("system", "Be brief."), ("user", "help"), ("assistant", "No help."))},
        {"steps": talk(("assistant", "I look it up."), ("tool", "24"))},
    ],
)
def test_another_turn_of_the_assistant_is_another_answer_to_the_same_question(fields):
    base, new = entry(), entry(**fields)

    assert new.question == base.question
    assert new.answer != base.answer


@pytest.mark.parametrize(
    "fields",
    [
        {"input": "really?"},
        {
            "history": talk(
                ("system", "Be brief."), ("user", "more"), ("assistant", "Here you are.")
            )
        },
        {"history": talk(("system", "Be long."), ("user", "help"), SAME)},
    ],
)
def test_another_turn_of_the_user_or_the_system_is_another_question(fields):
    base, new = entry(), entry(**fields)

    assert new.question != base.question
    assert new.answer == base.answer


def test_two_runs_over_sessions_are_compared(run):
    given = [
        {"history": talk(("user", "help"), ("assistant", text))} for text in ("One.", "Another.")
    ]
    folders = [
        run(name, {f"s{n}": value for n in range(12)}, given={f"s{n}": own for n in range(12)})
        for name, value, own in (("base", 0.4, given[0]), ("new", 0.8, given[1]))
    ]
    compared = judgekit.compare(*folders)

    (metric,) = compared.metrics
    assert metric.difference.pairs == 12
