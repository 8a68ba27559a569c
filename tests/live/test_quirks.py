"""What judges and providers send in practice: the row of each, and what is asked again.

A row names where the response was seen: a provider's documentation, an issue in public, or the kind
of which it is another instance.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .asking import judge_of, run
from .server import Fault, Server, always, error

pytestmark = [pytest.mark.loopback, pytest.mark.slow]


class Quirk(NamedTuple):
    """One odd response."""

    fault: Fault
    row: str
    """The status or the kind of failure of its row."""
    source: str


def says(text: Callable[[str], str], row: str, source: str) -> Quirk:
    return Quirk(Fault(text=text), row, source)


def choice(**fields: Any) -> Fault:
    return Fault(change=lambda body: body["choices"][0].update(fields))


def message(**fields: Any) -> Fault:
    return Fault(change=lambda body: body["choices"][0]["message"].update(fields))


def thought_alone(body: dict[str, Any]) -> None:
    said = body["choices"][0]["message"]
    said.update(content="", reasoning_content=said["content"])


def completion(body: dict[str, Any]) -> None:
    body["choices"] = [{"index": 0, "text": body["choices"][0]["message"]["content"]}]


def of(**body: Any) -> Fault:
    return Fault(body=body)


def values(good: str, change: Callable[[Any], Any]) -> str:
    """Return a verdict with other values."""
    verdict = json.loads(good)
    for answer in verdict.values():
        answer["value"] = change(answer["value"])
    return json.dumps(verdict)


def reasons(good: str, reason: str) -> str:
    verdict = json.loads(good)
    for answer in verdict.values():
        answer["reason"] = reason
    return json.dumps(verdict, ensure_ascii=False)


FENCES, THOUGHTS, FORM = "kind: fences", "kind: thoughts", "kind: replies of another form"
VERDICTS = "kind: two verdicts in one reply"
UPSTREAM = {"raw": "upstream is rate-limited, retry shortly", "provider_name": "X"}
LONG = {"raw": '{"error": {"message": "maximum context length is 8192 tokens"}}'}
TPM = "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 9126"
QUIRKS = {
    # -- the text of the model -----------------------------------------------------------
    "fence": says(lambda good: f"```json\n{good}\n```\n", "scored", FENCES),
    "crlf": says(lambda good: f"```\r\n{good}\r\n```", "scored", FENCES),
    "one line": says(lambda good: f"```json {good} ```", "scored", FENCES),
    "open fence": says(lambda good: f"```json\n{good}", "scored", FENCES),
    "tildes": says(lambda good: f"~~~json\n{good}\n~~~", "scored", FENCES),
    "prose": says(lambda good: f"Here it is:\n{good}\nAnything else?", "scored", FENCES),
    "fence in a reason": says(
        lambda good: f"```json\n{reasons(good, 'It has ```py``` in it')}\n```", "scored", FENCES
    ),
    "code first": says(lambda good: f"```python\nd = {{'a': 1}}\n```\n{good}", "scored", FENCES),
    "quoted data": says(lambda good: f'{good}\nIt quotes {{"hours": 9}}.', "scored", FENCES),
    "trailing comma": says(lambda good: f"{good[:-1]},}}", "scored", FORM),
    "raw newline": says(lambda good: reasons(good, "a@b").replace("@", "\n\t"), "scored", FORM),
    "half an emoji": says(lambda good: reasons(good, "@").replace("@", "\\ud83d"), "scored", FORM),
    "mark of bytes": says(lambda good: f"\ufeff{good}\u200b", "scored", FORM),
    "think": says(lambda good: f'<think>{{"x": 1}}</think>\n{good}', "scored", THOUGHTS),
    "think without a begin": says(
        lambda good: f"A set {{a, b}}.\n</think>\n{good}", "scored", THOUGHTS
    ),
    "Magistral": says(lambda good: f"[THINK]hm[/THINK]{good}", "scored", THOUGHTS),
    "Seed": says(lambda good: f"<seed:think>hm</seed:think>{good}", "scored", THOUGHTS),
    "Gemini": says(lambda good: f'<thought>{{"a": 1}}</thought>{good}', "scored", THOUGHTS),
    "gpt-oss": says(
        lambda good: (
            "<|channel|>analysis<|message|>Hm.<|end|>"
            f"<|start|>assistant<|channel|>final<|message|>{good}"
        ),
        "scored",
        THOUGHTS,
    ),
    "think without an end": says(lambda good: f"<think>hm {good}", "invalid_reply", THOUGHTS),
    "thought alone": Quirk(Fault(change=thought_alone), "only_thought", THOUGHTS),
    "forged": says(
        lambda good: f"It says\n```json\n{good}\n```\nMine: {values(good, lambda _: None)}",
        "invalid_reply",
        VERDICTS,
    ),
    "forged with tildes": says(
        lambda good: f"~~~\n{good}\n~~~\nMine: {good.replace('Because', 'No')}",
        "invalid_reply",
        VERDICTS,
    ),
    "example of the form": says(
        lambda good: f"Form: {good}\n\nVerdict:\n{good}", "invalid_reply", VERDICTS
    ),
    "Python": says(lambda good: repr(json.loads(good)), "invalid_reply", FORM),
    "comment": says(lambda good: good.replace(",", ", // so\n", 1), "invalid_reply", FORM),
    "inner quotes": says(
        lambda good: reasons(good, "@so@").replace("@", '"'), "invalid_reply", FORM
    ),
    "list": says(lambda good: f"[{good}]", "invalid_reply", FORM),
    "text in text": says(json.dumps, "invalid_reply", FORM),
    "wrapped": says(lambda good: f'{{"properties": {good}}}', "invalid_reply", FORM),
    "another key": says(lambda good: f'{good[:-1]}, "overall": 1}}', "invalid_reply", FORM),
    "words for yes": says(
        lambda good: values(good, lambda v: "Yes" if v is True else v), "invalid_reply", FORM
    ),
    "one for yes": says(
        lambda good: values(good, lambda v: 1 if v is True else v), "invalid_reply", FORM
    ),
    "capitals": says(
        lambda good: values(good, lambda v: v.upper() if isinstance(v, str) else v),
        "invalid_reply",
        FORM,
    ),
    "no number": says(lambda good: values(good, lambda _: float("nan")), "invalid_reply", FORM),
    "prose alone": says(lambda _: "It is right. Score: 8/10", "invalid_reply", FORM),
    "cut in silence": says(lambda good: good[:-3], "invalid_reply", FORM),
    "cut": Quirk(choice(finish_reason="length"), "truncated", "OpenAI, finish_reason"),
    "nothing": says(lambda _: "", "empty", "DeepSeek docs, JSON mode: may return empty content"),
    "spaces": says(lambda _: " \n" * 400, "empty", "DeepSeek docs, JSON mode: white space"),
    # -- the response of the provider ----------------------------------------------------
    "no usage": Quirk(Fault(change=lambda b: b.pop("usage")), "scored", "kind: optional fields"),
    "no finish": Quirk(choice(finish_reason=None), "scored", "kind: optional fields"),
    "tool calls as finish": Quirk(
        choice(finish_reason="tool_calls"), "scored", "kind: optional fields"
    ),
    "nulls": Quirk(
        message(audio=None, function_call=None, refusal=None), "scored", "kind: optional fields"
    ),
    "a completion": Quirk(Fault(change=completion), "invalid_reply", "kind: malformed responses"),
    "null choices": Quirk(of(choices=None, id="x"), "invalid_reply", "kind: malformed responses"),
    "529": Quirk(error(529, "Overloaded", type="overloaded_error"), "unavailable", "Anthropic"),
    "524": Quirk(
        Fault(524, body=b"<html>524: a timeout occurred</html>"), "unavailable", "Cloudflare"
    ),
    "error in a 200": Quirk(
        of(error={"message": "Provider returned error", "code": 502}), "unavailable", "OpenRouter"
    ),
    "upstream limit": Quirk(
        Fault(429, body={"error": {"message": "x", "code": 429, "metadata": UPSTREAM}}),
        "unavailable",
        "OpenRouter",
    ),
    "tokens per minute": Quirk(
        error(413, TPM, type="tokens", code="rate_limit_exceeded"), "unavailable", "Groq docs"
    ),
    "Azure filter": Quirk(
        error(400, "The response was filtered", code="content_filter"), "refused", "Azure OpenAI"
    ),
    "usage policy": Quirk(error(400, "flagged", code="invalid_prompt"), "refused", "OpenAI"),
    "guardrail": Quirk(
        error(400, "Output blocked by content filtering policy"), "refused", "Anthropic, Bedrock"
    ),
    "flagged input": Quirk(
        error(403, "requires moderation and your input was flagged"), "refused", "OpenRouter docs"
    ),
    "long prompt": Quirk(
        error(400, "prompt is too long: 214393 tokens > 200000 maximum"), "invalid_case", "Claude"
    ),
    "long for vLLM": Quirk(
        error(400, "This model's maximum context length is 8192 tokens. You requested 9000 tokens"),
        "invalid_case",
        "vLLM",
    ),
    "long upstream": Quirk(
        Fault(400, body={"error": {"message": "x", "code": 400, "metadata": LONG}}),
        "invalid_case",
        "OpenRouter",
    ),
    "large body": Quirk(Fault(413, body=b"<html>413</html>"), "invalid_case", "nginx"),
    "this case alone": Quirk(
        Fault(422, body={"detail": "the prompt contains a forbidden token"}),
        "unavailable",
        "kind: errors about one case",
    ),
}
PASSING = "unavailable"
"""The only kind of row that is not final: it is never recorded."""


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_every_quirk_has_its_row_and_only_outages_are_asked_again(
    server: Server, tmp_path: Path, via: str
) -> None:
    names = {f"case-{number:03d}": name for number, name in enumerate(QUIRKS)}
    server.plan = {token: always(QUIRKS[name].fault) for token, name in names.items()}
    wanted = {name: quirk.row for name, quirk in QUIRKS.items()}
    asked = ["case-good", *names]

    def rows() -> dict[str, str]:
        judge = judge_of(server, via=via, mode="json_object", retries=0, reasks=0, timeout=60)
        kinds = run(judge, asked, tmp_path, concurrency=1, window=1).kinds
        assert kinds.pop("case-good") == "scored"
        return {names[token]: kind for token, kind in kinds.items()}

    assert rows() == wanted

    server.forget()
    assert rows() == wanted
    again = {names[seen.token] for seen in server.seen if seen.token in names}
    assert again == {name for name, row in wanted.items() if row == PASSING}

    # When the outage is over, its rows are scored, and the others stay.
    server.plan = {}
    server.forget()
    healed = {name: "scored" if row == PASSING else row for name, row in wanted.items()}
    assert rows() == healed
    assert {names[seen.token] for seen in server.seen if seen.token in names} == again


def test_every_quirk_has_a_source() -> None:
    assert all(quirk.source for quirk in QUIRKS.values())
