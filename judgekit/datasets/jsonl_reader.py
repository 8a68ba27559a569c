"""Read cases from JSON Lines: one object per line, read one by one."""

from collections.abc import Iterator
from typing import BinaryIO

from pydantic import ValidationError

from judgekit.core.case import Case
from judgekit.core.case_field import MESSAGE_LISTS, OBJECTS
from judgekit.core.errors import DatasetError, place
from judgekit.core.thoughts import split_thoughts
from judgekit.core.value import is_json
from judgekit.datasets.formatting import quoted
from judgekit.datasets.json_text import json_fault, parse_json, repeated_key
from judgekit.datasets.row_builder import RowBuilder
from judgekit.datasets.stream import ByteLines


def read_jsonl(
    stream: BinaryIO, *, name: str, builder: RowBuilder
) -> Iterator[tuple[str | int, Case]]:
    """Yield the case of every line with its line number; blank lines are skipped.

    Raises:
        DatasetError: a line cannot be read, or is not a case.
    """
    Case.model_rebuild()
    # The method of the core validator takes half the time of `Case.model_validate_json`.
    validate = Case.__pydantic_validator__.validate_json
    plain = builder.plain
    lines = ByteLines(stream, name=name)
    for line in lines:
        lines.held = 0
        case: Case | None = None
        if plain:
            try:
                case = validate(line)
            except ValidationError:
                case = None
            else:
                # pydantic accepts NaN and infinities in JSON values when parsing JSON.
                case = case if _finite(case) else None
        if case is not None and (
            split_thoughts(case.output or "")[0] or repeated_key(line) is not None
        ):
            case = None
        if case is None:
            text = line.strip()
            if not text:
                continue
            try:
                row = _parse(line.rstrip(b"\r\n"), lines)
            except DatasetError as exc:
                case = builder.unreadable(exc)
            else:
                case = builder.build(row, where=lines.where)
        yield lines.number, case


def _finite(case: Case) -> bool:
    fields = case.__dict__
    for name in OBJECTS:
        if (value := fields[name]) and not is_json(value):
            return False
    for name in MESSAGE_LISTS:
        for message in fields[name]:
            if not all(is_json(call.arguments) for call in message.tool_calls):
                return False
    return True


def _parse(line: bytes, lines: ByteLines) -> object:
    try:
        row = parse_json(line)
        if (repeated := repeated_key(line)) is not None:
            message = f"the key {quoted(repeated)} is there twice in one object; remove one"
            raise DatasetError(message, where=place(lines.name, lines.number))
        return row
    except ValueError as exc:
        lines.decode(line)
        fault = json_fault(exc, line)
        hint = "correct the line"
        if line.strip() in (b"{", b"["):
            hint = "write one object per line, or name the file .json"
        elif lines.number == 1 and b"," in line and not line.lstrip().startswith((b"{", b"[")):
            hint = "if this is CSV, name the file .csv"
        message = f"not JSON: {fault.what}, at column {fault.column}; {hint}"
        raise DatasetError(message, where=place(lines.name, lines.number)) from exc
