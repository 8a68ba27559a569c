"""A selection: the cases of a data set that a run uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.limits import check_limit
from judgekit.core.suggest import suggest
from judgekit.datasets.selection.condition import ID, Condition, fields_of, spelled, values_at

MOST = 100
"""Fields, and values of one field, that are kept for a message."""
LOOK = 1_000
"""Cases that are searched for a field of a `!=` condition."""


class Selection(NamedTuple):
    """Which cases a run uses; by default all."""

    where: tuple[Condition, ...] = ()
    """A selected case meets every condition."""
    ids: frozenset[str] | None = None
    """A selected case has one of these ids."""
    limit: int | None = None
    """The largest number of selected cases."""

    @classmethod
    def parse(
        cls, *, where: Iterable[str] = (), ids: frozenset[str] | None = None, limit: int | None
    ) -> Selection:
        """Return the selection that flags describe.

        Raises:
            ConfigError: a condition cannot be read, or the limit is out of range.
        """
        if limit is not None:
            check_limit(limit)
        return cls(tuple(map(Condition.parse, where)), ids, limit)

    def of(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Return the selected cases, in order.

        The call reads up to the first selected case, so that a condition without any fails before
        the run writes a file.

        Raises:
            ConfigError: no case is selected.
        """
        seen = CasesSeen(self.where)
        checked = self._with_fields_checked(iter(cases))
        for case in checked:
            if self._selects(case):
                return islice(chain([case], filter(self._selects, checked)), self.limit)
            seen.add(case)
        raise ConfigError(self._explain_empty(seen))

    def _with_fields_checked(self, cases: Iterator[Case]) -> Iterator[Case]:
        """Refuse `!=` on a field that no case has: a misspelled one would select every case.

        Only the first `LOOK` cases are searched; if there are more, a later one may have the field.
        """
        left = {condition.field: condition for condition in self.where if condition.negated}
        read: list[Case] = []
        fields: dict[str, None] = {}
        for case in islice(cases, LOOK if left else 0):
            read.append(case)
            if len(fields) < MOST:
                fields |= dict.fromkeys(fields_of(case.metadata))
            left = {field: one for field, one in left.items() if not values_at(case, field)}
            if not left:
                break
        if left and 0 < len(read) < LOOK:
            field, condition = next(iter(left.items()))
            hint = suggest(field, [ID, *sorted(fields)])
            raise ConfigError(f"--where {condition}: no case has such a field{hint}")
        return chain(read, cases)

    def _selects(self, case: Case) -> bool:
        asked = self.ids is None or case.id in self.ids
        return asked and all(condition.holds(case) for condition in self.where)

    def _explain_empty(self, seen: CasesSeen) -> str:
        """Return why no case is selected; name the condition if one alone is the reason."""
        if not seen.cases:
            return "there are no cases to choose from"
        if unmet := seen.unmet():
            condition, why = unmet
            return f"--where {condition}: {why}"
        if not self.where:
            return "none of the cases asked for is among these cases"
        also = " among the cases asked for" if self.ids is not None else ""
        return f"--where: no case{also} has {' and '.join(map(str, self.where))}"


class CasesSeen:
    """Collects fields and values of cases, to explain why none meets the conditions."""

    def __init__(self, where: tuple[Condition, ...]) -> None:
        self.cases = 0
        self.fields: dict[str, None] = {}
        self.values: dict[str, set[str]] = {}
        self._where = where

    def add(self, case: Case) -> None:
        """Add the fields of one case, and its values of the fields in the conditions."""
        self.cases += 1
        if len(self.fields) < MOST:
            self.fields |= dict.fromkeys(fields_of(case.metadata))
        for condition in self._where:
            if own := values_at(case, condition.field):
                values = self.values.setdefault(condition.field, set())
                values.update(spelled(value)[:60] for value in own[: MOST - len(values)])

    def unmet(self) -> tuple[Condition, str] | None:
        """Return the first condition that no case meets, and why; `None` if each one is met."""
        for condition in self._where:
            if condition.field not in self.values:
                hint = suggest(condition.field, [ID, *sorted(self.fields)])
                return condition, f"no case has such a field{hint}"
            values = self.values[condition.field]
            if not condition.negated and condition.value not in values:
                hint = suggest(condition.value, sorted(values))
                return condition, f"no case has this value{hint}"
        return None
