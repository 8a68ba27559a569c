"""Checks of the options and the case fields that metrics share; each raises a one-line error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from judgekit.core.case import Case, has_text, is_given
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.value import Json, described
from judgekit.embedders import Chosen, check_embedder


class Bounds(NamedTuple):
    """The range of a numeric option, written as `Annotated[float, Bounds(0, 1)]`."""

    low: float
    high: float = math.inf
    above: bool = False
    """Whether `low` itself is excluded."""

    def __str__(self) -> str:
        if self.high < math.inf and not self.above:
            return f"from {self.low:g} to {self.high:g}"
        low = f"above {self.low:g}" if self.above else f"of at least {self.low:g}"
        return low if self.high == math.inf else f"{low} and at most {self.high:g}"


Fraction = Annotated[float, Bounds(0, 1)]
Positive = Annotated[int, Bounds(1)]


def check_options(metric: Any, *, without: Sequence[str] = (), keep_numbers: bool = False) -> None:
    """Check the options of a metric that is a dataclass by the annotations of its fields.

    It checks the name, flags, literals, embedders, and numbers with `Bounds`. It turns lists of
    texts into tuples, and numbers into the kind of the option. `None` is valid for an optional
    field. Other annotations are not checked.

    Args:
        metric: the metric.
        without: options that are checked elsewhere.
        keep_numbers: whether an option of type float keeps an integer as `int`.

    Raises:
        ConfigError: a value does not fit; the message names the metric and the option.
    """
    hints = _annotations(metric.__class__)
    for field in fields(metric):
        option, value = field.name, getattr(metric, field.name, None)
        if option == "name":
            check_name(str(field.default), value)
        elif field.init and option not in without:
            checked = _checked(metric.name, option, value, hints[option])
            if checked is not value and not (keep_numbers and checked == value):
                object.__setattr__(metric, option, checked)


@lru_cache(maxsize=256)
def _annotations(metric_class: type) -> Mapping[str, Any]:
    return get_type_hints(metric_class, include_extras=True)


def _checked(metric: str, option: str, value: object, annotation: Any) -> object:
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    optional = len(kinds) < len(get_args(annotation))
    if optional and value is None:
        return value
    if optional and len(kinds) == 1:
        annotation = kinds[0]
    if annotation is bool:
        check_flag(metric, option, value)
    elif annotation == tuple[str, ...]:
        return text_options(metric, option, value)
    elif get_origin(annotation) is Literal:
        check_choice(metric, option, value, annotation)
    elif get_origin(annotation) is Annotated:
        kind, bounds = get_args(annotation)
        check_number(metric, option, value, kind, bounds)
        return kind(value)
    elif set(kinds) == set(get_args(Chosen)):
        check_embedder(metric, value)
    return value


def check_number(metric: str, option: str, value: object, kind: type, bounds: Bounds) -> None:
    """Refuse a value that is not a finite number of a kind, `int` or `float`, within bounds."""
    kinds = (int,) if kind is int else (int, float)
    number = isinstance(value, kinds) and not isinstance(value, bool)
    low_fits = number and (value > bounds.low if bounds.above else value >= bounds.low)  # type: ignore[operator]
    if not low_fits or not math.isfinite(value) or value > bounds.high:  # type: ignore[arg-type, operator]
        whole = "whole " if kind is int else ""
        raise ConfigError(
            f"{metric}: {option} must be a {whole}number {bounds}, not {described(value)}"
        )


def check_choice(metric: str, option: str, value: object, allowed: Any) -> None:
    """Refuse a value that is not in a `Literal`."""
    if value not in get_args(allowed):
        names = ", ".join(str(name) for name in get_args(allowed))
        raise ConfigError(f"{metric}: {option} must be one of {names}, not {described(value)}")


def check_flag(metric: str, option: str, value: object) -> None:
    """Refuse a value that is not true or false."""
    if not isinstance(value, bool):
        raise ConfigError(f"{metric}: {option} must be true or false, not {described(value)}")


def check_name(metric: str, value: object) -> None:
    """Refuse a metric name that is blank or not a text."""
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(
            f"{metric}: name must be a text that is not blank, not {described(value)}"
        )


def text_options(metric: str, option: str, value: object) -> tuple[str, ...]:
    """Return a list of texts as a tuple; a single text counts as a list."""
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, Sequence) or not all(
        isinstance(text, str) and text.strip() for text in texts
    ):
        raise ConfigError(
            f"{metric}: {option} must be a list of texts, none blank, not {described(value)}"
        )
    return tuple(texts)


def check_weight(metric: str, option: str, value: Any) -> float:
    """Return a weight as a float; refuse a value that is negative, not finite or not a number."""
    check_number(metric, option, value, float, Bounds(0))
    return float(value)


def lacking(field: str) -> CaseError:
    """Return the error of a case without a field."""
    article = "an" if field[0] in "aeiou" else "a"
    return CaseError(f"needs {article} {field} (field {field!r})")


def needed_text(case: Case, field: str) -> str:
    """Return a text of the case.

    Raises:
        CaseError: it is missing, or only white space and not an answer.
    """
    text: str | None = getattr(case, field)
    if text is None or not is_given(field, text):
        raise lacking(field)
    return text


def needed_texts(case: Case, field: str) -> tuple[str, ...]:
    """Return the texts of a list field that are not blank.

    Raises:
        CaseError: there is none.
    """
    texts = tuple(text for text in getattr(case, field) if has_text(text))
    if not texts:
        raise lacking(field)
    return texts


def needed_prompts(case: Case, which: Literal["input", "system", "both"]) -> dict[str, str]:
    """Return the input, the system prompt, or those of the two that exist, by field.

    Raises:
        CaseError: there is none.
    """
    if which != "both":
        return {which: needed_text(case, which)}
    texts = {"input": case.input or "", "system": case.system or ""}
    present = {field: text for field, text in texts.items() if has_text(text)}
    if not present:
        raise CaseError("needs an input or a system prompt (field 'input' or 'system')")
    return present


def truth_of(texts: Sequence[str]) -> Json:
    """Return accepted texts as the ground truth: a single one as a text, none as `None`."""
    accepted: list[Json] = [text for text in texts if has_text(text)]
    if len(accepted) > 1:
        return accepted
    return accepted[0] if accepted else None
