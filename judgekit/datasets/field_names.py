"""The names under which the fields of a case are found in a row."""

from __future__ import annotations

from judgekit.core.case import Case

FIELDS = tuple(Case.model_fields)
"""The fields of a case, which every row may use as they are."""

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
"""Other common names, taken without a mapping."""

OBJECTS = frozenset({"expected", "labels", "metadata"})
"""Fields that hold an object, so that `metadata.topic` names one value inside."""

MESSAGES = "messages"
"""The key that makes a row a chat."""

TEXT_LISTS = frozenset({"reference", "context", "choices"})
"""Fields that hold several texts, or one."""


def field_named(key: str) -> str | None:
    """Return the field of a case that a key stands for, if it stands for one.

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
