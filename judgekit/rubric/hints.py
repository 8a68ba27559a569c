"""Hints at the form that works, where a rubric file has a value of the wrong kind."""

from __future__ import annotations

from judgekit.core.file_model import Hints, Path
from judgekit.core.suggest import closest, suggest
from judgekit.rubric.file import CriterionFile

_CRITERION = 'criteria: {kind: {text: "Is the answer kind?"}}'
_FORMS: dict[Path, str] = {
    ("criteria",): f"each criterion is a key: {_CRITERION}",
    ("criteria", "*"): f"its text is a key, too: {_CRITERION}",
    ("criteria", "*", "text"): 'add the question: text: "Is the answer kind?"',
    ("criteria", "*", "levels"): "each level is a key with its worth: {good: 1, bad: 0}",
    ("criteria", "*", "options"): "each option is a key with its worth: {good: 1, bad: 0}",
    ("criteria", "*", "items"): 'list the items: ["an apology", "a date"]',
    ("requires",): "list fields of a case: [input, output]",
    ("modes",): "each mode is a key: {user: {user: 1.0}}",
    ("parameters",): "each parameter is a key: {audience: adults}",
    ("name",): "name the rubric as its file: name: my_rubric",
}
"""Place of a wrong or missing value (`*` is any name) -> the form that works."""


def _value_hint(path: Path) -> str:
    form = _FORMS.get(path[:1] + ("*",) * (len(path) > 1) + path[2:])
    return f"; {form}" if form else ""


def _key_hint(path: Path, known: list[str]) -> str:
    key = str(path[-1])
    if len(path) == 1 and key in CriterionFile.model_fields and not closest(key, known, alike=0.8):
        return f"; it belongs to a criterion: criteria: {{NAME: {{{key}: ...}}}}"
    return suggest(key, known)


HINTS = Hints(key=_key_hint, value=_value_hint)
"""What a rubric file says of its mistakes."""
