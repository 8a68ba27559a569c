"""Explain a cassette miss: the nearest record, and the fields that differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import NamedTuple

from judgekit.cassette.record import Record
from judgekit.core.canonical import canonical_json
from judgekit.core.request import Request

_FENCE = re.compile(r"(</?[A-Za-z_]+)-[0-9a-f]{16}>")
"""The tag of a fence; its digest differs with every text."""


class FieldDifference(NamedTuple):
    """A field that differs between a record and the request."""

    field: str
    recorded: str
    asked: str


class Explanation(NamedTuple):
    """The nearest record to a request."""

    key: str | None
    """`None` if nothing is recorded."""
    differences: tuple[FieldDifference, ...]

    def line(self) -> str:
        """Return the explanation in one line."""
        if self.key is None:
            return "nothing is recorded yet"
        fields = "; ".join(_described(d) for d in self.differences[:3]) or "the digests of fences"
        more = f"; and {len(self.differences) - 3} more" if len(self.differences) > 3 else ""
        return f"not recorded; nearest is {self.key[:12]}, which differs in {fields}{more}"

    def text(self) -> str:
        """Return the explanation with a line-by-line comparison of each field."""
        if self.key is None:
            return "nothing is recorded yet\n"
        lines = [f"nearest record: {self.key}"]
        for difference in self.differences:
            lines.append(f"  {difference.field}")
            lines += (
                "    " + line.rstrip("\n")
                for line in difflib.unified_diff(
                    difference.recorded.splitlines(),
                    difference.asked.splitlines(),
                    "recorded",
                    "asked",
                    lineterm="",
                    n=1,
                )
            )
        return "\n".join(lines) + "\n"


class _Sketch(NamedTuple):
    key: str
    fields: dict[str, str]


class Explainer:
    """Finds the record nearest to a request; keeps every record in memory."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._sketches = [_Sketch(r.key, _fields(r.request)) for r in records]

    def explain(self, request: Request) -> Explanation:
        """Return the nearest record: fewest different fields, then the most similar texts."""
        asked = _fields(request)
        best: _Sketch | None = None
        best_distance = (1 << 30, 0.0, "")
        for sketch in self._sketches:
            apart = _apart(sketch.fields, asked)
            if len(apart) > best_distance[0]:
                continue
            unlike = sum(1 - _alike(sketch.fields.get(f, ""), asked.get(f, "")) for f in apart)
            distance = (len(apart), unlike, sketch.key)
            if distance < best_distance:
                best, best_distance = sketch, distance
        if best is None:
            return Explanation(None, ())
        return Explanation(
            best.key,
            tuple(
                FieldDifference(f, best.fields.get(f, ""), asked.get(f, ""))
                for f in _apart(best.fields, asked)
            ),
        )


def _fields(request: Request) -> dict[str, str]:
    fields = {
        "model": request.model,
        "identity": canonical_json(request.identity),
        "mode": canonical_json(request.mode),
        "sample": str(request.sample),
    }
    for name, value in request.params.items():
        fields[f"params.{name}"] = canonical_json(value)
    form = request.form
    if form.want != "verdict":
        fields["wanted"] = form.want
    for question in form.questions:
        fields[f"question {question.id}"] = canonical_json(
            question.model_dump(exclude_defaults=True)
        )
    for detail in form.details:
        fields[f"detail {detail.name}"] = canonical_json(detail.model_dump(exclude_defaults=True))
    if form.json_schema is not None:
        fields["json_schema"] = canonical_json(form.json_schema)
    for number, message in enumerate(request.messages):
        fields[f"message {number + 1} ({message.role})"] = _FENCE.sub(r"\1>", message.content)
    return fields


def _apart(recorded: dict[str, str], asked: dict[str, str]) -> list[str]:
    names = [*asked, *(name for name in recorded if name not in asked)]
    return [name for name in names if recorded.get(name) != asked.get(name)]


def _alike(left: str, right: str) -> float:
    """Return the length of the common beginning and end, as a share of the longer text."""
    if not left or not right:
        return 0.0
    same = _common(left, right)
    rest = min(len(left), len(right)) - same
    tail = min(_common(left[::-1], right[::-1]), rest)
    return (same + tail) / max(len(left), len(right))


def _common(left: str, right: str) -> int:
    """Return the length of the common beginning."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _described(difference: FieldDifference) -> str:
    field, recorded, asked = difference
    if not recorded:
        return f"{field} (not recorded with one)"
    if not asked:
        return f"{field} (recorded with one, asked without)"
    if len(recorded) <= 40 and len(asked) <= 40:
        return f"{field} ({recorded} recorded, {asked} asked)"
    at = _common(recorded, asked)
    return (
        f"{field} from character {at + 1}: {_bit(recorded, at)} recorded, {_bit(asked, at)} asked"
    )


def _bit(text: str, at: int) -> str:
    bit = " ".join(text[at : at + 30].split())
    return repr(bit) if bit else "its end"
