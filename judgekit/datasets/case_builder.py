"""From one row, in any of the known shapes, to a case.

Each shape is loaded when a row has it: most files hold cases as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING, Any, Literal

from judgekit.core.case import Case
from judgekit.core.errors import DatasetError
from judgekit.core.suggest import suggest
from judgekit.datasets.field_names import ALIASES, FIELDS, MESSAGES, field_named, split_target
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.json_text import to_json_or_text

if TYPE_CHECKING:
    from judgekit.datasets.case_fields import CaseFields
    from judgekit.datasets.field_mapping import FieldMap

Shape = Literal["auto", "rows", "chat", "mastra", "turns", "mmlu", "gsm8k", "humaneval"]
"""What one row looks like."""


class CaseBuilder:
    """Turns rows into cases.

    `cells` names the fields whose texts hold JSON, as the cells of a table do.

    >>> builder = CaseBuilder(shape="auto", fields=None)
    >>> builder.build({"id": 7, "question": "2+2?", "answer": "4"}, where="row 1").input
    '2+2?'
    """

    def __init__(
        self, *, shape: Shape, fields: Mapping[str, str] | None, cells: Container[str] = ()
    ) -> None:
        self._shape = shape
        self._fields: FieldMap | None = None
        if fields:
            from judgekit.datasets.field_mapping import FieldMap

            self._fields = FieldMap(fields)
        self._cells = cells

    @property
    def plain(self) -> bool:
        """Whether a row that is a case already can be taken as it is."""
        return self._shape in ("auto", "rows") and self._fields is None

    def build(self, row: Any, *, where: str) -> Case:
        """Return the case that a row holds.

        Raises:
            DatasetError: the row is not an object, or something in it is wrong.
        """
        if not isinstance(row, dict):
            message = f"expected an object with the fields of a case, found {kind(row)}"
            raise DatasetError(f"{message}; write one JSON object per row", where=where)
        if self._fields:
            row = self._fields.apply(row, where=where, cells=bool(self._cells))
        from judgekit.datasets.case_fields import CaseFields

        fields = CaseFields(where=where, cells=self._cells)
        shape = _shape_of(row) if self._shape == "auto" else self._shape
        _PUT.get(shape, CaseBuilder._put_benchmark)(self, row, fields)
        return fields.case()

    def _put_benchmark(self, row: dict[str, Any], fields: CaseFields) -> None:
        from judgekit.datasets.benchmark_rows import BENCHMARKS

        read = BENCHMARKS[self._shape](row, fields)
        self._put_rows({key: row[key] for key in row if key not in read}, fields)

    def _put_rows(self, row: dict[str, Any], fields: CaseFields) -> None:
        for key, value in row.items():
            self._put_key(key, value, fields)

    def _put_chat(self, row: dict[str, Any], fields: CaseFields) -> None:
        if MESSAGES not in row:
            message = "no `messages` in the row; add it, or say where it is with"
            message += " fields: {'messages': 'dotted.path'}"
            raise DatasetError(message, where=fields.where, field=MESSAGES)
        from judgekit.datasets.chat_rows import CHAT_EXTRAS, put_chat

        put_chat(row[MESSAGES], fields)
        for key, value in row.items():
            if key in CHAT_EXTRAS:
                fields.put_inside("metadata", key, value, source=key)
            elif key != MESSAGES:
                self._put_key(key, value, fields)

    def _put_mastra(self, row: dict[str, Any], fields: CaseFields) -> None:
        from judgekit.datasets.mastra_rows import MASTRA_EXTRAS, put_ground_truth, put_run

        question, answer = row.get("input"), row.get("output")
        if self._cells:
            question, answer = to_json_or_text(question), to_json_or_text(answer)
        put_run(question, answer, fields)
        for key, value in row.items():
            if key == "groundTruth":
                put_ground_truth(value, fields)
            elif key in MASTRA_EXTRAS:
                fields.put_inside("metadata", key, value, source=key)
            elif key not in ("input", "output"):
                self._put_key(key, value, fields)

    def _put_key(self, key: str, value: Any, fields: CaseFields) -> None:
        source = self._fields.source(key) if self._fields else key
        field = field_named(key)
        if field is not None:
            fields.put(field, value, source=source)
        elif (inside := split_target(key)) is not None:
            if self._cells and inside[0] != "metadata":
                value = to_json_or_text(value)
            if value is not None or not self._cells:
                fields.put_inside(*inside, value, source=source)
        elif key == MESSAGES:
            message = "messages are not a field of a case; read the rows with format='chat'"
            raise DatasetError(message, where=fields.where, field=key)
        else:
            raise _unknown(key, fields.where)


_PUT: Mapping[str, Callable[[CaseBuilder, dict[str, Any], CaseFields], None]] = {
    "rows": CaseBuilder._put_rows,
    "chat": CaseBuilder._put_chat,
    "mastra": CaseBuilder._put_mastra,
}


def _shape_of(row: Mapping[str, Any]) -> str:
    """Return the shape of a row, by the keys that only this shape has."""
    if MESSAGES in row:
        return "chat"
    structured = (row.get("input"), row.get("output"))
    return "mastra" if any(isinstance(value, dict | list) for value in structured) else "rows"


def _unknown(key: str, where: str) -> DatasetError:
    if key in ("session_id", "turn_index"):
        message = "a turn of a session; read one turn per row with format='turns'"
        return DatasetError(message, where=where, field=key)
    known = (*FIELDS, *ALIASES)
    hint = suggest(key, known, otherwise=";")
    message = (
        f"unknown key{hint} rename it, or say what it is with"
        f" fields: {{{quoted('metadata.' + key)}: {quoted(_escaped(key))}}}"
    )
    return DatasetError(message, where=where, field=key[:60])


def _escaped(key: str) -> str:
    return key.replace("\\", "\\\\").replace(".", "\\.")
