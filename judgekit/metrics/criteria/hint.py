"""Say in the message of a miss with which frame, or which `calls`, the criteria are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from judgekit.core.case import Case
from judgekit.core.errors import JudgekitError
from judgekit.core.jury import Calls
from judgekit.core.miss import Miss
from judgekit.core.request import Request
from judgekit.metrics.criteria.groups import GroupedCriteria
from judgekit.metrics.criteria.item import CriterionItem
from judgekit.metrics.opinions.opinion import OpinionRequest
from judgekit.rubric.other_versions import other_versions

SingleRequest = Callable[[Case, CriterionItem], Request]
_MOST_SIZES = 64
"""Largest number of criteria per call to try, besides all of a case."""


class CriteriaHint:
    """What may be recorded instead of the requests of a case; made at the first miss.

    Args:
        grouped: the requests about several criteria.
        single: makes the request of the first opinion about one yes/no criterion with another
            rubric; `None` if there is none.
    """

    def __init__(self, grouped: GroupedCriteria, *, single: SingleRequest | None) -> None:
        self._grouped, self._single = grouped, single
        frames = (other for other in other_versions(grouped.frame))
        self._frames = [
            (replace(grouped, frame=other.rubric), other.name)
            for other in frames
            if "reference" not in other.rubric.requires and len(other.rubric.criteria) == 1
        ]

    def add(
        self, miss: Miss, case: Case, leaves: Sequence[CriterionItem], first: CriterionItem
    ) -> None:
        """Add what would hit, if anything.

        Args:
            miss: the miss.
            case: its case.
            leaves: all criteria of the case.
            first: the first criterion of the request.
        """
        place = next(n for n, leaf in enumerate(leaves) if leaf.number == first.number)
        for advice, request in self._others(case, leaves, place):
            if miss.recorded(request):
                miss.older = advice
                return

    def _others(
        self, case: Case, leaves: Sequence[CriterionItem], place: int
    ) -> Iterator[tuple[str, Request]]:
        """Yield requests about the same criterion in other forms, and how to make them."""
        for grouped, name in self._frames:
            for request in self._requests(grouped, self._grouped.calls, case, leaves, place):
                use = f'`rubric: {name}`, or rubric="{name}" in Python'
                yield f"{name} would hit: write {use}", request
        every: list[Calls] = ["each", "all", *range(2, min(len(leaves), _MOST_SIZES + 1))]
        for calls in every:
            if calls != self._grouped.calls:
                for request in self._requests(self._grouped, calls, case, leaves, place):
                    written = f'"{calls}"' if isinstance(calls, str) else calls
                    use = f"`calls: {calls}`, or calls={written} in Python"
                    yield f"the requests of other `calls` would hit: write {use}", request

    def _requests(
        self,
        grouped: GroupedCriteria,
        calls: Calls,
        case: Case,
        leaves: Sequence[CriterionItem],
        place: int,
    ) -> Iterator[Request]:
        size = {"all": len(leaves), "each": 1}.get(str(calls), calls)
        start = place // int(size) * int(size)
        try:
            if calls == "each" and self._single is not None and all(leaf.plain for leaf in leaves):
                yield self._single(case, leaves[place])
            else:
                ask = OpinionRequest(grouped.jury.members[0], 0, 0, ())
                messages = grouped.messages(case)
                yield grouped.request(ask, case, messages, leaves[start : start + int(size)])
        except JudgekitError:  # another version may need a field that the case lacks
            return
