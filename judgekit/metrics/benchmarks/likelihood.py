"""Metrics of log-probabilities: which choice does a model find likely, and how likely is a text?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Literal, dataclass_transform

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError, ConfigError, InvalidReply
from judgekit.core.judge_wrapper import RequestBuilder, as_judge
from judgekit.core.protocols import Aggregate, Asks, JudgeLike, Likelihood, Metric
from judgekit.core.replies.logprobs import Continuation, pair_messages, read_logprobs
from judgekit.core.request import About, Form
from judgekit.core.score import Score
from judgekit.core.synchronous import gather_all
from judgekit.core.value import Json
from judgekit.metrics._options import check_options, lacking, needed_text, needed_texts
from judgekit.metrics.aggregate import DetailMeans, Figures, ScoreAggregate

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


Normalise = Literal["none", "tokens", "bytes"]
_KINDS: Mapping[Normalise, str] = {
    "none": "accuracy_raw",
    "tokens": "accuracy_per_token",
    "bytes": "accuracy_per_byte",
}
"""Divisor of a log-probability -> the figure of a run."""
_HOLE = re.compile(r"\{(input|system|context)\}")


class LogLikelihoods(LikelihoodMetric):
    """1 if the model finds the correct choice most likely, else 0. Higher is better.

    The metric appends each of `choices` to the prompt and sums the natural log-probabilities of its
    tokens. A long choice has a lower sum than a short one, so `normalise` can divide the sum by
    tokens or bytes. `details` contain all three figures and the choice that each one selects. The
    correct choice is `expected.correct_index` (from 0), or the choice that equals `reference`. If
    the best choices are tied, the score abstains.

    `confidence` is the share of the selected choice in the softmax over the figures of all choices.
    With `normalise: none` this is the model's probability of the choice, given that it is one of
    the choices.

    The log-probabilities come from a completions endpoint with echo. A token that begins in the
    prompt and ends in the choice counts as part of the choice; `details.shared` is the number of
    such tokens.

    Args:
        judge: the model, or a `Likelihood`.
        name: the name in results.
        normalise: divisor of the sum before the comparison: `none`, `tokens` or `bytes`.
        template: the prompt; `{input}`, `{system}` and `{context}` are replaced by fields of the
            case.
        joint: text between prompt and choice. It belongs to the choice, because tokenisers join a
            space to the next word.
    """

    judge: JudgeLike | Likelihood
    name: str = "log_likelihoods"
    normalise: Normalise = "none"
    template: str = "{input}"
    joint: str = " "

    figures: ClassVar[Mapping[str, bool]] = dict.fromkeys(_KINDS.values(), True)
    needs = ("input", "choices", "reference or expected.correct_index")
    confidence = (
        "is the share of the picked choice in the softmax over all choices' figures: with"
        " `normalise: none` the model's probability of it, given that it is one of the "
        "choices"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(template := vars(self)["template"], str) or not _HOLE.search(template):
            raise ConfigError(f"{self.name}: template must contain {{input}}, not {template!r}")

    def aggregates(self) -> list[Aggregate]:
        """Return the aggregate that counts the selections of the three figures."""
        return [_accuracies()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: there is no prompt, or not exactly one correct choice.
            JudgekitError: raised by the model or the cassette.
        """
        prompt = self._prompt(case)
        choices, correct = correct_of(case)
        pairs = [(prompt, self.joint + choice) for choice in choices]
        continuations = await self.measure(case, pairs)
        figures = [_figures(c, found) for c, found in zip(choices, continuations, strict=True)]
        by = {kind: _best([each[kind] for each in figures]) for kind in _KINDS}
        shares = softmax([each[self.normalise] for each in figures])
        picked = by[self.normalise]
        details: dict[str, Any] = {
            "choices": [
                {
                    "text": choice,
                    "logprob": each["none"],
                    "per_token": each["tokens"],
                    "per_byte": each["bytes"],
                    "tokens": len(found.logprobs),
                    "share": share,
                }
                for choice, each, found, share in zip(
                    choices, figures, continuations, shares, strict=True
                )
            ],
            "correct": correct,
            "picked": picked,
            "picked_by": dict(by),
            "shared": sum(one.shared for one in continuations),
        }
        common: dict[str, Any] = {
            "method": self._method,
            "ground_truth": choices[correct],
            "details": details,
            "meta": self.made_with,
        }
        if picked is None:
            reason = "The model finds its best choices equally likely."
            return Score(status="abstained", reason=reason, **common)
        right = picked == correct
        verdict = "is correct" if right else f"is not the correct {choices[correct]!r}"
        return Score(
            value=float(right),
            confidence=shares[picked],
            reason=f"The model finds {choices[picked]!r} most likely, which {verdict}.",
            **common,
        )

    def _prompt(self, case: Case) -> str:
        texts = {"input": case.input, "system": case.system, "context": "\n".join(case.context)}
        for name in _HOLE.findall(self.template):
            if not has_text(texts[name]):
                raise lacking(name)
        return _HOLE.sub(lambda match: texts[match[1]] or "", self.template)


def _figures(choice: str, continuation: Continuation) -> dict[Normalise, float]:
    """Return the log-probability of a choice: the sum, and the sum divided by tokens and bytes."""
    tokens = len(continuation.logprobs)
    if not tokens:
        raise InvalidReply(f"no token of the choice {choice!r} has a log-probability")
    total = math.fsum(continuation.logprobs)
    return {"none": total, "tokens": total / tokens, "bytes": total / len(choice.encode())}


