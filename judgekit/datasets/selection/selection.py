"""A selection: which cases of a data set a run is about."""

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
"""Fields, and values of a field, that are remembered for a message."""


LOOK = 1_000
"""Cases that are looked at for a field which those wanted must not have as said."""


class Selection(NamedTuple):
    """Which cases are wanted; without anything said, all."""

    where: tuple[Condition, ...] = ()
    """All of these hold."""
    ids: frozenset[str] | None = None
    """The case is one of these."""
    limit: int | None = None
    """At most so many."""

    @classmethod
    def parse(
        cls, *, where: Iterable[str] = (), ids: frozenset[str] | None = None, limit: int | None
    ) -> Selection:
        """Return what flags select.

        Raises:
            ConfigError: a condition is none, or the limit is out of range.
        """
        if limit is not None:
            check_limit(limit)
        return cls(tuple(map(Condition.parse, where)), ids, limit)

    def of(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Return the wanted cases, in order.

        The first is looked for at once, so that a condition that nothing meets is said before
        anything is written.

        Raises:
            ConfigError: there is none.
        """
        seen = CasesSeen(self.where)
        known = self._known(iter(cases))
        wanted = (case for case in known if self._has(case, seen))
        first = next(wanted, None)
        if first is None:
            raise ConfigError(self._nothing(seen))
        return islice(chain([first], wanted), self.limit)

    def _known(self, cases: Iterator[Case]) -> Iterator[Case]:
        """Refuse `!=` on a field that no case has: a misspelt one would choose every case.

        Of more cases than `LOOK`, a later one may have it: then nothing is said.
        """
        left = {condition.field: condition for condition in self.where if condition.negated}
        held: list[Case] = []
        fields: dict[str, None] = {}
        while left:
            case = next(cases, None)
            if case is None:
                if not held:
                    break
                field, condition = next(iter(left.items()))
                hint = suggest(field, [ID, *sorted(fields)])
                raise ConfigError(f"--where {condition}: no case has such a field{hint}")
            held.append(case)
            if len(fields) < MOST:
                fields |= dict.fromkeys(fields_of(case.metadata))
            for field in [field for field in left if values_at(case, field)]:
                del left[field]
            if len(held) == LOOK:
                break
        return chain(held, cases)

    def _has(self, case: Case, seen: CasesSeen) -> bool:
        found = (self.ids is None or case.id in self.ids) and all(
            condition.holds(case) for condition in self.where
        )
        if not found and not seen.done:
            seen.add(case)
        seen.done = seen.done or found
        return found

    def _nothing(self, seen: CasesSeen) -> str:
        """Say why nothing was found, as far as one condition is to blame."""
        if not seen.cases:
            return "there are no cases to choose from"
        said = " and ".join(map(str, self.where))
        if unmet := seen.unmet():
            condition, why = unmet
            return f"--where {condition}: {why}"
        if not self.where:
            return "none of the cases asked for is among these cases"
        also = " among the cases asked for" if self.ids is not None else ""
        return f"--where: no case{also} has {said}"


class CasesSeen:
    """Fields and values of cases, for the message that no case meets the conditions.

    Args:
        where: the conditions.
    """

    def __init__(self, where: tuple[Condition, ...]) -> None:
        self.cases = 0
        self.fields: dict[str, None] = {}
        self.values: dict[str, set[str]] = {}
        self.done = False
        self._where = where

    def add(self, case: Case) -> None:
        """Note the fields of one case, and its values of the fields in the conditions."""
        self.cases += 1
        if len(self.fields) < MOST:
            self.fields |= dict.fromkeys(fields_of(case.metadata))
        for condition in self._where:
            found = values_at(case, condition.field)
            if found:
                values = self.values.setdefault(condition.field, set())
                values.update(spelled(value)[:60] for value in found[: MOST - len(values)])

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
