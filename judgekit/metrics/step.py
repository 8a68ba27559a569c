"""Metrics that ask a judge in several steps: each step judges texts of a case by one rubric.

A reply of one step is untrusted input of the next: it becomes a field of a new case, and the
template fences it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, dataclass_transform

from judgekit.core.case import Case
from judgekit.core.errors import InvalidReply, JudgekitError
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.jury import Jury
from judgekit.core.score import Opinion, Part, Score, checked_score
from judgekit.core.synchronous import outcomes_of
from judgekit.core.value import Json
from judgekit.metrics._options import check_options
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.quote import FIGURES, find_quotes
from judgekit.metrics.rubric import DEFAULT_HISTORY, JudgedMetric, RubricMetric

MAX_STATEMENTS = 50
"""Default maximum number of texts that a metric judges one by one."""


async def judge_all(metric: RubricMetric, cases: Sequence[Case]) -> list[Score]:
    """Return the score of each case, in order.

    All requests finish before an error is raised, so every paid reply is recorded.

    Raises:
        JudgekitError: one of them could not be judged.
    """
    judged = (checked_score(metric, case) for case in cases)
    return await scores_of(judged, inline=metric.synchronous)


async def scores_of(work: Iterable[Coroutine[Any, Any, Score]], *, inline: bool) -> list[Score]:
    """Return the score of each coroutine, in order, after all have ended.

    Args:
        work: the coroutines.
        inline: whether none of them waits.

    Raises:
        JudgekitError: one of them could not be judged.
    """
    outcomes = await outcomes_of(work, inline=inline)
    bad = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if bad:
        # Errors that stop the run come first, then outages, then invalid replies.
        raise next(
            (e for e in bad if not isinstance(e, JudgekitError)),
            next((e for e in bad if not isinstance(e, InvalidReply)), bad[0]),
        )
    return [outcome for outcome in outcomes if isinstance(outcome, Score)]


def subject(case: Case, suffix: str, /, **fields: Any) -> Case:
    """Return a case for one step, with the given fields only.

    Its id is `ID/SUFFIX`; recorded verdicts of a person are found by this id.
    """
    return Case.model_construct(id=f"{case.id}/{suffix}", **fields)


def distinct(texts: Iterable[str]) -> list[str]:
    """Return the texts that are not blank, without duplicates, in order.

    Case, white space, and a full stop at the end are ignored.

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
    """Return the distinct items of a checklist: all, or only those that are met or not met."""
    items = [item for item in score.parts[0].items if isinstance(item, dict)]
    if met is not None:
        items = [item for item in items if (item["met"] is True) == met]
    return distinct(str(item["item"]) for item in items)


class JudgedText(NamedTuple):
    """A text that a step judged by one criterion."""

    text: str
    score: Score
    value: float
    """The contribution of the text, 0..1."""
    met: bool
    """Whether the text meets the criterion."""
    answer: str
    """The verdict as one word."""
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
    """Return the mean of max(p, 1 - p); `None` without probabilities."""
    if not probabilities:
        return None
    return math.fsum(max(p, 1.0 - p) for p in probabilities) / len(probabilities)


@dataclass_transform(kw_only_default=True, eq_default=False)
class Stepped(JudgedMetric):
    """Base of metrics that ask a judge in several steps: list texts, then judge each of them.

    The annotated attributes of a subclass are its options, among them `judge`, `name` and
    `rubric`, which judges a text. It becomes a dataclass, which checks them by their annotations.
    """

    listing: ClassVar[str] = ""
    """Rubric of the first step; empty if the case has the texts."""
    judge: Any
    rubric: RubricLike
    history = DEFAULT_HISTORY

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False, repr=False)(cls)
        cls.synchronous = Stepped.synchronous  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        check_options(self)
        self.judge = as_judge(self.judge)
        # One judge lists the texts once, so that all opinions are about the same texts.
        jury = self.judge if isinstance(self.judge, Jury) else None
        first = self.judge if jury is None else jury.members[0].judge
        bound = None if jury is None else jury.max_reason
        self._steps = tuple(
            RubricMetric(
                rubric, judge=judge, name=self.name, history=self.history, max_reason=bound
            )
            for rubric, judge in ((self.listing, first), (self.rubric, self.judge))
            if rubric != ""
        )
        for step in self._steps:
            step.step_of = self
        self._list, self._each = self._steps[0], self._steps[-1]
        self._judged_by(self.judge.model, *(step.rubric for step in self._steps))

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        named = [f.name for f in fields(self) if f.name not in ("judge", "name", "rubric")]  # type: ignore[arg-type]
        own = {name: getattr(self, name) for name in named}
        jury = self._each.jury
        if jury.samples > 1:
            own["samples"] = jury.samples
        return {**own, **jury.options, "rubric": self._each.rubric.name}

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits, as in a replay."""
        return bool(self.judge.synchronous)

    @property
    def asks_further(self) -> bool:
        """Whether later requests depend on earlier replies."""
        return len(self._steps) > 1

    @property
    def figures(self) -> Mapping[str, bool]:
        """The figures of quotes, if a step asks for quotes, and whether higher is better."""
        with_quotes = (c.question.quotes for rubric in self.rubrics for c in rubric.criteria)
        return FIGURES if any(with_quotes) else {}

    async def judge_each(self, case: Case, texts: Iterable[Mapping[str, Any]]) -> list[Score]:
        """Return the verdict on each text of a case; each text is given as fields of the rubric.

        Raises:
            JudgekitError: one of them could not be judged.
        """
        cases = [subject(case, str(n), **fields) for n, fields in enumerate(texts, start=1)]
        return await judge_all(self._each, cases)

    def _score(
        self,
        value: float | None,
        *,
        scores: Sequence[Score],
        confidence: float | None = None,
        **fields: Any,
    ) -> Score:
        """Return the score of the steps together, with further fields of a score."""
        return Score(
            status="not_applicable" if value is None else "scored",
            value=value,
            source="judge",
            method=self._method,
            confidence=None if value is None else confidence,
            judgments=tuple(judgment for score in scores for judgment in score.judgments),
            opinions=tuple(_opinions(scores)),
            meta=dict(self.made_with),
            **fields,
        )


def _opinions(scores: Sequence[Score]) -> Iterator[Opinion]:
    """Yield the opinions of several scores as those of one; each names the text it judges."""
    place = 0
    for number, score in enumerate(scores, start=1):
        for opinion in score.opinions:
            places = tuple(place + own for own in opinion.judgments)
            yield opinion.model_copy(update={"of": str(number), "judgments": places})
        place += len(score.judgments)


def agreeing(count: int, one: str, many: str) -> str:
    """Return the verb that agrees with a number."""
    return one if count == 1 else many


def beginning(text: str, *, most: int = 120) -> str:
    """Return the beginning of a long text, to identify it; the case has the whole text."""
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
