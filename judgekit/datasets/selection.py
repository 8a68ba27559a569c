"""Select the cases of a run, with conditions such as `topic=refunds`."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple, Self

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.limits import check_limit
from judgekit.core.suggest import suggest

ID = "id"
"""The field name for the id of a case."""


class Condition(NamedTuple):
    """A field of a case equals a value, or differs from it."""

    field: str
    """Dotted path into the metadata, or `id`."""
    value: str
    negated: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `FIELD=VALUE` or `FIELD!=VALUE`.

        Raises:
            ConfigError: the text has another form.

        >>> Condition.parse("user.plan!=free")
        Condition(field='user.plan', value='free', negated=True)
        """
        field, equals, value = text.partition("=")
        negated = field.endswith("!")
        field = field.removesuffix("!").strip()
        if not equals or not field:
            raise ConfigError(f"--where {text}: write it as FIELD=VALUE or FIELD!=VALUE")
        return cls(field, value.strip(), negated)

    def holds(self, case: Case) -> bool:
        """Return whether a case meets the condition.

        A case without the field meets only `!=`. A list matches if one of its items does.
        """
        values = [spelled(value) for value in values_at(case, self.field)]
        return (self.value in values) != self.negated

    def __str__(self) -> str:
        return f"{self.field}{'!' if self.negated else ''}={self.value}"


def values_at(case: Case, field: str) -> list[Any]:
    """Return the values of a field of a case, or its id: none, one, or the items of a list."""
    if field == ID:
        return [case.id]
    # As a case of a file writes it: metadata.topic is topic.
    return values_in(case.metadata, field) or values_in(
        case.metadata, field.removeprefix("metadata.")
    )


def values_in(metadata: Mapping[str, Any], field: str) -> list[Any]:
    """Return the values of a field of the metadata: none, one, or the items of a list.

    >>> values_in({"user": {"plans": ["free", 3]}}, "user.plans")
    ['free', 3]
    """
    value: Any = metadata
    for name in [field] if field in metadata else field.split("."):  # a name may contain dots
        if not isinstance(value, Mapping) or name not in value:
            return []
        value = value[name]
    return list(value) if isinstance(value, list | tuple) else [value]


def spelled(value: Any) -> str:
    """Return a value as text: "3" in a CSV file equals 3 in a YAML file.

    >>> spelled(3), spelled("3"), spelled(True), spelled(None)
    ('3', '3', 'true', 'null')
    """
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def fields_of(metadata: Mapping[str, Any], *, above: str = "", depth: int = 4) -> Iterator[str]:
    """Yield the dotted paths of all values in the metadata."""
    for name, value in metadata.items():
        path = f"{above}{name}"
        if isinstance(value, Mapping) and depth:
            yield from fields_of(value, above=f"{path}.", depth=depth - 1)
        else:
            yield path


MOST = 100
"""Maximum number of fields, and of values of a field, that are kept for a message."""
LOOK = 1_000
"""Number of cases to search for the field of a `!=` condition."""


class Selection(NamedTuple):
    """The cases that a run uses; by default all."""

    where: tuple[Condition, ...] = ()
    """A selected case meets every condition."""
    ids: frozenset[str] | None = None
    """A selected case has one of these ids."""
    limit: int | None = None
    """The maximum number of selected cases."""

    @classmethod
    def parse(
        cls, *, where: Iterable[str] = (), ids: frozenset[str] | None = None, limit: int | None
    ) -> Self:
        """Return the selection for flags.

        Raises:
            ConfigError: a condition cannot be read, or the limit is out of range.
        """
        if limit is not None:
            check_limit(limit)
        return cls(tuple(map(Condition.parse, where)), ids, limit)

    def of(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Return the selected cases, in order.

        The call reads up to the first selected case, so a condition without matches fails before
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
        """Reject `!=` on a field that no case has: a misspelled field would select every case.

        Only the first `LOOK` cases are searched; if there are more, a later one may have the field.
        """
        negated = {condition.field: condition for condition in self.where if condition.negated}
        seen = CasesSeen(tuple(negated.values()))
        read: list[Case] = []
        for case in islice(cases, LOOK if negated else 0):
            read.append(case)
            seen.add(case)
            if len(seen.values) == len(negated):
                break
        if 0 < len(read) < LOOK and (unmet := seen.unmet()):
            raise ConfigError(f"--where {unmet[0]}: {unmet[1]}")
        return chain(read, cases)

    def _selects(self, case: Case) -> bool:
        asked = self.ids is None or case.id in self.ids
        return asked and all(condition.holds(case) for condition in self.where)

    def _explain_empty(self, seen: "CasesSeen") -> str:
        """Return why no case is selected; name the condition if a single one is the reason."""
        if not seen.cases:
            return "there are no cases to choose from"
        if unmet := seen.unmet():
            return f"--where {unmet[0]}: {unmet[1]}"
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
