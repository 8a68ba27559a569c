"""Token streams as servers report them, written out by tests."""

from __future__ import annotations

import math
from typing import Any

from judgekit.core.distribution import Distribution
from judgekit.core.replies.token_distribution import token_distributions
from judgekit.core.request import Form, Question, Try

Step = str | tuple[str, float, dict[str, float]]
"""A token that is certain, or its text, its probability, and those of the listed alternatives."""


def token(text: str | bytes, probability: float, *, bare: bool = False) -> dict[str, Any]:
    """Return a token; `bare` leaves its bytes out."""
    raw = text.encode() if isinstance(text, str) else text
    data: dict[str, Any] = {"token": raw.decode("utf-8", "replace")}
    data["logprob"] = math.log(probability) if probability else -9999.0
    return data if bare else {**data, "bytes": list(raw)}


def listed(step: Any, *, bare: bool = False) -> dict[str, Any]:
    """Return one token with its alternatives, itself first."""
    text, probability, others = (step, 1.0, {}) if isinstance(step, (str, bytes)) else step
    top = [token(t, p, bare=bare) for t, p in {text: probability, **others}.items()]
    return {**token(text, probability, bare=bare), "top_logprobs": top}


def stream(*steps: Any, bare: bool = False) -> dict[str, Any]:
    """Return the log-probabilities of a reply, in the form of `choices[0].logprobs`."""
    return {"content": [listed(step, bare=bare) for step in steps], "refusal": None}


def text_of(steps: Any) -> str:
    """Return the text that steps spell."""
    texts = [step[0] if isinstance(step, tuple) else step for step in steps]
    return b"".join(t.encode() if isinstance(t, str) else t for t in texts).decode()


def distribution(
    question: Question, *steps: Any, text: str | None = None, bare: bool = False
) -> Distribution | None:
    """Return the distribution of the only question of a reply, from its tokens."""
    attempt = Try(text=text or text_of(steps), logprobs=stream(*steps, bare=bare))
    return token_distributions(attempt, Form(questions=(question,))).get(question.id)


def answer(*value: Any) -> tuple[Any, ...]:
    """Return the steps of `{"q": {"reason": "fine", "value": ...}}` around those of the value."""
    return ('{"', "q", '": {"', "reason", '":', ' "fine",', ' "value', '":', *value, "}}")
