"""Criteria that cases have themselves, over a run: the values of their tags, and those that recur.

A place in the list of criteria means something else in every case, so criteria count by their text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from judgekit.core.score import Part, Score, Status
from judgekit.core.value import Json, Value
from judgekit.metrics.criteria.texts import METRIC_TYPE, own_texts
from judgekit.report.manifest import metric_entry
from judgekit.stats.clusters import FigureValues

RECURS = 30
"""A criterion recurs from this number of cases on; fewer do not give a reliable interval."""
MOST_TEXTS = 200_000
"""Maximum number of different texts to count; HealthBench has 50,000."""
_MOST_TAGS = 1_000


def has_own_criteria(manifest: Mapping[str, object], metric: str) -> bool:
    """Return whether the cases of a metric have their own criteria."""
    return metric_entry(manifest, metric).get("type") == METRIC_TYPE


class TagSummary(Value):
    """The values of the criteria with one tag over a run; a case has one value for each tag."""

    tag: str
    scored: int
    mean: float | None
    low: float | None
    high: float | None
    """95 % interval of the mean, at most 1; `None` for too few values."""
    clusters: int | None = None
    """Number of clusters; `None` if cases are independent."""
    too_few: str | None = None
    """Why there is no interval."""


class TagTally:
    """Collects the values of tags, from the details of scores.

    Args:
        clustered: whether values come with clusters.
    """

    def __init__(self, *, clustered: bool) -> None:
        self._clustered = clustered
        self._tags: dict[str, FigureValues] = {}

    def add(self, score: Score, cluster: Hashable) -> None:
        """Add the values of the tags of one case."""
        tags = score.details.get("tags")
        if not isinstance(tags, dict) or own_texts(score) is None:
            return
        for tag, value in tags.items():
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or (tag not in self._tags and len(self._tags) >= _MOST_TAGS):
                continue
            if tag not in self._tags:
                self._tags[tag] = FigureValues(clustered=self._clustered)
            self._tags[tag].add(float(value), cluster)

    def items(self) -> Iterator[tuple[str, FigureValues]]:
        """Yield each tag with its values, in order."""
        yield from sorted(self._tags.items())


class _PartTally(Protocol):
    def add_part(self, part: Part, cluster: Hashable, *, weighs: bool) -> None: ...


class _Kept(NamedTuple):
    """What is kept of a criterion until it recurs; a part takes 3 kB, and most occur once."""

    status: Status
    value: float | None
    weight: float
    answer: Json
    cluster: Hashable
    weighs: bool


T = TypeVar("T", bound=_PartTally)


class RecurringTally(Generic[T]):
    """Collects the criteria that recur; those in fewer cases are kept as a few numbers.

    Args:
        make: makes the tally of a criterion.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._few: dict[int, tuple[_Kept, ...]] = {}
        self._many: dict[str, T] = {}

    def add(self, text: str, part: Part, cluster: Hashable, *, weighs: bool) -> None:
        """Add the result of a criterion in one case."""
        tally = self._many.get(text)
        if tally is not None:
            tally.add_part(part, cluster, weighs=weighs)
            return
        key = hash(text)
        few = self._few.get(key)
        if few is None:
            if len(self._few) >= MOST_TEXTS:
                return
            few = ()
        kept = _Kept(part.status, part.value, part.weight, part.answer, cluster, weighs)
        self._few[key] = few = (*few, kept)
        if len(few) >= RECURS:
            tally = self._many[text] = self._make()
            for one in self._few.pop(key):
                part = Part(id="", status=one.status, value=one.value, weight=one.weight,
                            answer=one.answer)  # fmt: skip
                tally.add_part(part, one.cluster, weighs=one.weighs)

    def items(self) -> Iterator[tuple[str, T]]:
        """Yield each text that recurs with its tally."""
        yield from self._many.items()
