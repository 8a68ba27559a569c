"""Explain a cassette miss: the nearest record and the fields that differ."""

import difflib
import re
from collections.abc import Iterable
from typing import NamedTuple

from judgekit.cassette.record import Record
from judgekit.core.canonical import canonical_json
from judgekit.core.key_rules import judge_identity, keyed_params
from judgekit.core.request import Request

_FENCE = re.compile(r"(</?[A-Za-z_]+)-[0-9a-f]{16}>")
"""The tag of a fence. Its digest depends on the text and is irrelevant to readers."""


NOTHING = "nothing is recorded yet"
OF_ANOTHER = "an older version has it, for another case with the same text"


class FieldDifference(NamedTuple):
    """One field that differs between a record and the current request."""

    field: str
    recorded: str
    current: str


class Explanation(NamedTuple):
    """The nearest record to a request."""

    key: str | None
    """`None` if nothing is recorded."""
    differences: tuple[FieldDifference, ...]

    def line(self) -> str:
        """Return what differs, in one line."""
        if self.key is None:
            return NOTHING
        fields = "; ".join(_describe(d) for d in self.differences[:3]) or "the digests of fences"
        more = f"; and {len(self.differences) - 3} more" if len(self.differences) > 3 else ""
        return f"not recorded; nearest is {self.key[:12]}, which differs in {fields}{more}"

    def text(self) -> str:
        """Return the explanation with a diff of each field."""
        if self.key is None:
            return f"{NOTHING}\n"
        lines = [f"nearest record: {self.key}"]
        for difference in self.differences:
            lines.append(f"  {difference.field}")
            lines += (
                "    " + line.rstrip("\n")
                for line in difflib.unified_diff(
                    difference.recorded.splitlines(),
                    difference.current.splitlines(),
                    "recorded",
                    "asked",
                    lineterm="",
                    n=1,
                )
            )
        return "\n".join(lines) + "\n"


class Explainer:
    """Finds the record that is most similar to a request. Keeps all records in memory."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = [(record.key, _fields(record.request)) for record in records]

    def explain(self, request: Request) -> Explanation:
        """Return the record with the fewest different fields, then with the most similar texts."""
        nearest = _Nearest(request)
        for key, recorded in self._records:
            nearest.compare(key, recorded)
        return nearest.found


def explain_all(requests: Iterable[Request], records: Iterable[Record]) -> list[Explanation]:
    """Return what `Explainer` says of some requests, with one record in memory at a time."""
    several = [_Nearest(request) for request in requests]
    for record in records:
        fields = _fields(record.request)
        for nearest in several:
            nearest.compare(record.key, fields)
    return [nearest.found for nearest in several]


class _Nearest:
    """The record that is most similar to a request, of those compared with it."""

    def __init__(self, request: Request) -> None:
        self._current = _fields(request)
        self._distance = (1 << 30, 0.0, "")
        self.found = Explanation(None, ())

    def compare(self, key: str, recorded: dict[str, str]) -> None:
        current = self._current
        names = [*current, *(name for name in recorded if name not in current)]
        differences = tuple(
            FieldDifference(name, recorded.get(name, ""), current.get(name, ""))
            for name in names
            if recorded.get(name) != current.get(name)
        )
        if len(differences) > self._distance[0]:
            return
        unlike = sum(1 - _similarity(d.recorded, d.current) for d in differences)
        distance = (len(differences), unlike, key)
        if distance < self._distance:
            self.found, self._distance = Explanation(key, differences), distance


def _fields(request: Request) -> dict[str, str]:
    fields = {
        "model": request.model,
        "identity": canonical_json(judge_identity(request)),
        "mode": canonical_json(request.mode),
        "sample": str(request.sample),
    }
    for name, value in keyed_params(request.model, request.params).items():
        fields[f"params.{name}"] = canonical_json(value)
    form = request.form
    if form.api is not None:
        fields["api"] = form.api
    if form.max_reason is not None:
        fields["max_reason"] = str(form.max_reason)
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


def _similarity(left: str, right: str) -> float:
    """Return the length of the common prefix and suffix as a share of the longer text, 0..1."""
    if not left or not right:
        return 0.0
    start = _common(left, right)
    rest = min(len(left), len(right)) - start
    end = min(_common(left[::-1], right[::-1]), rest)
    return (start + end) / max(len(left), len(right))


def _common(left: str, right: str) -> int:
    """Return the length of the common prefix. Slices are faster to compare than characters."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _describe(difference: FieldDifference) -> str:
    field, recorded, current = difference
    if not recorded:
        return f"{field} (not recorded with one)"
    if not current:
        return f"{field} (recorded with one, asked without)"
    if len(recorded) <= 40 and len(current) <= 40:
        return f"{field} ({recorded} recorded, {current} asked)"
    at = _common(recorded, current)
    return (
        f"{field} from character {at + 1}: {_excerpt(recorded, at)} recorded, "
        f"{_excerpt(current, at)} asked"
    )


def _excerpt(text: str, at: int) -> str:
    excerpt = " ".join(text[at : at + 30].split())
    return repr(excerpt) if excerpt else "its end"
