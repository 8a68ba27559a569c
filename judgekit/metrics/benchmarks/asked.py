"""Log-probabilities, asked of a model as verdicts are: recorded, bounded, replayed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from judgekit.core.errors import ConfigError, InvalidReply, JudgekitError
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.protocols import Asks, Judge, Likelihood, Metric
from judgekit.core.replies.logprobs import Continuation, pair_messages, read_logprobs
from judgekit.core.request import About, Form, Request
from judgekit.core.value import Json

_FORM = Form(want="logprobs")


class AskedLikelihood:
    """A judge as a `Likelihood`; it may be one behind a cassette and limits."""

    def __init__(self, judge: Judge) -> None:
        self._requests = RequestBuilder(judge)
        self.judge = self._requests.judge

    @property
    def model(self) -> str:
        """The model whose figures they are."""
        return self.judge.model

    @property
    def synchronous(self) -> bool:
        """Whether nothing is waited for, as in a replay."""
        return self.judge.synchronous

    def request(self, *, prompt: str, continuation: str, about: About) -> Request:
        """Return what is asked."""
        messages = pair_messages(prompt, continuation)
        return self._requests.request(messages=messages, form=_FORM, sample=0, about=about)

    async def logprobs(self, *, prompt: str, continuation: str) -> Sequence[float]:
        """Return the natural log-probability of each token that reaches into the continuation."""
        return (await self.figures(prompt=prompt, continuation=continuation)).logprobs

    async def figures(
        self,
        *,
        prompt: str,
        continuation: str,
        about: About = About(),  # noqa: B008 - an immutable value
    ) -> Continuation:
        """Return these figures, and how the tokens stand to the text.

        Raises:
            JudgeUnavailable: nobody answered, or the server does not echo log-probabilities.
            InvalidReply: they do not fit the text.
        """
        request = self.request(prompt=prompt, continuation=continuation, about=about)
        reply = await self.judge.ask(request)
        return read_logprobs(reply, prompt=prompt, continuation=continuation)


class LikelihoodMetric(Metric):
    """What metrics of log-probabilities share: the model, and what joins a prompt to a text."""

    asks: ClassVar[Asks] = "logprobs"

    def __init__(self, *, judge: Judge | Likelihood, name: str, joint: str) -> None:
        if not isinstance(joint, str):
            raise ConfigError(f"{name}: joint must be a text, not {joint!r}")
        self.name = name
        self.joint = joint
        self._likelihood = _likelihood_of(name, judge)
        self._model = str(getattr(self._likelihood, "model", type(self._likelihood).__name__))
        self._method = f"log-probabilities of {self._model}"

    @property
    def synchronous(self) -> bool:
        """Whether scoring waits for nothing."""
        return bool(getattr(self._likelihood, "synchronous", False))

    @property
    def made_with(self) -> dict[str, Json]:
        """What decides the numbers beside the options."""
        return {"model": self._model}


def _likelihood_of(metric: str, judge: object) -> AskedLikelihood | Likelihood:
    """Return a likelihood as it is, or one made of a judge.

    Raises:
        ConfigError: it is neither.
    """
    if hasattr(judge, "logprobs"):
        return judge
    if isinstance(judge, type) or not isinstance(judge, Judge):
        raise ConfigError(f"metric {metric!r} needs a model, not {judge!r}")
    return AskedLikelihood(judge)


async def all_figures(
    likelihood: AskedLikelihood | Likelihood, pairs: Sequence[tuple[str, str]], *, about: About
) -> list[Continuation]:
    """Return the figures of several continuations, asked at the same time.

    Raises:
        JudgekitError: the first thing that went wrong, in the order of the pairs.
    """
    work = [_figures(likelihood, prompt, text, about) for prompt, text in pairs]
    if getattr(likelihood, "synchronous", False):
        found = []
        for number, asking in enumerate(work):
            try:
                found.append(await asking)
            except JudgekitError:
                for rest in work[number + 1 :]:
                    rest.close()
                raise
        return found
    import asyncio

    came = await asyncio.gather(*work, return_exceptions=True)
    for one in came:
        if isinstance(one, BaseException):
            raise one
    return [one for one in came if not isinstance(one, BaseException)]


async def _figures(
    likelihood: AskedLikelihood | Likelihood, prompt: str, continuation: str, about: About
) -> Continuation:
    if isinstance(likelihood, AskedLikelihood):
        return await likelihood.figures(prompt=prompt, continuation=continuation, about=about)
    given = await likelihood.logprobs(prompt=prompt, continuation=continuation)
    figures = tuple(float(figure) for figure in given)
    if not all(math.isfinite(figure) and figure <= 0 for figure in figures):
        raise InvalidReply("a likelihood gave a number that is no logarithm of a probability")
    return Continuation(figures, shared=False, unknown=False)
