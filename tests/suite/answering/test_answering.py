"""Answers of a system under test, without a server: order, failures, resuming, what is asked."""

from __future__ import annotations

import asyncio

import pytest

import judgekit
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store
from judgekit.core.case import Case, Message, ToolCall
from judgekit.core.errors import CaseError, ConfigError, JudgeRejected, JudgeUnavailable
from judgekit.core.request import Reply, Try
from judgekit.datasets import load_cases
from judgekit.datasets.perturb import Perturbation, perturb
from judgekit.judges.fake import FakeJudge
from judgekit.suite.answering import answer_cases, answer_cases_sync, chat_of
from judgekit.suite.systems import open_system

HISTORY = (
    Message(role="user", content="Hello."),
    Message(role="assistant", content="Good day."),
)


def system_under_test(script=None):
    return FakeJudge(script or (lambda request: f"To: {request.messages[-1].content}"))


def cases(count):
    return [Case(id=f"c{number}", input=f"Question {number}?") for number in range(count)]


def said(case, **options):
    return [(m.role, m.content) for m in chat_of(case, **options)]


# -- what is asked ------------------------------------------------------------------


def test_system_history_and_input_become_a_chat():
    case = Case(id="c", system="Be brief.", history=HISTORY, input="Why?")

    assert said(case) == [
        ("system", "Be brief."), ("user", "Hello."), ("assistant", "Good day."), ("user", "Why?"),
    ]  # fmt: skip


def test_another_system_prompt_stands_in_its_place_and_a_blank_one_is_none():
    case = Case(id="c", system="Be brief.", input="Why?")

    assert said(case, system="Be long.") == [("system", "Be long."), ("user", "Why?")]
    assert said(case, system="") == [("user", "Why?")]


def test_a_history_that_ends_with_the_user_needs_no_input():
    assert said(Case(id="c", history=HISTORY[:1])) == [("user", "Hello.")]


@pytest.mark.parametrize(
    "case",
    [
        Case(id="c"),
        Case(id="c", input=" \n"),
        Case(id="c", system="Be brief."),
        Case(id="c", history=HISTORY),
        Case(id="c", input="?", history=(Message(role="tool", content="5"),)),
        Case(
            id="c",
            input="?",
            history=(Message(role="assistant", tool_calls=(ToolCall(name="add"),)),),
        ),
    ],
)
def test_where_nothing_can_be_asked_it_says_so(case):
    with pytest.raises(CaseError):
        chat_of(case)


# -- rows ---------------------------------------------------------------------------


def test_every_case_is_answered_in_its_order_however_answers_come():
    class Uneven(FakeJudge):
        async def ask(self, request):
            await asyncio.sleep(0.02 * (int(request.key[0], 16) % 3))
            return await super().ask(request)

    answers = answer_cases_sync(cases(20), Uneven(lambda r: r.messages[-1].content), window=7)

    assert [(case.id, case.output) for case in answers.cases] == [
        (f"c{number}", f"Question {number}?") for number in range(20)
    ]
    assert answers.exit_code == 0
    assert answers.states == {"answered": 20}


def test_a_row_says_who_answered():
    (case,) = answer_cases_sync(cases(1), system_under_test()).cases

    assert case.output == "To: Question 0?"
    assert case.metadata["answered"]["output"]["model"] == "fake/judge"
    assert len(case.metadata["answered"]["output"]["key"]) == 64


def test_what_is_answered_is_kept_unless_it_is_to_be_replaced():
    given = [Case(id="a", input="?", output="Mine."), Case(id="b", input="?", output=" ")]

    kept = answer_cases_sync(given, system_under_test())
    replaced = answer_cases_sync(given, system_under_test(), replace=True)

    assert [case.output for case in kept.cases] == ["Mine.", "To: ?"]
    assert kept.cases[0] == given[0]
    assert kept.states == {"kept": 1, "answered": 1}
    assert [case.output for case in replaced.cases] == ["To: ?", "To: ?"]


def test_a_failure_leaves_its_row_without_an_answer_and_says_why():
    def script(request):
        number = request.messages[-1].content[9]
        if number == "1":
            raise JudgeUnavailable("nobody there")
        if number == "2":
            return Reply(tries=(Try(text="", finish="stop"),))
        if number == "3":
            return Reply(tries=(Try(text=None, refusal="No."),))
        return "fine"

    answers = answer_cases_sync(cases(5), FakeJudge(script))

    assert [case.output for case in answers.cases] == ["fine", None, None, None, "fine"]
    kinds = {name: failure.kind for name, failure in answers.failures.items()}
    assert kinds == {"c1": "unavailable", "c2": "empty", "c3": "refused"}
    assert answers.exit_code == 3
    note = answers.cases[1].metadata["answered"]["output"]
    assert note == {"model": "fake/judge", "failure": "unavailable: nobody there"}


def test_a_failure_never_leaves_the_answer_of_another():
    def script(request):
        raise JudgeUnavailable("nobody there")

    given = [Case(id="a", input="?", output="Of another model.")]

    assert answer_cases_sync(given, FakeJudge(script), replace=True).cases[0].output is None


def test_an_answer_that_was_cut_off_is_kept_and_marked():
    reply = Reply(tries=(Try(text="Beca", finish="length"),))

    answers = answer_cases_sync(cases(1), FakeJudge(lambda request: reply))

    assert answers.cases[0].output == "Beca"
    assert answers.cases[0].metadata["answered"]["output"]["cut_off"] is True
    assert answers.cut_off == 1


