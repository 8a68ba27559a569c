"""A judge without a model, for tests and dry runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from judgekit.core.arguments import checked
from judgekit.core.errors import ConfigError
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.replies.logprobs import logprobs_text
from judgekit.core.replies.vector import vector_text
from judgekit.core.request import Question, Reply, Request, Try, Usage
from judgekit.judges.kinds import FAKE, JudgeSetup

Script = Callable[[Request], Reply | str | Mapping[str, Any]]
_TOKEN = re.compile(r"\s*\S+\s*\Z|\s*\S+|\s+")
"""A token of the fake tokeniser: a word with the preceding space."""
_DETAILS: Mapping[str, Any] = {"text": "Made up by a fake judge.", "boolean": True, "list": ()}
"""The answer to a detail, by its kind."""


class FakeJudge(NamedJudge):
    """Answers requests without a model, for tests and dry runs.

    Without `script`, the answers are valid and derived from the request's key: they differ between
    cases and are the same in every run. They have no meaning.

    Args:
        script: returns a reply, its text, or an object with the answers; may raise an error.
        model: the model string; part of every key.

    Raises:
        ConfigError: `script` is not a function.
    """

    @checked
    def __init__(self, script: Script | None = None, *, model: str = f"{FAKE.prefix}judge") -> None:
        if script is not None and (not callable(script) or isinstance(script, type)):
            raise ConfigError(
                "FakeJudge takes a function of the request, such as "
                "lambda request: {'polite': {'reason': 'r', 'value': True}}"
            )
        self._script = script
        super().__init__(model)
        self.asked: list[Request] = []
        """Every request, in order; empty for a judge that a suite names."""
        self._remembers = True

    async def ask(self, request: Request) -> Reply:
        """Return the reply of the script, or a generated one."""
        if self._remembers:
            self.asked.append(request)
        answer = _generated(request) if self._script is None else self._script(request)
        if isinstance(answer, Reply):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        read = sum(len(message.content) for message in request.messages)
        usage = Usage(input_tokens=read // 4, output_tokens=len(text) // 4)
        attempt = Try(text=text, finish="stop")
        return Reply(tries=(attempt,), model=self._model, usage=usage, cost=0.0)


def open_fake(setup: JudgeSetup) -> FakeJudge:
    """Open the judge `fake/NAME`."""
    judge = FakeJudge(model=setup.model)
    # A test cannot see the requests of this judge, and a long run would keep all of them in memory.
    judge._remembers = False
    return judge


def _generated(request: Request) -> dict[str, Any] | str:
    form = request.form
    if form.want == "text":
        return f"Made up by a fake model ({int(request.key[:4], 16)})."
    if form.want == "embedding":
        return vector_text([byte / 255 for byte in bytes.fromhex(request.key[:32])])
    if form.want == "logprobs":
        whole = "".join(message.content for message in request.messages)
        offsets = [match.start() for match in _TOKEN.finditer(whole)] or [0]
        figures = [-int(request.key[n % 60 : n % 60 + 2], 16) / 64 for n in range(len(offsets))]
        return logprobs_text([None, *figures[1:]], offsets, length=max(1, len(whole)))
    answers: dict[str, Any] = {
        question.id: _answer(question, int(request.key[2 * n % 60 : 2 * n % 60 + 4], 16))
        for n, question in enumerate(form.questions)
    }
    for detail in form.details:
        answers[detail.name] = _DETAILS[detail.kind]
    return answers


def _answer(question: Question, pick: int) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    if question.kind != "checklist":
        answer["reason"] = f"Made up by a fake judge ({pick})."
    if question.quotes:
        answer["quotes"] = []
    if question.kind == "checklist":
        items = question.items or ("a made-up requirement", "another made-up requirement")
        answer["items"] = [
            {"item": item, "reason": "Made up by a fake judge.", "met": bool(pick >> n & 1)}
            for n, item in enumerate(items)
        ]
    for detail in question.details:
        answer[detail.name] = _DETAILS[detail.kind]
    if question.labels:
        answer["value"] = question.labels[pick % len(question.labels)]
    elif question.kind == "boolean":
        answer["value"] = bool(pick & 1)
    elif question.kind == "score":
        span = question.maximum - question.minimum
        answer["value"] = round(question.minimum + span * (pick % 101) / 100, 4)
    return answer
