"""The names of case fields in a row."""

from judgekit.core.case import Case

FIELDS = tuple(Case.model_fields)
"""The fields of a case."""

ALIASES = {
    "prompt": "input",
    "question": "input",
    "query": "input",
    "response": "output",
    "answer": "output",
    "completion": "output",
    "prediction": "output",
    "system_prompt": "system",
    "expected_output": "reference",
    "ground_truth": "reference",
    "gold": "reference",
    "references": "reference",
    "contexts": "context",
    "retrieved_contexts": "context",
    "documents": "context",
}
"""Other common names of fields."""

OBJECTS = frozenset({"expected", "labels", "metadata"})
"""Fields with an object; `metadata.topic` is one value inside."""

MESSAGES = "messages"
"""The key that makes a row a chat."""

TEXT_LISTS = frozenset({"reference", "context", "choices"})
"""Fields with one or several texts."""

JSON_CELLS = OBJECTS | {"history"}
"""Fields whose texts hold JSON in a table: it has no type for objects of varying keys."""

CSV_CELLS = JSON_CELLS | TEXT_LISTS
"""Fields whose cells hold JSON; in those of several texts, anything else is one text."""


def field_named(key: str) -> str | None:
    """Return the field of a case for a key of a row, if there is one.

    >>> field_named("question"), field_named("input"), field_named("topic")
    ('input', 'input', None)
    """
    return _FIELD_NAMED.get(key)


_FIELD_NAMED = {name: name for name in FIELDS} | ALIASES


def split_target(name: str) -> tuple[str, str] | None:
    """Return the two halves of a name like `metadata.topic`, or None for any other name.

    >>> split_target("metadata.a.b"), split_target("topic.x")
    (('metadata', 'a.b'), None)
    """
    field, dot, key = name.partition(".")
    return (field, key) if dot and key and field in OBJECTS else None
