"""The fields of a case that reach the judge: those whose text changes the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from judgekit.core.case import Case
from judgekit.core.case_field import JUDGED
from judgekit.core.errors import CaseError, ConfigError
from judgekit.rubric.rubric import Rubric

_ROTATED = str.maketrans(
    ascii_lowercase + ascii_uppercase,
    ascii_lowercase[13:] + ascii_lowercase[:13] + ascii_uppercase[13:] + ascii_uppercase[:13],
)
"""Other letters, and the same number of letters and words: a count prints no text."""


_MARK = "zq"
"""A word to add to the text of a criterion, which may have no Latin letters."""


def visible_fields(rubric: Rubric, case: Case, mode: str) -> set[str] | None:
    """Return the fields of a case that a mode of a rubric shows the judge.

    The rubric is rendered again for each field, with other letters in the text of that field. A
    filter, a macro or a variable cannot hide or invent a field in this way, as it could if the
    template was only read.

    Args:
        rubric: a rubric with all its parameters.
        case: a case with every field.
        mode: the mode.

    Returns:
        The fields, or `None` if the template fails on the case.
    """
    try:
        before = rubric.render(case, mode=mode)[1]
        return {
            name
            for name in JUDGED
            if rubric.render(_with_other_letters(case, name), mode=mode)[1] != before
        }
    except (CaseError, ConfigError):
        return None


def shows_criteria(rubric: Rubric, case: Case) -> bool:
    """Return whether the texts of the criteria reach the judge in some mode.

    Args:
        rubric: a rubric with all its parameters.
        case: a case with every field.
    """
    other = rubric.again()
    other.criteria = tuple(
        criterion.changed(levels=criterion.levels, text=f"{criterion.question.text} {_MARK}")
        for criterion in rubric.criteria
    )
    try:
        return any(
            rubric.render(case, mode=mode)[1] != other.render(case, mode=mode)[1]
            for mode in rubric.modes
        )
    except (CaseError, ConfigError):
        return True


def _with_other_letters(case: Case, name: str) -> Case:
    return Case.model_validate({**case.model_dump(), name: _other(case.model_dump()[name])})


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return value.translate(_ROTATED)
    if isinstance(value, Mapping):  # the keys and the roles of messages stay
        return {k: v if k == "role" else _other(v) for k, v in value.items()}
    return [_other(each) for each in value] if isinstance(value, (list, tuple)) else value
