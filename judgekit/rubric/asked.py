"""Whether a rubric prints a field of a case: whether other letters in the field change the prompt.

A template is rendered and not read, so that a filter, a macro or a variable cannot hide a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.case import Case
from judgekit.core.errors import JudgekitError
from judgekit.rubric.rubric import Rubric


def with_other_letters(case: Case, name: str) -> Case:
    """Return a case with other letters and digits in a field; lengths and numbers of words stay."""
    return Case.model_validate({**case.model_dump(), name: _other(case.model_dump()[name])})


def prints(rubric: Rubric, case: Case, name: str, *, mode: str) -> bool:
    """Return whether a mode of a rubric prints anything of a field of a case.

    Args:
        rubric: a rubric with all its parameters.
        case: the case, with the earlier messages that the judge could see.
        name: the field.
        mode: the mode.
    """
    try:
        before = rubric.render(case, mode=mode)[1]
        return rubric.render(with_other_letters(case, name), mode=mode)[1] != before
    except JudgekitError:
        return True  # the template reads the text, or it would not fail


def _other(value: Any) -> Any:
    if isinstance(value, str):
        other = value.translate(_ROTATED)
        other = other if other.isascii() else "".join(map(_neighbour, other))
        # A text without letters and digits has none to replace.
        return other if other != value else "q" * len(value)
    if isinstance(value, Mapping):  # the keys and the roles of messages stay
        return {k: v if k == "role" else _other(v) for k, v in value.items()}
    return [_other(each) for each in value] if isinstance(value, list | tuple) else value


def _neighbour(letter: str) -> str:
    """Return the other letter of a pair of code points outside ASCII."""
    other = letter if letter.isascii() else chr(ord(letter) ^ 1)
    return other if letter.isalnum() and other.isalnum() else letter


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ROTATED = str.maketrans(
    _LETTERS + _LETTERS.upper() + _DIGITS,
    _LETTERS[13:] + _LETTERS[:13] + _LETTERS[13:].upper() + _LETTERS[:13].upper()
    + _DIGITS[5:] + _DIGITS[:5],
)  # fmt: skip
