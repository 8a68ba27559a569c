"""Convert a row of any known format to a case.

The module of a format is imported on first use: most files contain plain cases.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING, Any, Literal

from judgekit.core.case import Case
from judgekit.core.suggest import suggest
from judgekit.datasets.field_names import ALIASES, FIELDS, MESSAGES, field_named, split_target
from judgekit.datasets.formatting import kind, listed, quoted
from judgekit.datasets.json_text import to_json_or_text
from judgekit.datasets.row_builder import RowBuilder, RowFault

if TYPE_CHECKING:
    from judgekit.datasets.case_fields import CaseFields
    from judgekit.datasets.field_path import FieldMap

Shape = Literal["auto", "rows", "chat", "mastra", "turns", "mmlu", "gsm8k", "humaneval"]
"""The format of a row."""


class CaseBuilder(RowBuilder):
    """Converts rows to cases.

    `cells` names the fields whose texts hold JSON, as the cells of a table do. `row_notes` is what
    `cases lint` says of the last row.

    >>> builder = CaseBuilder(shape="auto", fields=None)
    >>> builder.build({"id": 7, "question": "2+2?", "answer": "4"}, where="row 1").input
    '2+2?'
    """

    def __init__(
        self,
        *,
        shape: Shape,
        fields: Mapping[str, str] | None,
        cells: Container[str] = (),
        keep_thoughts: bool = False,
    ) -> None:
        self._shape = shape
        self._keep_thoughts = keep_thoughts
        self._fields: FieldMap | None = None
        if fields:
            from judgekit.datasets.field_path import FieldMap

            self._fields = FieldMap(fields)
        self._cells = cells

    @property
    def plain(self) -> bool:
        """Whether rows are plain cases, without another format and without a mapping."""
        return self._shape in ("auto", "rows") and self._fields is None

    def read(self, row: Any) -> Case:
        """Return the case in a row."""
        if not isinstance(row, dict):
            problem = f"expected an object with the fields of a case, found {kind(row)}"
            raise RowFault(f"{problem}; write one JSON object per row")
        if self._fields:
            row = self._fields.apply(row, cells=bool(self._cells))
        from judgekit.datasets.case_fields import CaseFields

        fields = CaseFields(cells=self._cells, keep_thoughts=self._keep_thoughts)
        self.row_notes, self.messages = fields.notes, None
        if self._cells and self._shape in ("auto", "chat"):
            row = _with_messages(row)
        shape = _shape_of(row) if self._shape == "auto" else self._shape
        _PUT.get(shape, CaseBuilder._put_benchmark)(self, row, fields)
        case = fields.case()
        self.messages = fields.messages
        return case

    def _put_benchmark(self, row: dict[str, Any], fields: CaseFields) -> None:
        from judgekit.datasets.benchmark_rows import BENCHMARKS

        self._put_others(row, fields, BENCHMARKS[self._shape](row, fields))

    def _put_others(
        self,
        row: dict[str, Any],
        fields: CaseFields,
        read: Container[str] = (),
        extras: Container[str] = (),
    ) -> None:
        """Add the keys that were not read yet; `extras` go to the metadata."""
        self._check_keys(row, read, extras)
        for key, value in row.items():
            if key in extras:
                fields.put_inside("metadata", key, value, source=key)
            elif key not in read:
                self._put_key(key, value, fields)

    def _check_keys(
        self, row: Mapping[str, Any], read: Container[str], extras: Container[str]
    ) -> None:
        """Name all unknown keys at once, if there are several."""
        unknown = [
            key
            for key in row
            if key not in read
            and key not in extras
            and key != MESSAGES
            and field_named(key) is None
            and split_target(key) is None
        ]
        if len(unknown) > 1 and not {"session_id", "turn_index"} & row.keys():
            problem = f"unknown keys {listed(unknown)}; rename them, or keep them as metadata with"
            raise RowFault(f"{problem} fields: {{metadata: rest}}", unknown[0][:60])

    def _put_chat(self, row: dict[str, Any], fields: CaseFields) -> None:
        from judgekit.datasets.messages.rows import is_conversation

        if not is_conversation(row):
            remedy = "add it, or say where it is with fields: {'messages': 'dotted.path'}"
            raise RowFault(f"no `messages` in the row; {remedy}", MESSAGES)
        self._put_messages(row, fields)

    def _put_mastra(self, row: dict[str, Any], fields: CaseFields) -> None:
        if self._cells:
            sides = ("input", "output")
            row = {k: to_json_or_text(v) if k in sides else v for k, v in row.items()}
        self._put_messages(row, fields, runs=True)

    def _put_messages(self, row: dict[str, Any], fields: CaseFields, *, runs: bool = False) -> None:
        from judgekit.datasets.messages.rows import put_ground_truth, put_rows_messages

        read, extras = put_rows_messages(row, fields, keep_thoughts=self._keep_thoughts, runs=runs)
        self._check_keys(row, {*read, "groundTruth"}, extras)
        for key, value in row.items():  # `expected` keeps the order of the row
            if key == "groundTruth":
                put_ground_truth(value, fields)
            else:
                self._put_others({key: value}, fields, read, extras)

    def _put_key(self, key: str, value: Any, fields: CaseFields) -> None:
        source = self._fields.source(key) if self._fields else key
        field = field_named(key)
        if field is not None:
            if field != key and value is not None:
                fields.note("field-names", field, f"read from {quoted(key)}")
            fields.put(field, value, source=source)
        elif (inside := split_target(key)) is not None:
            if self._cells and inside[0] != "metadata":
                value = to_json_or_text(value)
            if value is not None or not self._cells:
                fields.put_inside(*inside, value, source=source)
        elif key == MESSAGES:
            raise RowFault(
                "messages are not a field of a case; read the rows with format='chat'", key
            )
        else:
            raise _unknown(key)


_CRITERIA: Mapping[str, str] = {
    "rubrics": "HealthBench; simple-evals: healthbench_eval.py",
    "rubric": "RaR; oumi: src/oumi/datasets/grpo/rar_dataset.py",
    "criteria": "Reward Kit 0.2.3: CriterionConfig",
}
"""Key under which a data set has the criteria of a row -> where it is from."""
_PUT: Mapping[str, Callable[[CaseBuilder, dict[str, Any], CaseFields], None]] = {
    "rows": CaseBuilder._put_others,
    "chat": CaseBuilder._put_chat,
    "mastra": CaseBuilder._put_mastra,
}


def _with_messages(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a table with the messages that are JSON in its cells."""
    if not any(isinstance(value, str) and value[:1] in ("[", "{") for value in row.values()):
        return row
    from judgekit.datasets.messages.rows import from_cell
    from judgekit.datasets.messages.tables import tables

    places = {"input", "output", "system", *tables().systems}
    return {key: from_cell(value) if key in places else value for key, value in row.items()}


def _shape_of(row: Mapping[str, Any]) -> str:
    """Return the format of a row, detected by its distinctive keys."""
    structured = (row.get("input"), row.get("output"))
    if any(isinstance(value, dict | list) for value in structured):
        return "chat"
    if all(key in FIELDS or key in ALIASES for key in row):
        return "rows"
    from judgekit.datasets.messages.rows import is_conversation

    return "chat" if is_conversation(row) else "rows"


def _unknown(key: str) -> RowFault:
    if key in ("session_id", "turn_index"):
        return RowFault("a turn of a session; read one turn per row with format='turns'", key)
    if key in _CRITERIA:
        remedy = f"read it with fields: {{'expected.criteria': {quoted(key)}}}"
        return RowFault(f"criteria for the metric points; {remedy}", key)
    hint = suggest(key, (*FIELDS, *ALIASES), otherwise=";")
    path = key.replace("\\", "\\\\").replace(".", "\\.")
    remedy = f"keep it as metadata with fields: {{{quoted('metadata.' + key)}: {quoted(path)}}}"
    return RowFault(f"unknown key{hint} rename it, or {remedy}", key[:60])
