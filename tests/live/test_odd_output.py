"""A server whose constrained output is odd: the right value comes of it, or a failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from judgekit.core.errors import InvalidReply, JudgeRejected
from judgekit.core.judgment import read_reply
from judgekit.core.request import ChatMessage, Form, Question, Request
from judgekit.judges.output_mode import MODES, Mode

from .asking import MODEL, judge_of
from .server import Fault, Server, error
from .test_replies import ask

pytestmark = pytest.mark.loopback

FORM = Form(
    questions=(
        Question(id="share", kind="score", text="How much of it?"),
        Question(id="points", kind="score", text="How many points?", minimum=0, maximum=10),
    )
)
REQUEST = Request(
    messages=(ChatMessage(role="user", content="Judge case-1."),), form=FORM, model=MODEL
)


def said(share: str = "0.25", points: str = "7", reason: str = "Because.") -> str:
    return (
        f'{{"share": {{"reason": "{reason}", "value": {share}}}, '
        f'"points": {{"reason": "So.", "value": {points}}}}}'
    )


RIGHT: dict[str, tuple[str, str | None]] = {
    "as it should be": (said(), None),
    "raw control characters": (said(reason="a\x06b\x00c\nd\x1b[31m"), "control_characters"),
    "a megabyte of reasons": (said(reason="very " * 200_000), None),
    "a trailing comma": (said()[:-1] + ",}", "trailing_comma"),
    "half a character": (said(reason="\\ud83d"), "half_characters"),
    "an exponent": (said(share="25e-2", points="0.7E+1"), None),
    "many digits": (said(share="0.25" + "0" * 400, points="7." + "0" * 400), None),
    "a thought before it": (f"<think>share 1.0? {{}}</think>{said()}", None),
    "a fence": (f"```json\n{said()}\n```", "fence"),
}
WRONG = {
    "1e999": said(share="1e999"),
    "-1e999": said(points="-1e999"),
    "1e308": said(points="1e308"),
    "an integer of 400 digits": said(points="9" * 400),
    "a negative one": said(points="-" + "9" * 400),
    "an integer of 5,000 digits": said(share="1" * 5_000),
    "NaN": said(share="NaN"),
    "Infinity": said(points="Infinity"),
    "nan as text": said(share='"nan"'),
    "a number as text": said(share='"0.25"'),
    "true for one": said(share="true"),
    "beyond the scale": said(share="1.0000001"),
    "below the scale": said(points="-0.0000001"),
    "null": said(share="null"),
    "a value twice": said(share='0.25, "value": 1.0'),
    "a question twice": said()[:-1] + ', "points": {"reason": "So.", "value": 9}}',
    "two spellings of a key": said(share='0.25, "val\\u0075e": 1.0'),
    "two objects": said() + said(share="1.0"),
    "cut off": said()[:-9],
    "a question less": '{"share": {"reason": "So.", "value": 0.25}}',
    "three megabytes": said(reason="very " * 600_000),
    "brackets without end": '{"share":' * 100_000,
}
VALUES = {"share": 0.25, "points": 7.0}


def asked(server: Server, text: str, mode: Mode) -> dict[str, Any]:
    server.rule = lambda body: Fault(text=text)
    reply = ask(judge_of(server, mode=mode, reasks=0, retries=0), REQUEST)
    judgment = read_reply(reply, form=FORM, request_key="")
    return {
        "values": {name: answer.value for name, answer in judgment.answers.items()},
        "repairs": judgment.repairs,
    }


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("mode", ["json_schema", "tools"])
def test_right_value_is_read(server: Server, name: str, mode: Mode) -> None:
    text, repair = RIGHT[name]

    found = asked(server, text, mode)

    assert found["values"] == VALUES
    assert repair is None or repair in found["repairs"]


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("mode", ["json_schema", "tools"])
def test_no_wrong_value_is_read(server: Server, name: str, mode: Mode) -> None:
    with pytest.raises(InvalidReply):
        asked(server, WRONG[name], mode)


@pytest.mark.parametrize("mode", MODES)
def test_odd_output_is_odd_on_every_rung(server: Server, mode: Mode) -> None:
    assert asked(server, RIGHT["raw control characters"][0], mode)["values"] == VALUES
    with pytest.raises(InvalidReply, match="1e999"):
        asked(server, WRONG["1e999"], mode)


# -- models that think ------------------------------------------------------------------


def thinking(content: str | None, finish: str = "stop") -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        choice = body["choices"][0]
        choice["finish_reason"] = finish
        choice["message"] = {
            "role": "assistant",
            "content": content,
            "reasoning_content": json.dumps({"share": {"reason": "hm", "value": 1.0}}) * 3,
        }

    return change


def test_thinking_beside_the_answer_is_no_part_of_it(server: Server) -> None:
    server.rule = lambda body: Fault(change=thinking(said()))

    reply = ask(judge_of(server), REQUEST)

    assert reply.tries[0].text == said()
    assert reply.tries[0].thought > 0
    assert "hm" not in reply.model_dump_json()


@pytest.mark.parametrize("content", ["", None, " \n"])
def test_thinking_without_an_answer_is_an_outcome_of_its_own(
    server: Server, content: str | None
) -> None:
    server.rule = lambda body: Fault(change=thinking(content))

    reply = ask(judge_of(server, reasks=0), REQUEST)

    with pytest.raises(InvalidReply, match=r"thought for .* and gave no answer") as caught:
        read_reply(reply, form=FORM, request_key="")
    assert caught.value.kind == "only_thought"


def test_tokens_used_up_by_thinking_are_a_reply_cut_off(server: Server) -> None:
    server.rule = lambda body: Fault(change=thinking("", "length"))

    reply = ask(judge_of(server), REQUEST)

    assert server.calls() == 1
    with pytest.raises(InvalidReply, match="used up max_tokens before any answer") as caught:
        read_reply(reply, form=FORM, request_key="")
    assert caught.value.kind == "truncated"


# -- parameters that are not taken --------------------------------------------------------


def refusing(**words: str) -> Callable[[dict[str, Any]], Fault | None]:
    """Refuse the parameters named, each with its own words."""

    def rule(body: dict[str, Any]) -> Fault | None:
        for name, said in words.items():
            if name in body:
                return error(400, said)
        return None

    return rule


def test_parameter_that_is_not_taken_is_left_out_once_and_recorded(server: Server) -> None:
    server.rule = refusing(
        temperature="Unsupported value: 'temperature' does not support 0 with this model.",
        seed="Unrecognized request argument supplied: `seed`",
    )
    params = {"temperature": 0.0, "seed": 7, "top_p": 0.5}
    judge = judge_of(server, params=params)

    first = ask(judge, REQUEST.model_copy(update={"params": params}))
    second = ask(judge, REQUEST.model_copy(update={"params": params}))

    assert first.effective_params == second.effective_params == {"top_p": 0.5}
    assert server.calls() == 4
    assert list(judge.knowledge.findings()["dropped_params"]) == ["temperature", "seed"]
    assert "does not support 0" in judge.knowledge.findings()["dropped_params"]["temperature"]


def test_limit_on_tokens_is_passed_on_under_its_other_name(server: Server) -> None:
    server.rule = refusing(
        max_tokens="Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )

    reply = ask(judge_of(server, params={"max_tokens": 500}), REQUEST)

    assert reply.effective_params == {"max_completion_tokens": 500}
    assert server.seen[-1].body["max_completion_tokens"] == 500


@pytest.mark.parametrize(
    "words",
    [
        "temperature must be less than or equal to 2",
        "temperature: input should be between 0 and 2",
        "'temperature' is too large",
    ],
)
def test_value_that_is_wrong_is_for_its_author_to_mend(server: Server, words: str) -> None:
    server.rule = refusing(temperature=words)

    with pytest.raises(JudgeRejected, match="temperature"):
        ask(judge_of(server, params={"temperature": 3.0}), REQUEST)


def test_parameters_are_left_out_of_the_probe_too(server: Server) -> None:
    server.rule = refusing(temperature="`temperature` is deprecated for this model.")
    judge = judge_of(server, mode=None, params={"temperature": 0.0})

    reply = ask(judge, REQUEST)

    assert (reply.mode, reply.effective_params) == ("json_schema", {})
    assert judge.negotiation.steps == []
