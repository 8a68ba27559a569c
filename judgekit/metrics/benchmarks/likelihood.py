"""The base of metrics of log-probabilities, and the two sources of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import ClassVar, dataclass_transform

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, InvalidReply
from judgekit.core.judge_wrapper import RequestBuilder, as_judge
from judgekit.core.protocols import Asks, JudgeLike, Likelihood, Metric
from judgekit.core.replies.logprobs import Continuation, pair_messages, read_logprobs
from judgekit.core.request import About, Form
from judgekit.core.synchronous import gather_all
from judgekit.core.value import Json
from judgekit.metrics._options import check_options

_FORM = Form(want="logprobs")


class JudgeLikelihood:
    """The log-probabilities of a judge, or of a cassette around one."""

    def __init__(self, judge: JudgeLike) -> None:
        self._requests = RequestBuilder(judge)
        self.judge = self._requests.judge
        self.model = self.judge.model

    @property
    def synchronous(self) -> bool:
        """Whether it never waits, as in a replay."""
        return self.judge.synchronous

    async def figures(self, *, prompt: str, continuation: str, about: About) -> Continuation:
        """Return the log-probabilities, and how the tokens align with the text.

        Raises:
            JudgeUnavailable: no reply, or the server does not echo log-probabilities.
            InvalidReply: the tokens do not align with the text.
        """
        messages = pair_messages(prompt, continuation)
        request = self._requests.request(messages=messages, form=_FORM, sample=0, about=about)
        reply = await self.judge.ask(request)
        return read_logprobs(reply, prompt=prompt, continuation=continuation)


class PlainLikelihood:
    """A `Likelihood` of the user, with optional `model` and `synchronous`."""

    def __init__(self, likelihood: Likelihood) -> None:
        self._given = likelihood
        self.model = str(getattr(likelihood, "model", type(likelihood).__name__))
        self.synchronous = bool(getattr(likelihood, "synchronous", False))

    async def figures(self, *, prompt: str, continuation: str, about: About) -> Continuation:
        """Return the log-probabilities; there is no information about the tokens.

        Raises:
            InvalidReply: a number is not a log-probability.
        """
        logprobs = await self._given.logprobs(prompt=prompt, continuation=continuation)
        figures = tuple(float(figure) for figure in logprobs)
        if not all(math.isfinite(figure) and figure <= 0 for figure in figures):
            raise InvalidReply("a likelihood returned a number that is not a log-probability")
        return Continuation(figures, shared=False, unknown=False)


@dataclass_transform(kw_only_default=True, eq_default=False)
class LikelihoodMetric(Metric):
    """Base of metrics of log-probabilities.

    The annotated attributes of a subclass are its options, among them `judge`, `name` and `joint`,
    the text between prompt and answer. It becomes a dataclass, which checks them by their
    annotations.
    """

    asks: ClassVar[Asks] = "logprobs"
    judge: JudgeLike | Likelihood
    joint: str

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        # A subclass that a user derives from a built-in metric is not changed.
        if LikelihoodMetric in cls.__bases__:
            dataclass(kw_only=True, eq=False, repr=False)(cls)
            cls.synchronous = LikelihoodMetric.synchronous  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        check_options(self)
        if not isinstance(joint := vars(self)["joint"], str):
            raise ConfigError(f"{self.name}: joint must be a text, not {joint!r}")
        self._likelihood = _likelihood_of(self.name, self.judge)
        self._method = f"log-probabilities of {self._likelihood.model}"

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        named = [f.name for f in fields(self) if f.name not in ("judge", "name", "of")]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in named}

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits."""
        return self._likelihood.synchronous

    @property
    def made_with(self) -> dict[str, Json]:
        """Facts that affect the numbers in addition to the options."""
        return {"model": self._likelihood.model}

    async def measure(self, case: Case, pairs: Sequence[tuple[str, str]]) -> list[Continuation]:
        """Return the figures of several continuations of a case; the requests run concurrently.

        Args:
            case: the case.
            pairs: pairs of a prompt and its continuation.

        Raises:
            JudgekitError: the first error, in the order of the pairs.
        """
        about = About(case=case.id, metric=self.name)
        work = [
            partial(self._likelihood.figures, prompt=prompt, continuation=text, about=about)
            for prompt, text in pairs
        ]
        if self._likelihood.synchronous:
            return [await request() for request in work]
        return await gather_all(request() for request in work)


def _likelihood_of(metric: str, judge: object) -> JudgeLikelihood | PlainLikelihood:
    """Return the likelihood of a judge, or of an object with `logprobs`.

    Raises:
        ConfigError: the object is neither.
    """
    if isinstance(judge, Likelihood):
        return PlainLikelihood(judge)
    try:
        return JudgeLikelihood(as_judge(judge))
    except ConfigError as exc:
        raise ConfigError(f"metric {metric!r}: {exc}") from exc
