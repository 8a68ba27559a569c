"""Log-probabilities from a judge: recorded, limited and replayed as verdicts are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from judgekit.core.errors import ConfigError, InvalidReply
from judgekit.core.judge_wrapper import RequestBuilder, as_judge
from judgekit.core.protocols import Asks, JudgeLike, Likelihood, Metric
from judgekit.core.replies.logprobs import Continuation, pair_messages, read_logprobs
from judgekit.core.request import About, Form, Request
from judgekit.core.synchronous import gather_all
from judgekit.core.value import Json

_FORM = Form(want="logprobs")


class JudgeLikelihood:
    """A judge, or a cassette around one, as a `Likelihood`."""

    def __init__(self, judge: JudgeLike) -> None:
        self._requests = RequestBuilder(judge)
        self.judge = self._requests.judge

    @property
    def model(self) -> str:
        """The model."""
        return self.judge.model

    @property
    def synchronous(self) -> bool:
        """Whether it never waits, as in a replay."""
        return self.judge.synchronous

    def request(self, *, prompt: str, continuation: str, about: About) -> Request:
        """Return the request for a continuation."""
        messages = pair_messages(prompt, continuation)
        return self._requests.request(messages=messages, form=_FORM, sample=0, about=about)

    async def logprobs(self, *, prompt: str, continuation: str) -> Sequence[float]:
        """Return the natural log-probability of each token in the continuation."""
        return (await self.figures(prompt=prompt, continuation=continuation)).logprobs

    async def figures(
        self,
        *,
        prompt: str,
        continuation: str,
        about: About = About(),  # noqa: B008 - an immutable value
    ) -> Continuation:
        """Return the log-probabilities, and how the tokens fit the text.

        Raises:
            JudgeUnavailable: no reply, or the server does not echo log-probabilities.
            InvalidReply: they do not fit the text.
        """
        request = self.request(prompt=prompt, continuation=continuation, about=about)
        reply = await self.judge.ask(request)
        return read_logprobs(reply, prompt=prompt, continuation=continuation)


class PlainLikelihood:
    """A `Likelihood` of the user, which may have a `model` and `synchronous`."""

    def __init__(self, likelihood: Likelihood) -> None:
        self._given = likelihood
        self.model = str(getattr(likelihood, "model", type(likelihood).__name__))
        self.synchronous = bool(getattr(likelihood, "synchronous", False))

    async def figures(self, *, prompt: str, continuation: str, about: About) -> Continuation:
        """Return the log-probabilities; nothing is known about the tokens.

        Raises:
            InvalidReply: a number is not a log-probability.
        """
        logprobs = await self._given.logprobs(prompt=prompt, continuation=continuation)
        figures = tuple(float(figure) for figure in logprobs)
        if not all(math.isfinite(figure) and figure <= 0 for figure in figures):
            raise InvalidReply("a likelihood returned a number that is not a log-probability")
        return Continuation(figures, shared=False, unknown=False)


AnyLikelihood = JudgeLikelihood | PlainLikelihood


class LikelihoodMetric(Metric):
    """Base of metrics of log-probabilities: the model, and the text between prompt and answer."""

    asks: ClassVar[Asks] = "logprobs"

    def __init__(self, *, judge: JudgeLike | Likelihood, name: str, joint: str) -> None:
        if not isinstance(joint, str):
            raise ConfigError(f"{name}: joint must be a text, not {joint!r}")
        self.name = name
        self.joint = joint
        self._likelihood = _likelihood_of(name, judge)
        self._method = f"log-probabilities of {self._likelihood.model}"

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits."""
        return self._likelihood.synchronous

    @property
    def made_with(self) -> dict[str, Json]:
        """What affects the numbers besides the options."""
        return {"model": self._likelihood.model}


def _likelihood_of(metric: str, judge: object) -> AnyLikelihood:
    """Return the likelihood of a judge, or of an object with `logprobs`.

    Raises:
        ConfigError: it is neither.
    """
    if isinstance(judge, Likelihood):
        return PlainLikelihood(judge)
    try:
        return JudgeLikelihood(as_judge(judge))
    except ConfigError as exc:
        raise ConfigError(f"metric {metric!r}: {exc}") from exc


async def all_figures(
    likelihood: AnyLikelihood, pairs: Sequence[tuple[str, str]], *, about: About
) -> list[Continuation]:
    """Return the figures of several continuations, requested at the same time.

    Raises:
        JudgekitError: the first error, in the order of the pairs.
    """
    work = [
        partial(likelihood.figures, prompt=prompt, continuation=text, about=about)
        for prompt, text in pairs
    ]
    if likelihood.synchronous:
        return [await request() for request in work]
    return await gather_all(request() for request in work)
