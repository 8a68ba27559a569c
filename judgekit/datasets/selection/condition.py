"""A condition on the metadata of cases: `topic=refunds`, `user.plan!=free`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError

ID = "id"
"""The field name that means the id of a case."""


class Condition(NamedTuple):
    """A field of a case equals a value, or differs from it."""

    field: str
    """Dotted path into the metadata, or `id`."""
    value: str
    negated: bool = False

    @classmethod
    def parse(cls, text: str) -> Condition:
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

        A case without the field meets only `!=`. A list equals each of its items.
        """
        values = [spelled(value) for value in values_at(case, self.field)]
        return (self.value in values) != self.negated

    def __str__(self) -> str:
        return f"{self.field}{'!' if self.negated else ''}={self.value}"


def values_at(case: Case, field: str) -> list[Any]:
    """Return the values of a field of a case, or its id: none, one, or the items of a list."""
    return [case.id] if field == ID else values_in(case.metadata, field)


def values_in(metadata: Mapping[str, Any], field: str) -> list[Any]:
    """Return the values of a field of the metadata: none, one, or the items of a list.

    >>> values_in({"user": {"plans": ["free", 3]}}, "user.plans")
    ['free', 3]
    """
    value: Any = metadata
    if field in value:
        value = value[field]  # a name that contains dots
    else:
        for name in field.split("."):
            if not isinstance(value, Mapping) or name not in value:
                return []
            value = value[name]
    return list(value) if isinstance(value, list | tuple) else [value]


def spelled(value: Any) -> str:
    """Return a value as text, so that "3" of a CSV file equals 3 of a YAML file.

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