def test_a_system_that_takes_nothing_ends_it(tmp_path):
    def script(request):
        raise JudgeRejected("no such model")

    with pytest.raises(JudgeRejected):
        answer_cases_sync(cases(3), FakeJudge(script), out=tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_stopping_early_loses_no_case():
    async def work():
        stop = asyncio.Event()

        class Slow(FakeJudge):
            async def ask(self, request):
                if "Question 3" in request.messages[-1].content:
                    stop.set()
                    await asyncio.sleep(3600)
                return await super().ask(request)

        async with asyncio.timeout(300):
            return await answer_cases(cases(10), Slow(lambda r: "yes"), window=2, stop=stop)

    answers = asyncio.run(work())

    assert [case.id for case in answers.cases] == [f"c{number}" for number in range(10)]
    assert [case.output for case in answers.cases[:3]] == ["yes"] * 3
    assert {failure.kind for failure in answers.failures.values()} == {"not_run"}
    assert all(case.output is None for case in answers.cases[4:])


def test_the_baseline_is_filled_and_the_case_keeps_its_system_prompt():
    given = [Case(id="a", input="?", output="Steered.", system="Be British.")]

    (case,) = answer_cases_sync(given, system_under_test(), field="baseline", system="").cases

    assert (case.output, case.baseline, case.system) == ("Steered.", "To: ?", "Be British.")


def test_an_output_is_kept_with_the_system_prompt_it_was_given_under():
    given = [Case(id="a", input="?", system="Be brief.")]

    (case,) = answer_cases_sync(given, system_under_test(), system="Be British.").cases

    assert case.system == "Be British."


def test_perturbed_copies_are_answered_and_know_whose_baseline_they_have():
    first = answer_cases_sync(cases(2), system_under_test())
    copies = list(perturb(first.cases, [Perturbation("case")]))

    answered = answer_cases_sync(copies, FakeJudge(lambda r: "other", model="fake/other")).cases

    assert [case.parent for case in answered] == ["c0", "c1"]
    assert [case.baseline for case in answered] == [case.output for case in first.cases]
    notes = answered[0].metadata["answered"]
    assert (notes["output"]["model"], notes["baseline"]["model"]) == ("fake/other", "fake/judge")


# -- recorded, resumed, replayed ---------------------------------------------------------


def test_answers_are_recorded_resumed_and_replayed(tmp_path):
    tape, asked = tmp_path / "tape.jsonl", []

    def script(request):
        asked.append(request)
        if len(asked) == 3:
            raise JudgeUnavailable("gone")
        return f"answer {len(asked)}"

    def run(record):
        cassette = Cassette(
            FakeJudge(script), tape=tape, store=Store(tmp_path / "store"), record=record
        )
        with cassette:
            return answer_cases_sync(cases(4), cassette, window=1)

    first = run("new_episodes")
    second = run("new_episodes")
    replayed = run("none")

    assert [c.output for c in first.cases] == ["answer 1", "answer 2", None, "answer 4"]
    assert [c.output for c in second.cases] == ["answer 1", "answer 2", "answer 5", "answer 4"]
    assert replayed == second
    assert len(asked) == 5


def test_what_is_private_is_neither_asked_nor_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = open_system("fake/x", cassette=tmp_path / "tape.jsonl", redact=["email", "order \\d+"])
    given = [Case(id="a", input="I am ann@shop.example, order 4711.")]

    with opened:
        (case,) = answer_cases_sync(given, opened).cases

    tape = (tmp_path / "tape.jsonl").read_text()
    assert "ann@" not in tape
    assert "4711" not in tape
    assert case.metadata["answered"]["output"]["key"] in tape
    assert case.input == "I am ann@shop.example, order 4711."


@pytest.mark.parametrize(
    "options",
    [
        {"model": ""},
        {"model": "manual/alex"},
        {"model": "fake/x", "record": "sometimes"},
        {"model": "fake/x", "concurrency": 0},
        {"model": "fake/x", "record": "none", "cassette": "nowhere.jsonl"},
        {"model": "openai/x", "params": {"stream": True}},
        {"model": "openai/x", "api_base": "localhost"},
        {"model": "openai/x", "api_key_env": "NO_SUCH_KEY"},
        {"model": "fake/x", "redact": ["("]},
    ],
)
def test_what_is_set_up_wrongly_is_said(options, tmp_path):
    from pathlib import Path

    if "cassette" in options:
        options = {**options, "cassette": tmp_path / Path(options["cassette"])}
    with pytest.raises(ConfigError):
        open_system(**options)


def test_no_other_field_is_filled():
    with pytest.raises(ConfigError, match="did you mean 'output'"):
        answer_cases_sync(cases(1), FakeJudge(), field="ouput")


def test_the_file_written_is_read_again_as_the_same_cases(tmp_path):
    given = [
        Case(id="é\u2028", input="line\nend \x07 🙂", labels={"good": True}, expected={"a": [1]}),
        Case(id="b", input="?", output="kept", choices=("x", "y"), metadata={"answered": "by me"}),
    ]

    answers = answer_cases_sync(given, system_under_test(), out=tmp_path / "out.jsonl")
    kept = answer_cases_sync(given, system_under_test())

    assert answers.cases == []
    assert list(load_cases(tmp_path / "out.jsonl")) == kept.cases
    assert kept.cases[1] == given[1]


@pytest.mark.thorough
def test_a_large_file_streams(tmp_path):
    import tracemalloc

    def many():
        for number in range(4_000):
            yield Case(id=str(number), input="?", output="kept " + "x" * 2_500)

    tracemalloc.start()
    try:
        answers = answer_cases_sync(many(), FakeJudge(), out=tmp_path / "out.jsonl")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert answers.states == {"kept": 4_000}
    assert (tmp_path / "out.jsonl").read_bytes().count(b"\n") == 4_000
    assert peak < 4_000_000


def test_the_names_are_public():
    assert judgekit.answer_cases is answer_cases
    assert judgekit.answer_cases_sync is answer_cases_sync
