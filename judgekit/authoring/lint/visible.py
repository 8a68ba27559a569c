"""The fields of a case that reach the judge: those whose text changes the prompt."""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.case_field import JUDGED
from judgekit.core.errors import CaseError, ConfigError
from judgekit.rubric.asked import with_other_letters
from judgekit.rubric.rubric import Rubric

_MARK = "zq"
"""A word to add to the text of a criterion, which may have no Latin letters."""


def visible_fields(rubric: Rubric, case: Case, mode: str) -> set[str] | None:
    """Return the fields of a case that a mode of a rubric shows the judge.

    The rubric is rendered again for each field (see `judgekit.rubric.asked`).

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
            if rubric.render(with_other_letters(case, name), mode=mode)[1] != before
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
