"""The names of case fields in a row."""

from judgekit.core.case import Case
from judgekit.core.case_field import FIELD_BY_NAME, MESSAGE_LISTS, OBJECTS, TEXT_LISTS

FIELDS = tuple(Case.model_fields)
"""The fields of a case."""

ALIASES = {alias: name for name in FIELDS for alias in FIELD_BY_NAME[name].aliases}
"""Other common names of fields."""

THOUGHTS = "thoughts"
"""Key of `metadata` with the thoughts of the assistant, which are no part of its texts."""

MESSAGES = "messages"
"""The key that identifies a chat row."""

JSON_CELLS = frozenset((*OBJECTS, *MESSAGE_LISTS))
"""Fields that are JSON texts in a table, which has no type for objects with varying keys."""

CSV_CELLS = JSON_CELLS.union(TEXT_LISTS)
"""Fields whose cells may be JSON; other content of a field of several texts is one text."""


def field_named(key: str) -> str | None:
    """Return the field of a case for a key of a row; `None` if there is none.

    >>> field_named("question"), field_named("input"), field_named("topic")
    ('input', 'input', None)
    """
    return _FIELD_NAMED.get(key)


_FIELD_NAMED = {name: name for name in FIELDS} | ALIASES


def split_target(name: str) -> tuple[str, str] | None:
    """Split a name such as `metadata.topic`; return `None` for other names.

    >>> split_target("metadata.a.b"), split_target("topic.x")
    (('metadata', 'a.b'), None)
    """
    field, dot, key = name.partition(".")
    return (field, key) if dot and key and field in OBJECTS else None
