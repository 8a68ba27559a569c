"""Checks of the options and the case fields that metrics share; each raises one clear line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.value import Json

TextField = Literal["input", "output", "system", "baseline"]
TextsField = Literal["reference", "context"]


def check_choice(metric: str, option: str, given: object, allowed: Any) -> None:
    """Refuse a value that is not one of a `Literal`'s."""
    if given not in get_args(allowed):
        names = ", ".join(str(name) for name in get_args(allowed))
        raise ConfigError(f"{metric}: {option} must be one of {names}, not {given!r}")


def check_flag(metric: str, option: str, given: object) -> None:
    """Refuse anything but true and false."""
    if not isinstance(given, bool):
        raise ConfigError(f"{metric}: {option} must be true or false, not {given!r}")


def check_name(metric: str, given: object) -> None:
    """Refuse a metric name that is blank or not a text."""
    if not isinstance(given, str) or not given.strip():
        raise ConfigError(f"{metric}: name must be a text that is not blank, not {given!r}")


def check_positive(metric: str, option: str, given: object) -> None:
    """Refuse anything but a whole number of at least 1."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ConfigError(f"{metric}: {option} must be a whole number of at least 1, not {given!r}")


def check_fraction(metric: str, option: str, given: object) -> float:
    """Return a number on 0..1 as a float; refuse anything else."""
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not 0 <= given <= 1:  # type: ignore[operator]
        raise ConfigError(f"{metric}: {option} must be a number on 0 to 1, not {given!r}")
    return float(given)  # type: ignore[arg-type]


def text_options(metric: str, option: str, given: object) -> tuple[str, ...]:
    """Return a list of texts as a tuple; one text is taken as a list of one."""
    texts = (given,) if isinstance(given, str) else given
    if not isinstance(texts, Sequence) or not all(
        isinstance(text, str) and text.strip() for text in texts
    ):
        raise ConfigError(f"{metric}: {option} must be a list of texts, none blank, not {given!r}")
    return tuple(texts)


def check_weight(metric: str, option: str, given: object) -> float:
    """Return a weight as a float; refuse what is negative, not finite or not a number."""
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not math.isfinite(given) or given < 0:  # type: ignore[arg-type, operator]
        raise ConfigError(f"{metric}: {option} must be numbers of at least 0, not {given!r}")
    return float(given)  # type: ignore[arg-type]


def needed_text(case: Case, field: TextField) -> str:
    """Return a text of the case.

    Raises:
        CaseError: it is missing or only white space.
    """
    text: str | None = getattr(case, field)
    if text is None or not has_text(text):
        article = "an" if field[0] in "io" else "a"
        raise CaseError(f"needs {article} {field} (field {field!r})")
    return text


def needed_texts(case: Case, field: TextsField) -> tuple[str, ...]:
    """Return the texts of a list field that are not blank.

    Raises:
        CaseError: there is none.
    """
    texts = tuple(text for text in getattr(case, field) if has_text(text))
    if not texts:
        raise CaseError(f"needs a {field} (field {field!r})")
    return texts


def truth_of(texts: Sequence[str]) -> Json:
    """Return accepted texts as the ground truth of a score: one as itself, none as `None`."""
    said: list[Json] = [text for text in texts if has_text(text)]
    if len(said) > 1:
        return said
    return said[0] if said else None
