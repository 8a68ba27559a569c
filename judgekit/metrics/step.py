"""A step of a metric that asks a judge more than once: one rubric, put to texts of a case.

What a judge said in one step is material to be judged in the next, and no more to be trusted
than the answer it came from: it becomes a field of a case of its own, and templates fence it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, InvalidReply, JudgekitError
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.protocols import Aggregate, Asks, JudgeLike, Metric
from judgekit.core.score import Part, Score, Status, checked_score
from judgekit.core.value import Json
from judgekit.metrics.quote import FIGURES, QuoteTally, find_quotes
from judgekit.metrics.rubric import DEFAULT_HISTORY, RubricMetric
from judgekit.rubric.rubric import Rubric

MAX_STATEMENTS = 50
"""Texts a metric puts to its judge one by one, unless its option says otherwise."""


class Step:
    """One rubric, put to texts made from a case.

    Args:
        rubric: a loaded rubric, a name, or a path.
        judge: who answers.
        metric: the name of the metric it is a step of.
        history: how many earlier messages the judge may see.
    """

    def __init__(
        self,
        rubric: Rubric | str | Path,
        *,
        judge: JudgeLike,
        metric: str,
        history: int = DEFAULT_HISTORY,
    ) -> None:
        self._metric = RubricMetric(rubric, judge=judge, name=metric, history=history)

    @property
    def rubric(self) -> Rubric:
        """The rubric, with its parameters set."""
        return self._metric.rubric

    async def ask(self, cases: Sequence[Case]) -> list[Score]:
        """Return what came of each case, in order.

        All of them are asked before any failure counts, so that what was paid for is recorded.

        Raises:
            JudgekitError: one of them could not be judged.
        """
        if self._metric.synchronous:
            outcomes: list[Score | BaseException] = []
            for case in cases:
                try:
                    outcomes.append(await checked_score(self._metric, case))
                except JudgekitError as exc:
                    outcomes.append(exc)
        else:
            import asyncio

            pending = [checked_score(self._metric, case) for case in cases]
            outcomes = list(await asyncio.gather(*pending, return_exceptions=True))
        return _all_good(outcomes)


def _all_good(outcomes: Sequence[Score | BaseException]) -> list[Score]:
    bad = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if bad:
        # What stops a run goes before what costs a row, an outage before a reply of no use.
        raise next(
            (e for e in bad if not isinstance(e, JudgekitError)),
            next((e for e in bad if not isinstance(e, InvalidReply)), bad[0]),
        )
    return [outcome for outcome in outcomes if isinstance(outcome, Score)]


def subject(case: Case, suffix: str, /, **fields: Any) -> Case:
    """Return a case for one step: nothing of the original but what is named here.

    Its id, by which a person's verdicts are found, is `ID/SUFFIX`.
    """
    return Case.model_construct(id=f"{case.id}/{suffix}", **fields)


def distinct(texts: Iterable[str]) -> list[str]:
    """Return the texts that say something, each once, in the order they came first.

    Capitals, white space, and a full stop at the end make no difference.

    Example:
        >>> distinct(["It floats.", "it  floats", " ", "It sinks."])
        ['It floats.', 'It sinks.']
    """
    seen: dict[str, str] = {}
    for text in texts:
        plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!… ")
        if plain:
            seen.setdefault(plain, " ".join(text.split()))
    return list(seen.values())


def items_of(score: Score, *, met: bool | None = None) -> list[str]:
    """Return what a step of one checklist listed, each once: all, or those that are met or not."""
    items = [item for item in score.parts[0].items if isinstance(item, dict)]
    if met is not None:
        items = [item for item in items if (item["met"] is True) == met]
    return distinct(str(item["item"]) for item in items)


class JudgedText(NamedTuple):
    """A text that a step judged by one criterion."""

    text: str
    score: Score
    value: float
    """What the text contributes, from 0 to 1."""
    met: bool
    """Whether the text is as it should be."""
    answer: str
    """The verdict in a word."""
    source: Case
    """The case that contains the quotes of the judge."""
    details: dict[str, Json] = {}  # noqa: RUF012 - never changed


def text_parts(noun: str, texts: Sequence[JudgedText], *, first: int = 1) -> list[Part]:
    """Return judged texts as parts of a score, with equal weights.

    Args:
        noun: the kind of text; part ids are `NOUN NUMBER`.
        texts: the judged texts.
        first: the number of the first text.
    """
    parts = []
    for number, judged in enumerate(texts, first):
        verdict = judged.score.parts[0]
        part = Part(
            id=f"{noun} {number}",
            value=judged.value,
            weight=1 / len(texts),
            answer=judged.answer,
            items=({"item": judged.text, "met": judged.met, "reason": verdict.reason},),
            quotes=find_quotes((quote.text for quote in verdict.quotes), judged.source),
            details=judged.details,
        )
        parts.append(part)
    return parts


def certainty(probabilities: Sequence[float]) -> float | None:
    """Return how sure a judge was: the mean of the greater of p and 1 - p; `None` of none."""
    if not probabilities:
        return None
    return math.fsum(max(p, 1.0 - p) for p in probabilities) / len(probabilities)


class Stepped(Metric):
    """What metrics that ask in several steps have in common."""

    range: tuple[float, float] = (0.0, 1.0)
    asks: ClassVar[Asks] = "verdict"

    def __init__(self, *, name: str, judge: JudgeLike, steps: Sequence[Step]) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"name must be a text that is not blank, not {name!r}")
        self.name = name
        self.judge = as_judge(judge)
        self._steps = tuple(steps)
        rubrics = [step.rubric for step in steps]
        *first, last = rubrics
        # Reports say RUBRIC@VERSION: several read as `statements@1+claim_support@1`.
        self._made_with: dict[str, Json] = {
            "rubric": "+".join([*(f"{r.name}@{r.version}" for r in first), last.name]),
            "version": last.version,
            "digest": "+".join(rubric.digest[:16] for rubric in rubrics),
            "model": self.judge.model,
        }
        by = " and ".join(f"{rubric.name}@{rubric.version}" for rubric in rubrics)
        self._method = f"{self.judge.model} by {by}"

    @property
    def made_with(self) -> dict[str, Json]:
        """Rubrics, digests and model."""
        return self._made_with

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        """What its steps go by, in order."""
        return tuple(step.rubric for step in self._steps)

    @property
    def synchronous(self) -> bool:
        """Whether scoring waits for nothing: the judge has every answer."""
        return self.judge.synchronous

    @property
    def asks_further(self) -> bool:
        """Whether what it asks depends on what was answered: no count of calls is complete."""
        return len(self._steps) > 1

    @property
    def figures(self) -> Mapping[str, bool]:
        """The figures made of all rows, and whether higher is better: of quotes, if it asks any."""
        with_quotes = (c.question.quotes for step in self._steps for c in step.rubric.criteria)
        return FIGURES if any(with_quotes) else {}

    def aggregates(self) -> Sequence[Aggregate]:
        """Return what makes the figures of a run."""
        return (QuoteTally(),) if self.figures else ()

    def _score(
        self,
        value: float | None,
        *,
        reason: str,
        scores: Sequence[Score],
        parts: Sequence[Part] = (),
        details: dict[str, Json] | None = None,
        confidence: float | None = None,
        ground_truth: Json = None,
        status: Status = "not_applicable",
    ) -> Score:
        """Return a score made of those of the steps; `status` is for one without a value."""
        return Score(
            status=status if value is None else "scored",
            value=value,
            parts=tuple(parts),
            reason=reason,
            source="judge",
            method=self._method,
            confidence=None if value is None else confidence,
            ground_truth=ground_truth,
            judgments=tuple(judgment for score in scores for judgment in score.judgments),
            details=details or {},
            meta=dict(self.made_with),
        )


def agreeing(count: int, one: str, many: str) -> str:
    """Return the verb that agrees with a number."""
    return one if count == 1 else many


def beginning(text: str, *, most: int = 120) -> str:
    """Return enough of a long text to know it by; the whole of it stands in the case."""
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def named(texts: Sequence[str], *, most: int = 2, length: int = 80) -> str:
    """Return the first few texts in quotation marks, for a reason.

    Example:
        >>> named(["It floats.", "It sings.", "It sinks."])
        '“It floats.”, “It sings.” and 1 more'
    """
    shown = [f"“{t if len(t) <= length else t[: length - 1] + '…'}”" for t in texts[:most]]
    more = len(texts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
