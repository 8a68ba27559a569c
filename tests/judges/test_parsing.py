"""What instructor makes of a reply is what a replay makes of it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from judgekit.core.errors import InvalidReply
from judgekit.core.judgment import parse_reply, parse_try
from judgekit.core.request import Detail, Form, Question, Try
from judgekit.judges.output_mode import Mode
from judgekit.judges.sent_schema import sent_schema
from judgekit.judges.via_litellm import instructor_model

FORM = Form(
    questions=(
        Question(id="share", kind="score", text="?", maximum=5, quotes=True),
        Question(id="tone", kind="choice", text="?", labels=("kind", "rude"), nullable=True),
        Question(id="right", kind="boolean", text="?", details=(Detail(name="why"),)),
        Question(id="points", kind="checklist", text="?", items=("a", "b")),
        Question(id="more", kind="checklist", text="?"),
    ),
    details=(Detail(name="all", kind="list"),),
)
OWN = Form(json_schema={"type": "object", "title": "Own"})
ODD_VALUES = (
    None, True, False, 0, 1, -1, 5.5, 10**400, "", "kind", "\x07", "\ud83d", [], [1], {}, {"a": 1},
)  # fmt: skip
ODD_TEXTS = (
    "{", "}", "[", "]", '"', ",", ":", "\\", "\\u", "\\ud83d", "\n", "\x00", "\x1b", " ", "é",
    "\u2028", "NaN", "Infinity", "1e999", "null", "```",
    "```json\n", "<think>", "</think>", "{}", "//", "'",
)  # fmt: skip


def reply() -> dict[str, Any]:
    return {
        "share": {"reason": "r: {so}", "quotes": ["q"], "value": 2.5},
        "tone": {"reason": "r", "value": "kind"},
        "right": {"reason": "r", "why": "w", "value": True},
        "points": {"items": [{"item": i, "reason": "r", "met": True} for i in "ab"]},
        "more": {"items": [{"item": "x", "reason": "r", "met": False}]},
        "all": ["x"],
    }


def malformed(draw: random.Random) -> str:
    """Return a reply with up to four things wrong in its values, its text, and around it."""
    value = reply()
    for _ in range(draw.randrange(3)):
        holder = draw.choice([value, *(v for v in value.values() if isinstance(v, dict))])
        name = draw.choice([*holder, "extra"])
        if draw.random() < 0.3:
            holder.pop(name, None)
        else:
            holder[name] = draw.choice(ODD_VALUES)
    text = json.dumps(value, indent=draw.choice([None, 1]), ensure_ascii=draw.random() < 0.5)
    for _ in range(draw.randrange(3)):
        at = draw.randrange(len(text))
        cut = at + draw.choice([0, 0, 1, 2, 40])
        text = text[:at] + draw.choice(ODD_TEXTS) + text[cut:]
    around = draw.random()
    if around < 0.1:
        text = f"<think>{draw.choice(ODD_TEXTS)}</think>{text}"
    elif around < 0.2:
        text = f"Here it is:\n```json\n{text}\n```"
    elif around < 0.3:
        text = text[: draw.randrange(len(text))]
    elif around < 0.35:
        text = text.replace('"value"', '"value": 1, "value"', 1)
    return text.encode("utf-8", "replace").decode()


def texts(count: int) -> Iterator[str]:
    draw = random.Random(11)
    return (malformed(draw) for _ in range(count))


def by_instructor(text: str, form: Form, mode: Mode) -> Any:
    """Parse a completion as instructor does in a live call."""
    from instructor import Mode as InstructorMode
    from instructor import Provider

    call = SimpleNamespace(function=SimpleNamespace(name="Verdict", arguments=text))
    message = SimpleNamespace(content=text, refusal=None, tool_calls=[call])
    choice = SimpleNamespace(finish_reason="stop", message=message)
    names = {"json_schema": InstructorMode.JSON_SCHEMA, "tools": InstructorMode.TOOLS}
    model: Any = instructor_model(form, mode, sent_schema(form, None))
    completion = SimpleNamespace(choices=[choice])
    return model.from_response(completion, mode=names[mode], provider=Provider.OPENAI, strict=True)


def outcome(parse: Any, *args: Any) -> Any:
    try:
        return parse(*args)
    except InvalidReply as exc:
        return (exc.kind, str(exc))


@pytest.mark.parametrize(
    ("form", "count"),
    [(FORM, 500), (OWN, 500), pytest.param(FORM, 5_000, marks=pytest.mark.thorough)],
)
def test_instructor_and_a_replay_read_the_same_values(form: Form, count: int) -> None:
    valid = 0
    for number, text in enumerate(texts(count)):
        mode: Mode = "tools" if number % 2 else "json_schema"

        live = outcome(lambda *args: by_instructor(*args).parsed, text, form, mode)
        replayed = outcome(lambda *args: parse_try(Try(text=args[0]), form), text)

        assert live == replayed or (text.strip() == "" and replayed[0] == "empty"), text
        valid += not isinstance(live, tuple) or hasattr(live, "repairs")
    assert count / 10 < valid < count * 0.9


def test_a_reply_without_mistakes_is_parsed_without_repairs() -> None:
    parsed = parse_reply(json.dumps(reply()), FORM)

    assert parsed.repairs == ()
    assert [answer.value for answer in parsed.answers.values()] == [2.5, "kind", True, None, None]