def correct_of(case: Case) -> tuple[tuple[str, ...], int]:
    """Return the choices of a case, and the index of the correct one.

    Raises:
        CaseError: there are fewer than two choices, two are equal, or the correct one is unknown.
    """
    choices = case.choices
    if len(choices) < 2 or not all(map(has_text, choices)):
        raise CaseError("needs at least two choices, none blank (field 'choices')")
    plain = [choice.strip() for choice in choices]
    if len(set(plain)) < len(plain):
        raise CaseError("two choices are the same (field 'choices')")
    index = case.expected.get("correct_index")
    if index is not None:
        last = len(choices) - 1
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index <= last:
            raise CaseError(f"expected.correct_index must be from 0 to {last}, not {index!r}")
        return choices, index
    accepted = {text.strip() for text in case.reference}
    matches = [number for number, choice in enumerate(plain) if choice in accepted]
    if len(matches) != 1:
        none = "none of the choices is" if not matches else "several choices are"
        raise CaseError(f"{none} the reference; set expected.correct_index")
    return choices, matches[0]


def softmax(figures: Sequence[float]) -> list[float]:
    """Return the share of each figure in the sum of exp(figure); the shares add up to 1.

    >>> [round(share, 3) for share in softmax([0.0, -1.0])]
    [0.731, 0.269]
    """
    most = max(figures)
    weights = [math.exp(figure - most) for figure in figures]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _best(figures: Sequence[float]) -> int | None:
    best = max(figures)
    numbers = [number for number, figure in enumerate(figures) if figure == best]
    return numbers[0] if len(numbers) == 1 else None


def _accuracies() -> DetailMeans:
    """Return the share of cases for which each figure selects the correct choice."""

    def is_right(kind: Normalise, details: Mapping[str, Any]) -> bool:
        return bool(details["picked_by"][kind] == details["correct"])

    figures = {figure: partial(is_right, kind) for kind, figure in _KINDS.items()}
    return DetailMeans("picked_by", figures)


Measured = Literal["output", "input", "baseline", "reference"]
Given = Literal["nothing", "input", "system"]
_MOST = 700.0
"""Maximum mean of -log p per token, in nats; a larger one is a placeholder of a server."""


class Perplexity(LikelihoodMetric):
    """exp of the mean negative log-probability of a token. Range 1 upwards, lower is better.

    1 means that the model predicted every token; 20 means that it was as uncertain as among 20
    equally likely tokens. Perplexities of models with different tokenisers are not comparable;
    `details.bits_per_byte` is. The first token of a text without a prompt has no log-probability
    and does not count (`details.first_left_out`). `confidence` is the share of tokens with a
    log-probability.

    The log-probabilities come from a completions endpoint with echo. The figure `corpus_perplexity`
    of a run gives every token the same weight; the mean gives every case the same weight.

    Args:
        judge: the model, or a `Likelihood`.
        name: the name in results.
        field: the field of the case to measure; for `reference`, the first text.
        given: text before the measured text, not counted itself: nothing, input or system.
        joint: text between the two.
        of: former name of `field`; in a suite, `of` names the parts of a combined metric.
    """

    judge: JudgeLike | Likelihood
    name: str = "perplexity"
    field: Measured = "output"
    given: Given = "nothing"
    joint: str = "\n\n"
    of: Measured | None = None

    range: ClassVar[tuple[float, float]] = (1.0, math.inf)
    higher_is_better: ClassVar[bool] = False
    figures: ClassVar[Mapping[str, bool]] = {"corpus_perplexity": False}
    needs = ("the field that `field` names", "the field that `given` names")
    confidence = "is the share of tokens with a log-probability"

    def __post_init__(self) -> None:
        self.field = self.field if self.of is None else self.of
        super().__post_init__()
        if self.given == self.field:
            raise ConfigError(f"{self.name}: field and given are both {self.field!r}")

    def aggregates(self) -> list[Aggregate]:
        """Return the aggregate for the perplexity of all texts together."""
        return [_Corpus()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: a text is missing.
            JudgekitError: raised by the model or the cassette.
        """
        if self.field == "reference":
            text = needed_texts(case, "reference")[0]
        else:
            text = needed_text(case, self.field)
        prompt = "" if self.given == "nothing" else needed_text(case, self.given) + self.joint
        (continuation,) = await self.measure(case, [(prompt, text)])
        common: dict[str, Any] = {"method": self._method, "meta": self.made_with}
        tokens = len(continuation.logprobs)
        if not tokens:
            reason = "A single token with nothing before it has no perplexity."
            return Score(status="not_applicable", reason=reason, **common)
        total = math.fsum(continuation.logprobs)
        if -total / tokens > _MOST:
            raise InvalidReply("the log-probabilities are too low to come from a model")
        value = math.exp(-total / tokens)
        return Score(
            value=value,
            confidence=tokens / (tokens + continuation.unknown),
            reason=f"The model is as unsure of a token as among {value:.4g} equally likely ones.",
            details={
                "tokens": tokens,
                "logprob": total,
                "bits_per_byte": -total / math.log(2) / len(text.encode()),
                "first_left_out": continuation.unknown,
                "shared": continuation.shared,
            },
            **common,
        )


class _Corpus(ScoreAggregate):
    """Perplexity over the tokens of all cases."""

    def __init__(self) -> None:
        self._logprobs: list[float] = []
        self._tokens = 0

    def add_score(self, score: Score, value: float) -> None:
        if "tokens" in score.details:
            self._tokens += score.details["tokens"]
            self._logprobs.append(score.details["logprob"])
            if len(self._logprobs) > 10_000:  # a sum of exact sums, in memory that does not grow
                self._logprobs = [math.fsum(self._logprobs)]

    def finish(self) -> Figures:
        if not self._tokens:
            return {"corpus_perplexity": None}
        return {"corpus_perplexity": math.exp(-math.fsum(self._logprobs) / self._tokens)}
