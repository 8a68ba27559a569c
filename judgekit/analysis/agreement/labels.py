"""What people said of cases: JSON Lines that a person's answers are read from, and plainer ones.

A line names a case and a metric (or its rubric), maybe a labeller, and says something of it:

    {"case": "c1", "metric": "tone", "answers": {"polite": {"value": "good", "reason": "..."}}}
    {"case": "c1", "metric": "tone", "labeller": "ann", "values": {"polite": "good"}}
    {"case": "c1", "metric": "tone", "labeller": "bob", "value": 0.75}

`output_digest` says which output of the case was judged (see `judgekit.core.case.output_digest`).
A line without it is matched by the id of its case alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.errors import ConfigError, InvalidReply, place
from judgekit.core.input_file import bounded_lines
from judgekit.core.json_extraction import extract_object

NOBODY = ""
"""The labeller of lines that name none."""
MAX_LINE = 5_000_000
_DIGEST = re.compile("[0-9a-f]{16}")
_KEYS = {"case", "metric", "rubric", "labeller", "answers", "details", "values", "value",
         "output_digest"}  # fmt: skip


class Label(NamedTuple):
    """One label: what a person answered about one case and metric."""

    case: str
    metric: str
    criterion: str | None
    """`None` for the metric's own value or verdict."""
    labeller: str
    value: float | bool | str | None
    """`None` where the person could not tell."""
    output: str | None = None
    """Digest of the output that was judged; `None` where the line does not say."""


def read_labels(path: Path) -> Iterator[Label]:
    """Yield the labels of a file.

    Raises:
        ConfigError: with `file:line`, for a line that is none, or that says a thing twice.
    """
    first_lines: dict[Label, int] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as lines:
            for number, line in enumerate(bounded_lines(lines, most=MAX_LINE), start=1):
                if not line.strip():
                    continue
                where = place(path, number)
                for label in _labels(line, where):
                    first = first_lines.setdefault(label._replace(value=None), number)
                    if first != number:
                        raise ConfigError(f"{_named(label)} is labelled twice, first in line "
                                          f"{first}", where=where)  # fmt: skip
                    yield label
    except FileNotFoundError as exc:
        raise ConfigError("no such file of labels", where=str(path)) from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"labels are not UTF-8 (byte {exc.start})", where=str(path)) from exc
    except OSError as exc:
        raise ConfigError(f"labels cannot be read: {exc.strerror}", where=str(path)) from exc


def _named(label: Label) -> str:
    what = label.metric if label.criterion is None else f"{label.metric}, {label.criterion}"
    by = f" by {label.labeller}" if label.labeller else ""
    return f"case {label.case!r}, {what}{by},"


def _labels(line: str, where: str) -> Iterator[Label]:
    try:
        data, _ = extract_object(line)
    except InvalidReply as exc:
        raise ConfigError(f"not a label: {exc}", where=where) from exc
    unknown = sorted(set(data) - _KEYS)
    if unknown:
        raise ConfigError(f"unknown key {unknown[0]!r}", where=where)
    case, metric = data.get("case"), data.get("metric") or data.get("rubric")
    labeller = data.get("labeller", NOBODY)
    if not (isinstance(case, str) and isinstance(metric, str) and isinstance(labeller, str)):
        raise ConfigError("needs 'case' and 'metric' (or 'rubric'), as texts", where=where)
    output = data.get("output_digest")
    if not (output is None or (isinstance(output, str) and _DIGEST.fullmatch(output))):
        raise ConfigError("'output_digest' must be 16 hex digits", where=where)
    keys = [key for key in ("answers", "values", "value") if key in data]
    if not keys:
        raise ConfigError("says nothing: needs 'value', 'values' or 'answers'", where=where)
    if "value" in data:
        value = _plain(data["value"], "value", where)
        yield Label(case, metric, None, labeller, value, output)
    for key in ("answers", "values"):
        several = data.get(key, {})
        if not isinstance(several, dict):
            raise ConfigError(f"{key!r} must be {{criterion: ...}}", where=where)
        for criterion, value in several.items():
            answers = value
            if key == "answers":
                if not isinstance(value, dict):
                    raise ConfigError(f"{criterion}: an answer is {{value: ...}}", where=where)
                answers = _answered(value)
            plain = _plain(answers, criterion, where)
            yield Label(case, metric, str(criterion), labeller, plain, output)


def _answered(answer: Mapping[str, Any]) -> Any:
    """Return what an answer comes to; of a checklist, the share of items that are met."""
    items = answer.get("items")
    if "value" in answer or not isinstance(items, list):
        return answer.get("value")
    met = [item.get("met") for item in items if isinstance(item, dict)]
    return sum(one is True for one in met) / len(met) if met else None


def _plain(value: Any, name: str, where: str) -> float | bool | str | None:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ConfigError(f"{name}: must be a number, a word, true, false or null", where=where)
