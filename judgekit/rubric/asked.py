"""Whether a rubric prints a field of a case: whether other letters in the field change the prompt.

A template is rendered and not read, so that a filter, a macro or a variable cannot hide a field.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from judgekit.core.case import Case
from judgekit.core.case_field import CASE_FIELDS, JUDGED
from judgekit.core.errors import CaseError, ConfigError, JudgekitError
from judgekit.rubric.invented import (
    invented_case,
    needed_fields,
    object_keys,
    with_invented_parameters,
)
from judgekit.rubric.rubric import Rubric

_MARK = "zq"
"""A word to add to the text of a criterion, which may have no Latin letters."""


def with_other_letters(case: Case, name: str) -> Case:
    """Return a case with other letters and digits in a field."""
    return Case.model_validate({**case.model_dump(), name: other_letters(case.model_dump()[name])})


def prints(rubric: Rubric, case: Case, name: str, *, mode: str, failed: bool = True) -> bool:
    """Return whether a mode of a rubric prints anything of a field of a case.

    Args:
        rubric: a rubric with all its parameters.
        case: the case, with the earlier messages that the judge could see.
        name: the field.
        mode: the mode.
        failed: the answer if the template fails: it reads the text of a real case, or it would not.
    """
    try:
        return _changes(rubric, case, name, mode=mode)
    except JudgekitError:
        return failed


def _changes(rubric: Rubric, case: Case, name: str, *, mode: str) -> bool:
    before = rubric.render(case, mode=mode)[1]
    return rubric.render(with_other_letters(case, name), mode=mode)[1] != before


def shown_fields(rubric: Rubric, *, mode: str | None = None) -> frozenset[str] | None:
    """Return the fields that a rubric shows the judge of some case; no case has to be given.

    Args:
        rubric: the rubric.
        mode: the mode; the default one if there is none.

    Returns:
        The fields, or `None` if the template fails on a case with every field.
    """
    mode = mode or rubric.default_mode
    try:
        rubric = with_invented_parameters(rubric)
        whole = invented_case(rubric)
        shown = {name for name in JUDGED if _changes(rubric, whole, name, mode=mode)}
    except (CaseError, ConfigError):
        return None
    # A field that the template prints only instead of another one, or only without it.
    fields = whole.__dict__
    needed = needed_fields(rubric, mode=mode)
    for name in sorted((rubric.template.reads & {*JUDGED}) - shown):
        others = ({*needed, name}, *({*JUDGED} - {other} for other in {*JUDGED} - needed - {name}))
        cases = (Case(id="sample", **{key: fields[key] for key in some}) for some in others)
        if any(prints(rubric, case, name, mode=mode, failed=False) for case in cases):
            shown.add(name)
    return frozenset(shown)


def shown_and_not(rubric: Rubric, *, mode: str | None = None) -> tuple[list[str], list[str]] | None:
    """Return the fields that a rubric shows the judge and the others, for people.

    Of an object, only the keys that the rubric reads are named, such as `metadata.topic`.
    """
    shown = shown_fields(rubric, mode=mode)
    return None if shown is None else listed_fields(shown, object_keys(rubric))


def sees_lines(rubric: Rubric) -> Iterator[str]:
    """Yield lines with the fields that the judge sees; by mode, if the modes differ."""
    by_mode = {mode: shown_and_not(rubric, mode=mode) for mode in rubric.modes}
    differ = any(fields != by_mode[rubric.default_mode] for fields in by_mode.values())
    for mode, fields in by_mode.items():
        if fields is not None and (differ or mode == rubric.default_mode):
            seen, never = map(", ".join, fields)
            where = f" in mode {mode}" * differ
            yield f"the judge sees{where}: {seen}; never: {never or 'nothing'}"


def listed_fields(
    shown: Collection[str], keys: Mapping[str, Collection[str]] = {}
) -> tuple[list[str], list[str]]:
    """Return fields in the order in which people read them, and the other fields of a case."""
    named = {name: [f"{name}.{key}" for key in sorted(keys.get(name, ()))] for name in shown}
    ordered = [field.name for field in CASE_FIELDS if field.judged]
    read = [each for name in ordered if name in shown for each in named[name] or [name]]
    return read, [name for name in ordered if name not in shown]


def shows_criteria(rubric: Rubric) -> bool:
    """Return whether the texts of the criteria reach the judge in some mode."""
    try:
        rubric = with_invented_parameters(rubric)
        case = invented_case(rubric)
        other = rubric.again()
        other.criteria = tuple(
            criterion.changed(levels=criterion.levels, text=f"{criterion.question.text} {_MARK}")
            for criterion in rubric.criteria
        )
        return any(
            rubric.render(case, mode=mode)[1] != other.render(case, mode=mode)[1]
            for mode in rubric.modes
        )
    except (CaseError, ConfigError):
        return True


def other_letters(value: Any) -> Any:
    """Return a value with other letters and digits in its texts; lengths and numbers of words stay.

    >>> other_letters({"role": "user", "content": "At 9."})
    {'role': 'user', 'content': 'Ng 4.'}
    """
    if isinstance(value, str):
        other = value.translate(_ROTATED)
        other = other if other.isascii() else "".join(map(_neighbour, other))
        # A text without letters and digits has none to replace.
        return other if other != value else "q" * len(value)
    if isinstance(value, Mapping):  # the keys and the roles of messages stay
        return {k: v if k == "role" else other_letters(v) for k, v in value.items()}
    return [other_letters(each) for each in value] if isinstance(value, list | tuple) else value


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
