"""List the criteria that cases have themselves: how many, their points, kinds, tags and copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from judgekit.core.case import Case
from judgekit.core.display.parts import DisplayLine, DisplayPart, DisplayTable, counted
from judgekit.core.document import Document
from judgekit.core.errors import CaseError, DatasetError
from judgekit.core.value import Value
from judgekit.metrics.criteria.item import CriterionItem, leaves_of, read_items
from judgekit.metrics.criteria.texts import criterion_digest

MOST_TEXTS = 200_000
"""Maximum number of different texts to compare."""
MOST_SHOWN = 20


class CriterionCount(Value):
    """A criterion that occurs in several places."""

    text: str
    digest: str
    """The digest by which labels refer to it."""
    cases: int
    """Number of cases with it."""
    twice: int = 0
    """Number of cases that have it more than once."""
    points: tuple[float, float] = (0.0, 0.0)
    """The lowest and the highest points."""


class CriteriaList(Document, Value):
    """The criteria of a file of cases."""

    cases: int
    """Number of cases with criteria."""
    without: int
    """Number of cases without criteria."""
    criteria: int
    """Number of criteria that a judge decides."""
    most: int
    """The largest number of criteria of a case."""
    depth: int
    """The depth of the deepest tree; 1 for plain lists."""
    kinds: dict[str, int]
    negative: int
    """Number of criteria with negative points."""
    points: tuple[float, float]
    """The lowest and the highest sum of the positive points of a case."""
    tags: dict[str, int]
    texts: int
    """Number of different texts."""
    recurring: tuple[CriterionCount, ...]
    """The texts that occur more than once, the most frequent first."""

    def _parts_shown(self) -> Iterator[DisplayPart]:
        mean = self.criteria / self.cases if self.cases else 0.0
        noun = "criterion" if self.criteria == 1 else "criteria"
        yield DisplayLine(
            f"{self.criteria:,} {noun} in {counted(self.cases, 'case')}"
            f", {mean:.1f} a case, at most {self.most}; {self.texts:,} different texts"
        )
        low, high = self.points
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.items())
        yield DisplayLine(f"kinds: {kinds}; depth {self.depth}")
        yield DisplayLine(f"points of a case: {low:g} to {high:g}; {self.negative:,} negative ones")
        if self.without:
            yield DisplayLine(f"without criteria: {counted(self.without, 'case')}", "note")
        if self.tags:
            rows = [(tag, f"{count:,}") for tag, count in list(self.tags.items())[:MOST_SHOWN]]
            left = len(self.tags) - len(rows)
            more = f"and {left:,} more tags (--json)" if left else ""
            yield DisplayTable(("tag", "criteria"), rows, numbers=(1,), left=more)
        if self.recurring:
            shown = [
                (one.text, one.digest, f"{one.cases:,}", f"{one.twice:,}" if one.twice else "-")
                for one in self.recurring[:MOST_SHOWN]
            ]
            left = len(self.recurring) - len(shown)
            more = f"and {left:,} more texts (--json)" if left else ""
            yield DisplayTable(
                ("criterion", "digest", "cases", "twice"), shown, numbers=(2, 3), left=more
            )


def list_criteria(cases: Iterable[Case]) -> CriteriaList:
    """Count the criteria of cases, as the metric `points` reads them.

    Raises:
        DatasetError: the criteria of a case are wrong, or no case has any.
    """
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    found: dict[str, list[Any]] = {}
    sums: list[float] = []
    most = depth = 0
    for case in cases:
        if "criteria" not in case.expected:
            counts["without"] += 1
            continue
        try:
            items = read_items(case)
        except CaseError as exc:
            raise DatasetError(f"case {case.id!r}: {exc}") from exc
        leaves = leaves_of(items)
        counts["cases"] += 1
        counts["criteria"] += len(leaves)
        most = max(most, len(leaves))
        depth = max(depth, *(leaf.number.count(".") + 1 for leaf in leaves))
        kinds.update(leaf.kind for leaf in leaves)
        counts["negative"] += sum(leaf.points < 0 for leaf in leaves)
        tags.update(tag for item in items for one in item.walk() for tag in one.tags)
        sums.append(sum(item.points for item in items if item.points > 0))
        _count_texts(found, leaves)
    if not sums:
        raise DatasetError("no case has expected.criteria; map them: fields: "
                           "{expected.criteria: rubrics}")  # fmt: skip
    several = sorted(
        (entry for entry in found.items() if entry[1][0] + entry[1][1] > 1),
        key=lambda entry: (-entry[1][0], entry[0]),
    )
    return CriteriaList(
        cases=counts["cases"],
        without=counts["without"],
        criteria=counts["criteria"],
        most=most,
        depth=depth,
        kinds=dict(kinds.most_common()),
        negative=counts["negative"],
        points=(min(sums), max(sums)),
        tags=dict(tags.most_common()),
        texts=len(found),
        recurring=tuple(
            CriterionCount(
                text=text, digest=criterion_digest(text), cases=n, twice=twice, points=(low, high)
            )
            for text, (n, twice, low, high) in several
        ),
    )


def _count_texts(found: dict[str, list[Any]], leaves: list[CriterionItem]) -> None:
    for text, count in Counter(leaf.text for leaf in leaves).items():
        points = [leaf.points for leaf in leaves if leaf.text == text]
        known = found.get(text)
        if known is None:
            if len(found) < MOST_TEXTS:
                found[text] = [1, int(count > 1), min(points), max(points)]
            continue
        known[0] += 1
        known[1] += count > 1
        known[2], known[3] = min(known[2], *points), max(known[3], *points)
